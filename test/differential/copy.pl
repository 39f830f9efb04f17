# The parser against COPY: random bytes made of what is special in a file,
# loaded both ways.  Either both give the same rows or both give an error
# (not always the same: COPY verifies the encoding a block ahead, and meets a
# bad number before a missing field).
#
# Each line begins with a number, so that the keys ascend however the rest is
# taken.  What is known to differ (README) does not occur: blank lines at the
# end, and "\." in CSV.
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
my $rounds = $ENV{OUTERJOIN_ROUNDS} // 20;
my $cases  = 100;	# in each round

my $server;

sub chance { return rand() < $_[0] }
sub pick   { return $_[ int(rand(@_)) ] }
sub between { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }
sub literal { my ($text) = @_; $text =~ s/'/''/g; $text =~ s/\\/\\\\/g; $text =~ s/\t/\\t/g; return "E'$text'" }

# A field: mostly harmless, sometimes anything.
sub field
{
	my ($d) = @_;
	my ($q, $e) = ($d->{quote}, $d->{escape});
	return pick('a', 'value', '', $d->{null}, ' ', 'x' x between(0, 80), "gr\xc3\xbcn") if chance(0.6);
	if ($d->{csv} && chance(0.7))
	{
		my $text = join '', map { pick('a', 'b', $d->{delimiter}, "$e$q", "$e$e", $e, $d->{eol}, '\\', $d->{null}, ' ') } 0 .. between(0, 6);
		return pick('', '', 'x') . "$q$text$q" . pick('', '', 'y', "${q}z$q");
	}
	return join '', map { pick('a', '1', ' ', '\\', '\\n', '\\t', '\\N', '\\101', '\\x41', '\\x', '\\8', '\\0', '\\303\\274', '\\377', "\\$d->{delimiter}", "\\$d->{eol}", "'", '"', chance(0.1) ? ("\n", "\r", "\xff", "\xc3", "\0") : ()) } 0 .. between(0, 5);
}

sub make_case
{
	my ($number) = @_;
	my %d = (csv => chance(0.6), eol => pick("\n", "\n", "\r\n", "\r"));
	$d{delimiter} = $d{csv} ? pick(',', ',', ';', "\t", '|') : pick("\t", "\t", ',', '|');
	$d{quote} = $d{csv} ? pick('"', '"', "'") : '';
	$d{escape} = $d{csv} ? pick($d{quote}, $d{quote}, '\\', '!') : '';
	$d{null} = $d{csv} ? pick('', '', 'NULL', '\N') : pick('\N', '\N', '', 'NULL');
	my $n = between(1, pick(3, 20, 200));
	my @lines = map { my $n = $_; join($d{delimiter}, $n, field(\%d), field(\%d)) } 1 .. $n;
	# most files should be read to their end
	my $harmless = chance(0.3);
	$_ = join($d{delimiter}, (split /\Q$d{delimiter}\E/)[0], 'a', 'b') for grep { $harmless && !chance(2 / @lines) } @lines;
	push @lines, join $d{delimiter}, $n + 1, 'the', 'end';
	my @options = ("format '" . ($d{csv} ? 'csv' : 'text') . "'", 'delimiter ' . literal($d{delimiter}), 'null ' . literal($d{null}));
	push @options, 'quote ' . literal($d{quote}), 'escape ' . literal($d{escape}) if $d{csv};
	# the first line says how many fields there are
	unshift @lines, join $d{delimiter}, 0, 'the', 'start';
	if (chance(0.3))
	{
		unshift @lines, join $d{delimiter}, pick('id', 'id', "$d{quote}id$d{quote}", 'ID'), 'v', pick('w', 'w', 'W');
		push @options, 'header ' . pick("'true'", "'match'");
	}
	push @options, 'encoding ' . pick("'latin1'", "'UTF8'", "'WIN1252'", "'SJIS'") if chance(0.2);
	my $name = "c$number." . ($d{csv} ? 'csv' : 'txt');
	my $content = join($d{eol}, @lines) . (chance(0.8) ? $d{eol} : '');
	$server->write_file($name, $content);
	my ($force, $copy) = ('', '');
	if ($d{csv} && chance(0.3))
	{
		$force = pick('force_null', 'force_not_null');
		$copy = ", $force (v)";
		$force = ", $force 'true'";
	}
	my %c = (name => $name, options => join(', ', @options), force => $force, copy => $copy);
	$c{settings} = [ 'outerjoin_fdw.batch_rows = ' . pick(0, 0, 1, 2, 7), 'outerjoin_fdw.block_size = ' . pick(0, 0, 64, 100, 1000), 'outerjoin_fdw.simd = ' . pick('on', 'off') ];
	return \%c;
}

sub run_round
{
	my ($round_seed) = @_;
	srand($round_seed);
	my @cases = map { make_case($_) } 1 .. $cases;
	my @script = map { my $c = $_; ((map { "SET $_;" } @{ $c->{settings} }), "SELECT compare(" . join(', ', map { literal($_) } @$c{qw(name options force copy)}) . ');') } @cases;
	my ($out, $err) = ('', '');
	my $script = join "\n", 'SET client_min_messages = warning;', @script, '';
	IPC::Run::run([ 'psql', '-XAtq', '-d', $server->{node}->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	my @said = split /\n/, $out;
	my $read = grep { /^same [1-9]/ } @said;
	my @complaints;
	push @complaints, $err if $err ne '' || @said != @cases;
	for my $i (0 .. $#cases)
	{
		my $c = $cases[$i];
		next if !defined $said[$i] || $said[$i] =~ /^same/;
		push @complaints, "$c->{name}: $c->{options}$c->{force}; " . join('; ', @{ $c->{settings} }), "  $said[$i]";
		system('cp', $server->path($c->{name}), $ENV{OUTERJOIN_KEEP}) if $ENV{OUTERJOIN_KEEP};
	}
	ok(!@complaints, "seed $round_seed: $cases files, of which $read could be read") or diag(join "\n", "OUTERJOIN_SEED=$round_seed OUTERJOIN_ROUNDS=1", @complaints);
	return $read;
}

$server = OuterjoinTest->new('copy');
my $files = $server->files;
$server->query("CREATE TABLE copied (id bigint, v text, w text)");
$server->query(qq{CREATE FUNCTION compare(file text, options text, force text, copy text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	copy_error text := '';
	scan_error text := '';
	scanned text[];
	loaded text[];
BEGIN
	DROP FOREIGN TABLE IF EXISTS f;
	TRUNCATE copied;
	EXECUTE format('CREATE FOREIGN TABLE f (id bigint OPTIONS (key ''true''), v text OPTIONS (filename %1\$L, field ''2'' %2\$s), w text OPTIONS (filename %1\$L, field ''3'')) SERVER files OPTIONS (%3\$s)', file, force, options);
	BEGIN
		EXECUTE format('COPY copied FROM %L WITH (%s)', '$files/' || file, options || copy);
	EXCEPTION WHEN OTHERS THEN
		copy_error := SQLSTATE || ' ' || SQLERRM;
	END;
	BEGIN
		SELECT array_agg(f::text) INTO scanned FROM f;
	EXCEPTION WHEN OTHERS THEN
		scan_error := SQLSTATE || ' ' || SQLERRM;
		-- COPY knows nothing of keys
		IF SQLSTATE IN ('22000', '23505', '23502') THEN
			RETURN 'same in no way';
		END IF;
	END;
	SELECT array_agg(copied::text) INTO loaded FROM copied;
	IF left(copy_error, 5) <> left(scan_error, 5) AND
		NOT (left(copy_error, 5) IN ('22P02', '22P04', '22021', '22P05') AND
			 left(scan_error, 5) IN ('22P02', '22P04', '22021', '22P05')) OR
		copy_error = '' AND scanned IS DISTINCT FROM loaded THEN
		RETURN replace(format('COPY: %s %s, scan: %s %s', copy_error, cardinality(loaded), scan_error, cardinality(scanned)), E'\\n', ' ');
	END IF;
	RETURN 'same ' || coalesce(cardinality(loaded), 0);
END \$\$});
diag("seed: OUTERJOIN_SEED=$seed OUTERJOIN_ROUNDS=$rounds");
my $read = 0;
$read += run_round($seed + $_) for 0 .. $rounds - 1;
cmp_ok($read, '>', $rounds * $cases / 10, 'many files could be read');
$server->stop;
done_testing();
