# A row that another session has changed in the meantime is looked at again:
# the join's row of the foreign table is the one that was read, and the
# clauses that its key range stands for still hold or do not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('concurrent_update');
$server->write_file('v.csv', join '', map { "$_,v$_\n" } 1 .. 10);
$server->write_file('w.csv', join '', map { "$_,w$_\n" } 5 .. 15);
$server->query(q{
	CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text, w text) SERVER files;
	CREATE TABLE r (id int, low int, n int);
});

my $one = $server->session;
my $two = $server->session;

# Session two waits for session one's row, then goes on with what it has become.
sub race
{
	my ($change, $sql) = @_;
	$server->query('TRUNCATE r; INSERT INTO r SELECT i, 1, 0 FROM generate_series(1, 12) i');
	$one->say("BEGIN; $change");
	$two->send($sql);
	$server->{node}->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = " . $two->pid)
	  or die 'session two does not wait';
	$one->say('COMMIT');
	my $out = $two->wait;
	unlike($out, qr/ERROR/, $sql);
	return $out;
}

for my $plan ('', 'SET enable_hashjoin = off', 'SET enable_hashjoin = off; SET enable_mergejoin = off')
{
	$two->say("RESET ALL; $plan");
	race('UPDATE r SET n = 100 WHERE id = 7', q{UPDATE r SET n = n + length(v || w) FROM f WHERE f.id = r.id AND f.id >= 6 AND v IS NOT NULL});
	is($server->query('SELECT n FROM r WHERE id = 7'), 104, 'the changed row is updated from the same foreign row');
	is($server->query('SELECT string_agg(id::text, $$,$$ ORDER BY id) FROM r WHERE n > 0'), '6,7,8,9,10', 'and the others');

	race('UPDATE r SET id = 20 WHERE id = 7', q{UPDATE r SET n = 1 FROM f WHERE f.id = r.id AND f.id >= 6});
	is($server->query('SELECT n FROM r WHERE id = 20'), 0, 'a row whose key has changed joins no more');

	race('UPDATE r SET low = 8 WHERE id = 7', q{UPDATE r SET n = 1 FROM f WHERE f.id = r.id AND f.id >= r.low AND f.id > 5});
	is($server->query('SELECT n FROM r WHERE id = 7'), 0, 'nor one that has changed in another clause');

	is(race('DELETE FROM r WHERE id = 7', q{SELECT r.id, v, w FROM r JOIN f ON f.id = r.id WHERE f.id BETWEEN 7 AND 8 FOR UPDATE OF r}),
		'8|v8|w8', 'a row that has gone is not locked');

	is(race('UPDATE r SET n = 5 WHERE id = 11', q{SELECT r.id, n, v, w FROM r LEFT JOIN f ON f.id = r.id AND f.id > 3 WHERE r.id >= 11 ORDER BY r.id FOR UPDATE OF r}),
		"11|5||w11\n12|0||w12", 'nor is an outer join forgotten');
}
$_->close for $one, $two;
$server->stop;
done_testing();
