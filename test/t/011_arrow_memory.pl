# Memory of a scan of Arrow files is bounded, whatever the files say that they
# hold: peak resident memory of a session of its own for each query grows by
# less than a bound that has nothing to do with what the rows come to.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinArrow;
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('arrow_memory', conf => "max_parallel_workers_per_gather = 0\nwork_mem = '4MB'\njit = off\n");
my $files = $server->files;

sub growth
{
	my ($sql) = @_;
	my $s = $server->session;
	# what any query needs
	$s->say('SELECT count(*), sum(length(i::text)), jsonb_agg(i) IS NULL FROM generate_series(1, 1000) i');
	my $before = $s->peak_memory;
	my $out = $s->say($sql);
	my $grown = $s->peak_memory - $before;
	$s->close;
	return ($grown, $out);
}

# ---- one record batch of ten million rows -----------------------------------

my $rows = 10_000_000;
$server->query("COPY (SELECT i AS id, i % 1000 AS v, 'text ' || i % 77777 AS t FROM generate_series(1, $rows) i) TO '$files/big.input' (FORMAT csv, HEADER)");
my $writer = OuterjoinArrow::program;
for my $codec (qw(none lz4 zstd))
{
	my ($grown, $out);

	system("'$writer' --codec $codec --batch 0 --fields id:int64,v:int32,t:utf8 <'$files/big.input' >'$files/big.arrow'") == 0 or die;
	$server->query("DROP FOREIGN TABLE IF EXISTS big; CREATE FOREIGN TABLE big (id bigint OPTIONS (key 'true'), v int OPTIONS (filename 'big.arrow'), t text OPTIONS (filename 'big.arrow')) SERVER files");
	($grown, $out) = growth('SELECT count(*), sum(v), max(t) FROM big');
	is($out, "$rows|" . (($rows / 1000) * (999 * 1000 / 2)) . '|text 9999', "$codec: a record batch of ten million rows");
	cmp_ok($grown, '<', 32 * 1024, "$codec: takes $grown kB");
	($grown, $out) = growth('SELECT sum(v) FROM big WHERE id > 9999990');
	is($out, 991 + 992 + 993 + 994 + 995 + 996 + 997 + 998 + 999, "$codec: its end");
	cmp_ok($grown, '<', 32 * 1024, "$codec: takes $grown kB");
}
unlink "$files/big.input", "$files/big.arrow";

# ---- rows that come to more than the file has --------------------------------

my $crafter = OuterjoinArrow::program('arrow_crafted');

sub crafted
{
	my ($case, $type) = @_;
	system("'$crafter' $case '$files/$case.arrows'") == 0 or die $case;
	$server->query("CREATE FOREIGN TABLE $case (id bigint OPTIONS (key 'true'), v $type OPTIONS (filename '$case.arrows')) SERVER files");
	return;
}

for my $case (
	# name, type, query, answer, MB
	[ 'null_entries', 'text', 'count(*), count(v)', '1000|0', 40 ],
	[ 'empty_structs', 'jsonb', 'count(*), sum(jsonb_array_length(v))', '100|10000000', 100 ],
	[ 'list_views', 'int[]', 'count(*), sum(cardinality(v)), min(v[100000])', '2000|200000000|99999', 16 ],
	[ 'string_views', 'text', 'count(*), sum(octet_length(v))', '2000|2000000000', 16 ],
	[ 'unions', 'jsonb', 'count(*), sum(length(v #>> array[]::text[]))', '1000|1000000000', 32 ],
	[ 'labels', 'jsonb', q{count(*), sum(pg_column_size(v) / 1000000), sum((v -> repeat('n', 1000000))::int)}, '1000|1000|499500', 32 ],
	# the file's 30 MB are three values
	[ 'large_runs', 'text', q{count(*), sum(octet_length(v)), count(*) FILTER (WHERE left(v, 2) = 'cc')}, '9000|90000000000|3000', 50 ],
	# a dictionary of 80 MB is held whole, 64 MB of it as values too
	[ 'large_entries', 'text', q{count(*), sum(octet_length(v)), count(*) FILTER (WHERE left(v, 1) = 'h')}, '8192|81920000000|1024', 220 ])
{
	my ($name, $type, $query, $answer, $bound) = @$case;
	crafted($name, $type);
	my ($grown, $out) = growth("SELECT $query FROM $name");
	is($out, $answer, "$name: read");
	cmp_ok($grown, '<', $bound * 1024, "$name: $grown kB");
}

my $plan = $server->query('EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT * FROM large_entries');
my ($dictionaries) = $plan =~ /dictionaries=(\d+)kB/;
cmp_ok($dictionaries // 0, '>=', 2 * 64 * 1024, 'EXPLAIN counts dictionaries, in the file\'s layout and as values');
cmp_ok($dictionaries // 0, '<', 170 * 1024, 'not more than they are');

# Across many windows of the merge a run's value is still one.
$server->write_file('odd.csv', join '', map { 2 * $_ - 1 . ",$_\n" } 1 .. 4500);
$server->query("CREATE FOREIGN TABLE runs_and_odd (id bigint OPTIONS (key 'true'), v text OPTIONS (filename 'large_runs.arrows'), odd int OPTIONS (filename 'odd.csv')) SERVER files");
my ($grown, $out) = growth("SET outerjoin_fdw.batch_rows = 1000; SELECT count(*), sum(octet_length(v)), count(odd) FROM runs_and_odd");
is($out, '9000|90000000000|4500', 'merged with another stream');
cmp_ok($grown, '<', 50 * 1024, "takes $grown kB");

($dictionaries) = $server->query('EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM large_entries') =~ /"Dictionary Memory": (\d+)/;
cmp_ok($dictionaries // 0, '>=', 2 * 64 * 1024, 'also in a structured format');

# A column's own width counts as well.
OuterjoinArrow::write_arrow("$files/padded.arrow", [ [ 'id', 'int64' ], [ 'v', 'utf8' ] ], [ map { [ $_, "v$_" ] } 1 .. 2000 ]);
$server->query("CREATE FOREIGN TABLE padded (id bigint OPTIONS (key 'true'), v char(1000000) OPTIONS (filename 'padded.arrow')) SERVER files");
($grown, $out) = growth('SELECT count(*), sum(octet_length(v)) FROM padded');
is($out, '2000|2000000000', 'char(1000000)');
cmp_ok($grown, '<', 16 * 1024, "takes $grown kB");

# ---- one value that is too large -------------------------------------------------

crafted('null_list', 'int[]');
($grown, $out) = growth('SELECT * FROM null_list');
like($out, qr/^ERROR:  a value in file "null_list\.arrows" is too large\nDETAIL:  Field "v": it has 1099511627776 elements\.\nCONTEXT:  file "null_list\.arrows", row 2, column "v"/m,
	'a list of 2^40 nulls is an error that names file and row');
cmp_ok($grown, '<', 16 * 1024, "takes $grown kB");

crafted('huge_dictionary', 'text');
($grown, $out) = growth('SELECT * FROM huge_dictionary');
like($out, qr/^ERROR:  a dictionary of file "huge_dictionary\.arrows" is too large\nDETAIL:  Field "v": another 439804651\d+ bytes/m,
	'a dictionary of 4 TB is an error that names the file');
cmp_ok($grown, '<', 16 * 1024, "takes $grown kB");
is((growth('SELECT count(*) FROM huge_dictionary'))[1], 10, 'but none where nobody asks for it');

# ---- a body of more than 4 GB ------------------------------------------------------

crafted('hole', 'bigint');
cmp_ok(-s "$files/hole.arrows", '>', 5 << 30, 'a record batch of 5 GB');
($grown, $out) = growth('SELECT count(*), sum(v), min(v), max(v), max(id) FROM hole');
is($out, join('|', 100010, 7 * 100010 * 100011 / 2, 7, 700070, 100010), 'is read, and the one behind it');
($grown, $out) = growth('SELECT v FROM hole WHERE id IN (1, 99999, 100003) ORDER BY id');
is($out, "7\n699993\n700021", 'and sought');
$server->stop;
done_testing();
