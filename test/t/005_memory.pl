# Memory is bounded: an input ten times as large needs no more of it.
#
# Peak resident memory is measured in a session of its own for each query;
# what it grows by between a file and one of ten times its size must stay
# under a bound that has nothing to do with either.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('memory', conf => "work_mem = '4MB'\nmax_parallel_workers_per_gather = 0\n");
my $files = $server->files;
my $bound = 2 * 1024;	# kB; ten times the rows are 900,000 more of them

for my $size ([ small => 100_000 ], [ large => 1_000_000 ])
{
	my ($name, $rows) = @$size;
	mkdir "$files/$name";
	mkdir "$files/$name/part";
	$server->query("COPY (SELECT i, 'value ' || md5(i::text) FROM generate_series(1, $rows) i) TO '$files/$name/a.csv' (FORMAT csv)");
	$server->query("COPY (SELECT i * 2, i FROM generate_series(1, $rows) i) TO '$files/$name/b.csv' (FORMAT csv)");
	$server->query("COPY (SELECT i::bigint * 7919 % 1000003, i FROM generate_series(1, $rows) i) TO '$files/$name/u.csv' (FORMAT csv)");
	$server->query("COPY (SELECT i / 10000, i FROM generate_series(1, $rows) i) TO '$files/$name/d.csv' (FORMAT csv)");
	$server->query("COPY (SELECT md5(i::text), i FROM generate_series(1, $rows) i ORDER BY md5(i::text) COLLATE \"C\") TO '$files/$name/t.csv' (FORMAT csv)");
	$server->query("COPY (SELECT i, i FROM generate_series(1, $rows) i WHERE i % 4 = $_) TO '$files/$name/part/$_.csv' (FORMAT csv)") for 0 .. 3;
	$server->query("COPY (SELECT i, i FROM generate_series(1, $rows) i) TO PROGRAM 'gzip -1 > $files/$name/g.csv.gz' (FORMAT csv)");
	$server->query(qq{
		CREATE FOREIGN TABLE ${name}_merge (id int OPTIONS (key 'true'), a text, b int) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_sort (id int OPTIONS (key 'true'), u int OPTIONS (sorted 'false')) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_first (id int OPTIONS (key 'true'), d int OPTIONS (duplicates 'first')) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_product (id int OPTIONS (key 'true'), d int) SERVER files OPTIONS (directory '$name', duplicates 'all');
		CREATE FOREIGN TABLE ${name}_text (id text OPTIONS (key 'true') COLLATE "C", t int) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_segments (id int OPTIONS (key 'true'), p int OPTIONS (filename 'part/')) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_gzip (id int OPTIONS (key 'true'), g int) SERVER files OPTIONS (directory '$name');
		CREATE FOREIGN TABLE ${name}_program (id int OPTIONS (key 'true'), g int OPTIONS (program 'seq 1 $rows | sed "s/\$/,1/"')) SERVER files;
	});
}

sub growth
{
	my ($sql) = @_;
	my $s = $server->session;
	# what any query needs
	$s->say('SELECT count(*), sum(length(i::text)) FROM generate_series(1, 1000) i');
	my $before = $s->peak_memory;
	my $out = $s->say($sql);
	BAIL_OUT($out) if $out =~ /ERROR/;
	my $after = $s->peak_memory;
	$s->close;
	return $after - $before;
}

for my $case (
	[ merge => 'SELECT count(*), count(a), sum(b), max(a) FROM %s' ],
	[ merge => 'SELECT count(*) FROM %s WHERE a IS NULL' ],
	[ sort => 'SELECT count(*), sum(u) FROM %s' ],
	[ first => 'SELECT count(*), sum(d) FROM %s' ],
	[ product => 'SELECT count(*), sum(d) FROM %s' ],
	[ text => 'SELECT count(*), sum(t) FROM %s' ],
	[ segments => 'SELECT count(*), sum(p) FROM %s' ],
	[ gzip => 'SELECT count(*), sum(g) FROM %s' ],
	[ program => 'SELECT count(*), sum(g) FROM %s' ],
	[ merge => 'SELECT count(*) FROM generate_series(1, 20) r, LATERAL (SELECT count(*) FROM %s WHERE id > r * 1000 AND id < r * 1000 + 10000) l' ])
{
	my ($table, $sql) = @$case;
	my $small = growth(sprintf $sql, "small_$table");
	my $large = growth(sprintf $sql, "large_$table");
	cmp_ok($large - $small, '<', $bound, "$table: ten times the rows, $small kB then $large kB: " . sprintf($sql, $table));
	cmp_ok($large, '<', 32 * 1024, "$table: less than 32 MB in all") if $table eq 'merge';
}

# The same scan many times over: rescans, plans, scans that end early or with
# an error, each ten times as often.
$server->write_file('tiny/a.csv', "1,a\n2,\"b\"\n3,c\n");
$server->write_file('tiny/t.csv', "a,1\nb,2\nc,3\n");
$server->write_file('tiny/bad.csv', "a,1\nb,2\nc,x\n");
$server->query(q{
	CREATE FOREIGN TABLE tiny (id int OPTIONS (key 'true'), a text, b text OPTIONS (filename 'b/')) SERVER files OPTIONS (directory 'tiny');
	CREATE FOREIGN TABLE tiny_sort (id int OPTIONS (key 'true'), a text) SERVER files OPTIONS (directory 'tiny', sorted 'false');
	CREATE FOREIGN TABLE tiny_text (id text OPTIONS (key 'true') COLLATE "C", t int) SERVER files OPTIONS (directory 'tiny');
	CREATE FOREIGN TABLE tiny_bad (id text OPTIONS (key 'true') COLLATE "C", bad int) SERVER files OPTIONS (directory 'tiny');
});
$server->write_file("tiny/b/$_.csv", "$_,x\n") for 1 .. 5;
for my $case (
	[ 'rescans' => 'SELECT sum(n) FROM generate_series(1, %s) r, LATERAL (SELECT count(*) AS n FROM tiny WHERE id >= r %% 6) l' ],
	[ 'rescans of a sort' => 'SELECT sum(n) FROM generate_series(1, %s) r, LATERAL (SELECT count(*) AS n FROM tiny_sort WHERE id >= r %% 6) l' ],
	[ 'rescans of texts, each ended early' => "SELECT count(n) FROM generate_series(1, %s) r, LATERAL (SELECT t AS n FROM tiny_text WHERE id >= chr(97 + r %% 2) LIMIT 1) l" ],
	[ 'plans' => q{DO $$ BEGIN FOR i IN 1 .. %s LOOP EXECUTE 'SELECT count(*), ' || i || ' FROM tiny WHERE id > 1'; END LOOP; END $$} ],
	[ 'errors' => q{DO $$ BEGIN FOR i IN 1 .. %s LOOP BEGIN PERFORM sum(bad) FROM tiny_bad; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$} ],
	[ 'cursors' => q{DO $$ DECLARE c refcursor; BEGIN FOR i IN 1 .. %s LOOP OPEN c FOR SELECT * FROM tiny; MOVE c; CLOSE c; END LOOP; END $$} ])
{
	my ($name, $sql) = @$case;
	my $few = growth(sprintf $sql, 500);
	my $many = growth(sprintf $sql, 5000);
	cmp_ok($many - $few, '<', 512, "$name: ten times as many, $few kB then $many kB");
}

# A hundred streams.
mkdir "$files/hundred";
$server->query(qq{DO \$\$ BEGIN FOR n IN 1 .. 100 LOOP
	EXECUTE format('COPY (SELECT i, i %% 1000 FROM generate_series(1, 20000) i WHERE (i * 7 + %s) %% 2 = 0) TO ''$files/hundred/c%s.csv'' (FORMAT csv)', n, n);
END LOOP; END \$\$});
$server->query("CREATE FOREIGN TABLE hundred (id int OPTIONS (key 'true'), " . join(', ', map { "c$_ int" } 1 .. 100) . ") SERVER files OPTIONS (directory 'hundred')");
my $grown = growth('SELECT count(*), ' . join(' + ', map { "sum(c$_)" } 1 .. 100) . ' FROM hundred');
cmp_ok($grown, '<', 128 * 1024, "100 streams: $grown kB");

# One value that is nearly as large as its file costs what it is, not more.
$server->write_file('huge.csv', "1,a\n2,\"" . ('x' x 20_000_000) . "\"\n3,c\n");
$server->query("CREATE FOREIGN TABLE huge (id int OPTIONS (key 'true'), v text OPTIONS (filename 'huge.csv')) SERVER files");
$grown = growth('SELECT sum(length(v)) FROM huge');
cmp_ok($grown, '<', 100 * 1024, "a value of 20 MB: $grown kB");
$server->stop;
done_testing();
