# Damaged Arrow files: bytes of good ones changed at random, every field read
# as its natural type, as text and as jsonb.  Each reading ends with an answer
# or with an error that names the file: never a crash, a hang, an internal
# error, or memory without bound.
#
#   OUTERJOIN_SEED      the random numbers' seed (1); printed
#   OUTERJOIN_VARIANTS  damaged variants of each file
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use Test::More;

my $seed     = $ENV{OUTERJOIN_SEED}     // 1;
my $variants = $ENV{OUTERJOIN_VARIANTS} // 100;
my $bound    = 200 * 1024;	# kB that a session grows by
my $fixtures = "$FindBin::Bin/../../sql/data/arrow";

srand($seed);
diag("Seed $seed");

# ---- damage ---------------------------------------------------------------

sub between { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }
sub pick { return $_[ int(rand(@_)) ] }

my @extremes = (0, 1, -1, 2, 127, -128, 255, 32767, 65535, 2**31 - 1, -2**31, 2**32 - 1, 2**40, 2**62, -2**40, -2**62);
my @damage = (
	sub { my ($b) = @_; vec($$b, int(rand(8 * length $$b)), 1) ^= 1 for 1 .. between(1, 2); },
	sub { my ($b) = @_; substr($$b, int(rand(length $$b)), 1) = chr(between(0, 255)) for 1 .. between(1, 2); },
	sub { my ($b) = @_; my $at = 4 * int(rand(length($$b) / 4 - 1)); substr($$b, $at, 4) = pack('l<', pick(@extremes[ 0 .. 10 ])); },
	sub { my ($b) = @_; my $at = 8 * int(rand(length($$b) / 8 - 1)); substr($$b, $at, 8) = pack('q<', pick(@extremes)); },
	sub { my ($b) = @_; $$b = substr($$b, 0, int(rand(length $$b))); },
	sub { my ($b) = @_; substr($$b, int(rand(length $$b)), 0) = join '', map { chr(between(0, 255)) } 1 .. between(1, 16); },
	sub {
		my ($b) = @_;
		my $size = 8 * between(1, 8);
		return if length $$b < 2 * $size;
		my ($x, $y) = map { 8 * int(rand((length($$b) - $size) / 8)) } 1, 2;
		my $block = substr($$b, $x, $size);
		substr($$b, $x, $size) = substr($$b, $y, $size);
		substr($$b, $y, $size) = $block;
	});

sub damaged
{
	my ($bytes) = @_;
	# a single small change goes deepest
	pick(@damage[ 0 .. 3 ], @damage)->(\$bytes) for 1 .. pick(1, 1, 1, 2);
	return $bytes;
}

# ---- the files and their fields -------------------------------------------

sub slurp
{
	my ($path) = @_;
	open my $fh, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar <$fh>;
}

# What else than text a field may be; a type that does not fit is left out.
my @natural = qw(boolean bigint double numeric date time timestamp timestamptz interval bytea uuid);
s/^double$/double precision/ for @natural;

my %fields;
my $file;
for (split /\n/, slurp("$fixtures/schemas.txt"))
{
	if (/^== (.*)/) { $file = $1; }
	elsif (/^(\w+): / && !grep { $_ eq $1 } @{ $fields{$file} }) { push @{ $fields{$file} }, $1; }
}

my $server = OuterjoinTest->new('arrow_mutation', conf => "max_parallel_workers_per_gather = 0\n");
my $s;

sub begin_session
{
	$s = $server->session;
	$s->say("SET statement_timeout = '10s'; SET client_min_messages = 'error'");
	return;
}

$server->query(q{
	CREATE FUNCTION read_all(name text, query text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE state text; message text; context text;
	BEGIN
		FOR k IN 1 .. n LOOP
			BEGIN
				EXECUTE format('ALTER FOREIGN TABLE %I OPTIONS (SET directory %L)', name, k);
				EXECUTE query;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
				RETURN NEXT k || ' ' || state || ' ' || translate(message || ' / ' || context, E'\n', ' ');
			END;
		END LOOP;
	END $$});

# A foreign table with all fields as all types that read the good file.
sub make_table
{
	my ($name, $path) = @_;
	my ($key, @fields) = @{ $fields{$name} };
	my @columns;

	for my $type (qw(bigint text numeric timestamptz timestamp date uuid bytea boolean float8))
	{
		my $id = qq{"$key" $type OPTIONS (key 'true')};
		my $options = "SERVER files OPTIONS (directory '0', sorted 'false')";
		my $try = sub {
			my ($columns, $what) = @_;
			$s->say('DROP FOREIGN TABLE IF EXISTS f');
			return $s->say("CREATE FOREIGN TABLE f (" . join(', ', $id, @$columns) . ") $options; SELECT count($what) FROM f") =~ /^\d+$/;
		};
		next if !$try->([ "c text OPTIONS (filename '$name', field '$key')" ], 'c');
		for my $field (@fields)
		{
			my $n = 0;
			for my $as (qw(text jsonb), @natural)
			{
				my $column = 'c' . @columns . " $as OPTIONS (filename '$name', field '$field')";
				next if $n >= 4 || !$try->([$column], 'c' . @columns);
				push @columns, $column;
				$n++;
			}
		}
		@columns = ("c0 text OPTIONS (filename '$name', field '$key')") if !@columns;
		return $try->(\@columns, '*') ? scalar @columns : 0;
	}
	return 0;
}

# ---- the test -------------------------------------------------------------

my $postmaster = slurp($server->{node}->data_dir . '/postmaster.pid');
my ($read, $errors, $skipped) = (0, 0, 0);
my @bad;

begin_session();
for my $name (sort keys %fields)
{
	next if !-f "$fixtures/$name" || -s "$fixtures/$name" > 200_000;
	my $good = slurp("$fixtures/$name");

	$server->write_file("0/$name", $good);
	my $columns = make_table($name);
	if (!$columns) { $skipped++; next; }
	$server->write_file("$_/$name", damaged($good)) for 1 .. $variants;

	my $before = $s->peak_memory;
	my $query = 'SELECT ' . join(', ', map { "count(c$_)" } 0 .. $columns - 1) . ' FROM f';
	my $out = eval { $s->say("SELECT read_all('f', '$query', $variants)") } // 'the session has ended';
	my $grown = eval { $s->peak_memory - $before } // 0;

	$read += $variants;
	for (split /\n/, $out)
	{
		$errors++;
		push @bad, "$name: $_" if !/^\d+ (?!XX000)[0-9A-Z]{5} / || /^\d+ 57014 / || !/\Q$name\E/;
	}
	push @bad, "$name: $grown kB more" if $grown > $bound;
	if ($out =~ /server closed|session has ended/)
	{
		begin_session();
	}
}
$s->close if $s;

is(scalar @bad, 0, "$read damaged files, $errors errors") or diag(join "\n", @bad[ 0 .. ($#bad < 40 ? $#bad : 40) ]);
cmp_ok($read, '>=', 100 * $variants, "most files were tried, $skipped were not");
cmp_ok($errors, '>', $read / 10, 'damage is noticed');
cmp_ok($errors, '<', $read, 'and some is harmless');
is(slurp($server->{node}->data_dir . '/postmaster.pid'), $postmaster, 'the server is the same');
unlike(slurp($server->{node}->logfile), qr/PANIC|was terminated by signal|TRAP:/, 'no backend has crashed');
$server->stop;
done_testing();
