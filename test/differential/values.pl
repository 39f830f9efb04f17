# Values against COPY: random texts of each type that is read without its input
# function, valid or nearly so, loaded both ways.  Both give the same value,
# or both an error of the same SQLSTATE.
#
#   OUTERJOIN_SEED     the first round's seed (1); "random": another each time; printed
#   OUTERJOIN_ROUNDS   rounds; round r uses seed + r
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use POSIX qw(strftime);
use Test::More;

my $seed   = $ENV{OUTERJOIN_SEED}   // 1;
$seed = int(rand(1_000_000_000)) if $seed eq 'random';
my $rounds = $ENV{OUTERJOIN_ROUNDS} // 12;
my $cases  = 100;	# in each round

my $server;

sub chance { return rand() < $_[0] }
sub pick   { return $_[ int(rand(@_)) ] }
sub between { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }
sub digits { my ($n) = @_; return join '', map { int(rand(10)) } 1 .. $n }

sub whole
{
	my ($limit) = @_;
	return pick('-', '', '', '+') . pick('0', digits(between(1, 5)), digits(between(1, 20)), $limit, substr($limit, 0, -1) . int(rand(10)), "00$limit", '0' x between(1, 30) . digits(3));
}

sub number
{
	return pick('-', '', '', '+') . pick(
		digits(between(1, 3)), digits(between(0, 5)) . '.' . digits(between(0, 5)), digits(between(1, 20)) . '.' . digits(between(1, 20)),
		digits(1) . '.' . digits(between(1, 18)) . 'e' . pick('-', '+', '') . between(0, 400), digits(between(1, 4)) . 'E' . pick('-', '') . digits(2),
		'Infinity', 'inf', 'NaN', 'nan', '0', '0.0', '.5', '5.', '0.1', '1e400', '4e-324', '2.2250738585072011e-308', '9007199254740993', '123456789012345678901234567890', '16777217', '0x10', '1_000');
}

sub day { return pick(strftime('%Y-%m-%d', gmtime(86400 * between(-900_000, 900_000))), strftime('%Y-%m-%d', gmtime(86400 * between(-5000, 20000))), '2000-02-29', '1900-02-29', '2001-02-30', '0000-01-01', '0001-01-01', '9999-12-31', '5874897-12-31', '5874898-01-01', '20000102', '2000-1-2', '2000.002', 'J2451545', 'infinity', '-infinity', 'epoch', '1/2/2003', '2003 Jan 2', '4713-01-01 BC') }
sub clock { return sprintf('%02d:%02d:%02d', between(0, 24), pick(between(0, 59), 60), pick(between(0, 59), 60)) . pick('', '', '.' . digits(between(1, 6)), '.' . digits(between(7, 9)), '.') }
sub zone { return pick('', 'Z', 'z', '+00', '-08', '+05:30', '+0530', '+05:30:15', ' UTC', ' America/New_York', '+14', '+16', '-00', 'CET', '+5') }
sub moment { return day() . pick(' ', ' ', ' ', 'T', 't', '  ', '') . pick(clock(), clock(), clock(), substr(clock(), 0, 5), '', '24:00:00') }

my %text = (
	int2 => sub { return whole('32768') }, int4 => sub { return whole('2147483648') }, int8 => sub { return whole('9223372036854775808') },
	float8 => \&number, float4 => \&number, numeric => \&number, 'numeric(5,2)' => \&number,
	date => \&day, timestamp => sub { return moment() . pick('', '', '', ' BC', zone()) }, timestamptz => sub { return moment() . zone() },
	'timestamp(0)' => sub { return moment() }, 'timestamptz(2)' => sub { return moment() . zone() }, time => sub { return clock() },
	boolean => sub { return pick(qw(t f true false yes no on off 1 0 T F TRUE y n tr of o 2)) },
	uuid => sub { return pick('00112233-4455-6677-8899-aabbccddeeff', '00112233445566778899AABBCCDDEEFF', '{00112233-4455-6677-8899-aabbccddeeff}') },
	text => sub { return 'x' x between(0, 9) }, 'varchar(3)' => sub { return pick('a', 'abc', 'abcd', 'ab ', 'abc  ') }, 'char(3)' => sub { return pick('', 'a', 'abc', 'abcd', 'abc ') },
	'"char"' => sub { return pick('a', 'ab', '') }, name => sub { return 'n' x between(0, 70) }, bytea => sub { return pick('\\\\x00', 'a\\\\000', 'abc') });

sub spoiled
{
	my ($text) = @_;
	return $text if !chance(0.25);
	for (1 .. between(1, 2))
	{
		my $at = between(0, length $text);
		substr($text, $at, $at < length $text ? between(0, 1) : 0) = pick(0 .. 9, qw(+ - . e E : T Z / _ x a N), ' ', '');
	}
	return pick('', '', '', ' ') . $text . pick('', '', '', ' ');
}

sub run_round
{
	my ($round_seed) = @_;
	srand($round_seed);
	my (@script, @cases);
	for my $number (1 .. $cases)
	{
		my $type = pick(sort keys %text);
		my @values = map { spoiled($text{$type}->()) } 1 .. pick(1, 1, 1, 2, 3);
		my $n = 0;
		$server->write_file("v$number.txt", join '', map { $n++; "$n\t$_\n" } @values);
		my @settings = ("TimeZone = '" . pick('UTC', 'America/New_York', 'Asia/Kathmandu', '-03:30') . "'", "DateStyle = '" . pick('ISO, MDY', 'ISO, DMY', 'ISO, YMD') . "'", 'outerjoin_fdw.simd = ' . pick('on', 'off'));
		push @cases, { name => join('; ', @settings, $type, @values) };
		push @script, (map { "SET $_;" } @settings), "SELECT compare('v$number.txt', '$type');";
	}
	my ($out, $err) = ('', '');
	my $script = join "\n", 'SET client_min_messages = warning;', @script, '';
	IPC::Run::run([ 'psql', '-XAtq', '-d', $server->{node}->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	my @said = split /\n/, $out;
	my @complaints;
	push @complaints, $err if $err ne '' || @said != @cases;
	for my $i (0 .. $#cases)
	{
		push @complaints, $cases[$i]{name}, "  $said[$i]" if defined $said[$i] && $said[$i] !~ /^same/;
	}
	my $read = grep { /^same [1-9]/ } @said;
	ok(!@complaints, "seed $round_seed: $cases files, of which $read could be read") or diag(join "\n", "OUTERJOIN_SEED=$round_seed OUTERJOIN_ROUNDS=1", @complaints);
	return $read;
}

$server = OuterjoinTest->new('values');
my $files = $server->files;
$server->query(qq{CREATE FUNCTION compare(file text, type text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	copy_error text := '';
	scan_error text := '';
	scanned text[];
	loaded text[];
BEGIN
	DROP FOREIGN TABLE IF EXISTS f;
	DROP TABLE IF EXISTS copied;
	EXECUTE format('CREATE TABLE copied (id bigint, v %s)', type);
	EXECUTE format('CREATE FOREIGN TABLE f (id bigint OPTIONS (key ''true''), v %s OPTIONS (filename %L)) SERVER files', type, file);
	BEGIN
		EXECUTE format('COPY copied FROM %L', '$files/' || file);
	EXCEPTION WHEN OTHERS THEN
		-- as PostgreSQL 18 and the scan say it
		copy_error := SQLSTATE || ' ' ||
			replace(SQLERRM, 'end-of-copy marker corrupt', 'end-of-copy marker is not alone on its line');
	END;
	BEGIN
		SELECT array_agg(f::text) INTO scanned FROM f;
	EXCEPTION WHEN OTHERS THEN
		scan_error := SQLSTATE || ' ' || SQLERRM;
	END;
	SELECT array_agg(copied::text) INTO loaded FROM copied;
	IF copy_error <> scan_error OR scanned IS DISTINCT FROM loaded THEN
		RETURN replace(format('COPY: %s %s, scan: %s %s', copy_error, loaded, scan_error, scanned), E'\\n', ' ');
	END IF;
	RETURN 'same ' || coalesce(cardinality(loaded), 0);
END \$\$});
diag("seed: OUTERJOIN_SEED=$seed OUTERJOIN_ROUNDS=$rounds");
my $read = 0;
$read += run_round($seed + $_) for 0 .. $rounds - 1;
cmp_ok($read, '>', $rounds * $cases / 5, 'many files could be read');
$server->stop;
done_testing();
