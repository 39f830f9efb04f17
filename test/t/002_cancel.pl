# A cancel is obeyed at once, wherever a scan is: merging, sorting, in a
# product of repeated keys, skipping to a range, waiting for a program.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('cancel');
my $files = $server->files;
my $rows = 3_000_000;
$server->query("COPY (SELECT i, 'value ' || i FROM generate_series(1, $rows) i) TO '$files/long.csv' (FORMAT csv)");
$server->query("COPY (SELECT $rows - i, 'value ' || i FROM generate_series(1, $rows) i) TO '$files/shuffled.csv' (FORMAT csv)");
$server->query("COPY (SELECT 1, i FROM generate_series(1, 30000) i) TO '$files/same.csv' (FORMAT csv)");
system("cd '$files' && gzip -1 -k long.csv") == 0 or die 'gzip';
$server->query(q{
	CREATE FOREIGN TABLE long (id int OPTIONS (key 'true'), v text OPTIONS (filename 'long.csv')) SERVER files;
	CREATE FOREIGN TABLE gz (id int OPTIONS (key 'true'), v text OPTIONS (filename 'long.csv.gz')) SERVER files;
	CREATE FOREIGN TABLE sorting (id int OPTIONS (key 'true'), v text OPTIONS (filename 'shuffled.csv', sorted 'false')) SERVER files;
	CREATE FOREIGN TABLE product (id int OPTIONS (key 'true'), a int OPTIONS (filename 'same.csv'), b int OPTIONS (filename './same.csv')) SERVER files OPTIONS (duplicates 'all');
	CREATE FOREIGN TABLE waiting (id int OPTIONS (key 'true'), v int OPTIONS (program 'echo 1,1; exec sleep 1000')) SERVER files;
	CREATE FOREIGN TABLE busy (id int OPTIONS (key 'true'), v int OPTIONS (program 'yes | cat -n | sed "s/^ *//;s/\t.*/,1/"', sorted 'false')) SERVER files;
});

my $s = $server->session;
for my $case (
	[ 'a scan' => 'SELECT count(v) FROM long x, generate_series(1, 100)' ],
	[ 'rescans' => 'SELECT sum(n) FROM generate_series(1, 1000) r, LATERAL (SELECT count(*) AS n FROM long WHERE id > r) l' ],
	[ 'a clause that nothing satisfies' => "SELECT count(*) FROM generate_series(1, 1000) r, LATERAL (SELECT FROM long WHERE v = 'none' || r OFFSET 0) l" ],
	[ 'decompression' => "SELECT count(*) FROM generate_series(1, 1000) r, LATERAL (SELECT FROM gz WHERE v = 'none' || r OFFSET 0) l" ],
	[ 'a sort' => 'SELECT count(v) FROM generate_series(1, 1000) r, LATERAL (SELECT v FROM sorting WHERE id > r OFFSET 0) l' ],
	[ 'a product of repeated keys' => 'SELECT count(*), sum(a), sum(b) FROM product' ],
	[ 'a program that is silent' => 'SELECT count(v) FROM waiting' ],
	[ 'a program without end' => 'SELECT count(v) FROM busy' ])
{
	my ($name, $sql) = @$case;
	$s->send($sql);
	# it runs, and has come some way
	$server->{node}->poll_query_until('postgres',
		"SELECT state = 'active' AND clock_timestamp() - query_start > interval '300 ms' FROM pg_stat_activity WHERE pid = " . $s->pid)
	  or die "$name: does not run";
	$server->query('SELECT pg_cancel_backend(' . $s->pid . ')');
	my $out = $s->wait;
	like($out, qr/canceling statement due to user request/, "$name is cancelled");
	is($s->descriptors($files), 0, "$name: no file is left open");
	# nor does it outlive a timeout, to end as if there were none
	is($s->say("SET statement_timeout = '50ms';\n$sql;\n\\echo :LAST_ERROR_SQLSTATE\nRESET statement_timeout") =~ s/.*ERROR.*\n//r, '57014', "$name ends with its time");
	is($s->descriptors($files), 0, "$name: no file is left open");
}
is($s->say('SELECT count(*), count(v) FROM long'), "$rows|$rows", 'the session goes on');
# no program outlives its scan
my $left = `pgrep -f 'sleep 1000' -P @{[ $s->pid ]} 2>/dev/null`;
is($left, '', 'no program is left');
$s->close;
$server->stop;
done_testing();
