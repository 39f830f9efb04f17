# File descriptors: any number of files under "ulimit -n 256", and none left
# open after an error, a cancel, a LIMIT or a closed cursor.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

# the server, started below, inherits this
system('prlimit', '--nofile=256:256', '--pid', $$) == 0 or die 'prlimit';
my $server = OuterjoinTest->new('descriptors');
my $files = $server->files;

# 1,500 columns, each a file of its own: c_n holds n under the ids 1 and n + 1.
$server->write_file("columns/c$_.csv", "1,$_\n" . ($_ + 1) . ",$_\n") for 1 .. 1500;
$server->query('CREATE FOREIGN TABLE columns (id int OPTIONS (key \'true\'), '
	  . join(', ', map { "c$_ int" } 1 .. 1500) . ") SERVER files OPTIONS (directory 'columns')");
# 5,000 segments: interleaved in the first folder, one after the other in the
# second.
for my $n (1 .. 5000)
{
	$server->write_file(sprintf('interleaved/%04d.csv', $n), "$n,$n\n" . ($n + 5000) . ",$n\n");
	$server->write_file(sprintf('disjoint/%04d.csv', $n), 2 * $n . ",$n\n" . (2 * $n + 1) . ",$n\n");
}
$server->query(q{CREATE FOREIGN TABLE segments (id int OPTIONS (key 'true'),
	i int OPTIONS (filename 'interleaved/'), d int OPTIONS (filename 'disjoint/')) SERVER files});

my $s = $server->session;
$s->say('SELECT 1');
is($s->say('SHOW max_files_per_process'), '1000', 'the server knows nothing of the limit');
my $sums = join ' + ', map { "sum(c$_)" } 1 .. 1500;
is($s->say("SELECT count(*), $sums FROM columns"), '1501|' . 1500 * 1501, '1,500 columns');
is($s->descriptors($files), 0, 'no file is left open');
is($s->say('SELECT count(*), count(i), sum(i), count(d), sum(d) FROM segments'),
	join('|', 10001, 10000, 2 * 12502500, 10000, 2 * 12502500), '5,000 segments, twice');
is($s->descriptors($files), 0, 'no file is left open');
is($s->say('SELECT i, d FROM segments WHERE id = 9999'), '4999|4999', 'a range of them');
is($s->say('SELECT count(*) FROM segments x JOIN segments y USING (id) JOIN columns z USING (id)'), '1501', 'several scans at once');
is($s->descriptors($files), 0, 'no file is left open');

# LIMIT, a cursor that is not read to the end, an error on the way.
is($s->say('SELECT id, c1500 FROM columns LIMIT 1'), '1|1500', 'LIMIT');
is($s->descriptors($files), 0, 'none after LIMIT');
is($s->say('BEGIN; DECLARE c CURSOR FOR SELECT id, c1 FROM columns; FETCH 1 FROM c'), '1|1', 'a cursor');
cmp_ok($s->descriptors($files), '<', 200, 'an open cursor leaves descriptors for others');
$s->say('CLOSE c; COMMIT');
is($s->descriptors($files), 0, 'none after CLOSE');
$s->say('BEGIN; DECLARE c CURSOR FOR SELECT id, c1 FROM columns; FETCH 1 FROM c; ROLLBACK');
is($s->descriptors($files), 0, 'none after ROLLBACK');
like($s->say('SELECT 1 / (id - 1) FROM columns'), qr/division by zero/, 'an error of the query');
is($s->descriptors($files), 0, 'none after it');
$server->write_file('columns/c777.csv', "1,777\nnot a row\n");
like($s->say('SELECT count(c777) FROM columns'), qr/c777\.csv/, 'an error in a file');
is($s->descriptors($files), 0, 'none after it');
$s->say(q{DO $$ BEGIN FOR i IN 1 .. 300 LOOP BEGIN PERFORM count(c777) FROM columns; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$})
  if $ENV{OUTERJOIN_SLOW};
unlink $server->path('columns/c778.csv');
like($s->say('SELECT sum(c778) FROM columns'), qr/c778/, 'a file that is not there');
is($s->descriptors($files), 0, 'none after it');
# in a subtransaction, while another scan goes on
is( $s->say(q{BEGIN; DECLARE c CURSOR FOR SELECT id, i FROM segments ORDER BY id; FETCH 1 FROM c; SAVEPOINT p; SELECT sum(c778) FROM columns; ROLLBACK TO p; FETCH 1 FROM c; COMMIT;}) =~ s/^(?:ERROR|LINE|DETAIL|HINT|CONTEXT|psql).*\n?//mgr,
	"1|1\n2|2", 'an outer scan survives an inner one that fails');
is($s->descriptors($files), 0, 'none is left open');

# A file that had to be closed for a while must be the same when it is opened
# again: not one that was renamed over it, has grown, or is gone.
for my $case (
	[ 'renamed over' => sub { my ($path) = @_; $server->write_file('new.csv', "8000,0\n8001,0\n"); rename $server->path('new.csv'), $path } ],
	[ 'grown' => sub { my ($path) = @_; open my $fh, '>>', $path; print $fh "\n"; close $fh } ],
	[ 'removed' => sub { my ($path) = @_; unlink $path } ])
{
	my ($name, $change) = @$case;
	$server->write_file('disjoint/4000.csv', "8000,4000\n8001,4000\n");
	$s->say('BEGIN; DECLARE c CURSOR FOR SELECT id, d FROM segments; FETCH 1 FROM c');
	$change->($server->path('disjoint/4000.csv'));
	like($s->say('MOVE FORWARD ALL IN c'), qr/ERROR:.*disjoint\/4000\.csv/, "a closed file $name: an error with its name");
	$s->say('ROLLBACK');
	is($s->descriptors($files), 0, 'none is left open');
}
$server->write_file('disjoint/4000.csv', "8000,4000\n8001,4000\n");

# The same files are read by other backends at the same time, and regular
# tables still have descriptors while many files are open.
$s->say('BEGIN; DECLARE c CURSOR FOR SELECT * FROM segments; FETCH 10 FROM c');
is( $s->say(q{DO $$ BEGIN FOR i IN 1 .. 60 LOOP EXECUTE format('CREATE TABLE regular%s AS SELECT 1 AS x', i); END LOOP; END $$; SELECT count(*) FROM pg_class WHERE relname LIKE 'regular%'}),
	'60', 'regular tables beside them');
$s->say('COMMIT');
$s->close;
$server->stop;
done_testing();
