# What is no regular file is an error at once: a FIFO without a writer, a
# device, a socket, a folder never make a scan hang, and neither does a link
# to one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use IO::Socket::UNIX;
use POSIX qw(mkfifo);
use Test::More;

my $server = OuterjoinTest->new('no_regular_file');
my $dir = $server->files;
mkfifo("$dir/fifo.csv", 0666) or die $!;
mkdir "$dir/folder.csv" or die $!;
symlink 'fifo.csv', "$dir/link_to_fifo.csv" or die $!;
symlink '/dev/zero', "$dir/link_to_device.csv" or die $!;
symlink 'link_to_itself.csv', "$dir/link_to_itself.csv" or die $!;
mkdir "$dir/mixed" or die $!;
mkfifo("$dir/mixed/b.csv", 0666) or die $!;
$server->write_file('mixed/a.csv', "1,a\n");
chdir $dir;	# a socket's path is short
my $socket = IO::Socket::UNIX->new(Local => 'socket.csv', Listen => 1) or die $!;

my $s = $server->session;
$s->say("SET statement_timeout = '10s'");
for my $name ('fifo.csv', 'folder.csv', 'socket.csv', 'link_to_fifo.csv', 'link_to_device.csv', 'link_to_itself.csv', '/dev/zero', '/dev/tty', '/dev/stdin', "$dir/fifo.csv")
{
	$s->say("DROP FOREIGN TABLE IF EXISTS f; CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text OPTIONS (filename '$name', format 'csv')) SERVER files");
	for my $sql ('SELECT * FROM f', 'EXPLAIN SELECT * FROM f', 'ANALYZE f')
	{
		my $out = $s->say($sql);
		unlike($out, qr/timeout|server closed/, "$name: $sql does not hang");
		like($out, qr/ERROR/, "$name: $sql is an error") if $sql =~ /^SELECT/;
	}
}
# one of a folder's
$s->say("DROP FOREIGN TABLE IF EXISTS f; CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text OPTIONS (filename 'mixed/')) SERVER files");
my $out = $s->say('SELECT * FROM f');
unlike($out, qr/timeout/, 'a FIFO in a folder does not hang');
is($s->say('SELECT 1'), '1', 'the session goes on');
$s->close;
$server->stop;
done_testing();
