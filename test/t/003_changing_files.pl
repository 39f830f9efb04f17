# Files that change under an open scan: renamed over, the scan reads what it
# opened; cut, grown or rewritten in place, it ends with an error and never
# takes a byte past the end for data.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $server = OuterjoinTest->new('changing');
my $rows = 200_000;
my $content = join '', map { "$_,value $_\n" } 1 .. $rows;
my $s = $server->session;
$server->query(q{CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;
	CREATE FOREIGN TABLE z (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv.gz')) SERVER files;});

sub open_cursor
{
	my ($table) = @_;
	is($s->say("BEGIN; DECLARE c CURSOR FOR SELECT id FROM $table; FETCH 2 FROM c"), "1\n2", "$table: a cursor is open");
	return;
}

sub rest
{
	my $out = $s->say('SELECT count(*) FROM (SELECT 1) x; MOVE FORWARD ALL IN c; COMMIT');
	return $out;
}

# renamed over
$server->write_file('v.csv', $content);
open_cursor('f');
$server->write_file('new.csv', "7,new\n");
rename $server->path('new.csv'), $server->path('v.csv') or die $!;
unlike($s->say('FETCH FORWARD ALL FROM c'), qr/ERROR/, 'a file renamed over: the old one is read');
is($s->say('SELECT id, v FROM f'), '7|new', 'and the new one by the next scan');
$s->say('COMMIT');

# removed
$server->write_file('v.csv', $content);
open_cursor('f');
unlink $server->path('v.csv');
my $out = $s->say('FETCH FORWARD ALL FROM c');
is(scalar(split /\n/, $out), $rows - 2, 'a file removed: it is read to its end');
$s->say('COMMIT');

# cut, in the middle of a line and at a line's end
for my $cut (0, 100_001, index($content, "\n", 1_000_000) + 1)
{
	$server->write_file('v.csv', $content);
	open_cursor('f');
	truncate $server->path('v.csv'), $cut or die $!;
	like($s->say('FETCH FORWARD ALL FROM c'), qr/ERROR:.*v\.csv/s, "cut to $cut bytes: an error with the file's name");
	$s->say('ROLLBACK');
}

# grown
$server->write_file('v.csv', $content);
open_cursor('f');
open my $fh, '>>', $server->path('v.csv') or die $!;
print $fh "300000,more\n";
close $fh;
like($s->say('FETCH FORWARD ALL FROM c'), qr/ERROR:.*v\.csv/s, 'grown: an error with the file\'s name');
$s->say('ROLLBACK');
is($s->say('SELECT count(*) FROM f'), $rows + 1, 'the next scan reads it');

# rewritten in place, with the same size
$server->write_file('v.csv', $content);
utime 1_000_000_000, 1_000_000_000, $server->path('v.csv');
open_cursor('f');
open $fh, '+<', $server->path('v.csv') or die $!;
seek $fh, 3_000_000, 0;
print $fh 'x' x 100;
close $fh;
like($s->say('FETCH FORWARD ALL FROM c'), qr/ERROR:.*v\.csv/s, 'rewritten: an error with the file\'s name');
$s->say('ROLLBACK');

# a compressed one
$server->write_file('plain', $content);
system('gzip -c ' . $server->path('plain') . ' > ' . $server->path('v.csv.gz')) == 0 or die;
open_cursor('z');
truncate $server->path('v.csv.gz'), 200_000 or die $!;
like($s->say('FETCH FORWARD ALL FROM c'), qr/ERROR:.*v\.csv\.gz/s, 'a compressed file cut: an error');
$s->say('ROLLBACK');
is($s->descriptors($server->files), 0, 'no file is left open');
is($s->say('SELECT 1'), '1', 'the server is alive');
$s->close;
$server->stop;
done_testing();
