# The differential test: random files and random queries, against the oracle.
#
# Each round makes a random set of streams in memory, writes them to files in
# a random mixture of formats (an Arrow field's type is one of those that hold
# all of the column's values), loads the same rows into regular tables by
# INSERT, and materialises the oracle, their FULL JOIN.  Then random queries
# run over the foreign table and over the oracle, under random planner and
# module settings, and must give the same rows (in the same order, where
# there is one).
#
#   OUTERJOIN_SEED     the first round's seed (1); "random": another each time; printed
#   OUTERJOIN_ROUNDS   rounds; round r uses seed + r
#   OUTERJOIN_QUERIES  queries in each
#   OUTERJOIN_PARALLEL the part of them that are run in parallel where they can be (0.2)
#
# A failed round prints its seed: OUTERJOIN_SEED=that OUTERJOIN_ROUNDS=1.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinArrow;
use OuterjoinTest;
use Encode;
use POSIX qw(strftime);
use Test::More;

my $seed    = $ENV{OUTERJOIN_SEED}    // 1;
$seed = int(rand(1_000_000_000)) if $seed eq 'random';
my $rounds  = $ENV{OUTERJOIN_ROUNDS}  // 80;
my $queries = $ENV{OUTERJOIN_QUERIES} // 30;

my $server;
my $compared = 0;	# queries
my %errors;			# of them, that are errors on either side, by kind of key

# ---- chance ---------------------------------------------------------------

sub chance { return rand() < $_[0] }
sub pick   { return $_[ int(rand(@_)) ] }
sub between { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }

sub shuffle
{
	my @list = @_;
	for my $i (reverse 1 .. $#list)
	{
		my $j = int(rand($i + 1));
		@list[ $i, $j ] = @list[ $j, $i ];
	}
	return @list;
}

# ---- keys -----------------------------------------------------------------
#
# A key domain is a list of distinct keys in ascending order; each key is a
# list of spellings, each spelling a list of one text per key column.  So two
# keys compare as their places in the list, and nothing here needs to know
# how the type compares.  Where that is not known either, the server is asked:
# %key_spellings gives spellings in any order, of keys equal or not.

my %key_domain = (
	'int2'   => sub { return integers(-300, 300, 32767) },
	'int4'   => sub { return integers(-2000, 2000, 2147483647) },
	'int8'   => sub { return integers(-2000, 2000, 9223372036854775807) },
	'tall' => sub { my $step = between(1, 3); return map { [ [ $_ * $step ] ] } 1 .. 4000 },
	'sparse' => sub { my %k = map { (between(-1_000_000_000, 1_000_000_000) => 1) } 1 .. between(20, 400); return map { [ [$_] ] } sort { $a <=> $b } keys %k },
	'dense'  => sub { my $low = between(-50, 50); return map { [ [$_] ] } $low .. $low + between(1, 400) },
	'date'   => sub { return map { [ [ strftime('%Y-%m-%d', gmtime(86400 * $_->[0][0])) ] ] } integers(-3000, 3000) },
	'timestamp' => sub {
		my %t = map { (between(-2_000_000_000, 2_000_000_000) => 1) } 1 .. 300;
		return map { my $t = $_; [ [ strftime('%Y-%m-%d %H:%M:%S', gmtime($t)) . (chance(0.5) ? sprintf('.%06d', between(0, 999999)) : '') ] ] }
		  sort { $a <=> $b } keys %t;
	},
	'numeric' => sub {
		return map {
			my $n = sprintf('%d.%d', abs($_->[0][0]) / 2, $_->[0][0] % 2 ? 5 : 0);
			$n = "-$n" if $_->[0][0] < 0;
			[ [$n], ["${n}0"], [ $n =~ s/\.0$//r ] ]
		} integers(-500, 500);
	},
	'float8' => sub {
		return ([ ['-Infinity'] ],
			(map { [ [ $_->[0][0] / 8 ] ] } grep { $_->[0][0] < 0 } integers(-800, -1)),
			[ ['0'], ['-0'], ['0.0'] ],
			(map { [ [ $_->[0][0] / 8 ] ] } integers(1, 800)),
			[ ['1e300'] ], [ ['Infinity'], ['inf'] ], [ ['NaN'], ['nan'] ]);
	},
	'uuid' => sub {
		my %u = map { my $h = join '', map { sprintf '%04x', between(0, 65535) } 1 .. 8; ($h => 1) } 1 .. 250;
		return map { my $d = $_ =~ s/(.{8})(.{4})(.{4})(.{4})(.{12})/$1-$2-$3-$4-$5/r; [ [$d], [ uc $d ], [$_] ] } sort keys %u;
	},
	'text' => sub { return map { [ [$_] ] } texts() },
	'composite' => sub {
		my @texts = texts();
		@texts = @texts[ 0 .. ($#texts < 12 ? $#texts : 12) ];
		return map { my $n = $_; map { [ [ $n, $_ ] ] } @texts } map { $_->[0][0] } integers(-30, 30);
	},
);
my %key_columns = (
	dense => ['int4'], sparse => ['int8'], tall => ['int4'], composite => [ 'int4', 'text COLLATE "C"' ], text => ['text COLLATE "C"'],
	int_date => [ 'int8', 'date' ], date_numeric => [ 'date', 'numeric' ], three => [ 'text', 'int2', 'timestamp' ],
	text_default => ['text'], icu => ['text COLLATE "und-x-icu"'], caseless => ['text COLLATE public.caseless'],
	domain => ['public.small'], enum => ['public.mood'], char => ['char(4)'], varchar => ['varchar'],
	icu_int => [ 'text COLLATE public.caseless', 'int4' ], array => ['int4[]'], varbit => ['bit varying'],
	map { ($_ => [$_]) } qw(int2 int4 int8 date timestamp timestamptz numeric float8 float4 uuid time timetz interval inet boolean bytea name oid jsonb macaddr));

# 100 times, what this gives, as spellings of keys
sub many { my ($make) = @_; return map { [ $make->() ] } 1 .. 100 }
sub instant { return strftime('%Y-%m-%d %H:%M:%S', gmtime(pick(between(-3_000_000_000, 4_000_000_000), 86400 * between(-40_000, 40_000), between(0, 99)))) }
sub fraction { return pick('', '', '.5', sprintf('.%06d', between(0, 999999)), sprintf('.%03d', between(0, 999))) }
sub odd_year { return pick('0044-03-15', '12345-06-07', '0001-01-01') }
sub ends { return map { [$_] } @_ }

my %key_spellings = (
	'date' => sub { return ends('-infinity', 'infinity', '0044-03-15 BC', '12345-06-07', '1999-12-31', '2000-01-01', '2000-02-29', '19991231', 'Jan 2, 2001'), many(sub { substr(instant(), 0, 10) }) },
	'timestamp' => sub { return ends('-infinity', 'infinity', '0044-03-15 12:00:00 BC', '12345-06-07 00:00:00', '2000-01-01', '2000-01-01T00:00:00', '2000-01-01 00:00'), many(sub { instant() . fraction() }) },
	'timestamptz' => sub { return ends('-infinity', 'infinity', '2000-01-01 00:00:00Z', '2000-01-01 02:00:00+02', '2000-01-01T01:00:00+01:00', '2000-01-01 00:00:00 UTC', '1999-12-31 20:00:00 America/New_York'), many(sub { instant() . fraction() . pick('+00', 'Z', '+02', '-05:30', '+00', '+00') }) },
	'time' => sub { return ends('24:00:00', '23:59:60', '00:00'), many(sub { substr(instant(), 11) . fraction() }) },
	'timetz' => sub { return many(sub { substr(instant(), 11) . pick('+00', '+01', '-08') }) },
	'interval' => sub { return ends('1 mon', '30 days', '720:00:00', '-1 day', '@ 24 hours ago'), many(sub { between(-40, 40) . pick(' days', ' hours', ' mons', ' min') }) },
	'float4' => sub { return ends('-0', '0', 'Infinity', '-Infinity', 'NaN', '1e-45', '3.4e38'), many(sub { pick(between(-999, 999) / 16, between(-99, 99), sprintf('%de-%d', between(-99, 99), between(0, 30))) }) },
	'inet' => sub { return many(sub { join('.', map { between(0, 3) } 1 .. 4) . pick('', '', '/32', '/24', '/8') }), ends('::1', 'fe80::/16') },
	'boolean' => sub { return ends(qw(t f true false yes no 1 0 on off)) },
	'bytea' => sub { return many(sub { '\\x' . join '', map { pick(qw(00 01 7f 80 ff 61)) } 1 .. between(0, 4) }), ends('a', 'b\\000', '') },
	'name' => sub { return ends('x' x 63), many(sub { join '', map { pick('a', 'b', 'B', '_') } 1 .. between(1, 4) }) },
	'oid' => sub { return ends('4294967295', '-1', '2147483648'), many(sub { between(0, 4_000_000_000) }) },
	'jsonb' => sub { return ends('{}', '[]', '"a"', 'true', '{"a": 1}', '{"a":1.0}', '{"b":2,"a":1}'), many(sub { between(0, 99) }) },
	'macaddr' => sub { return many(sub { sprintf '08:00:2b:01:%02x:%02x', between(0, 3), between(0, 255) }), ends('08002b010203', '08-00-2b-01-02-03') },
	'domain' => sub { return many(sub { between(-500, 500) }), ends('+5', '05', '5') },
	'enum' => sub { return ends(qw(zebra apple Mango banana)) },
	'char' => sub { return many(sub { join '', map { pick('a', 'b', 'B', ' ') } 1 .. between(1, 4) }) },
	'varchar' => sub { return map { [$_] } texts() },
	'array' => sub { return ends('{}', '{NULL}'), many(sub { '{' . join(',', map { between(0, 3) } 1 .. between(1, 3)) . '}' }) },
	'varbit' => sub { return many(sub { join '', map { pick(0, 1) } 1 .. between(0, 9) }) },
	'text_default' => sub { return map { [$_] } texts() },
	'icu' => sub { return map { [$_] } texts() },
	'caseless' => sub { return many(sub { join '', map { pick('a', 'A', 'b', 'B', '-', "\xc3\xbc", "\xc3\x9c") } 1 .. between(1, 4) }) },
	'icu_int' => sub { return map { my $t = join '', map { pick('a', 'A', 'b', 'B') } 1 .. between(1, 2); map { [ $t, $_ ] } shuffle(1 .. 9) } 1 .. 20 },
	'int_date' => sub { return map { my $n = between(-20, 20); map { [ $n, substr(instant(), 0, 10) ] } 1 .. 6 } 1 .. 40 },
	'date_numeric' => sub { return map { my $n = '2001-01-0' . between(1, 9); map { [ $n, pick(between(-9, 9), between(-9, 9) . '.0') ] } 1 .. 6 } 1 .. 30 },
	'three' => sub { return map { my $t = pick('', 'a', 'b', 'ab'); map { [ $t, pick(1, 2, -32768), instant() ] } 1 .. 6 } 1 .. 30 },
);

# Those that this server has.
sub key_kinds
{
	my %kinds = map { ($_ => 1) } keys %key_domain, keys %key_spellings;
	delete @kinds{qw(icu caseless icu_int)} if !$server->{icu};
	return sort keys %kinds;
}

# The keys of a kind in the order of the key columns, some of them downward.
sub make_domain
{
	my ($kind, @descending) = @_;
	my $known = $key_domain{$kind};
	my $spellings = $key_spellings{$kind};
	if ($known && (!$spellings || chance(0.5)) && @descending == 1)
	{
		my @domain = $known->();
		return $descending[0] ? reverse @domain : @domain;
	}
	return ordered_by_server($kind, \@descending, $spellings ? $spellings->() : map { $_->[0] } $known->());
}

sub ordered_by_server
{
	my ($kind, $descending, @spellings) = @_;
	my @types = @{ $key_columns{$kind} };
	my $order = join ', ', map { "k${_}::" . $types[$_] . ($descending->[$_] ? ' DESC' : '') } 0 .. $#types;
	my $names = join ', ', 'n', map { "k$_" } 0 .. $#types;
	my $values = join ', ', map { my $n = $_; '(' . join(', ', $n, map { literal($_) } @{ $spellings[$n] }) . ')' } 0 .. $#spellings;
	my (@domain, $last);
	for my $line (split /\n/, $server->query("SELECT dense_rank() OVER (ORDER BY $order), n FROM (VALUES $values) v ($names) ORDER BY 1, 2"))
	{
		my ($rank, $n) = split /\|/, $line;
		push @domain, [] if !defined $last || $rank != $last;
		$last = $rank;
		push @{ $domain[-1] }, $spellings[$n];
	}
	# density of its own
	my $density = pick(0.3, 1, 1);
	my @some = grep { chance($density) } @domain;
	return @some ? @some : @domain;
}

sub integers
{
	my ($low, $high, $end) = @_;
	my $density = pick(0.02, 0.1, 0.5, 1);
	$density = 0.3 if $density * ($high - $low) > 600;
	my @list = grep { chance($density) } $low .. $high;
	if (defined $end && chance(0.3))
	{
		unshift @list, "-$end";
		push @list, $end;
	}
	@list = ($low) if !@list;
	return map { [ [$_] ] } @list;
}

sub texts
{
	# some of them only, so that other encodings have them as well
	my @letters = ('a', 'b', 'c', 'A', ' ', '0', '"', ',', ';', "'", '\\', '.');
	push @letters, chance(0.3) ? "\xc3\xbc" : (), chance(0.3) ? ("\xe6\x97\xa5", "\xe8\xa1\xa8", "\xe3\x83\x9d") : (), chance(0.5) ? "\n" : ();
	my $prefix = chance(0.3) ? 'a long common prefix ' : '';
	my %t = map {
		my $t = $prefix . join '', map { pick(@letters) } 1 .. between(1, pick(2, 5, 12));
		($t => 1)
	} 1 .. 200;
	return sort keys %t;
}

# ---- values ---------------------------------------------------------------

my %value = (
	'int4'   => sub { return between(-99, 99) },
	'int8'   => sub { return pick(between(-99, 99), '9223372036854775807', '-9223372036854775808') },
	'float8' => sub { return pick(between(-99, 99) / 8, '1e-7', 'NaN', '-0') },
	'real'   => sub { return between(-9999, 9999) / 16 },
	'numeric' => sub { return pick('1.50', '-3', '0.000', between(-9, 9) . '.' . between(0, 99)) },
	'date'   => sub { return strftime(pick(('%Y-%m-%d') x 5, '%m/%d/%Y', '%Y%m%d', '%d %b %Y'), gmtime(86400 * between(-12000, 30000))) =~ s/(\d\d)\/(\d\d)/$1 % 12 + 1 . '\/' . ($2 % 12 + 1)/er },
	'boolean' => sub { return pick('t', 'f') },
	'uuid'   => sub { return sprintf('%08x-0000-0000-0000-%012x', between(0, 255), between(0, 255)) },
	'int4[]' => sub { return '{' . join(',', map { between(0, 9) } 1 .. between(0, 3)) . '}' },
	'text'   => sub {
		return pick('', ' ', 'x', 'NULL', '\N', '\.', '"', 'say "hi"', 'a,b', "two\nlines", 'back\\slash', "tab\there", "gr\xc3\xbcn", "\xe8\xa1\xa8|\xe3\x83\x9d", ';', "'", 'y' x between(0, 300), between(0, 20), 'z' x (chance(0.02) ? 20000 : chance(0.003) ? 400_000 : 20), "\f\x0b\x07");
	},
	'varchar(5)' => sub { return pick('', 'abcde', 'ab   ', 'x') },
	'char(3)' => sub { return pick('', 'abc', 'a', 'ab ') },
	'int2' => sub { return pick(between(-99, 99), 32767, -32768, '+7', '007', ' 5') },
	'numeric(6,2)' => sub { return between(-999, 999) / 8 },
	'timestamp' => sub { return instant() . fraction() },
	'timestamp(0)' => sub { return instant() . fraction() },
	'timestamptz' => sub { return instant() . fraction() . pick('+00', 'Z', '-05:30', '+0530', '', '', '') },
	'time' => sub { return substr(instant(), 11) },
	'interval' => sub { return between(-9, 9) . pick(' days', ' hours') },
	'bytea' => sub { return pick('\\x00ff', '\\x', 'abc') },
	'jsonb' => sub { return pick('{}', '{"a": "x,\\n"}', '[1, "two"]', 'null') },
	'text[]' => sub { return pick('{}', '{a,NULL,"b c"}', '{"say \\"hi\\""}') },
	'public.small' => sub { return between(-500, 500) },
	'public.mood' => sub { return pick(qw(zebra apple Mango)) },
);

# ---- a round's streams ----------------------------------------------------

# A stream: { columns => [{name, type, null_string...}], rows => [[rank, spelling, values]],
# options, duplicates, ... }; rows stand in the file's order, segment by segment.
sub make_stream
{
	my ($number, $domain, $only_keys) = @_;
	my %s = (number => $number);
	my $ncolumns = $only_keys ? 0 : chance(0.75) ? 1 : chance(0.9) ? between(2, 3) : between(4, 20);
	$s{columns} = [ map { { name => "c${number}_$_", type => pick(keys_sorted(\%value)) } } 1 .. $ncolumns ];
	$s{duplicates} = chance(0.6) ? 'error' : pick('first', 'last', 'all');
	$s{sorted} = chance(0.85);
	my $density = pick(0, 0.05, 0.3, 0.8, 0.8, 1);
	my $null = pick(0, 0.1, 0.1, 0.9);
	my @rows;
	for my $rank (0 .. $#$domain)
	{
		next if !chance($density);
		my $copies = $s{duplicates} eq 'error' || !chance(0.15) ? 1 : between(2, 4);
		for (1 .. $copies)
		{
			push @rows, { rank => $rank, key => pick(@{ $domain->[$rank] }),
				values => [ map { chance($null) ? undef : $value{ $_->{type} }->() } @{ $s{columns} } ] };
		}
	}
	# segments: each row goes to one, in its order
	my $nsegments = chance(0.75) ? 1 : between(1, 5);
	$s{many} = $nsegments > 1 || chance(0.05);
	my @segments = map { [] } 1 .. $nsegments;
	if (chance(0.5))
	{
		push @{ $segments[ int($_ * $nsegments / @rows) ] }, $rows[$_] for 0 .. $#rows;
		@segments = shuffle(@segments) if chance(0.5);
	}
	else
	{
		push @{ $segments[ int(rand($nsegments)) ] }, $_ for @rows;
	}
	if (!$s{sorted})
	{
		@segments = map { [ shuffle(@$_) ] } @segments;
	}
	$s{segments} = \@segments;
	return \%s;
}

sub keys_sorted { my ($hash) = @_; my @k = sort keys %$hash; return @k }

# What the duplicate policy leaves, as rows for the oracle.
sub kept_rows
{
	my ($s) = @_;
	my @rows = map { @$_ } @{ $s->{segments} };
	return @rows if $s->{duplicates} eq 'all' || $s->{duplicates} eq 'error';
	@rows = reverse @rows if $s->{duplicates} eq 'last';
	my %seen;
	return grep { !$seen{ $_->{rank} }++ } @rows;
}

# ---- files ----------------------------------------------------------------

# The server's names and those of Perl.
my %encodings = (latin1 => 'iso-8859-1', SJIS => 'cp932', GBK => 'cp936', EUC_JP => 'euc-jp', WIN1252 => 'cp1252');

# UTF-8 in another encoding, or undef.
sub encoded
{
	my ($text, $encoding) = @_;
	my $bytes = eval { encode($encodings{$encoding}, decode('UTF-8', $text, Encode::FB_CROAK | Encode::LEAVE_SRC), Encode::FB_CROAK) };
	# Perl knows some characters that are only similar
	return defined $bytes && encode('UTF-8', decode($encodings{$encoding}, $bytes, Encode::LEAVE_SRC)) eq $text ? $bytes : undef;
}

sub csv_field
{
	my ($text, $d, $force) = @_;
	return $force eq 'null' && chance(0.5) ? "$d->{quote}$d->{null}$d->{quote}" : $d->{null} if !defined $text;
	my $must = ($text eq $d->{null} && $force ne 'not_null') || $text =~ /[\Q$d->{delimiter}$d->{quote}\E\r\n]/ || $text eq '\.';
	return $text if !$must && !($d->{quoting} eq 'all' || ($d->{quoting} eq 'some' && chance(0.5)));
	$text =~ s/([\Q$d->{quote}$d->{escape}\E])/$d->{escape}$1/g;
	# a quote may open anywhere
	if (chance(0.05) && $text =~ /^(\w+)(\W.*)\z/s && $1 !~ /[\Q$d->{delimiter}$d->{quote}$d->{escape}\E]/)
	{
		return "$1$d->{quote}$2$d->{quote}";
	}
	return "$d->{quote}$text$d->{quote}";
}

sub text_field
{
	my ($text, $d, $force) = @_;
	return $d->{null} if !defined $text;
	$text =~ s/\\/\\\\/g;
	$text =~ s/\n/\\n/g;
	$text =~ s/\r/\\r/g;
	$text =~ s/\t/\\t/g;
	$text =~ s/(\Q$d->{delimiter}\E)/\\$1/g;
	# any byte may be spelled by its number; whole characters are, here
	$text =~ s/([a-z])/sprintf pick('\\%03o', '\\x%02x'), ord $1/e if chance(0.1) && $text !~ /\\/ && index('abcfnrtvx', $d->{delimiter}) < 0;
	return $text;
}

# Write a stream's files; sets its option strings for the foreign table.
sub write_stream
{
	my ($s, $folder, $r) = @_;
	my $nkeys = @{ $r->{key_types} };
	my @all_rows = map { @$_ } @{ $s->{segments} };
	my @texts = grep { defined $_ } map { (@{ $_->{values} }, @{ $_->{key} }) } @all_rows;
	my $breaks = scalar grep { /[\r\n]/ } @texts;
	my $csv = chance(0.75);
	my %d = $csv
	  ? (delimiter => pick(',', ',', ';', '|', "\t"), quote => pick('"', '"', "'"), null => pick('', '', 'NULL', '\N'), quoting => pick('least', 'all', 'some'))
	  : (delimiter => pick("\t", "\t", '|', ','), null => pick('\N', '\N', '', 'NULL'));
	$d{escape} = $csv && chance(0.3) ? '\\' : $csv ? $d{quote} : '';
	# the text format cannot tell a value from a null string that looks like it
	$d{null} = '\N' if !$csv && grep { $_ eq $d{null} } @texts;
	my $field = $csv ? \&csv_field : \&text_field;
	# the share of segments that are Arrow files
	my $arrow = $s->{arrow};
	my $eol = $breaks ? "\n" : pick("\n", "\n", "\n", "\r\n", "\r");
	my $header = $r->{key_names} || chance(0.4);
	my $skip = chance(0.1) ? between(1, 3) : 0;
	my $extension = $csv ? 'csv' : pick('tsv', 'txt', 'tab');
	my @compressions = chance(0.75) ? '' : chance(0.7) ? pick('gz', 'zst', 'lz4') : ('', 'gz', 'bgz', 'zst', 'lz4');
	# in some of these a byte of a character looks like a delimiter
	my $encoding = chance(0.25) ? pick(keys_sorted(\%encodings)) : '';
	$encoding = '' if $encoding && grep { !defined encoded($_, $encoding) } @texts;
	my $filler = chance(0.4) ? 'f' x between(100, 1500) : undef;

	# values that a column's force_null or force_not_null leaves possible
	for my $i (0 .. $#{ $s->{columns} })
	{
		my @values = map { $_->{values}[$i] } @all_rows;
		my $force = $csv && $arrow < 1 && chance(0.2) ? pick('null', 'not_null') : '';
		$force = '' if $force eq 'not_null' && grep { !defined $_ } @values;
		$force = '' if $force eq 'null' && grep { defined $_ && $_ eq $d{null} } @values;
		$s->{columns}[$i]{force} = $force;
	}

	# fields: keys, values and some that nobody wants, in any order
	my @key_names = $r->{key_names} ? @{ $r->{key_names} } : map { "k$_" } 1 .. $nkeys;
	my $key_field = $nkeys == 1 && @{ $s->{columns} } && chance(0.15);
	@key_names = ('the id') if $key_field;
	# found by their places
	@key_names = map { "other $_" } 1 .. $nkeys if $arrow == 1 && !$r->{key_names} && !$key_field && chance(0.2);
	my @names = (@key_names, (map { $_->{name} } @{ $s->{columns} }), (map { "x$_" } 1 .. pick(0, 0, 0, 1, 2)));
	push @names, 'filler' if defined $filler;
	my @order = ($header && $key_names[0] !~ /^other/ && chance(0.5)) || $key_field ? shuffle(0 .. $#names) : (0 .. $#names);
	my @force = ((map { '' } 1 .. $nkeys), (map { $_->{force} } @{ $s->{columns} }), (map { '' } @names));
	my $n = 0;
	for my $segment (@{ $s->{segments} })
	{
		$n++;
		if (chance($arrow))
		{
			write_arrow_segment($s, $folder, $n, $segment, \@names, \@order, arrow_types($segment, $s, $r, \@names));
			next;
		}
		my @lines = map { "skipped \"line$eol" } 1 .. $skip;
		push @lines, join($d{delimiter}, map { $field->($names[$_], \%d, '') } @order) . $eol if $header;
		for my $row (@$segment)
		{
			my @fields = (@{ $row->{key} }, @{ $row->{values} });
			push @fields, map { $names[$_] eq 'filler' ? $filler : pick('', 'junk', undef) } @fields .. $#names;
			push @lines, join($d{delimiter}, map { $field->($fields[$_], \%d, $force[$_]) } @order) . $eol;
		}
		my $content = join '', @lines;
		# a last line without its end; but one that would then be empty stays
		if (@$segment && chance(0.2) && $lines[-1] =~ /[^\r\n]/)
		{
			$content =~ s/(?:\r?\n|\r)\z//;
		}
		elsif (@$segment && chance(0.1))
		{
			$content .= $csv || chance(0.5) ? $eol x between(1, 3) : "\\.$eol";
		}
		if ($encoding)
		{
			$content = encoded($content, $encoding);
		}
		elsif (chance(0.05))
		{
			$content = "\xef\xbb\xbf$content";
		}
		my $compression = pick(@compressions);
		my $name = $s->{many} ? sprintf('s%d/%02d.%s', $s->{number}, $n, $extension) : "s$s->{number}.$extension";
		$name .= ".$compression" if $compression;
		$s->{filename} = $name;
		write_compressed("$folder/$name", $content, $compression);
	}
	$s->{filename} = sprintf(pick('s%d/', 's%d/*', 's%d/??.*'), $s->{number}) if $s->{many};
	my %common = (
		filename => $s->{filename},
		($s->{sorted} ? () : (sorted => 'false')),
		($s->{duplicates} eq 'error' ? () : (duplicates => $s->{duplicates})),
		(chance(0.1) ? (queue => between(1, 4)) : ()),
		($key_field ? (key_field => $header && chance(0.5) ? 'the id' : 1 + place(0, @order)) : ()));
	my %o = (
		%common,
		($d{delimiter} ne ($csv ? ',' : "\t") ? (delimiter => $d{delimiter}) : ()),
		($csv && $d{quote} ne '"' ? (quote => $d{quote}) : ()),
		($csv && $d{escape} ne $d{quote} ? (escape => $d{escape}) : ()),
		($d{null} ne ($csv ? '' : '\N') ? (null => $d{null}) : ()),
		($header ? (header => $r->{key_names} || $key_field ? 'true' : pick('true', 'true', 'match')) : ()),
		($skip ? (skip => $skip) : ()),
		($encoding ? (encoding => $encoding) : chance(0.1) ? (encoding => 'UTF8') : ()),
		(chance(0.4) ? (multiline => $breaks ? 'true' : pick('true', 'false')) : ()),
		(!$arrow && chance(0.2) ? (format => $csv ? 'csv' : 'text') : ()));
	%o = (%common, (chance(0.2) || $s->{odd_name} ? (format => 'arrow') : ())) if $arrow == 1;
	if (!$arrow && $csv && @{ $s->{columns} } && !$s->{many} && $compressions[0] eq '' && @compressions == 1 && chance(0.2))
	{
		$o{program} = "cat '" . $server->path("$folder/$o{filename}") . "'";
		delete $o{filename};
	}
	$s->{options} = \%o;
	# what a header's names or the only field that is no key do not tell
	for my $i (0 .. $#{ $s->{columns} })
	{
		$s->{columns}[$i]{field} = 1 + place($nkeys + $i, @order) if (!$header && (@names > $nkeys + 1 || chance(0.3))) || ($header && chance(0.1));
	}
	return;
}

# ---- Arrow files ------------------------------------------------------------

# The types of keys and values without their modifiers, whose roundings the
# scan has to make itself.
sub plain_types
{
	my ($s, $r) = @_;
	return map { /char/ ? 'text' : plain($_) =~ s/\(.*//r } @{ $r->{key_types} }, map { $_->{type} } @{ $s->{columns} };
}

# Each row's keys and values as the server writes them, in styles that any
# settings read, go to $row->{plain}.
sub respell
{
	my ($r, @streams) = @_;
	my @script = ("\\pset null '\\035'\n\\pset recordsep '\\036'\n\\pset fieldsep '\\037'");
	for my $s (@streams)
	{
		my @types = plain_types($s, $r);
		my @rows = map { @$_ } @{ $s->{segments} };
		my @values = map { '(' . join(', ', $_, map { literal($_) } @{ $rows[$_]{key} }, @{ $rows[$_]{values} }) . ')' } 0 .. $#rows;
		push @script, (map { "SET $_;" } @{ $r->{input} }), 'CREATE TEMP TABLE plain (' . join(', ', 'n int', map { "c$_ $types[$_]" } 0 .. $#types) . ');';
		push @script, 'INSERT INTO plain VALUES ' . join(",\n", @values) . ';' if @values;
		push @script, "SET DateStyle = 'ISO'; SET TimeZone = 'UTC';", "\\echo -n '\\036\@\@\\036'\nSELECT * FROM plain ORDER BY n;", 'DROP TABLE plain;';
	}
	my ($out, $err) = ('', '');
	my $script = join "\n", @script;
	IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $server->{node}->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout(120)) or die $err;
	my (undef, @results) = split /\036\@\@\036/, $out, -1;
	for my $s (@streams)
	{
		my @lines = split /\036/, (shift(@results) =~ s/\n\z//r);
		for my $row (map { @$_ } @{ $s->{segments} })
		{
			(undef, my @texts) = split /\037/, shift @lines, -1;
			$row->{plain} = [ map { $_ eq "\035" ? undef : $_ } @texts ];
		}
	}
	return;
}

my @utf8 = qw(utf8 largeutf8 utf8view);
my @binary = qw(binary largebinary binaryview);

# The types of Arrow that hold these integers.
sub integer_types
{
	my @texts = @_;
	return grep {
		my ($unsigned, $bits) = /^(u?)int(\d+)/;
		my $low = $unsigned ? 0 : -(2 ** ($bits - 1));
		my $high = 2 ** ($unsigned ? $bits : $bits - 1) - 1;
		$bits == 64 ? !$unsigned || !grep { /^-/ } @texts : !grep { $_ < $low || $_ > $high } @texts;
	} map { ("int$_", "uint$_") } 8, 16, 32, 64;
}

# Those of moments whose last digits these are.
sub unit_types
{
	my ($prefix, $texts, @units) = @_;
	my ($digits) = sort { $b <=> $a } 0, map { /\.(\d+)/ ? length $1 : () } @$texts;
	return map { "${prefix}_$_" } grep { $digits <= { s => 0, ms => 3, us => 6, ns => 9 }->{$_} } @units;
}

# The types of Arrow that a column of PostgreSQL's type can be read from with
# nothing lost, where it has such texts.
sub types_for
{
	my ($type, $is_key, @texts) = @_;
	my $far = grep { /infinity/ } @texts;
	my $very_far = $far || grep { /BC/ || !/^(?:1[7-9]|20|21)\d\d-/ } @texts;
	if ($type =~ /^int[248]$|small$/)
	{
		my ($digits) = sort { $b <=> $a } map { length } @texts, '0';
		return (integer_types(@texts), $digits < 15 ? 'float64' : (), 'decimal128(38,0)');
	}
	return integer_types(@texts) if $type eq 'oid';
	return qw(bool uint8 int32) if $type eq 'boolean';
	return ('float32', $is_key ? () : 'float64') if $type eq 'real' || $type eq 'float4';
	return 'float64' if $type eq 'float8';
	if ($type eq 'numeric')
	{
		return if grep { !/^-?\d+(?:\.\d+)?$/ } @texts;
		my ($scale) = sort { $b <=> $a } 0, map { /\.(\d+)/ ? length $1 : () } @texts;
		return ((grep { /\./ } @texts) ? () : integer_types(@texts), ("decimal128(38,$scale)") x 3);
	}
	return qw(uuid fixedbinary16) if $type eq 'uuid';
	return @binary if $type eq 'bytea';
	return (@utf8, (grep { /^\\x/ } @texts) ? () : @binary) if $type eq 'text';
	return $far ? () : ('date32', 'date64', unit_types('timestamp', [], $very_far ? qw(s ms us) : qw(s ms us ns))) if $type eq 'date';
	return $far ? () : unit_types($type, \@texts, $very_far ? qw(s ms us) : qw(s ms us ns)) if $type =~ /^timestamp/;
	return (grep { /^24/ } @texts) ? () : (unit_types('time32', \@texts, qw(s ms)), unit_types('time64', \@texts, qw(us ns))) if $type eq 'time';
	return map { my $t = $_; map { "$_<$t>" } qw(list largelist) } integer_types(map { /\d+/g } @texts) if $type eq 'int4[]';
	return map { my $t = $_; map { "$_<$t>" } qw(list largelist) } @utf8 if $type eq 'text[]';
	return;
}

# The fields of a segment's Arrow file: [ name, type, type of indexes ]; the
# rows' texts become what they are to be there.
sub arrow_types
{
	my ($segment, $s, $r, $names) = @_;
	my @types = plain_types($s, $r);
	my $nkeys = @{ $r->{key_types} };
	my @rows = @$segment;
	my @fields;
	for my $i (0 .. $#$names)
	{
		my @texts = $i < @types ? grep { defined $_ } map { $_->{plain}[$i] } @rows : ();
		my @candidates = $i < @types ? types_for($types[$i], $i < $nkeys, @texts) : ();
		# any type is read from its text, but for bytea, whose bytes a text is
		push @candidates, @utf8 if !@candidates || ($types[$i] ne 'bytea' && chance(0.2));
		my $type = pick(@candidates);
		my %distinct = map { ($_ => 1) } @texts;
		my @indexes = integer_types(0, scalar keys %distinct);
		my @field = ($names->[$i], $type);
		push @field, pick(@indexes) if chance(0.2);
		push @fields, \@field;
		next if $i >= @types;
		# a decimal's places are part of its type: only there a value looks another way
		spell_as($_, $i, $nkeys, $types[$i], $type) for @rows;
	}
	return \@fields;
}

sub spell_as
{
	my ($row, $i, $nkeys, $from, $to) = @_;
	my $text = $row->{plain}[$i];
	return if !defined $text;
	if ($from eq 'numeric' && $to =~ /^decimal128\(38,(\d+)\)/)
	{
		my $scale = $1;
		my ($whole, $fraction) = $text =~ /^([^.]*)\.?(.*)$/;
		$fraction .= '0' x ($scale - length $fraction);
		$row->{plain}[$i] = $whole . ($scale ? ".$fraction" : '');
		my $list = $i < $nkeys ? $row->{key} = [ @{ $row->{key} } ] : $row->{values};
		$list->[ $i < $nkeys ? $i : $i - $nkeys ] = $row->{plain}[$i];
	}
	elsif ($from eq 'boolean' && $to =~ /int/)
	{
		$row->{plain}[$i] = $text eq 't' ? 1 : 0;
	}
	elsif ($from eq 'date' && $to =~ /timestamp/)
	{
		$row->{plain}[$i] = $text =~ s/^[-\d]+/$& 00:00:00/r;
	}
	return;
}

sub write_arrow_segment
{
	my ($s, $folder, $n, $segment, $names, $order, $types) = @_;
	my @fields = map { $types->[$_] } @$order;
	my @rows = map {
		my $row = $_;
		[ map { $_ < @{ $row->{plain} } ? $row->{plain}[$_] : pick('', 'junk', undef) } @$order ]
	} @$segment;
	my @dictionaries = map { @$_ > 2 ? ('--dictionary', "$_->[0]:$_->[2]") : () } @fields;
	my $extension = $s->{odd_name} ? 'bin' : pick(qw(arrow feather ipc arrows));
	my $name = $s->{many} ? sprintf('s%d/%02d.%s', $s->{number}, $n, $extension) : "s$s->{number}.$extension";
	OuterjoinArrow::write_arrow($server->path("$folder/$name"), \@fields, \@rows, '--codec', pick(qw(none none lz4 zstd)),
		'--batch', pick(65536, 0, 1, between(2, 9), between(10, 200), join(',', map { between(0, 3) } 1 .. between(2, 9)) . ',1', '0,100'),
		'--align', pick(8, 64), chance(0.3) ? '--stream' : (), chance(0.4) ? '--delta' : (), @dictionaries);
	$s->{filename} = $name;
	return;
}

sub place
{
	my ($wanted, @list) = @_;
	return (grep { $list[$_] == $wanted } 0 .. $#list)[0];
}

# Which options stand where: what all streams agree upon may stand on the
# table, and of several columns of a stream one is enough to say it.
sub place_options
{
	my ($r) = @_;
	my @streams = @{ $r->{streams} };
	my %table;
	for my $name (qw(header delimiter skip encoding sorted duplicates multiline queue null))
	{
		# Arrow files do not mind what is said of others
		my @concerned = grep { $_->{arrow} < 1 || $name =~ /^(?:sorted|duplicates|queue)$/ } @streams;
		my $value = @concerned ? $concerned[0]{options}{$name} : undef;
		next if !defined $value || !chance(0.5) || grep { !defined $_->{options}{$name} || $_->{options}{$name} ne $value } @concerned;
		$table{$name} = $value;
		delete $_->{options}{$name} for @streams;
	}
	for my $s (@streams)
	{
		my $first = 1;
		for my $column (@{ $s->{columns} })
		{
			my %o = %{ $s->{options} };
			if (!$first)
			{
				# without its file's name it would take another
				/^(?:filename|program)$/ || chance(0.5) || delete $o{$_} for keys %o;
			}
			$first = 0;
			$o{field} = $column->{field} if defined $column->{field};
			$o{"force_$column->{force}"} = 'true' if $column->{force};
			$column->{options} = option_list(\%o);
		}
	}
	$r->{table_options} = \%table;
	return;
}

sub option_list
{
	my ($o) = @_;
	return join ', ', map { "$_ " . literal($o->{$_}) } sort keys %$o;
}

sub write_compressed
{
	my ($name, $content, $compression) = @_;
	my %command = (gz => 'gzip -c', bgz => 'gzip -c', zst => 'zstd -q -c', lz4 => 'lz4 -q -c');
	if (!$compression)
	{
		$server->write_file($name, $content);
		return;
	}
	# sometimes in two members
	my $cut = chance(0.5) ? between(0, length $content) : length $content;
	$server->write_file("$name", '');
	my $path = $server->path($name);
	for my $part (substr($content, 0, $cut), $cut < length $content ? substr($content, $cut) : ())
	{
		open my $pipe, '|-:raw', "$command{$compression} >> '$path'" or die $!;
		print $pipe $part;
		close $pipe or die "$command{$compression}: $?";
	}
	return;
}

# ---- SQL ------------------------------------------------------------------

sub literal
{
	my ($text) = @_;
	return 'NULL' if !defined $text;
	$text =~ s/'/''/g;
	$text =~ s/\\/\\\\/g;
	$text =~ s/\n/\\n/g;
	$text =~ s/\t/\\t/g;
	return $text =~ /\\/ ? "E'$text'" : "'$text'";
}

sub plain { my ($type) = @_; return $type =~ s/ COLLATE.*//r }
sub typed { my ($text, $type) = @_; return literal($text) . '::' . plain($type) }

# types that min() does not take
my %no_min = map { ($_ => 1) } 'uuid', 'boolean', 'bytea', 'jsonb', 'name', 'macaddr', 'bit varying';

sub setup_sql
{
	my ($r) = @_;
	my @sql = ((map { "SET $_;" } @{ $r->{input} }), 'DROP SCHEMA IF EXISTS d CASCADE;', 'CREATE SCHEMA d;', 'SET search_path = d;');
	my @keys = map { "k$_" } 1 .. @{ $r->{key_types} };
	my $key_definition = join ', ', map { "$keys[$_] $r->{key_types}[$_]" } 0 .. $#keys;
	for my $s (@{ $r->{streams} })
	{
		push @sql, "CREATE TABLE s$s->{number} (" . join(', ', $key_definition, map { "$_->{name} $_->{type}" } @{ $s->{columns} }) . ');';
		my @rows = map { '(' . join(', ', map { literal($_) } @{ $_->{key} }, @{ $_->{values} }) . ')' } kept_rows($s);
		push @sql, "INSERT INTO s$s->{number} VALUES " . join(",\n", @rows) . ';' if @rows;
	}
	my $using = join ', ', @keys;
	my $columns = join ', ', @keys, map { $_->{name} } @{ $r->{columns} };
	my $from = join ' ', 's' . $r->{streams}[0]{number}, map { "FULL JOIN s$_->{number} USING ($using)" } @{ $r->{streams} }[ 1 .. $#{ $r->{streams} } ];
	push @sql, 'SET enable_nestloop = off;', "CREATE TABLE o AS SELECT $columns FROM $from;", 'RESET enable_nestloop;';
	my @definitions;
	for my $k (0 .. $#keys)
	{
		my ($type, $collation) = $r->{key_types}[$k] =~ /^(.*?)( COLLATE.*)?$/;
		# the stream that has keys only is named by the first of them
		my %o = (key => 'true', $k == 0 && $r->{streams}[0]{only_keys} ? %{ $r->{streams}[0]{options} } : ());
		$o{descending} = 'true' if $r->{descending}[$k];
		$o{field} = $r->{key_names}[$k] if $r->{key_names};
		push @definitions, "$keys[$k] $type OPTIONS (" . option_list(\%o) . ')' . ($collation // '');
	}
	push @definitions, map { "$_->{name} $_->{type} OPTIONS ($_->{options})" } @{ $r->{columns} };
	# a column that is no more leaves a gap
	my $gone = chance(0.2);
	splice @definitions, between(0, scalar @definitions), 0, 'gone text' if $gone;
	push @sql, 'CREATE FOREIGN TABLE f (' . join(', ', @definitions) . ') SERVER files OPTIONS (' . option_list({ directory => $r->{folder}, %{ $r->{table_options} } }) . ');';
	push @sql, 'ALTER FOREIGN TABLE f DROP COLUMN gone;' if $gone;
	push @sql, 'CREATE TABLE p (LIKE f);', 'ALTER FOREIGN TABLE f INHERIT p;' if $r->{parent};
	push @sql, 'ANALYZE f;' if chance(0.3);
	push @sql, "CREATE TABLE r ($key_definition, n int);";
	my @rows = map { my $key = pick(@{ pick(@{ $r->{domain} }) }); '(' . join(', ', (map { literal($_) } @$key), $_) . ')' } 1 .. between(1, 30);
	push @sql, 'INSERT INTO r VALUES ' . join(', ', @rows) . ';';
	push @sql, 'INSERT INTO r (n) VALUES (0);' if chance(0.5);
	push @sql, 'CREATE INDEX ON r (k1);' if chance(0.5);
	push @sql, 'ANALYZE r;', 'ANALYZE o;';
	return join "\n", @sql;
}

# values of other types that keys may be compared with
my @other_numbers = (
	[ 0 => 'int2' ], [ -7 => 'int2' ], [ 32767 => 'int2' ], [ 40000 => 'int4' ], [ -3 => 'int4' ], [ 2147483647 => 'int4' ],
	[ 3000000000 => 'int8' ], [ -3000000000 => 'int8' ], [ '-9223372036854775808' => 'int8' ], [ 12 => 'int8' ],
	[ '1.5' => 'numeric' ], [ '-0.5' => 'numeric' ], [ '1e30' => 'numeric' ], [ '3' => 'numeric' ], [ 'NaN' => 'numeric' ],
	[ '2.5' => 'float8' ], [ '-Infinity' => 'float8' ], [ 'NaN' => 'float8' ], [ '1e300' => 'float8' ]);
my @other_days = (
	[ '2000-01-01' => 'date' ], [ 'infinity' => 'date' ], [ '1999-06-05' => 'date' ],
	[ '2000-01-01 00:00:00' => 'timestamp' ], [ '1999-12-31 23:59:59.999999' => 'timestamp' ], [ '-infinity' => 'timestamp' ], [ '290000-01-01' => 'timestamp' ],
	[ '2000-01-01 00:00:00+00' => 'timestamptz' ], [ '2001-05-05 12:00:00+09' => 'timestamptz' ], [ 'infinity' => 'timestamptz' ]);
my @other_texts = ([ 'b' => 'name' ], [ 'b' => 'varchar' ], [ 'b ' => 'char(3)' ], [ '' => 'text' ], [ 'B' => 'text' ]);
my %other_types = (
	(map { ($_ => \@other_numbers) } qw(int2 int4 int8 numeric float8 float4 public.small)),
	(map { ($_ => \@other_days) } qw(date timestamp timestamptz)),
	(map { ($_ => \@other_texts) } qw(text varchar name char(4))));

sub some_key { my ($r) = @_; return pick(@{ pick(@{ $r->{domain} }) }) }

sub key_clause
{
	my ($r, $t) = @_;
	my $i = int(rand(@{ $r->{key_types} }));
	my $type = $r->{key_types}[$i];
	my $k = "${t}k" . ($i + 1);
	my $v = sub { return typed(some_key($r)->[$i], $type) };
	my @forms = (
		sub { return "$k " . pick('=', '<', '<=', '>', '>=', '<>') . ' ' . $v->() },
		sub { return "$k = " . $v->() },
		sub { return $v->() . ' ' . pick('=', '<', '<=', '>', '>=') . " $k" },
		sub { return "$k BETWEEN " . $v->() . ' AND ' . $v->() },
		sub { return "$k BETWEEN SYMMETRIC " . $v->() . ' AND ' . $v->() },
		sub { return "$k IN (" . join(', ', map { $v->() } 1 .. between(1, 5)) . ')' },
		sub { return "$k = ANY (ARRAY[" . join(', ', map { $v->() } 1 .. between(1, 4)) . pick('', ', NULL') . '])' },
		sub { return "$k > " . $v->() . " AND $k <= " . $v->() },
		sub { return "$k >= (SELECT min(k" . ($i + 1) . ') FROM r)' },
		sub { return "$k = (SELECT k" . ($i + 1) . ' FROM r ORDER BY n LIMIT 1)' },
		sub { return "$k " . pick('IS NULL', 'IS NOT NULL') },
		sub { return "$k " . pick('=', '<', '<=', '>', '>=', '<>') . ' ' . pick('ANY', 'ALL') . ' (ARRAY[' . join(', ', map { $v->() } 1 .. between(1, 3)) . pick('', '', ', NULL') . '])' },
		sub { return "$k " . pick('=', '<', '>') . ' ' . pick('ANY', 'ALL') . " ('{}'::" . plain($type) . '[])' },
		sub { return "$k " . pick('=', '<') . ' NULL' },
		sub { return "$k IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . pick($v->(), 'NULL') },
		sub { return "$k >= " . $v->() . " AND $k IN (" . join(', ', map { $v->() } 1 .. between(1, 4)) . ')' },
		sub { return "$k > " . $v->() . ' AND ' . $v->() . " > $k AND $k <> " . $v->() },
		sub { return "($k = " . $v->() . " OR $k = " . $v->() . " OR $k < " . $v->() . ')' },
		sub { return "$k = ANY (SELECT k" . ($i + 1) . ' FROM r)' },
		sub { return "$k IN (VALUES (" . join('), (', map { $v->() } 1 .. between(1, 4)) . '))' },
	);
	push @forms, sub { return "$k " . pick('=', '<', '<=', '>', '>=', '<>') . ' ' . pick(map { literal($_->[0]) . "::$_->[1]" } @{ $other_types{ plain($type) } }) }
	  for $other_types{ plain($type) } && $type !~ /COLLATE (?!"C")/ ? (1, 1) : ();
	push @forms, sub { my $a = some_key($r); return "(${t}k1, ${t}k2) " . pick('=', '<', '>=') . ' (' . typed($a->[0], $r->{key_types}[0]) . ', ' . typed($a->[1], $r->{key_types}[1]) . ')' }
	  if @{ $r->{key_types} } > 1;
	@forms = @forms[ grep { $_ != 8 } 0 .. $#forms ] if $no_min{ plain($type) };
	return pick(@forms)->();
}

sub value_clause
{
	my ($r, $t) = @_;
	my $c = pick(@{ $r->{columns} });
	return "$t$c->{name} IS " . pick('NULL', 'NOT NULL', 'NOT NULL') if chance(0.5);
	if (chance(0.15))
	{
		my $other = pick(@{ $r->{columns} });
		return "coalesce($t$c->{name}::text, $t$other->{name}::text, '') " . pick('<>', '=') . " ''";
	}
	return "$t$c->{name} IN (" . join(', ', map { typed($value{ $c->{type} }->(), $c->{type}) } 1 .. 3) . ')' if chance(0.2);
	return odd_value_clause($r, $t, $c) if chance(0.35);
	return "$t$c->{name}" . ($c->{type} eq 'boolean' ? pick(' IS TRUE', ' IS NOT TRUE', '') : ' ' . pick('=', '<', '>', '<>') . ' ' . typed($value{ $c->{type} }->(), $c->{type}));
}

# forms that a stream can be required by, or only seems to be
sub odd_value_clause
{
	my ($r, $t, $c) = @_;
	my $name = "$t$c->{name}";
	my $v = sub { return typed($value{ $c->{type} }->(), $c->{type}) };
	my ($stream) = grep { grep { $_ == $c } @{ $_->{columns} } } @{ $r->{streams} };
	my $near = pick(@{ $stream->{columns} });
	my $far = pick(@{ $r->{columns} });
	my @forms = (
		sub { return "$name " . pick('=', '<>', '<') . ' ' . pick('ANY', 'ALL') . ' (ARRAY[' . join(', ', map { $v->() } 1 .. between(1, 3)) . pick('', ', NULL') . '])' },
		sub { return "$name = ANY ('{}'::" . plain($c->{type}) . '[])' },
		sub { return "NOT ($name " . pick('=', '<') . ' ' . $v->() . ')' },
		sub { return "($name = " . $v->() . " OR $t$near->{name} IS NOT NULL)" },
		sub { return "($name IS NOT NULL OR $t$far->{name} IS NOT NULL)" },
		sub { return "(($name = " . $v->() . " AND $t$far->{name} IS NOT NULL) OR ($name IS NOT NULL AND $t$near->{name} IS NULL))" },
		sub { return "$name IS NOT NULL AND $t$near->{name} IS NULL" },
		sub { return "$name IS NOT NULL AND $t$far->{name} IS NULL" },
		sub { return "$name IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . pick($v->(), 'NULL') },
		sub { return "$name = NULL" },
		sub { return "length(${name}::text) " . pick('>', '<') . ' ' . between(0, 6) },
		sub { return "${name}::text LIKE " . pick("'%'", "'a%'", "'1%'", "'%b'", "'_'", "''", "'\\\\%'", "'x'") },
		sub { return "${name}::text " . pick('>', '<=', '=', '<>') . " '" . pick('', 'a', 'x', '3', 'NULL') . "'" },
		sub { return "coalesce(${name}::text, 'none') = 'none'" },
		sub { return "($name IS NULL) IS " . pick('TRUE', 'FALSE', 'NOT TRUE') },
		sub { return "$name = (SELECT max(x.$c->{name}::text)::" . plain($c->{type}) . ' FROM T x)' },
		sub { return "CASE WHEN $name IS NULL THEN $t$far->{name} IS NULL ELSE true END" },
	);
	my %like = map { ($_ => 1) } qw(text varchar(5));
	push @forms, (sub { return "$name " . pick('LIKE', 'NOT LIKE', 'ILIKE') . ' ' . pick("'x%'", "'a%'", "'%'", "''", "'say%'", "'gr_n%'", "'a,b'") }) x 3 if $like{ $c->{type} };
	my %whole = map { ($_ => 1) } qw(int2 int4 int8 public.small);
	push @forms, (sub { return "$name " . pick('=', '<', '<=', '>', '>=', '<>') . ' ' . between(-40, 40) . pick('::int2', '::int4', '::int8', '::numeric', '') },
		sub { return between(-40, 40) . ' ' . pick('=', '<', '>=') . " $name" },
		sub { return "$name IN (" . join(', ', map { between(-40, 40) } 1 .. 12) . ')' }) x 2 if $whole{ $c->{type} };
	my %float = map { ($_ => 1) } qw(float8 real);
	push @forms, (sub { return "$name " . pick('=', '<', '<=', '>', '>=', '<>') . ' ' . pick("'NaN'", "'Infinity'", '0', '-1.5', '12::real', "'-0'::float8") }) x 4 if $float{ $c->{type} };
	push @forms, (sub { return pick($name, "NOT $name", "$name IS FALSE", "$name IS NOT FALSE", "$name IS UNKNOWN", "$name = true") }) x 3 if $c->{type} eq 'boolean';
	return pick(@forms)->();
}

sub clause
{
	my ($r, $t) = @_;
	my $dice = rand();
	return 'true' if $dice < 0.12;
	return join(' AND ', map { value_clause($r, $t) } 1 .. between(2, 4)) if $dice < 0.17;
	return key_clause($r, $t) if $dice < 0.5;
	return value_clause($r, $t) if $dice < 0.65;
	return key_clause($r, $t) . ' AND ' . value_clause($r, $t) if $dice < 0.8;
	return key_clause($r, $t) . ' AND ' . key_clause($r, $t) if $dice < 0.88;
	return 'NOT (' . key_clause($r, $t) . ')' if $dice < 0.92;
	return '(' . clause($r, $t) . ' OR ' . clause($r, $t) . ')';
}

# An aggregate of a column of this type.  Those whose result depends on the
# order of the rows only where the rows have one order.
sub aggregate
{
	my ($c, $type, $ordered) = @_;
	my $plain = plain($type);
	my @forms = ("count($c)", "count($c)", "count($c IS NULL OR NULL)", 'count(*)', "count(DISTINCT $c)", "max(length($c\::text))");
	push @forms, ("sum($c)", "avg($c)", "sum($c + 1)", "stddev($c)", "bit_and(1) = 1 AND min($c)::numeric = min($c)::numeric", "min($c)", "max($c)")
	  if $plain =~ /^(?:int\d|public.small)$/;
	push @forms, ("sum($c)", "avg($c)::numeric(40,9)") if $plain =~ /^numeric/;
	push @forms, ("min($c)", "max($c)") if $plain =~ /^(?:date|timestamp|timestamptz|timestamp\(0\)|time)$/ || $type eq 'text COLLATE "C"' || $plain =~ /^text$|^varchar/ && $type !~ /COLLATE/;
	push @forms, ("sum($c)", "max($c)") if $plain eq 'interval' && $ordered;
	push @forms, ("bool_and($c)", "bool_or($c)", "every($c)", "sum($c\::int)") if $plain eq 'boolean';
	push @forms, ("sum($c)", "avg($c)", "min($c)", "max($c)", "sum($c * 2)", "var_pop($c)", "max($c\::float8)") if $plain =~ /^(?:float[48]|real)$/ && $ordered;
	push @forms, ("string_agg($c\::text, '|')", "array_agg($c\::text)", "md5(string_agg($c\::text, '-'))", "json_agg($c\::text)") if $ordered;
	push @forms, ("min($c)", "max($c)") if $plain =~ /^numeric/ && $ordered;
	push @forms, "string_agg($c\::text, '|' ORDER BY $c\::text COLLATE \"C\")";
	return pick(@forms);
}

sub aggregates_query
{
	my ($r) = @_;
	my $ordered = !$r->{repeats};
	my @keys = map { [ "k$_", $r->{key_types}[ $_ - 1 ] ] } 1 .. @{ $r->{key_types} };
	my @columns = ((map { [ $_->{name}, $_->{type} ] } @{ $r->{columns} }), pick(@keys));
	my $filtered = chance(0.3);
	# a row in the order of a join would come anywhere
	my $where = sub {
		for (1 .. 100) { my $clause = clause($r, ''); return $clause if $clause !~ /SELECT|VALUES/ }
		return 'true';
	};
	my @list = map { aggregate(@{ pick(@columns) }, $ordered) . ($filtered && chance(0.5) ? ' FILTER (WHERE ' . value_clause($r, '') . ')' : '') } 1 .. between(1, pick(2, 6));
	@list = map { /DISTINCT|^bit_and|^md5|::numeric/ && / FILTER / ? s/ FILTER .*//r : $_ } @list;
	push @list, 'count(*) + 1' if chance(0.3);
	my $having = chance(0.1) ? ' HAVING count(*) ' . pick('>', '<') . ' ' . between(0, 100) : '';
	my $clause = chance(0.4) ? 'true' : $where->();
	my $order = join ', ', map { "k$_" . ($r->{descending}[ $_ - 1 ] ? ' DESC' : '') } 1 .. @{ $r->{key_types} };
	my $select = 'SELECT ' . join(', ', @list);
	return { sql => "$select FROM T WHERE $clause$having", oracle => "$select FROM (SELECT * FROM T ORDER BY $order) x WHERE $clause$having", quiet => $r->{repeats} };
}

# between the statements of a query that has several
my $then = "\037";

# A query: { sql with T for the table, oracle (if it differs), ordered }.
sub make_query
{
	my ($r) = @_;
	my @keys = map { "k$_" } 1 .. @{ $r->{key_types} };
	my $keys = join ', ', @keys;
	my $direction = $r->{descending}[0] ? ' DESC' : '';
	my @order = map { $keys[$_] . ($r->{descending}[$_] ? ' DESC' : '') } 0 .. $#keys;
	my $in_order = join ', ', @order;
	my @back = map { / DESC/ ? s/ DESC//r : "$_ DESC" } @order;
	my $backward = join ', ', @back;
	my @values = map { $_->{name} } @{ $r->{columns} };
	my @all = (@keys, @values);
	my @some = grep { chance(pick(0.2, 0.5, 1)) } @all;
	@some = (pick(@all)) if !@some;
	# rows that compare equal may still look different
	@values = (@values, 'T::text') if $r->{repeats};
	my $some = join ', ', @some;
	my $sql_type = $r->{key_types}[0] =~ s/ COLLATE.*//r;
	my $on = join ' AND ', map { "x.$_ = y.$_" } @keys;
	my $ron = join ' AND ', map { "x.$_ = r.$_" } @keys;
	my $xsome = join ', ', map { "x.$_" } @some;
	my @ints = grep { $_->{type} =~ /^(int4|numeric)$/ } @{ $r->{columns} };
	my $minmax = 'k1';
	my $r_in_order = pick('r', 'r', '(SELECT * FROM r ORDER BY k1) r', '(SELECT * FROM r ORDER BY k1 DESC OFFSET 0) r', '(SELECT * FROM r ORDER BY k1 OFFSET 0) r');
	my $aggregates = join ', ', 'count(*)',
	  ($no_min{$sql_type} ? 'count(k1)' : 'min(k1) = min(k1), min(k1)::text IS NULL, max(k1) IS NULL'), 'count(DISTINCT k1)',
	  (map { "count($_->{name})" } grep { chance(0.5) } @{ $r->{columns} }), (map { "sum($_->{name})" } @ints);
	my @forms = (
		sub { return { sql => "SELECT $some FROM T WHERE " . clause($r, '') } },
		sub { return { sql => "SELECT * FROM T WHERE " . key_clause($r, '') } },
		sub { return { sql => "SELECT $aggregates FROM T WHERE " . clause($r, '') } },
		sub {
			my $order = join ', ', map { $_ . pick('', '', ' DESC') } @all;
			$order = join(', ', @order, @values) if chance(0.5);
			$order = join(', ', @back, @values) if chance(0.2);
			return { sql => "SELECT $some FROM T WHERE " . clause($r, '') . " ORDER BY $order LIMIT " . between(0, 20) . ' OFFSET ' . pick(0, 0, between(0, 30)), ordered => 1 };
		},
		sub {
			# a scan comes in key order without being asked; a join need not
			my $where = clause($r, '');
			my $limit = chance(0.5) ? ' LIMIT ' . between(0, 30) : '';
			my $asked = $where =~ /(?:ANY|IN) \((?:SELECT|VALUES)/ ? " ORDER BY $in_order" : '';
			return { sql => "SELECT $keys FROM T WHERE $where$asked$limit",
				oracle => "SELECT $keys FROM T WHERE $where ORDER BY $in_order$limit",
				ordered => 1, quiet => $r->{repeats} };
		},
		sub { return { sql => "SELECT $xsome, r.n FROM T x " . pick('JOIN', 'LEFT JOIN', 'RIGHT JOIN') . " r ON $ron" . (chance(0.3) ? ' AND ' . clause($r, 'x.') : '') . ' WHERE ' . (chance(0.5) ? clause($r, 'x.') : 'true') } },
		sub { return { sql => "SELECT $xsome, r.n FROM T x FULL JOIN r ON $ron WHERE " . (chance(0.3) ? clause($r, 'x.') : 'true') } },
		sub { return { sql => "SELECT $xsome FROM T x WHERE " . pick('', 'NOT ') . "EXISTS (SELECT 1 FROM r WHERE $ron) AND " . clause($r, 'x.') } },
		sub { return { sql => "SELECT n FROM r WHERE " . pick('', 'NOT ') . "EXISTS (SELECT FROM T x WHERE $ron AND " . clause($r, 'x.') . ')' } },
		sub { return { sql => "SELECT $xsome FROM T x WHERE k1 " . pick('', 'NOT ') . "IN (SELECT k1 FROM r WHERE k1 IS NOT NULL)" } },
		sub { return { sql => "SELECT r.n, l.* FROM r, LATERAL (SELECT count(*), count(" . pick(@all) . ") FROM T x WHERE x.k1 " . pick('=', '<', '>=') . " r.k1 AND " . clause($r, 'x.') . ") l" } },
		sub { return { sql => "SELECT r.n, l.* FROM r LEFT JOIN LATERAL (SELECT $xsome FROM T x WHERE $ron) l ON true" } },
		sub { return { sql => "SELECT n, (SELECT count(*) FROM T x WHERE $ron AND " . clause($r, 'x.') . ") FROM r" } },
		# a scan for each row of another table, whose rows come in one order or the other
		sub { return { sql => "SELECT r.n, $xsome FROM $r_in_order " . pick('JOIN', 'LEFT JOIN') . " T x ON x.k1 = r.k1" . (chance(0.3) ? ' AND ' . clause($r, 'x.') : '') } },
		sub { return { sql => "SELECT r.n, $xsome FROM $r_in_order " . pick('JOIN', 'LEFT JOIN') . " T x ON x.k1 = ANY (ARRAY[r.k1, " . join(', ', map { typed(some_key($r)->[0], $r->{key_types}[0]) } 1 .. between(1, 3)) . pick('', ', NULL') . '])' . (chance(0.3) ? ' AND ' . clause($r, 'x.') : '') } },
		sub { return { sql => "SELECT r.n, $xsome FROM $r_in_order JOIN T x ON x.k1 " . pick('>', '>=') . ' ' . typed(some_key($r)->[0], $r->{key_types}[0]) . " AND x.k1 " . pick('<', '<=') . " r.k1" } },
		sub { return { sql => "SELECT r.n, $xsome FROM $r_in_order JOIN T x ON $ron AND " . clause($r, 'x.') } },
		sub { return { sql => "SELECT a.n, b.n, $xsome FROM r a JOIN r b ON a.n % 5 = b.n % 7 JOIN T x ON x.k1 BETWEEN a.k1 AND b.k1" } },
		sub { return { sql => "SELECT r.n, $xsome FROM $r_in_order JOIN (SELECT * FROM T UNION ALL SELECT * FROM T WHERE " . clause($r, '') . ") x ON $ron" } },
		sub { return { sql => "SELECT r.n, l.* FROM $r_in_order, LATERAL (SELECT $keys FROM T x WHERE x.k1 " . pick('=', '>', '>=') . " r.k1 ORDER BY $in_order LIMIT " . between(1, 3) . ") l", loose => 1 } },
		sub { return { sql => "SELECT $xsome FROM T x JOIN T y ON $on WHERE " . clause($r, 'y.') } },
		sub { return { sql => "SELECT count(*) FROM T x FULL JOIN (SELECT * FROM T WHERE " . clause($r, '') . ") y ON $on WHERE " . clause($r, 'x.') } },
		sub { return { sql => "SELECT count(*) FROM T" } },
		(sub { return aggregates_query($r) }) x 6,
		sub { my $c = pick(@{ $r->{columns} }); return { sql => "SELECT n, (SELECT " . aggregate($c->{name}, $c->{type}, 0) . " FROM T x WHERE $ron AND n > 3) FROM r" } },
		sub { return { sql => "SELECT 1 FROM T WHERE " . clause($r, '') } },
		sub { return { sql => "SELECT EXISTS (SELECT FROM T WHERE " . clause($r, '') . ")" } },
		sub { return { sql => "SELECT x FROM T x WHERE " . clause($r, 'x.') } },
		sub { return { sql => "SELECT $some FROM T WHERE " . clause($r, '') . " UNION ALL SELECT $some FROM T WHERE " . clause($r, '') } },
		sub { return { sql => "SELECT $keys FROM (SELECT $keys FROM T UNION ALL SELECT $keys FROM T) u ORDER BY $in_order LIMIT 20", ordered => 1, loose => 1 } },
		sub { return { sql => "SELECT count(k1), count(*) FROM T GROUP BY $keys ORDER BY $in_order", ordered => 1 } },
		sub { return { sql => "SELECT DISTINCT $keys FROM T WHERE " . clause($r, ''), loose => 1 } },
		sub { return { sql => "SELECT $keys FROM T WHERE " . clause($r, '') . ' ' . pick('INTERSECT', 'EXCEPT', 'UNION') . " SELECT $keys FROM T WHERE " . clause($r, ''), loose => 1 } },
		sub { return { sql => "SELECT k1 = lag(k1) OVER w, count(*) OVER w FROM T WHERE " . clause($r, '') . " WINDOW w AS (ORDER BY $in_order)", ordered => 1 } },
		sub { return { sql => "SELECT $xsome, y.* FROM T x FULL JOIN (SELECT * FROM T WHERE " . clause($r, '') . ") y ON $on" } },
		sub { return { sql => "WITH RECURSIVE w (k, n) AS ((SELECT k1, 1 FROM T WHERE " . clause($r, '') . " ORDER BY k1$direction LIMIT 1) UNION ALL SELECT (SELECT k1 FROM T WHERE k1 " . ($direction ? '<' : '>') . " w.k ORDER BY k1$direction LIMIT 1), n + 1 FROM w WHERE k IS NOT NULL AND n < 12) SELECT * FROM w", ordered => 1, loose => 1 } },
		sub { return { sql => "SELECT r.n, l.* FROM r, LATERAL (SELECT $keys FROM T x WHERE x.k1 " . pick('=', '<', '>=', '>') . " r.k1 AND " . clause($r, 'x.') . " ORDER BY $in_order LIMIT " . between(1, 4) . ") l", loose => 1 } },
		sub { return { sql => "SELECT a.n, b.n, l.* FROM r a JOIN r b ON a.n % 5 = b.n % 7, LATERAL (SELECT count(*), count(" . pick(@all) . ") FROM T x WHERE x.k1 BETWEEN a.k1 AND b.k1) l" } },
		sub { return { sql => "SELECT x.k1 IS NULL, r.n FROM r LEFT JOIN T x ON $ron AND " . clause($r, 'x.') . ' LEFT JOIN T y ON y.k1 = x.k1 AND ' . clause($r, 'y.') } },
		sub { return { sql => "SELECT $xsome FROM r JOIN T x ON r.k1 = x.k1 OR x.k1 " . pick('<', '>') . ' (SELECT k1 FROM r ORDER BY n DESC LIMIT 1)' } },
		sub { return { sql => "SELECT count(*) FROM T WHERE k1 IN (SELECT k1 FROM T WHERE " . clause($r, '') . ') AND ' . clause($r, '') } },
		sub { return { sql => "CREATE TEMP TABLE z AS SELECT * FROM T WHERE " . clause($r, '') . "$then SELECT * FROM z$then DROP TABLE z" } },
		sub { return { sql => "BEGIN$then UPDATE r SET n = -n FROM T x WHERE $ron AND " . clause($r, 'x.') . "$then SELECT n FROM r ORDER BY abs(n)$then DELETE FROM r WHERE k1 IN (SELECT k1 FROM T WHERE " . clause($r, '') . ")$then SELECT n FROM r$then ROLLBACK" } },
		sub {
			my $body = "SELECT r.n, x.* FROM r JOIN T x ON $ron WHERE r.n < \$1 AND " . clause($r, 'x.');
			return { sql => "PREPARE p(int) AS $body" . join('', map { "$then EXECUTE p(" . between(0, 30) . ')' } 0 .. 6) . "$then DEALLOCATE p" };
		},
		sub {
			my $query = "SELECT " . join(', ', @all) . " FROM T WHERE " . clause($r, '') . " ORDER BY $in_order, T::text";
			my @fetches = map { pick('NEXT', 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE ' . between(-5, 20), 'RELATIVE ' . between(-3, 5), 'FORWARD ' . between(0, 9), 'BACKWARD ' . between(0, 9), 'FORWARD ALL', 'BACKWARD ALL') } 1 .. 7;
			return { sql => "BEGIN$then DECLARE c SCROLL CURSOR" . pick('', ' WITH HOLD') . " FOR $query" . join('', map { "$then FETCH $_ FROM c" } @fetches) . "$then COMMIT", ordered => 1 };
		},
		sub {
			my $at = between(0, 5);
			return { sql => "BEGIN$then DECLARE c CURSOR WITH HOLD FOR SELECT " . join(', ', @all) . " FROM T WHERE " . clause($r, '') . " ORDER BY $in_order, T::text$then FETCH $at FROM c$then COMMIT$then FETCH 5 FROM c$then CLOSE c", ordered => 1 };
		},
		# from the end to the top
		sub { return { sql => "SELECT $keys FROM T WHERE " . pick('true', key_clause($r, ''), clause($r, '')) . " ORDER BY $backward" . pick('', ' LIMIT ' . between(0, 30), ' LIMIT ' . between(1, 9) . ' OFFSET ' . between(0, 30)), ordered => 1, loose => 1 } },
		sub {
			# without repeated keys, rows have one order
			my $order = $r->{repeats} ? join(', ', @back, @values) : $backward;
			return { sql => "SELECT $some FROM T WHERE " . pick('true', key_clause($r, ''), clause($r, '')) . " ORDER BY $order LIMIT " . between(0, 100) . ' OFFSET ' . pick(0, 0, between(0, 100)), ordered => 1 };
		},
		sub { return { sql => "SELECT $keys FROM T WHERE " . key_clause($r, '') . " ORDER BY $back[0]" . pick('', ' NULLS FIRST', ' NULLS LAST'), loose => 1 } },
		sub { my $k = $no_min{$sql_type} ? "count(k1)" : pick('max(k1)', 'min(k1)', 'max(k1), min(k1)'); return { sql => "SELECT $k FROM T WHERE " . pick('true', key_clause($r, ''), clause($r, '')), loose => 1 } },
		sub { return { sql => "SELECT r.n, l.* FROM r, LATERAL (SELECT $keys FROM T x WHERE x.k1 " . pick('=', '<', '<=', '>') . " r.k1 AND " . clause($r, 'x.') . " ORDER BY $backward LIMIT " . between(1, 4) . ") l", loose => 1 } },
		sub {
			my @fetches = map { pick('NEXT', 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE ' . between(-5, 20), 'FORWARD ' . between(0, 9), 'BACKWARD ' . between(0, 9), 'FORWARD ALL', 'BACKWARD ALL') } 1 .. 7;
			return { sql => "BEGIN$then DECLARE c SCROLL CURSOR FOR SELECT $keys FROM T WHERE " . pick('true', key_clause($r, '')) . " ORDER BY $backward" . join('', map { "$then FETCH $_ FROM c" } @fetches) . "$then COMMIT", ordered => 1, loose => 1 };
		},
		sub { my $c = pick(@{ $r->{columns} }); return { sql => "SELECT $c->{name} IS NULL, count(*) FROM T GROUP BY 1" } },
		sub { return { sql => "SELECT k1 IS NULL, count(*), row_number() OVER (ORDER BY k1$direction) FROM T GROUP BY k1" } },
		sub { return { sql => "WITH m AS MATERIALIZED (SELECT * FROM T WHERE " . clause($r, '') . ") SELECT $some FROM m WHERE " . clause($r, '') } },
		sub {
			my $op = pick('=', '<', '<=', '>', '>=');
			my $body = chance(0.3) ? "k1 = ANY (ARRAY[\$1, \$2])" : chance(0.5) ? "k1 $op \$1" : "k1 BETWEEN \$1 AND \$2";
			my @values = map { chance(0.1) ? 'NULL' : typed(some_key($r)->[0], $r->{key_types}[0]) } 1 .. 14;
			return { sql => "PREPARE p($sql_type, $sql_type) AS SELECT $some FROM T WHERE $body AND (\$2 IS NULL OR true) AND " . clause($r, '')
				  . join('', map { "$then EXECUTE p($values[2 * $_], $values[2 * $_ + 1])" } 0 .. 6) . "$then DEALLOCATE p" };
		},
		sub {
			return { sql => "BEGIN$then DECLARE c CURSOR FOR SELECT " . join(', ', @all) . " FROM T WHERE " . clause($r, '') . ' ORDER BY ' . join(', ', @order, @values)
				  . "$then FETCH " . between(0, 5) . " FROM c$then FETCH " . between(1, 5) . " FROM c$then CLOSE c$then COMMIT", ordered => 1 };
		},
	);
	return pick(@forms)->();
}

my @settings = (
	'enable_hashjoin = off', 'enable_mergejoin = off', 'enable_nestloop = off', 'enable_sort = off', 'enable_material = off',
	'enable_memoize = off', 'enable_hashagg = off', 'enable_hashjoin = off; SET enable_mergejoin = off', 'enable_hashjoin = off; SET enable_nestloop = off',
	'work_mem = 64', 'plan_cache_mode = force_generic_plan', 'plan_cache_mode = force_custom_plan', 'cursor_tuple_fraction = 1',
	'force_parallel_mode = on', 'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0',
	"IntervalStyle = 'iso_8601'", 'extra_float_digits = 0', "bytea_output = 'escape'", 'enable_incremental_sort = off',
	'enable_seqscan = off', 'join_collapse_limit = 1', 'enable_hashjoin = off; SET enable_sort = off; SET enable_nestloop = off',
	'enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off', 'random_page_cost = 0', 'cpu_tuple_cost = 0; SET cpu_operator_cost = 0',
	(map { "outerjoin_fdw.batch_rows = $_" } 1, 2, 3, 7, 64, 1000), ('outerjoin_fdw.aggregates = off') x 3,
	(map { "outerjoin_fdw.block_size = $_" } 64, 100, 1024), 'outerjoin_fdw.simd = off',
	'outerjoin_fdw.required_streams = off', 'outerjoin_fdw.early_filters = off', 'outerjoin_fdw.backward = off',
	'outerjoin_fdw.parameterized_paths = off',
	('enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off') x 3);

# Whatever can be parallel is; some or all of the workers may not be had.
sub in_parallel
{
	return ('parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = ' . between(1, 4),
		'parallel_leader_participation = ' . pick('on', 'on', 'off'), pick((), (), 'max_parallel_workers = ' . between(0, 2)), pick((), 'enable_seqscan = off'));
}

sub run_round
{
	my ($round_seed) = @_;
	srand($round_seed);
	my $kind = $ENV{OUTERJOIN_KIND} // pick(key_kinds());
	my %r = (kind => $kind, key_types => $key_columns{$kind}, folder => 'd', parent => chance(0.1));
	my $downward = chance(0.2);
	$r{descending} = [ map { @{ $key_columns{$kind} } > 1 ? chance(0.3) : $downward } @{ $key_columns{$kind} } ];
	$r{domain} = [ make_domain($kind, @{ $r{descending} }) ];
	# what values without a zone and days like 3/4/2001 mean
	$r{input} = ["TimeZone = '" . pick('UTC', 'America/New_York', 'Asia/Kathmandu', 'Europe/Berlin', '+03:30') . "'", "DateStyle = '" . pick('ISO, MDY', 'ISO, DMY', 'SQL, DMY', 'German', 'Postgres, MDY') . "'"];
	$r{key_names} = [ map { "key $_" } 1 .. @{ $r{key_types} } ] if chance(0.15);
	my $n = chance(0.05) ? between(20, 60) : between(1, pick(3, 5, 12));
	$n = between(1, 3) if $kind eq 'tall';
	$n = between(5, 40) if $kind eq 'sparse' && chance(0.5);
	$r{domain} = [ @{ $r{domain} }[ 0 .. ($#{ $r{domain} } < 60 ? $#{ $r{domain} } : 60) ] ] if $n > 15 && $kind ne 'sparse';
	# streams stand in the order of their first columns, so this one comes first
	my $only_keys = chance(0.15) && $n > 1;
	$r{streams} = [ map { make_stream($_, $r{domain}, $only_keys && $_ == 1) } 1 .. $n ];
	$r{streams}[0]{only_keys} = $only_keys;
	# products of many repeated streams explode
	my $all = 0;
	for my $s (@{ $r{streams} })
	{
		next if $s->{duplicates} ne 'all' || ++$all <= 3;
		$s->{duplicates} = pick('first', 'last');
	}
	$r{repeats} = $all;
	system('rm', '-rf', $server->path('d'));
	$_->{arrow} = pick(0, 0, 0, 1, 1, $_->{many} ? 0.5 : ()) for @{ $r{streams} };
	$_->{odd_name} = $_->{arrow} == 1 && chance(0.05) for @{ $r{streams} };
	respell(\%r, grep { $_->{arrow} } @{ $r{streams} });
	write_stream($_, 'd', \%r) for @{ $r{streams} };
	place_options(\%r);
	$r{columns} = [ map { @{ $_->{columns} } } @{ $r{streams} } ];

	my @queries = map { make_query(\%r) } 1 .. $queries;
	my $setup = setup_sql(\%r);
	my @script = ("\\pset null '<null>'\n\\pset recordsep '\\036'\n\\pset fieldsep '|'\n", "\\set ON_ERROR_STOP 1", $setup, "\\unset ON_ERROR_STOP\n\\echo '\@\@setup'");
	for my $i (0 .. $#queries)
	{
		my $q = $queries[$i];
		$q->{kind} = $kind;
		# nested loops of many rows take too long, and only they fill work_mem
		$q->{settings} = [ $kind eq 'tall' ? (pick('work_mem = 64', 'work_mem = 64', 'work_mem = 1000'), grep { !/hash|merge/ } map { pick(@settings) } 1 .. 2) : map { pick(@settings) } 1 .. between(0, 3) ];
		push @{ $q->{settings} }, in_parallel() if chance($ENV{OUTERJOIN_PARALLEL} // 0.2);
		push @script, 'RESET ALL; SET search_path = d;', (map { "SET $_;" } @{ $r{input} }), map { "SET $_;" } @{ $q->{settings} };
		for my $side ('f', 'o')
		{
			my $sql = $side eq 'o' && $q->{oracle} ? $q->{oracle} : $q->{sql};
			$sql =~ s/\bT\b/$side eq 'f' && $r{parent} ? 'p' : $side/ge;
			$q->{$side} = $sql;
			push @script, "\\echo '\@\@$side$i'";
			# one statement a line, each with its own outcome
			push @script, map { ("$_;", "\\if :ERROR\n\\echo '\@error' :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n\\endif\n\\echo '\@.'") } split /$then/, $sql;
			push @script, 'ROLLBACK; CLOSE ALL;' if $q->{sql} =~ /^BEGIN/;
		}
	}
	my ($out, $err) = ('', '');
	my $script = join "\n", @script;
	IPC::Run::run([ 'psql', '-XAtq', '-d', $server->{node}->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err, IPC::Run::timeout(300));
	my %result = $out =~ /^\@\@([fo]\d+)\n(.*?)(?=^\@\@|\z)/gms;
	my @complaints;
	push @complaints, "the tables could not be made: $err" if $out !~ /^\@\@setup/m;
	my $failed = 0;
	for my $i (0 .. $#queries)
	{
		my $q = $queries[$i];
		my ($f, $o) = map { compared($result{"$_$i"}, $q) } 'f', 'o';
		$errors{$kind}++ if defined $o && $o =~ /^\@error/m;
		$compared++;
		next if defined $f && defined $o && $f eq $o;
		next if $failed++ >= 2;
		push @complaints, "query $i" . ($q->{ordered} ? ' (ordered)' : ''), "  " . ($q->{f} =~ s/$then/;/gr) . ';',
		  ($q->{oracle} ? "  oracle: $q->{o};" : ()), '  settings: ' . join('; ', @{ $q->{settings} }), difference($f, $o);
	}
	ok(!@complaints, "seed $round_seed: $kind key, $n streams") or do
	{
		my ($definition) = $setup =~ /(CREATE FOREIGN TABLE.*?);\n/s;
		diag(join "\n", "OUTERJOIN_SEED=$round_seed OUTERJOIN_ROUNDS=1 OUTERJOIN_QUERIES=$queries", $definition // '', @complaints, $failed > 2 ? "and $failed in all" : ());
		if (my $keep = $ENV{OUTERJOIN_KEEP})
		{
			system('rm', '-rf', $keep);
			system('cp', '-r', $server->path('d'), $keep);
			$server->write_file("../$round_seed.sql", $script);
			system('cp', $server->path("../$round_seed.sql"), "$keep/script.sql");
		}
	};
	return;
}

# A result in the form in which two may be compared.
sub compared
{
	my ($result, $q) = @_;
	return undef if !defined $result;
	my @records = split /[\036]|\n(?=\@error)|\n?^\@\.\n/m, $result;
	@records = sort @records if !$q->{ordered};
	# an error need not be met after as many rows
	@records = grep { !/^\s*\z/ } map { s/\n\z//r } @records;
	if ($q->{loose} || $q->{quiet})
	{
		return scalar @records if $q->{kind} =~ /^(?:interval|caseless|icu_int|jsonb|inet)$/;
		# among equal keys any spelling may come first
		@records = map { lc(s/(\.\d*?)0+(?=\||\z)/$1/r =~ s/\.(?=\||\z)//r) =~ s/(^|\|)-0(?=\||\z)/${1}0/r } @records;
	}
	return join "\036", @records;
}

sub difference
{
	my ($f, $o) = @_;
	return '  no result' if !defined $f || !defined $o;
	my (@f, @o);
	@f = split /\036/, $f;
	@o = split /\036/, $o;
	my (%f, %o);
	$f{$_}++ for @f;
	$o{$_}++ for @o;
	my @only_f = grep { ($f{$_} // 0) > ($o{$_} // 0) } sort keys %f;
	my @only_o = grep { ($o{$_} // 0) > ($f{$_} // 0) } sort keys %o;
	return ('  ' . @f . ' rows, the oracle has ' . @o . (@only_f || @only_o ? '' : '; only their order differs'),
		(map { "  only here:   " . substr($_, 0, 300) } @only_f[ 0 .. ($#only_f < 4 ? $#only_f : 4) ]),
		(map { "  only oracle: " . substr($_, 0, 300) } @only_o[ 0 .. ($#only_o < 4 ? $#only_o : 4) ]));
}

# ---- all of it -----------------------------------------------------------

$server = OuterjoinTest->new('differential');
$server->query(q{CREATE DOMAIN small AS int CHECK (VALUE < 1000); CREATE TYPE mood AS ENUM ('zebra', 'apple', 'Mango', 'banana')});
$server->{icu} = $server->query(q{SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'});
$server->query(q{CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) if $server->{icu};
diag("seed: OUTERJOIN_SEED=$seed OUTERJOIN_ROUNDS=$rounds OUTERJOIN_QUERIES=$queries");
for my $round (0 .. $rounds - 1)
{
	run_round($seed + $round);
}
# a query that is an error compares nothing
my $errors = 0;
$errors += $_ for values %errors;
cmp_ok($errors, '<=', $compared / 20, "of $compared queries, few are errors")
  or diag(join ', ', map { "$_: $errors{$_}" } sort keys %errors);
$server->stop;
done_testing();
