package Bench::Csv;

# The sections over CSV files.
use strict;
use warnings;
use Bench::Duckdb;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Bench::Wide;
use Exporter qw(import);

our @EXPORT = qw(csv_sections);

# [name, title, what it runs]
sub csv_sections
{
	return (
		[ 'dense', 'Q over dense ids', \&section_dense ],
		[ 'count', 'count(*) over one file', \&section_count ],
		[ 'short', 'LIMIT and a range of ids', \&section_short ],
		[ 'wide', 'N = 100 columns of int', \&section_wide ],
		sparse('sparse', 'sparse bigint ids', most => 2.2),
		sparse('sparse_shared', 'sparse bigint ids, shared by the files'),
		uuid('uuid', 'uuid text ids', most => 3.0),
		uuid('uuid_shared', 'uuid text ids, shared by the files'),
		[ 'memory', 'Peak memory of the backend', \&section_memory ],
		[ 'cold', 'Q with a cold page cache', \&section_cold ]);
}

sub section_dense
{
	my $chain = '(SELECT id, colour, length, mass '
	  . 'FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id)) j';

	make_heap_tables();
	make_table('dense', server => 'csv_files');
	my $rows = make_ceiling('dense');

	# the same answer first; sums of floats depend on the order, so not those
	my $check = 'SELECT count(*), count(colour), sum(length), sum(id), count(mass) FROM %s;';
	my ($ours, $theirs) = map { scalar run_once(sprintf($check, $_)) } 'dense', $chain;
	die "answers differ: $ours and $theirs\n" if $ours ne $theirs;

	my %t = measure(
		[ 'outerjoin_fdw', q_over('dense') ],
		[ 'ceiling', q_over('dense_ceiling') ],
		[ 'pre-joined heap table', q_over('joined') ],
		[ 'FULL JOIN of heap tables', q_over($chain), 3 ]);
	print "    joins of the FULL JOIN: ",
	  join(', ', map { /(\w+ Full Join)/ ? $1 : () } run_once('EXPLAIN (COSTS OFF) ' . q_over($chain) . ';')), "\n";
	print_per_row($rows, \%t, 'outerjoin_fdw', 'ceiling');
	figure('Q / ceiling', $t{outerjoin_fdw} / $t{ceiling}, ' x', most => 2.0);
	figure('FULL JOIN of indexed heap tables / Q', $t{'FULL JOIN of heap tables'} / $t{outerjoin_fdw}, ' x', least => 12);
	figure('Q / scan of the pre-joined heap table', $t{outerjoin_fdw} / $t{'pre-joined heap table'}, ' x');
	compare_duckdb('dense') if duckdb_wanted();
	return;
}

sub section_count
{
	my $file = data_folder() . '/dense/colour.csv';

	make_table('one', server => 'csv_files', folder => 'dense', columns => 'colour text');
	run_once(<<"SQL");
CREATE FOREIGN TABLE one_file_fdw (id bigint, colour text)
SERVER whole_files OPTIONS (filename '$file', format 'csv', header 'true', encoding 'UTF8');
SQL
	my %t = measure(
		[ 'outerjoin_fdw', 'SELECT count(*) FROM one' ],
		[ 'file_fdw', 'SELECT count(*) FROM one_file_fdw' ]);
	figure('count(*) of one file: file_fdw / ours', $t{file_fdw} / $t{outerjoin_fdw}, ' x', least => 3);
	return;
}

sub section_short
{
	my $limit = 'SELECT * FROM dense ORDER BY id LIMIT 10';
	my $last = 'SELECT * FROM dense ORDER BY id DESC LIMIT 10';

	make_table('dense', server => 'csv_files');
	my $sorts = grep { /Sort/ } run_once("EXPLAIN (COSTS OFF) $limit; EXPLAIN (COSTS OFF) $last;");
	my %t = measure(
		[ 'ORDER BY id LIMIT 10', $limit ],
		[ 'ORDER BY id DESC LIMIT 10', $last ],
		[ 'min(id), max(id)', 'SELECT min(id), max(id) FROM dense' ],
		[ '10,000 ids', range_of('dense', range_start('dense')) ],
		[ 'Q', q_over('dense') ]);
	figure('ORDER BY id LIMIT 10', $t{'ORDER BY id LIMIT 10'}, ' ms', most => 10);
	figure('ORDER BY id DESC LIMIT 10', $t{'ORDER BY id DESC LIMIT 10'}, ' ms', less => 5);
	figure('   Sort nodes in their plans', $sorts, '', most => 0);
	figure('min(id), max(id)', $t{'min(id), max(id)'}, ' ms', less => 5);
	figure('range of 10,000 ids, share of Q', 100 * $t{'10,000 ids'} / $t{Q}, ' %', most => 1);
	return;
}

sub section_wide
{
	my $ratio = wide_ratio('csv_files', 'wide');

	figure('time per stream row, N = 100 / N = 3', $ratio, ' x', most => 1.5);
	return;
}

sub sparse
{
	my ($name, $title, %target) = @_;
	return [ $name, "Q over $title", sub { section_sparse($name, $title, 'bigint', undef, \&q_over, %target) } ];
}

sub uuid
{
	my ($name, $title, %target) = @_;
	return [ $name, "Q over $title", sub { section_sparse($name, $title, 'text', 'C', \&q_over_text, %target) } ];
}

sub section_sparse
{
	my ($name, $title, $type, $collation, $q, %target) = @_;

	make_table($name, server => 'csv_files', type => $type, collation => $collation);
	my $rows = make_ceiling($name, $type);
	my %t = measure(
		[ 'outerjoin_fdw', $q->($name) ],
		[ 'ceiling', $q->("${name}_ceiling") ]);
	print_per_row($rows, \%t, 'outerjoin_fdw', 'ceiling');
	figure("$title: Q / ceiling", $t{outerjoin_fdw} / $t{ceiling}, ' x', %target);
	return;
}

sub section_memory
{
	make_table('dense', server => 'csv_files');
	make_few();
	my $few = peak_growth(q_over('few'));
	my $growth = peak_growth(q_over('dense'));
	my $growth_wide = peak_growth(make_wide_table('csv_files', 'wide', 100));
	printf "    ten rows of the ceiling %.1f MB, Q %.1f MB, N = 100 %.1f MB\n", $few, $growth, $growth_wide;
	figure('peak memory grows during Q by', $growth - $few, ' MB', most => 32);
	figure('peak memory grows during N = 100 by', $growth_wide - $few, ' MB', most => 128);
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
	my $data = data_folder();
	my %times;

	# copies: pages that were read back are slower to copy from than pages that were written
	system("mkdir -p '$data/cold' && cp '$data'/dense/*.csv '$data/cold/' && sync") == 0 or die;
	make_table("cold$_", server => 'csv_files', folder => 'cold', options => "queue '$_'") for 0, 2;
	my $session = session_open();
	for (1 .. 3)
	{
		for my $queue (0, 2)
		{
			forget_pages("$data/cold");
			push @{ $times{$queue} }, session_time($session, q_over("cold$queue"));
		}
	}
	session_close($session);
	printf "    queue %d: %.0f ms\n", $_, median(@{ $times{$_} }) for 0, 2;
	figure('cold page cache: queue 0 / queue 2', median(@{ $times{0} }) / median(@{ $times{2} }), ' x');
	return;
}

1;
