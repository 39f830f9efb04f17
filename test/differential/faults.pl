# Where a fault is: random files with one fault each, and the error that must
# be reported: its SQLSTATE, the file, the line and the row.
#
# Lines are counted here, in the bytes that were written; the scan reads them
# in random blocks and batches, from the top or from where a range begins.
#
#   OUTERJOIN_SEED     the first round's seed (1); "random": another each time; printed
#   OUTERJOIN_ROUNDS   rounds; round r uses seed + r
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $seed   = $ENV{OUTERJOIN_SEED}   // 1;
$seed = int(rand(1_000_000_000)) if $seed eq 'random';
my $rounds = $ENV{OUTERJOIN_ROUNDS} // 15;
my $cases  = 20;	# in each round

my $server;

sub chance { return rand() < $_[0] }
sub pick   { return $_[ int(rand(@_)) ] }
sub between { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }

# ---- files ----------------------------------------------------------------

sub value_text
{
	my ($d) = @_;
	my $text = pick('v', 'value', 'x' x between(0, 60), "gr\xc3\xbcn", 'y' x pick(0, 0, 500));
	return $text if !$d->{csv} || !chance($d->{quotes});
	$text .= pick(',', '""', '', $d->{multiline} ? $d->{eol} : '', $d->{multiline} ? $d->{eol} x 3 : '');
	return "\"$text\"";
}

# Each fault: what it does to the row's fields (id, number, text) or to its
# line, and the error.
my %fault = (
	'a bad key' => { state => '22P02', column => 'id', do => sub { $_[0][0] = 'x' } },
	'a key out of range' => { state => '22003', column => 'id', do => sub { $_[0][0] = '99999999999' } },
	'a null key' => { state => '23502', column => 'id', do => sub { $_[0][0] = $_[1]{null} } },
	'a bad number' => { state => '22P02', column => 'n', do => sub { $_[0][1] = '1x' } },
	'a number out of range' => { state => '22003', column => 'n', do => sub { $_[0][1] = '40000' } },
	'a field less' => { state => '22P04', counted => 1, do => sub { pop @{ $_[0] } } },
	'a field more' => { state => '22P04', counted => 1, do => sub { push @{ $_[0] }, 'more' } },
	'an invalid character' => { state => '22021', do => sub { $_[0][2] = "a\xc3(b" } },
	'a cut character' => { state => '22021', do => sub { $_[0][2] = "a\xe6\x97" } },
	'a zero byte' => { state => '22021', do => sub { $_[0][2] = "a\0b" } },
	'blank lines' => { state => '22P04', counted => 1, line => sub { my ($line, $d) = @_; return ($d->{eol} x between(1, pick(1, 3, 300))) . $line } },
	'a stray line end' => { state => '22P04', not_first => 1, line => sub { my ($line, $d) = @_; my $stray = $d->{eol} eq "\n" ? "\r" : $d->{eol} eq "\r" ? "\n" : pick("\r", "\n"); return $line =~ s/,/$stray,/r } },
	'a key out of order' => { state => '22000', order => 1, not_first => 1, do => sub { $_[0][0] = $_[2] - 1 } },
	'a key again' => { state => '23505', order => 1, not_first => 1, do => sub { $_[0][0] = $_[2] } });

sub make_case
{
	my ($number) = @_;
	my %d = (csv => chance(0.6), quotes => pick(0, 0.1, 0.5), multiline => chance(0.3), eol => pick("\n", "\n", "\r\n", "\r"));
	$d{null} = $d{csv} ? '' : '\N';
	my $name = pick(sort keys %fault);
	my $f = $fault{$name};
	my %c = (number => $number, name => $name, fault => $f);
	my $n = between(1, pick(5, 100, 3000));
	my $header = chance(0.3);
	# the first line says how many fields there are
	my $first = $f->{not_first} || ($f->{counted} && !$header) ? 1 : 0;
	$n = $first + 1 if $n <= $first;
	my $at = between($first, $n - 1);
	my $skip = chance(0.2) ? between(1, 2) : 0;
	my $content = "skip \"this$d{eol}" x $skip;
	$content .= "id,n,t$d{eol}" if $header;
	my $key = between(-1000, 0);
	my $before = $key;
	for my $i (0 .. $n - 1)
	{
		$key += between(1, 3) + ($i == $at ? 5 : 0);
		my @fields = ($key, between(-99, 99), value_text(\%d));
		$c{row} = $i + 1 if $i == $at;
		if ($i == $at)
		{
			$c{key} = $key;
			my $lines = () = $content =~ /\Q$d{eol}\E/g;
			$c{line} = $lines + 1;
			$f->{do}->(\@fields, \%d, $before) if $f->{do};
		}
		my $line = join(',', @fields) . $d{eol};
		$line = $f->{line}->($line, \%d) if $i == $at && $f->{line};
		$content .= $line;
		$before = $key;
	}
	my $file = "c$number." . ($d{csv} ? 'csv' : 'tab');
	my $compression = chance(0.15) ? '.gz' : '';
	$c{file} = "$file$compression";
	$server->write_file($file, $content);
	system('gzip', '-f', $server->path($file)) == 0 or die 'gzip' if $compression;
	my $unsorted = !$f->{order} && chance(0.1);
	my %o = (header => $header ? 'true' : 'false', skip => $skip, delimiter => ',');
	$o{multiline} = $d{multiline} && $d{csv} ? 'true' : 'false' if chance(0.3);
	$o{sorted} = 'false' if $unsorted;
	my $options = join ', ', map { "$_ '$o{$_}'" } sort keys %o;
	$c{sql} = "CREATE FOREIGN TABLE f$number (id int OPTIONS (key 'true'), n int2 OPTIONS (filename '$c{file}', field '2'), t text OPTIONS (filename '$c{file}', field '3')) SERVER files OPTIONS ($options);";
	# all of it, or from a key at or before the fault's
	my $low = $c{key} - between(0, pick(0, 10, 5000));
	$c{query} = "SELECT * FROM f$number" . (chance(0.5) && !$f->{order} && ($f->{column} // '') ne 'id' ? " WHERE id >= $low" : '');
	return \%c;
}

sub run_round
{
	my ($round_seed) = @_;
	srand($round_seed);
	my @cases = map { make_case($_) } 1 .. $cases;
	my @script = '\set VERBOSITY verbose';
	for my $c (@cases)
	{
		$c->{settings} = [ 'outerjoin_fdw.batch_rows = ' . pick(0, 0, 1, 2, 7, 100), 'outerjoin_fdw.block_size = ' . pick(0, 0, 64, 1000, 10000), 'outerjoin_fdw.simd = ' . pick('on', 'off') ];
		push @script, "DROP FOREIGN TABLE IF EXISTS f$c->{number};", $c->{sql}, (map { "SET $_;" } @{ $c->{settings} }), "\\warn '\@\@$c->{number}'", "$c->{query};", '\warn @@';
	}
	my ($out, $err) = ('', '');
	my $script = join "\n", @script, '';
	IPC::Run::run([ 'psql', '-XAtq', '-d', $server->{node}->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	my %error = $err =~ /^\@\@(\d+)\n(.*?)(?=^\@\@)/gms;
	my @complaints;
	for my $c (@cases)
	{
		my $said = $error{ $c->{number} } // 'nothing';
		my $f = $c->{fault};
		my $place = $f->{order} ? qr/file "\Q$c->{file}\E", row $c->{row}, line $c->{line}\b/ : $f->{column} ? qr/file "\Q$c->{file}\E", line $c->{line}, column "$f->{column}"/ : qr/file "\Q$c->{file}\E", line $c->{line}\b(?!,)/;
		next if $said =~ /^(?:psql:\S+ )?ERROR:  $f->{state}: / && $said =~ $place;
		push @complaints, "$c->{name}: $f->{state} in \"$c->{file}\", row $c->{row}, line $c->{line}", "  $c->{sql}", '  ' . join('; ', @{ $c->{settings} }) . "; $c->{query};", "  said: $said";
		system('cp', $server->path($c->{file}), $ENV{OUTERJOIN_KEEP}) if $ENV{OUTERJOIN_KEEP};
	}
	ok(!@complaints, "seed $round_seed: $cases faults") or diag(join "\n", "OUTERJOIN_SEED=$round_seed OUTERJOIN_ROUNDS=1", @complaints);
	return;
}

$server = OuterjoinTest->new('faults');
diag("seed: OUTERJOIN_SEED=$seed OUTERJOIN_ROUNDS=$rounds");
run_round($seed + $_) for 0 .. $rounds - 1;
$server->stop;
done_testing();
