# The measuring half of the bench: sections of queries, run in turns in one
# session, medians, and a table of figures with their targets.
#
# Started by bench/run, which has made the data and started the server.
use strict;
use warnings;
use FindBin;
use IPC::Open2;
use List::Util qw(max);

my $data = $ENV{BENCH_DATA}       or die "start bench/run\n";
my $runs = $ENV{BENCH_RUNS}       || 5;
my ($scale) = $data =~ /_([0-9.]+)$/;
my %peers = map { $_ => 1 } split /,/, $ENV{PEERS} // '';
my %only  = map { $_ => 1 } split /,/, $ENV{BENCH_ONLY} // '';
my $jit   = ($ENV{BENCH_JIT} // 'off') eq 'on' ? 'on' : 'off';

my $columns = 'id %s, colour text, length int, mass real';
my $q       = 'SELECT count(*), count(colour), sum(length), sum(mass), sum(id) FROM %s';
my $q_text  = 'SELECT count(*), count(colour), sum(length), sum(mass), count(id) FROM %s';

my @table;    # [figure, measured, target, met]

# ---- a session: one psql that stays -----------------------------------------

sub session_open
{
	my $pid = open2(my $out, my $in, qw(psql -X -q -A -t -v ON_ERROR_STOP=1));
	my $session = { pid => $pid, in => $in, out => $out };
	session_run($session, "SET client_min_messages = warning; SET max_parallel_workers_per_gather = 0; SET jit = $jit;");
	return $session;
}

# Runs statements or psql commands; returns the output's lines.
sub session_run
{
	my ($session, $commands) = @_;
	my @lines;

	print { $session->{in} } "$commands\n\\echo --done--\n";
	$session->{in}->flush;
	while (defined(my $line = readline($session->{out})))
	{
		chomp $line;
		return @lines if $line eq '--done--';
		push @lines, $line;
	}
	die "psql ended at: $commands\n";
}

# Milliseconds of one query, and its first row.
sub session_time
{
	my ($session, $query) = @_;
	my @lines = session_run($session, "\\timing on\n$query;\n\\timing off");
	my ($time) = map { /^Time: ([0-9.]+) ms/ ? $1 : () } @lines;
	return ($time, $lines[0]);
}

sub session_close
{
	my ($session) = @_;
	close $session->{in};
	waitpid($session->{pid}, 0);
	return;
}

sub run_once
{
	my ($commands) = @_;
	my $session = session_open();
	my @lines = session_run($session, $commands);
	session_close($session);
	return wantarray ? @lines : $lines[0];
}

# ---- figures ------------------------------------------------------------------

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	my $n = @sorted;
	return $n % 2 ? $sorted[ $n / 2 ] : ($sorted[ $n / 2 - 1 ] + $sorted[ $n / 2 ]) / 2;
}

# measure([name, query, most runs], ...): each once to warm up, then in turns.
# Returns name => median milliseconds.
sub measure
{
	my @queries = @_;
	my $session = session_open();
	my (%times, %median);

	session_time($session, $_->[1]) for @queries;
	for my $run (1 .. $runs)
	{
		for my $entry (@queries)
		{
			my ($name, $query, $most) = @$entry;
			next if $most && $run > $most;
			my ($time) = session_time($session, $query);
			push @{ $times{$name} }, $time;
		}
	}
	session_close($session);
	for my $entry (@queries)
	{
		my $name = $entry->[0];
		$median{$name} = median(@{ $times{$name} });
		printf "    %-34s %10.1f ms   (%s)\n", $name, $median{$name},
		  join(' ', map { sprintf '%.1f', $_ } @{ $times{$name} });
	}
	return %median;
}

# most / least: the target, or undef where there is none
sub figure
{
	my ($what, $value, $unit, %target) = @_;
	my $shown = sprintf($value < 0.1 ? '%.4f%s' : '%.2f%s', $value, $unit);
	my ($goal, $met) = ('', '');

	if (defined $target{most})
	{
		$goal = "at most $target{most}$unit";
		$met = $value <= $target{most} ? 'met' : 'NOT MET';
	}
	elsif (defined $target{least})
	{
		$goal = "at least $target{least}$unit";
		$met = $value >= $target{least} ? 'met' : 'NOT MET';
	}
	push @table, [ $what, $shown, $goal, $met ];
	return;
}

sub wanted
{
	my ($section, $title) = @_;
	return 0 if %only && !$only{$section};
	print "\n== $title\n";
	return 1;
}

# ---- tables -------------------------------------------------------------------

# Foreign tables NAME over a data folder, and NAME_ceiling of as many rows.
sub make_tables
{
	my ($name, $type, $collation, $options) = @_;
	my $collate = $collation ? "COLLATE \"$collation\"" : '';

	run_once(<<"SQL");
CREATE FOREIGN TABLE $name (id $type OPTIONS (key 'true') $collate, colour text, length int, mass real)
SERVER files OPTIONS (directory '$name', header 'true', encoding 'UTF8');
SQL
	my $rows = run_once("SELECT count(*) FROM $name;");
	run_once(sprintf(<<"SQL", $type));
CREATE FOREIGN TABLE ${name}_ceiling ($columns) SERVER ceiling OPTIONS (rows '$rows');
SQL
	printf "    %s: %s rows\n", $name, $rows;
	return $rows;
}

sub make_servers
{
	run_once(<<"SQL");
DROP EXTENSION IF EXISTS outerjoin_fdw, file_fdw CASCADE;
DROP FOREIGN DATA WRAPPER IF EXISTS ceiling CASCADE;
DROP FUNCTION IF EXISTS ceiling_handler, ceiling_validator;
CREATE EXTENSION outerjoin_fdw;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '$data');
CREATE SERVER whole_files FOREIGN DATA WRAPPER file_fdw;
\\set library $ENV{BENCH_LIBRARY}
\\i $FindBin::Bin/ceiling/ceiling.sql
SQL
	return;
}

# Heap tables of the dense files, indexed and vacuumed; kept between runs.
sub make_heap_tables
{
	my $session = session_open();
	my ($loaded) = session_run($session, "SELECT to_regclass('loaded') IS NOT NULL;");

	if ($loaded ne 't')
	{
		print "    loading, indexing and vacuuming heap tables ...\n";
		session_run($session, 'DROP TABLE IF EXISTS colour, length, mass, joined;');
		for my $pair ([ 'colour', 'text' ], [ 'length', 'int' ], [ 'mass', 'real' ])
		{
			my ($name, $type) = @$pair;
			session_run($session, <<"SQL");
CREATE TABLE $name (id bigint NOT NULL, $name $type);
\\copy $name FROM '$data/dense/$name.csv' WITH (FORMAT csv, HEADER true)
CREATE UNIQUE INDEX ON $name (id);
SQL
		}
		session_run($session, <<"SQL");
VACUUM (ANALYZE, FREEZE) colour, length, mass;
CREATE TABLE joined AS SELECT id, colour, length, mass
FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id) ORDER BY id;
CREATE UNIQUE INDEX ON joined (id);
VACUUM (ANALYZE, FREEZE) joined;
CREATE TABLE loaded ();
SQL
	}
	session_close($session);
	return;
}

# ---- sections -------------------------------------------------------------------

my $q_time;
my $chain = '(SELECT id, colour, length, mass FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id)) j';

sub section_dense
{
	wanted('dense', 'Q over dense ids') or return;
	make_heap_tables();
	my $rows = make_tables('dense', 'bigint');

	# the same answer first; sums of floats depend on the order, so not those
	my $check = 'SELECT count(*), count(colour), sum(length), sum(id), count(mass) FROM %s;';
	my ($ours, $theirs) = map { scalar run_once(sprintf($check, $_)) } 'dense', $chain;
	die "answers differ: $ours and $theirs\n" if $ours ne $theirs;

	my %t = measure(
		[ 'outerjoin_fdw', sprintf($q, 'dense') ],
		[ 'ceiling', sprintf($q, 'dense_ceiling') ],
		[ 'pre-joined heap table', sprintf($q, 'joined') ],
		[ 'FULL JOIN of heap tables', sprintf($q, $chain), 3 ]);
	print "    joins of the FULL JOIN: ",
	  join(', ', map { /(\w+ Full Join)/ ? $1 : () } run_once("EXPLAIN (COSTS OFF) " . sprintf($q, $chain) . ";")), "\n";
	$q_time = $t{outerjoin_fdw};
	printf "    per row: %.1f ns, ceiling %.1f ns\n", map { $t{$_} * 1e6 / $rows } 'outerjoin_fdw', 'ceiling';
	figure('Q / ceiling', $q_time / $t{ceiling}, ' x', most => 2.0);
	figure('FULL JOIN of indexed heap tables / Q', $t{'FULL JOIN of heap tables'} / $q_time, ' x', least => 12);
	figure('Q / scan of the pre-joined heap table', $q_time / $t{'pre-joined heap table'}, ' x');
	duckdb() if $peers{duckdb};
	return;
}

sub section_count
{
	wanted('count', 'count(*) over one file') or return;
	run_once(<<"SQL");
CREATE FOREIGN TABLE one (id bigint OPTIONS (key 'true'), colour text)
SERVER files OPTIONS (directory 'dense', header 'true', encoding 'UTF8');
CREATE FOREIGN TABLE one_file_fdw (id bigint, colour text)
SERVER whole_files OPTIONS (filename '$data/dense/colour.csv', format 'csv', header 'true', encoding 'UTF8');
SQL
	my %t = measure(
		[ 'outerjoin_fdw', 'SELECT count(*) FROM one' ],
		[ 'file_fdw', 'SELECT count(*) FROM one_file_fdw' ]);
	figure('count(*) of one file: file_fdw / ours', $t{file_fdw} / $t{outerjoin_fdw}, ' x', least => 3);
	return;
}

sub section_short
{
	wanted('short', 'LIMIT and a range of ids') or return;
	make_tables('dense', 'bigint') if run_once("SELECT to_regclass('dense') IS NULL;") eq 't';
	my ($last) = run_once('SELECT max(id) FROM dense;');
	my $a = int($last * 0.6);
	my $limit = 'SELECT * FROM dense ORDER BY id LIMIT 10';
	my @plan = run_once("EXPLAIN (COSTS OFF) $limit;");
	my $sorts = grep { /Sort/ } @plan;
	my %t = measure(
		[ 'ORDER BY id LIMIT 10', $limit ],
		[ '10,000 ids', sprintf($q, "dense WHERE id BETWEEN $a AND $a + 10000") ],
		[ 'Q', sprintf($q, 'dense') ]);
	figure('ORDER BY id LIMIT 10', $t{'ORDER BY id LIMIT 10'}, ' ms', most => 10);
	figure('   Sort nodes in its plan', $sorts, '', most => 0);
	figure('range of 10,000 ids, share of Q', 100 * $t{'10,000 ids'} / $t{Q}, ' %', most => 1);
	return;
}

sub make_wide_table
{
	my ($name, $n) = @_;
	my $list = join(', ', map { "c$_ int" } 1 .. $n);

	run_once("DROP FOREIGN TABLE IF EXISTS $name;");
	run_once(<<"SQL");
CREATE FOREIGN TABLE $name (id bigint OPTIONS (key 'true'), $list)
SERVER files OPTIONS (directory 'wide', header 'true', encoding 'UTF8');
SQL
	return 'SELECT count(*), ' . join(', ', map { "sum(c$_)" } 1 .. $n) . " FROM $name";
}

# Lines of the files less their headers
sub stream_rows
{
	my ($n) = @_;
	my $lines = 0;

	for my $i (1 .. $n)
	{
		open(my $file, '<', "$data/wide/c$i.csv") or die "$data/wide/c$i.csv: $!\n";
		$lines++ while <$file>;
		$lines--;
	}
	return $lines;
}

sub section_wide
{
	wanted('wide', 'N = 100 columns of int') or return;
	my %t = measure(
		[ 'N = 3', make_wide_table('wide3', 3) ],
		[ 'N = 100', make_wide_table('wide100', 100) ]);
	my %row = ('N = 3' => $t{'N = 3'} * 1e6 / stream_rows(3), 'N = 100' => $t{'N = 100'} * 1e6 / stream_rows(100));
	printf "    per stream row: N = 3 %.1f ns, N = 100 %.1f ns\n", @row{ 'N = 3', 'N = 100' };
	figure('time per stream row, N = 100 / N = 3', $row{'N = 100'} / $row{'N = 3'}, ' x', most => 1.5);
	return;
}

sub section_sparse
{
	my ($name, $title, $type, $collation, $query, $most) = @_;

	wanted($name, $title) or return;
	my $rows = make_tables($name, $type, $collation);
	my %t = measure(
		[ 'outerjoin_fdw', sprintf($query, $name) ],
		[ 'ceiling', sprintf($query, "${name}_ceiling") ]);
	printf "    per row: %.1f ns, ceiling %.1f ns\n", map { $t{$_} * 1e6 / $rows } 'outerjoin_fdw', 'ceiling';
	figure("$title: Q / ceiling", $t{outerjoin_fdw} / $t{ceiling}, ' x', defined $most ? (most => $most) : ());
	return;
}

# Megabytes by which a new backend's peak grows during one query.
sub peak_growth
{
	my ($query) = @_;
	my $session = session_open();
	my ($pid) = session_run($session, 'SELECT pg_backend_pid();');
	my $peak = sub {
		open(my $status, '<', "/proc/$pid/status") or die "/proc/$pid/status: $!\n";
		return (map { /^VmHWM:\s+(\d+) kB/ ? $1 : () } <$status>)[0];
	};
	my $before = $peak->();
	session_run($session, "$query;");
	my $after = $peak->();
	session_close($session);
	return ($after - $before) / 1024;
}

sub section_memory
{
	wanted('memory', 'Peak memory of the backend') or return;
	make_tables('dense', 'bigint') if run_once("SELECT to_regclass('dense') IS NULL;") eq 't';
	run_once("DROP FOREIGN TABLE IF EXISTS few;");
	run_once(sprintf("CREATE FOREIGN TABLE few ($columns) SERVER ceiling OPTIONS (rows '10');", 'bigint'));
	my $trivial = median(map { peak_growth(sprintf($q, 'few')) } 1 .. 3);
	my $growth  = median(map { peak_growth(sprintf($q, 'dense')) } 1 .. 3);
	my $wide    = make_wide_table('wide100', 100);
	my $growth_wide = median(map { peak_growth($wide) } 1 .. 3);
	printf "    ten rows of the ceiling %.1f MB, Q %.1f MB, N = 100 %.1f MB\n", $trivial, $growth, $growth_wide;
	figure('peak memory grows during Q by', $growth - $trivial, ' MB', most => 32);
	figure('peak memory grows during N = 100 by', $growth_wide - $trivial, ' MB', most => 128);
	return;
}

# Forget a folder's pages: dd's way to say POSIX_FADV_DONTNEED.
sub forget_pages
{
	my ($folder) = @_;
	for my $file (glob "$folder/*.csv")
	{
		system("dd if='$file' iflag=nocache count=0 2>/dev/null") == 0 or warn "$file: still in memory\n";
	}
	return;
}

sub section_cold
{
	wanted('cold', 'Q with a cold page cache') or return;
	my %times;

	# copies: pages that were read back are slower to copy from than pages that were written
	system("mkdir -p '$data/cold' && cp '$data'/dense/*.csv '$data/cold/' && sync") == 0 or die;
	for my $queue (0, 2)
	{
		run_once("DROP FOREIGN TABLE IF EXISTS cold$queue;");
		run_once(<<"SQL");
CREATE FOREIGN TABLE cold$queue (id bigint OPTIONS (key 'true'), colour text, length int, mass real)
SERVER files OPTIONS (directory 'cold', header 'true', encoding 'UTF8', queue '$queue');
SQL
	}
	my $session = session_open();
	for (1 .. 3)
	{
		for my $queue (0, 2)
		{
			forget_pages("$data/cold");
			my ($time) = session_time($session, sprintf($q, "cold$queue"));
			push @{ $times{$queue} }, $time;
		}
	}
	session_close($session);
	printf "    queue %d: %.0f ms\n", $_, median(@{ $times{$_} }) for 0, 2;
	figure('cold page cache: queue 0 / queue 2', median(@{ $times{0} }) / median(@{ $times{2} }), ' x');
	return;
}

# DuckDB on all cores over the same files, in turns with Q.
sub duckdb
{
	my $folder = "$ENV{BENCH_DIR}/duckdb";
	my (@ours, @theirs);

	if (!-d "$folder/node_modules/\@duckdb/node-api")
	{
		print "    installing \@duckdb/node-api with npm in $folder ...\n";
		mkdir $folder;
		if (system("cd '$folder' && npm install --silent --no-audit --no-fund \@duckdb/node-api >npm.log 2>&1") != 0)
		{
			print "    npm could not install it; see $folder/npm.log\n";
			return;
		}
	}
	system("cp '$FindBin::Bin/duckdb.mjs' '$folder/duckdb.mjs'") == 0 or die;
	my $pid = open2(my $out, my $in, 'node', "$folder/duckdb.mjs", "$data/dense");
	my $ask = sub {
		print {$in} "\n";
		$in->flush;
		my $line = readline($out);
		return if !defined $line;
		chomp $line;
		return split / /, $line, 2;
	};
	local $SIG{PIPE} = 'IGNORE';
	my ($version, $rows) = $ask->();
	if (!defined $version)
	{
		print "    DuckDB does not run here\n";
		return;
	}
	print "    DuckDB $version answers $rows\n";
	my $session = session_open();
	for (1 .. $runs)
	{
		my ($time) = $ask->();
		push @theirs, $time;
		($time) = session_time($session, sprintf($q, 'dense'));
		push @ours, $time;
	}
	session_close($session);
	close $in;
	waitpid($pid, 0);
	printf "    DuckDB %.1f ms, outerjoin_fdw %.1f ms\n", median(@theirs), median(@ours);
	figure('DuckDB on all cores / Q', median(@theirs) / median(@ours), ' x', least => 3);
	return;
}

# ---- all of it --------------------------------------------------------------------

sub print_setting
{
	my ($cpu) = map { /^model name\s*:\s*(.*)/ ? $1 : () } do { open(my $f, '<', '/proc/cpuinfo') or die; <$f> };
	chomp(my $cores = `nproc`);

	print "machine   ", $cpu // 'unknown processor', ", $cores cores\n";
	print "server    ", scalar run_once('SELECT version();'), "\n";
	print "settings  ", join(', ', map { "$_ = " . run_once("SHOW $_;") }
		qw(shared_buffers work_mem jit max_parallel_workers_per_gather)), "\n";
	print "data      $data, scale $scale; $runs runs in turns, medians\n";
	return;
}

sub print_table
{
	my @rows = ([ 'figure', 'measured', 'target', '' ], @table);
	my @width = map { my $i = $_; max map { length $_->[$i] } @rows } 0 .. 3;

	print "\n";
	printf "%-$width[0]s  %$width[1]s  %-$width[2]s  %s\n", @$_ for @rows;
	print "The targets are meant for BENCH_SCALE=1, not for $scale.\n" if $scale != 1;
	return;
}

$| = 1;
print_setting();
make_servers();
section_dense();
section_count();
section_short();
section_wide();
section_sparse('sparse', 'sparse bigint ids', 'bigint', undef, $q, 2.2);
section_sparse('sparse_shared', 'sparse bigint ids, shared by the files', 'bigint', undef, $q, undef);
section_sparse('uuid', 'uuid text ids', 'text', 'C', $q_text, 3.0);
section_sparse('uuid_shared', 'uuid text ids, shared by the files', 'text', 'C', $q_text, undef);
section_memory();
section_cold();
print_table();
