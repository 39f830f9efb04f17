# What ends a parallel scan early leaves nothing behind: a cancel, a timeout,
# an error in one process, a worker that is killed, files that are replaced.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('parallel', conf => "max_worker_processes = 8\nmin_parallel_table_scan_size = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n");
my $files = $server->files;
my $rows = 1_000_000;
$server->query("COPY (SELECT i, 'value ' || i FROM generate_series(1, $rows) i) TO '$files/long.csv' (FORMAT csv)");
$server->query("COPY (SELECT i, CASE i WHEN $rows - 10 THEN 'x' ELSE i::text END FROM generate_series(1, $rows) i) TO '$files/bad.csv' (FORMAT csv)");
$server->query(q{
	CREATE FOREIGN TABLE long (id int OPTIONS (key 'true'), v text OPTIONS (filename 'long.csv')) SERVER files;
	CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), v int OPTIONS (filename 'bad.csv')) SERVER files;
	CREATE FUNCTION slow(i int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS
		'BEGIN IF i % 1000 = 1 THEN PERFORM pg_sleep(0.01); END IF; RETURN true; END';
});
like($server->query('EXPLAIN SELECT count(v) FROM long WHERE slow(id)'), qr/Parallel Foreign Scan/, 'the plan is parallel');

my $workers = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'";
my $s = $server->session;
my $long = 'SELECT count(v) FROM long WHERE slow(id)';

# Run a query until its workers do something.
sub start
{
	my ($sql) = @_;
	$s->send($sql);
	$server->{node}->poll_query_until('postgres', "SELECT count(*) = 2 AND bool_and(clock_timestamp() - query_start > interval '300 ms') FROM pg_stat_activity WHERE backend_type = 'parallel worker'")
	  or die 'no workers';
	return;
}

sub nothing_is_left
{
	my ($name) = @_;
	ok($server->{node}->poll_query_until('postgres', "SELECT NOT EXISTS ($workers HAVING count(*) > 0)"), "$name: no worker is left");
	is($s->descriptors($files), 0, "$name: no file is left open");
	is($s->say("SELECT count(*), count(v) FROM long"), "$rows|$rows", "$name: the session goes on");
	return;
}

start($long);
$server->query('SELECT pg_cancel_backend(' . $s->pid . ')');
like($s->wait, qr/canceling statement due to user request/, 'a cancel is obeyed');
nothing_is_left('a cancel');

start($long);
$server->query("SELECT pg_terminate_backend(min(pid)) FROM pg_stat_activity WHERE backend_type = 'parallel worker'");
like($s->wait, qr/due to administrator command/, 'a worker is killed');
nothing_is_left('a killed worker');

like($s->say("SET statement_timeout = '300ms';\n$long;\nRESET statement_timeout"), qr/canceling statement due to statement timeout/, 'a timeout is obeyed');
nothing_is_left('a timeout');

for my $leader ('on', 'off')
{
	like($s->say("SET parallel_leader_participation = $leader;\nSELECT count(v) FROM bad"),
		qr/invalid input syntax for type integer: "x"\nCONTEXT:  file "bad.csv", line 999990, column "v"/, "an error, with the leader $leader");
	nothing_is_left("an error, with the leader $leader");
}
$s->say('RESET parallel_leader_participation');
# an error that is caught: the transaction goes on
is($s->say("BEGIN;\nSAVEPOINT a;\nSELECT count(v) FROM bad;\nROLLBACK TO a;\nSELECT count(v) FROM long;\nCOMMIT") =~ s/.*(ERROR|CONTEXT|parallel).*\n//gr, $rows, 'a savepoint');
nothing_is_left('a savepoint');

# ranges of a file that changes while it is read
start($long);
open my $fh, '>>', "$files/long.csv" or die $!;
print $fh "1000001,more\n";
close $fh;
like($s->wait, qr/file "long.csv" changed while it was being read/, 'a file that grows');
$rows++;
nothing_is_left('a file that grows');
# one that is renamed over it is another one
system("cp '$files/long.csv' '$files/new.csv'") == 0 or die 'cp';
start($long);
rename "$files/new.csv", "$files/long.csv" or die $!;
is($s->wait, $rows, 'a file that is replaced while all read it');
nothing_is_left('a replaced file');

$s->close;
$server->stop;
done_testing();
