# What was learnt of an Arrow file is kept for the next query of the session:
# it reads less, and it never answers from a file that is no more.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinArrow;
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('arrow_index', conf => "max_parallel_workers_per_gather = 0\n");
my $files = $server->files;
my $nrows = 20_000;

# Ids first, first + 2, ...; the value says which file it is of.  The file is
# some minutes old unless "time" says otherwise.
sub write_file
{
	my ($name, %how) = @_;
	my $first = $how{first} // 1;
	my $mark = $how{mark} // 'a';
	my @rows = map { my $id = $first + 2 * $_; [ $how{text} ? sprintf('key %06d', $id) : $id, "$mark$id" ] } 0 .. $nrows - 1;
	OuterjoinArrow::write_arrow($how{path} // "$files/$name", [ [ 'id', $how{text} ? 'utf8' : 'int64' ], [ 'v', 'utf8' ] ],
		\@rows, '--batch', '100', @{ $how{options} // [] });
	my $time = $how{time} // time - 300;
	utime $time, $time, $how{path} // "$files/$name" or die;
	return;
}

sub table
{
	my ($name, $file, $type, $collate) = @_;
	$collate //= '';
	$server->query("CREATE FOREIGN TABLE $name (id $type OPTIONS (key 'true') $collate, v text OPTIONS (filename '$file')) SERVER files");
	return;
}

# Blocks that a query reads of the file, by EXPLAIN.
sub blocks
{
	my ($s, $sql) = @_;
	my $plan = $s->say("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) $sql");
	my ($blocks) = $plan =~ /blocks=(\d+)/ or die $plan;
	return $blocks;
}

# ---- less is read ------------------------------------------------------------

for my $case (
	[ 'file', 'bigint' ],
	[ 'stream', 'bigint', options => ['--stream'] ],
	[ 'lz4', 'bigint', options => [ '--codec', 'lz4' ] ],
	[ 'zstd', 'bigint', options => [ '--codec', 'zstd', '--stream' ] ],
	[ 'texts', 'text', text => 1 ],
	[ 'dictionary', 'bigint', options => [ '--dictionary', 'v' ] ])
{
	my ($name, $type, %how) = @$case;
	my $quote = $how{text} ? sub { sprintf "'key %06d'", @_ } : sub { $_[0] };
	write_file("$name.arrow", %how);
	table($name, "$name.arrow", $type, $how{text} ? 'COLLATE "C"' : '');
	my $s = $server->session;
	my $point = "SELECT v FROM $name WHERE id = " . $quote->(12345);
	my $range = "SELECT count(*), min(v), max(v) FROM $name WHERE id BETWEEN " . $quote->(20001) . ' AND ' . $quote->(21000);
	my $first = blocks($s, $point);
	my $second = blocks($s, $point);
	my $first_range = blocks($s, $range);
	my $second_range = blocks($s, $range);
	cmp_ok($second, '<=', $first - 7, "$name: a point is looked up with $first blocks, then with $second");
	# the batch's description, and of keys and values lengths, offsets and bytes
	cmp_ok($second, '<=', 12, "$name: no more than the record batch's");
	cmp_ok($second_range, '<', $first_range, "$name: a range is read with $first_range blocks, then with $second_range");
	is($s->say($point), 'a12345', "$name: the point");
	is($s->say($range), '500|a20001|a20999', "$name: the range");
	my $ends = join ', ', map { "(SELECT v FROM $name WHERE id = " . $quote->($_) . ')' } 1, 2, 199, 201, 2 * $nrows - 1, 2 * $nrows + 1;
	is($s->say("SELECT $ends"), 'a1||a199|a201|a39999|', "$name: points at the ends of record batches");
	is($s->say("SELECT count(*) FROM $name"), $nrows, "$name: everything");
	$s->close;
}

# ---- what the planner knows --------------------------------------------------------

for my $case (
	[ 'file' ],
	[ 'stream', options => ['--stream'] ],
	[ 'lz4', options => [ '--codec', 'lz4' ] ],
	[ 'zstd', options => [ '--codec', 'zstd', '--stream' ] ],
	[ 'one', options => [ '--batch', '0' ] ],
	[ 'one_lz4', 'cannot be sought', options => [ '--batch', '0', '--codec', 'lz4' ] ],
	[ 'ends', options => [ '--batch', "0,$nrows,0", '--stream' ] ])
{
	my ($name, @rest) = @$case;
	my $sought = @rest % 2 ? shift @rest : undef;
	my %how = @rest;
	write_file("plan_$name.arrow", %how);
	table("plan_$name", "plan_$name.arrow", 'bigint');
	my ($rows) = $server->query("EXPLAIN SELECT * FROM plan_$name") =~ /rows=(\d+)/;
	is($rows, $nrows, "$name: the number of rows is known");
	# a quarter of the keys' range, and none of it
	($rows) = $server->query("EXPLAIN SELECT * FROM plan_$name WHERE id < 10001") =~ /rows=(\d+)/;
	cmp_ok(abs($rows - $nrows / 4), '<', 5, "$name: the first and the last key are known");
	my $plan = $server->query("EXPLAIN SELECT * FROM plan_$name WHERE id > 5");
	is($plan =~ /cannot be sought/ ? 'cannot be sought' : undef, $sought, "$name: " . ($sought // 'can be sought'));
}

# ---- another file ------------------------------------------------------------------

write_file('changing.arrow');
table('changing', 'changing.arrow', 'bigint');
my $s = $server->session;
my $point = 'SELECT v FROM changing WHERE id = 30001';
my $blocks = blocks($s, $point);
is($s->say($point), 'a30001', 'before a change');
my $other = $server->session;
is($other->say("BEGIN; DECLARE c CURSOR FOR SELECT id, v FROM changing WHERE id > 30000; FETCH c"), '30001|a30001', 'a cursor on it');

write_file('changing.arrow', path => "$files/new.arrow", mark => 'b', first => 20001);
rename "$files/new.arrow", "$files/changing.arrow" or die;
is($s->say($point), 'b30001', 'a file that was renamed over it');
is($s->say('SELECT min(id) FROM changing WHERE id >= 1'), '20001', 'from its beginning');
is($other->say('FETCH c'), '30003|a30003', 'the cursor reads the old one');
is($other->say($point), 'b30001', 'but another query of the same session does not');
is($other->say('FETCH c; COMMIT'), '30005|a30005', 'and goes on');
$other->close;

write_file('changing.arrow', mark => 'c', first => 10001, time => time - 200);
is($s->say($point), 'c30001', 'a file that was written again in its place, at another time');
write_file('changing.arrow', options => ['--stream'], mark => 'd', first => 29999, time => time - 100);
is($s->say($point), 'd30001', 'likewise, and a stream now');
is($s->say('SELECT count(*) FROM changing WHERE id < 30001'), '1', 'of which all is known');

# Changes that do not show: the same size, the same time; but it is not long ago.
my $now = time;
my @answers;
for my $mark (qw(e f g))
{
	write_file('changing.arrow', mark => $mark, first => ord($mark) * 100 + 1, time => $now);
	push @answers, $s->say('SELECT v FROM changing WHERE id = ' . (ord($mark) * 100 + 20001));
}
SKIP:
{
	skip 'the machine is too slow', 1 if time - $now > 2;
	is(join(' ', @answers), 'e30101 f30201 g30301', 'files that were changed just now are read again');
}
$s->close;

# What a session's settings make of a file is not kept.
OuterjoinArrow::write_arrow("$files/moments.arrow", [ [ 'id', 'utf8' ], [ 'v', 'utf8' ] ],
	[ map { [ sprintf('2024-01-%02d 12:00', $_), "v$_" ] } 1 .. 31 ], '--batch', '2');
utime time - 300, time - 300, "$files/moments.arrow";
table('moments', 'moments.arrow', 'timestamptz');
$s = $server->session;
is($s->say("SET timezone = 'UTC'; SELECT v FROM moments WHERE id = '2024-01-15 12:00Z'"), 'v15', 'a time zone');
is($s->say("SET timezone = 'Pacific/Auckland'; SELECT v FROM moments WHERE id = '2024-01-14 23:00Z'"), 'v15', 'another one');
is($s->say("SET timezone = 'Pacific/Honolulu'; SELECT v FROM moments WHERE id = '2024-01-15 22:00Z'"), 'v15', 'and a third');
$s->close;

# ---- memory ----------------------------------------------------------------------------

mkdir "$files/many";
write_file('many/1.arrow', options => [ '--batch', '10' ]);
for my $n (2 .. 200)
{
	system("cp -p '$files/many/1.arrow' '$files/many/$n.arrow'") == 0 or die;
}
$server->query('CREATE FOREIGN TABLE ' . "many$_ (id bigint OPTIONS (key 'true'), v text OPTIONS (filename 'many/$_.arrow')) SERVER files") for 1 .. 200;
$s = $server->session;
$s->say(join '; ', map { "SELECT v FROM many$_ WHERE id = 777" } 1 .. 20);
my $before = $s->peak_memory;
$s->say(join '; ', map { "SELECT v FROM many$_ WHERE id = 777" } 21 .. 200);
my $grown = $s->peak_memory - $before;
cmp_ok($grown, '<', 24 * 1024, "180 files of 2000 record batches: $grown kB");
is($s->say(join '; ', map { "SELECT v FROM many$_ WHERE id = 777" } 1, 100, 200), "a777\na777\na777", 'they are read right');
$s->close;

$server->stop;
done_testing();
