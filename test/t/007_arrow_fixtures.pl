# Arrow files that others wrote (sql/data/arrow), each field of each as the
# type that is meant, as text and as jsonb, value by value against what the
# writer says is in it, with batches and blocks of several sizes; and those
# that are to be refused.
#
# What a value has to be is worked out here from the writer's statement alone;
# its spelling is described in sql/data/arrow/README.md.
use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinTest;
use File::Copy qw(copy);
use JSON::PP;
use Test::More;

my $folder = "$FindBin::Bin/../../sql/data/arrow";
my $json = JSON::PP->new->allow_nonref->canonical;
my $server = OuterjoinTest->new('arrow_fixtures');

# ---- what there is ----------------------------------------------------------

sub slurp
{
	my ($name) = @_;
	open my $fh, '<:encoding(UTF-8)', "$folder/$name" or die "$name: $!";
	local $/;
	return scalar <$fh>;
}

# Fields of a file: [name as stated, type, number].  A type is the name of a
# scalar one, or [list => T], [struct => {name => T}], [map => K, V],
# [union => {name => T}].
my (%fields, %content);

# How the other libraries name what pyarrow names otherwise.
my %scalar_names = (
	(map { ("Int$_" => "int$_", "Uint$_" => "uint$_", "DataType(Int$_)" => "int$_", "DataType(UInt$_)" => "uint$_") } 8, 16, 32, 64),
	Bool => 'bool', 'DataType(Bool)' => 'bool', boolean => 'bool', Int64 => 'int64', 'Null not null' => 'null',
	Float32 => 'float', Float64 => 'double', 'DataType(Float32)' => 'float', 'DataType(Float64)' => 'double',
	float32 => 'float', float64 => 'double', 'Decimal[10e+2]' => 'decimal', 'DataType(Decimal(10,2))' => 'decimal',
	(map { ($_ => 'string') } qw(Utf8 LargeUtf8 Utf8View DataType(String) DataType(Categorical) category large_string string_view
		extension<arrow.json>)),
	(map { ($_ => 'binary') } qw(Binary large_binary binary_view)),
	'extension<arrow.uuid>' => 'uuid', 'extension<arrow.bool8>' => 'int8',
	'DataType(Date)' => 'date', 'DataType(Time)' => 'time', month_day_nano_interval => 'interval');

my %odd_types = (
	'dictionary_nested.arrow deep' => [ struct => { colour => 'string' } ],
	'extension.arrow opaque' => 'int32',
	'extension.arrow tensor' => [ list => 'int16' ],
	'pandas_types.feather text' => 'string', 'pandas_types.feather string' => 'string',
	'pandas_types.feather bytes' => 'binary', 'pandas_types.feather list' => [ list => 'int64' ],
	'pandas_table.feather label' => 'string',
	'polars_nested.arrow list' => [ list => 'int64' ], 'polars_nested.arrow texts' => [ list => 'string' ],
	'polars_nested.arrow struct' => [ struct => { x => 'double', label => 'string' } ],
	'js_nested.arrow list' => [ list => 'int32' ], 'js_nested.arrow fixed' => [ list => 'double' ],
	'js_nested.arrow struct' => [ struct => { x => 'int32', label => 'string' } ],
	'js_nested.arrow map' => [ map => 'string', 'int32' ]);
$odd_types{"big_$_"} = $odd_types{"js_$_"} for map { "nested.arrow $_" } qw(list fixed struct map);

# One type from the front of the text, which gets shorter.
sub parse_type
{
	my ($text) = @_;
	my $type;
	if ($$text =~ s/^(?:large_)?list(?:_view)?<item: //)
	{
		$type = [ list => parse_type($text) ];
		$$text =~ s/^(?: not null)?>// or die $$text;
	}
	elsif ($$text =~ s/^fixed_size_list<item: //)
	{
		$type = [ list => parse_type($text) ];
		$$text =~ s/^>\[\d+\]// or die $$text;
	}
	elsif ($$text =~ s/^dictionary<values=//)
	{
		$type = parse_type($text);
		$$text =~ s/^, indices=\w+(?:, ordered(?:=\d)?)?>// or die $$text;
	}
	elsif ($$text =~ s/^run_end_encoded<run_ends: int\d+, values: //)
	{
		$type = parse_type($text);
		$$text =~ s/^>// or die $$text;
	}
	elsif ($$text =~ s/^(struct|(?:sparse|dense)_union)<//)
	{
		$type = [ $1 eq 'struct' ? 'struct' : 'union', {} ];
		while ($$text =~ s/^(?:, )?(\w+): //)
		{
			my $name = $1;
			$type->[1]{$name} = parse_type($text);
			$$text =~ s/^=\d+//;
		}
		$$text =~ s/^>// or die $$text;
	}
	elsif ($$text =~ s/^map<//)
	{
		my $key = parse_type($text);
		$$text =~ s/^, // or die $$text;
		$type = [ map => $key, parse_type($text) ];
		$$text =~ s/^(?:, keys_sorted)?>// or die $$text;
	}
	elsif ($$text =~ s/^Dictionary<\w+, (\w+)>//) { $type = $scalar_names{$1} }
	elsif ($$text =~ s/^(?:halffloat|double|float)\b//) { $type = $& }
	elsif ($$text =~ s/^(?:fixed_size_binary|FixedSizeBinary)\[\d+\]//) { $type = 'binary' }
	elsif ($$text =~ s/^(?:decimal\d+\(\d+, -?\d+\)|Decimal\[\S+\]|DataType\(Decimal\S+)//) { $type = 'decimal' }
	elsif ($$text =~ s/^(?:date\d+\[\w+\]|Date\d+<\w+>)//) { $type = 'date' }
	elsif ($$text =~ s/^(?:time\d+\[\w+\]|Time\d+<\w+>)//) { $type = 'time' }
	elsif ($$text =~ s/^(?:duration\[\w+\]|timedelta\S+|Duration<\w+>|DataType\(Duration\(\w+\)\))//) { $type = 'duration' }
	elsif ($$text =~ s/^Interval<\w+>//) { $type = 'interval' }
	elsif ($$text =~ s/^(?:timestamp\[\w+\]|Timestamp<\w+>|datetime64\[ns\]|DataType\(Datetime\(\w+,\)\))//) { $type = 'timestamp' }
	elsif ($$text =~ s/^(?:timestamp\[\w+, tz=[^\]]+\]|Timestamp<\w+, [^>]+>|datetime64\[ns, [^\]]+\]|DataType\(Datetime\(\w+,[^)]+\)\))//)
	{
		$type = 'instant';
	}
	elsif ($$text =~ s/^(\w+(?:<[\w.]+>)?(?:\([^<>]*\))?(?: not null$)?)//) { $type = $scalar_names{$1} // ($1 =~ /^(\w+)/)[0] }
	else { die "type $$text" }
	$$text =~ s/^ not null//;
	return $type;
}

sub read_lists
{
	for my $line (split /\n/, slurp('README.md'))
	{
		$content{$1} = $2 if $line =~ /^\| `(\S+)` \| [^|]+ \| `(\S+)` \|/;
	}
	my ($file, $before);
	for my $line (split /\n/, slurp('schemas.txt'))
	{
		if ($line =~ /^== (\S+)/) { $file = $1; $before = ''; $fields{$file} = []; next }
		next if $line =~ /^ / || $line =~ /^(rows per batch: |See \$metadata)/ || $line eq '';
		undef $before if $line =~ /^-- schema metadata/;
		next if !defined $before;
		if ($line !~ /: /) { $before .= "$line\n"; next }
		my ($name, $type) = "$before$line" =~ /^(.*?): (.*)$/s or die $line;
		$before = '';
		my $n = 1 + grep { $_->[3] eq $name } @{ $fields{$file} };
		my $stated = $n > 1 ? "$name#$n" : $name;
		my $parsed = $odd_types{"$file $stated"} // parse_type(\$type);
		push @{ $fields{$file} }, [ $stated, $parsed, @{ $fields{$file} } + 1, $name ];
	}
	# those of the C++ library have the schema of the table that they hold
	for my $unlisted (grep { !$fields{$_} } keys %content)
	{
		$fields{$unlisted} = $fields{'table.arrow'} if $content{$unlisted} eq 'table.json';
	}
	return;
}

# ---- what a value has to be -------------------------------------------------
# Canonical forms: of a date days from 1970, of a time microseconds, of a
# timestamp both, of an interval months, days and microseconds, of a float its
# bits, of bytes hexadecimal digits; "ERROR state" where there is none.

sub days
{
	my ($y, $m, $d) = @_;
	my $days = $d - 1;
	my @months = (31, ($y % 4 == 0 && ($y % 100 != 0 || $y % 400 == 0)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);
	$days += $_ for @months[ 0 .. $m - 2 ];
	# years before this one, counted from a year whose era lies before all
	my $z = $y + 6_000_000_00;
	my $leap = sub { my $n = $_[0]; use integer; $n / 4 - $n / 100 + $n / 400 };
	return $days + 365 * ($y - 1970) + $leap->($z - 1) - $leap->(1969 + 6_000_000_00);
}

my $first_day = days(-4713, 11, 24);
my $last_date = days(5874897, 12, 31);
my $last_moment = days(294276, 12, 31);

# Nanoseconds to the nearest microsecond, of two the even one.
sub nearest
{
	my ($ns) = @_;
	use integer;
	my $us = $ns / 1000;
	my $rest = $ns % 1000;
	if ($rest < 0) { $rest += 1000; $us-- }
	$us++ if $rest > 500 || ($rest == 500 && $us % 2 != 0);
	return $us;
}

# Seconds with nine places, of any size: microseconds as text, or undef.
sub seconds_to_us
{
	my ($text) = @_;
	my ($sign, $s, $ns) = $text =~ /^(-?)(\d+)\.(\d{9})$/ or die $text;
	require Math::BigInt;
	my $total = Math::BigInt->new("$s$ns");
	$total->bneg if $sign;
	my ($us, $rest) = $total->copy->bdiv(1000);    # floored
	$us->binc if $rest > 500 || ($rest == 500 && $us->is_odd);
	return undef if $us > Math::BigInt->new('9223372036854775807') || $us < Math::BigInt->new('-9223372036854775808');
	return $us->bstr;
}

# A double to the nearest number of 11 bits of precision.
sub to_half
{
	my ($x) = @_;
	return $x if $x == 0 || $x != $x || abs($x) == 9**9**9;
	my $step = 2**-24;
	my $exponent = int(log(abs $x) / log(2) + 100) - 100;
	$exponent-- if 2**$exponent > abs $x;
	$exponent++ if 2**($exponent + 1) <= abs $x;
	$step = 2**($exponent - 10) if $exponent > -14;
	my $n = $x / $step;
	return $step * sprintf('%.0f', $n);
}

my %special = (nan => 9**9**9 / 9**9**9, inf => 9**9**9, '-inf' => -9**9**9,
	NaN => 9**9**9 / 9**9**9, Infinity => 9**9**9, '-Infinity' => -9**9**9);

sub float_bits
{
	my ($type, $text) = @_;
	my $x = $special{$text} // 0 + $text;
	$x = -0.0 * 1 if $text =~ /^-0(\.0)?$/;
	return 'nan' if $x != $x;
	my $bits = $type eq 'double' ? unpack 'H*', pack 'd>', $x : unpack 'H*', pack 'f>', $x;
	# the sign of a zero may get lost in arithmetic here
	$bits =~ s/^0/8/ if $text =~ /^-0(\.0)?$/;
	return $bits;
}

sub expected
{
	my ($type, $v) = @_;
	return undef if !defined $v;
	return float_bits('float', $special{$v} ? $v : $v =~ /^-?0\.0$/ ? $v : to_half($v)) if $type eq 'halffloat';
	return float_bits($type, $v) if $type eq 'float' || $type eq 'double';
	if ($type eq 'date')
	{
		return 'ERROR 22000' if $v =~ /T/;
		my $days = days($v =~ /^(-?\d+)-(\d\d)-(\d\d)$/);
		return $days < $first_day || $days > $last_date ? 'ERROR 22008' : $days;
	}
	if ($type eq 'time')
	{
		my ($h, $m, $s, $ns) = $v =~ /^(\d\d):(\d\d):(\d\d)\.(\d{9})$/;
		return nearest(((($h * 60 + $m) * 60) + $s) * 1_000_000_000 + $ns) if defined $h;
		# outside: but what rounds to 24:00 is that
		($s, $ns) = $v =~ /^(-?\d+)\.(\d{9}) s$/ or die $v;
		return 'ERROR 22008' if $v =~ /^-/ || $s > 86_400 || nearest($s * 1_000_000_000 + $ns) > 86_400_000_000;
		return 86_400_000_000;
	}
	if ($type eq 'timestamp' || $type eq 'instant')
	{
		my ($y, $mon, $d, $h, $m, $s, $ns) = $v =~ /^(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{9})Z?$/ or die $v;
		my $days = days($y, $mon, $d);
		my $us = nearest(((($h * 60 + $m) * 60) + $s) * 1_000_000_000 + $ns);
		if ($us == 86_400_000_000) { $days++; $us = 0 }
		return $days < $first_day || $days > $last_moment ? 'ERROR 22008' : "$days $us";
	}
	if ($type eq 'duration')
	{
		my $us = seconds_to_us($v);
		return defined $us ? "0 0 $us" : 'ERROR 22008';
	}
	if ($type eq 'interval')
	{
		my ($months, $days, $seconds) = $v =~ /^P(-?\d+)M(-?\d+)DT(-?[\d.]+)S$/ or die $v;
		return "$months $days " . seconds_to_us($seconds);
	}
	if ($type eq 'string')
	{
		return $v =~ /\0/ ? 'ERROR 22021' : $v if !ref $v;
		my $bytes = pack 'H*', $v->{bytes};
		return utf8::decode($bytes) ? $bytes : 'ERROR 22021';
	}
	return $v;
}

# Bytes as text are what they spell.
sub expected_text
{
	my ($type, $v) = @_;
	return expected('string', defined $v ? { bytes => $v } : undef) =~ s/^.*\0.*$/ERROR 22021/sr if $type eq 'binary' && defined $v;
	return expected($type, $v);
}

sub moment_shown
{
	my ($text) = @_;
	my ($y, $mon, $d, $h, $m, $s, $bc) =
	  $text =~ /^(\d{4,})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d(?:\.\d{1,6})?))?(?:\+00(?::00)?)?( BC)?$/ or return "? $text";
	$y = 1 - $y if $bc;
	my $days = days($y, $mon, $d);
	return $days if !defined $h;
	my ($whole, $fraction) = split /\./, $s;
	$fraction = substr(($fraction // '') . '000000', 0, 6);
	return "$days " . ((($h * 60 + $m) * 60 + $whole) * 1_000_000 + $fraction);
}

sub interval_shown
{
	my ($text) = @_;
	my ($months, $days, $us) = (0, 0, 0);
	my $rest = $text;
	$months += 12 * $1 if $rest =~ s/^([-+]?\d+) years? ?//;
	$months += $1 if $rest =~ s/^([-+]?\d+) mons? ?//;
	$days = 0 + $1 if $rest =~ s/^([-+]?\d+) days? ?//;
	if ($rest =~ s/^([-+]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?$//)
	{
		use integer;
		my $sign = $1 eq '-' ? -1 : 1;
		my $fraction = substr(($5 // '') . '000000', 0, 6);
		$us = $sign * $2 * 3_600_000_000 + $sign * ($3 * 60_000_000 + $4 * 1_000_000 + $fraction);
	}
	return $rest eq '' ? "$months $days $us" : "? $text";
}

# What the server's text says.
sub shown
{
	my ($type, $text) = @_;
	return undef if !defined $text;
	return $text if $text =~ /^ERROR /;
	return float_bits($type eq 'double' ? 'double' : 'float', $text) if $type =~ /^(halffloat|float|double)$/;
	return moment_shown($text) if $type =~ /^(date|timestamp|instant)$/;
	return (moment_shown("1970-01-01 $text") =~ /^0 (\d+)$/)[0] // "? $text" if $type eq 'time';
	return interval_shown($text) if $type eq 'duration' || $type eq 'interval';
	return $text =~ /^\\x((?:[0-9a-f]{2})*)$/ ? $1 : "? $text" if $type eq 'binary';
	return $text =~ /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ ? $text =~ s/-//gr : "? $text" if $type eq 'uuid';
	return $text;
}

sub equal
{
	my ($a, $b) = @_;
	return defined $a ? defined $b && $a eq $b : !defined $b;
}

# Decode, with numbers as they are spelled: "\1" before them.
sub decode_json_text
{
	my ($text) = @_;
	$text =~ s/("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/defined $1 ? $1 : "\"\\u0001$2\""/ge;
	return $json->decode($text);
}

# Does jsonb say what was stated?  A null at the top is one of SQL's.
sub same_json
{
	my ($type, $v, $j) = @_;
	return !defined $j if !defined $v;
	if (ref $type && $type->[0] eq 'union')
	{
		# of a union the value stands alone, and is null where that is null
		my ($name) = keys %$v;
		return same_json($type->[1]{$name}, $v->{$name}, $j);
	}
	return 0 if !defined $j;
	if (!ref $type)
	{
		my $number = !ref $j && $j =~ s/^\001//;
		my $numeric = $type =~ /^u?int\d|^decimal$|float$|^double$/ && $v !~ /nan|inf/;
		return 0 if ($number xor $numeric);
		return JSON::PP::is_bool($j) && equal($v, $j ? 'true' : 'false') if $type eq 'bool';
		# numeric has no negative zero
		$v =~ s/^-(?=0\.0$)//;
		return equal(expected($type, $v), shown($type, $j));
	}
	my ($kind, @of) = @$type;
	if ($kind eq 'list')
	{
		return 0 if ref $j ne 'ARRAY' || @$j != @$v;
		return !grep { !same_json($of[0], $v->[$_], $j->[$_]) } 0 .. $#$v;
	}
	if ($kind eq 'struct')
	{
		return 0 if ref $j ne 'HASH' || join("\0", sort keys %$j) ne join("\0", sort keys %$v);
		return !grep { !same_json($of[0]{$_}, $v->{$_}, $j->{$_}) } keys %$v;
	}
	return 0 if ref $j ne ($of[0] eq 'string' ? 'HASH' : 'ARRAY');
	if (ref $j eq 'HASH')
	{
		return 0 if keys %$j != @$v;
		return !grep { !exists $j->{ $_->[0] } || !same_json($of[1], $_->[1], $j->{ $_->[0] }) } @$v;
	}
	return 0 if @$j != @$v;
	return !grep { !same_json($of[0], $v->[$_][0], $j->[$_]{key}) || !same_json($of[1], $v->[$_][1], $j->[$_]{value}) } 0 .. $#$v;
}

# The depth of lists of lists of scalars, or 0.
sub list_depth
{
	my ($type) = @_;
	return 0 if !ref $type || $type->[0] ne 'list';
	return 1 if !ref $type->[1];
	my $below = list_depth($type->[1]);
	return $below ? $below + 1 : 0;
}

sub leaf { my ($type) = @_; return ref $type ? leaf($type->[1]) : $type }

# Extents of lists that are as long as their siblings, else undef.
sub extents
{
	my ($v, $depth) = @_;
	return undef if !defined $v;
	my $n = @$v;
	return [$n] if $depth == 1;
	my @below = map { extents($_, $depth - 1) } @$v;
	return undef if grep { !defined } @below;
	return undef if grep { "@$_" ne "@{ $below[0] }" } @below;
	return [ $n, $n ? @{ $below[0] } : () ];
}

sub same_elements
{
	my ($type, $v, $array) = @_;
	return equal(expected($type, $v), shown($type, $array)) if !ref $type;
	return 0 if ref $array ne 'ARRAY' || @$array != @$v;
	return !grep { !same_elements($type->[1], $v->[$_], $array->[$_]) } 0 .. $#$v;
}

# An array without elements has no dimensions.
sub same_array
{
	my ($type, $v, $text) = @_;
	return !defined $text if !defined $v;
	return 0 if !defined $text;
	my $extents = extents($v, list_depth($type));
	return $text =~ /^ERROR 2202E / if !defined $extents;
	return 0 if $text =~ /^ERROR /;
	return $text eq '[]' if grep { $_ == 0 } @$extents;
	return same_elements($type, $v, $json->decode($text));
}

# ---- columns ----------------------------------------------------------------

my %natural = (null => 'text', bool => 'boolean', int8 => 'smallint', int16 => 'smallint', int32 => 'integer', int64 => 'bigint',
	uint8 => 'smallint', uint16 => 'integer', uint32 => 'bigint', uint64 => 'numeric', halffloat => 'real', float => 'real',
	double => 'double precision', decimal => 'numeric', string => 'text', binary => 'bytea', uuid => 'uuid', date => 'date',
	time => 'time', timestamp => 'timestamp', instant => 'timestamptz', duration => 'interval', interval => 'interval');

# The ways to read one field: [suffix, type, expression, comparison, can it fail?].
sub readings
{
	my ($type) = @_;
	my $as_json = [ 'j', 'jsonb', '%s::text',
		sub { same_json($type, $_[0], defined $_[1] && $_[1] !~ /^ERROR/ ? decode_json_text($_[1]) : $_[1]) } ];
	my $as_text = [ 't', 'text', '%s', $as_json->[3] ];
	if (ref $type)
	{
		my @result = ($as_json, $as_text);
		my $depth = list_depth($type);
		push @result, [ 'n', $natural{ leaf($type) } . '[]', 'to_json(%s::text[])::text', sub { same_array($type, @_) },
			sub { defined $_[0] && !defined extents($_[0], $depth) } ]
		  if $depth;
		return @result;
	}
	die "type $type" if !$natural{$type};
	my $fails = sub { (expected($type, $_[0]) // '') =~ /^ERROR/ };
	my $same = sub {
		my ($v, $text) = @_;
		return equal(expected($type, $v) // undef, defined $text ? shown($type, $text) =~ s/^(ERROR \w+) .*/$1/sr : undef);
	};
	my @result = ([ 'n', $natural{$type}, '%s::text', $same, $fails ]);
	push @result, [ 'j', 'jsonb', '%s::text',
		sub { $fails->($_[0]) ? $same->(@_) : $as_json->[3]->(@_) }, $fails ] if $type !~ /^(string|null)$/;
	if ($type eq 'binary')
	{
		push @result, [ 't', 'text', '%s',
			sub { equal(expected_text($type, $_[0]), defined $_[1] ? $_[1] =~ s/^(ERROR \w+) .*/$1/sr : undef) },
			sub { (expected_text($type, $_[0]) // '') =~ /^ERROR/ } ];
	}
	elsif ($type ne 'string')
	{
		# a boolean shows as one letter
		push @result, [ 't', 'text', $type eq 'bool' ? q{CASE %1$s WHEN 't' THEN 'true' WHEN 'f' THEN 'false' ELSE '?' || %1$s END} : '%s', $same, $fails ];
	}
	return @result;
}

# Files that are wrong as a whole, and the error's state.
my %refused = (
	'feather_v1.feather' => '0A000', 'names.arrow' => '42702', 'no_fields.arrow' => 'HV005', 'js_wrong_length_lz4.arrow' => 'XX001',
	(map { ("big_$_" => '0A000') } qw(numbers.arrow texts.arrow temporal.arrow nested.arrow stream.arrows)),
	'key_unsorted.arrow' => '22000', 'key_unsorted_batches.arrow' => '22000',
	'key_duplicate.arrow' => '23505', 'key_duplicate_batches.arrow' => '23505',
	'key_null.arrow' => '23502', 'key_null_first.arrow' => '23502', 'key_timestamp_ns.arrow' => '22000',
	'key_descending.arrow' => '22000');

my %table_options = ('key_duplicate.arrow' => "duplicates 'all'", 'key_duplicate_batches.arrow' => "duplicates 'all'");

sub quote { my ($text) = @_; return "'" . $text =~ s/'/''/gr . "'" }

my (%columns, %rows, %table, $n_tables);

# Two fields of names.arrow have the key's name, and one has the name "1", which
# goes before the number: so it is refused, and read where that one's name is "!".
my $numbered = 'names_numbered.arrow';

# A foreign table of all readings of a file's fields.
sub create_table
{
	my ($file, $name, $key_options, $options) = @_;
	my (@columns, @definitions);
	my @keys = grep { $_->[0] eq 'id' || $_->[0] eq 'id2' } @{ $fields{$file} };
	@keys = (['id', 'int64', 1, 'id']) if !@keys;
	for my $key (@keys)
	{
		my ($stated, $type) = @$key;
		my $collation = $type eq 'string' ? ' COLLATE "C"' : '';
		my $key_field = $file eq $numbered ? ", field '1'" : '';
		my $filename = grep({ !/^id2?$/ } map { $_->[0] } @{ $fields{$file} }) ? '' : ", filename '$file'";
		push @definitions, "$stated $natural{$type} OPTIONS (key 'true'$filename$key_field$key_options)$collation";
		push @columns, [ $stated, $stated, '%s::text', sub { equal(expected($type, $_[0]), shown($type, $_[1])) } ];
	}
	for my $field (@{ $fields{$file} })
	{
		my ($stated, $type, $number, $real) = @$field;
		next if $stated =~ /^id2?$/;
		# a name that is there once, and is not empty, will do
		my $by_name = $real ne '' && 1 == grep { $_->[3] eq $real } @{ $fields{$file} };
		for my $reading (readings($type))
		{
			my ($suffix, $as, $expression, @rest) = @$reading;
			my $column = "c${number}_$suffix";
			push @definitions, "$column $as OPTIONS (filename " . quote($file) . ', field ' . quote($by_name ? $real : $number) . ')';
			push @columns, [ $column, $stated, $expression, @rest ];
		}
	}
	$columns{$name} = \@columns;
	return "CREATE FOREIGN TABLE $name (" . join(', ', @definitions) . ') SERVER files'
	  . ($options ? " OPTIONS ($options)" : '') . ';';
}

# All rows of some columns, as a JSON array of arrays of texts.
sub query_for
{
	my ($name, $columns, $where) = @_;
	my $list = join ', ', map { sprintf $_->[2], $_->[0] } @$columns;
	return "SELECT array_agg(to_json(ARRAY[$list]::text[])::text) FROM $name" . ($where ? " WHERE $where" : '');
}

read_lists();
opendir my $dh, $folder or die "$folder: $!";
my @files = sort grep { /\.(arrow|arrows|feather)$/ } readdir $dh;
closedir $dh;
is(join(' ', grep { !$content{$_} || !$fields{$_} } @files), '', 'each file is in the list, and has a schema') or BAIL_OUT('fixtures');

push @files, $numbered;
$content{$numbered} = $content{'names.arrow'};
$fields{$numbered} = [ map { $_->[0] eq '1' ? [ '1', @$_[ 1, 2 ], '!' ] : $_ } @{ $fields{'names.arrow'} } ];

sub write_numbered
{
	open my $fh, '<:raw', "$folder/names.arrow" or die $!;
	local $/;
	my $bytes = <$fh>;
	is($bytes =~ s/\x01\0\0\x001\0/\x01\0\0\0!\0/g, 2, 'the name is in the schema and in the footer');
	$server->write_file($numbered, $bytes);
	return;
}

my @create;
for my $file (@files)
{
	if ($file eq $numbered) { write_numbered() }
	else { copy("$folder/$file", $server->path($file)) or die "$file: $!" }
	$rows{$file} = [ map { $json->decode($_) } split /\n/, slurp($content{$file}) ];
	$table{$file} = 'f' . ++$n_tables;
	push @create, create_table($file, $table{$file}, '', '');
}
push @create, create_table('key_descending.arrow', 'downward', ", descending 'true'", ''),
  map { create_table($_, $_ eq 'key_duplicate.arrow' ? 'repeated' : 'repeated_batches', '', $table_options{$_}) }
  sort keys %table_options;

# Errors as values: the state, the message, the context.
my $outcome = q{
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text[];
	state text;
	message text;
	context text;
BEGIN
	EXECUTE query INTO result;
	RETURN to_json(coalesce(result, '{}'))::text;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
	RETURN to_json(format('ERROR %s %s / %s', state, message, context))::text;
END $$;
};
my $sql = join "\n", $outcome, @create;
utf8::encode($sql);
$server->query($sql);

# ---- the comparison ---------------------------------------------------------

# Every query at once, each in a line of the output.
sub outcomes
{
	my ($settings, @queries) = @_;
	my $sql = "SET client_min_messages = error; SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';"
	  . " SET bytea_output = 'hex'; $settings\n" . join('', map { 'SELECT outcome(' . quote($_) . ");\n" } @queries);
	utf8::encode($sql);
	my $out = $server->query($sql);
	utf8::decode($out);
	return map { $json->decode($_) } split /\n/, $out;
}

sub spelled { return defined $_[0] ? ref $_[0] ? $json->encode($_[0]) : $_[0] : 'null' }

# Rows of texts against rows as stated; what differs, in words.
sub differing
{
	my ($columns, $rows, $result) = @_;
	return "$result" if !ref $result;
	return scalar(@$result) . ' rows of ' . scalar(@$rows) if @$result != @$rows;
	for my $r (0 .. $#$rows)
	{
		my $texts = $json->decode($result->[$r]);
		for my $c (0 .. $#$columns)
		{
			my (undef, $stated, undef, $same) = @{ $columns->[$c] };
			return "row $r, $columns->[$c][0] ($stated): " . spelled($texts->[$c]) . ', stated: ' . spelled($rows->[$r]{$stated})
			  if !$same->($rows->[$r]{$stated}, $texts->[$c]);
		}
	}
	return '';
}

my ($cells, $failing_cells) = (0, 0);

sub check_all
{
	my ($name, $settings) = @_;
	my (@queries, @checks);
	my %tables = ((map { ($table{$_} => $_) } @files), downward => 'key_descending.arrow',
		repeated => 'key_duplicate.arrow', repeated_batches => 'key_duplicate_batches.arrow');

	for my $t (sort { $tables{$a} cmp $tables{$b} || $a cmp $b } keys %tables)
	{
		my $file = $tables{$t};
		my $rows = $rows{$file};
		my @columns = @{ $columns{$t} };
		if ($t =~ /^f/ && $refused{$file})
		{
			push @queries, query_for($t, \@columns);
			push @checks, sub {
				my $result = shift;
				like(ref $result ? 'no error' : $result, qr/^ERROR $refused{$file} .*\Q$file\E/s, "$name: $file is refused");
			};
			next;
		}
		my @fail = grep { my $f = $_->[4]; my $s = $_->[1]; $f && grep { $f->($_->{$s}) } @$rows } @columns;
		my %fail = map { ($_->[0] => 1) } @fail;
		my @fine = grep { !$fail{ $_->[0] } } @columns;
		push @queries, query_for($t, \@fine);
		push @checks, sub {
			my $difference = differing(\@fine, $rows, shift);
			is($difference, '', "$name: $file" . ($t =~ /^f/ ? '' : ", $t"));
			$cells += @$rows * @fine;
		};
		# each cell of a column where some are errors
		for my $column (@fail)
		{
			my (undef, $stated, undef, $same, $fails) = @$column;
			my @bad;
			for my $row (@$rows)
			{
				push @queries, query_for($t, [$column], "id = $row->{id}");
				push @checks, sub {
					my $result = shift;
					my $text = ref $result ? @$result == 1 ? $json->decode($result->[0])->[0] : 'no row' : $result;
					my $good = $same->($row->{$stated}, $text);
					$good = 0 if $fails->($row->{$stated}) && $text !~ /\Q$file\E/;
					push @bad, "id $row->{id}: " . spelled($text) . ', stated: ' . spelled($row->{$stated}) if !$good;
					$failing_cells++;
				};
			}
			push @queries, 'SELECT NULL::text[]';
			push @checks, sub { is(join("\n", @bad), '', "$name: $file, $column->[0] ($stated), cell by cell") };
		}
	}
	my @results = outcomes($settings, @queries);
	is(scalar @results, scalar @queries, "$name: as many answers as questions");
	$checks[$_]->($results[$_]) for 0 .. $#checks;
	return;
}

for my $batch_rows (0, 1, 3)
{
	for my $block_size (0, 64)
	{
		check_all("batch_rows $batch_rows, block_size $block_size",
			"SET outerjoin_fdw.batch_rows = $batch_rows; SET outerjoin_fdw.block_size = $block_size;");
	}
}
cmp_ok($cells, '>', 6 * 30_000, "$cells values were compared");
cmp_ok($failing_cells, '>', 6 * 500, "and $failing_cells one by one");

# The last millisecond there is: of timestamp(0) it would be past the end.
{
	open my $fh, '<:raw', "$folder/timestamp.arrow" or die $!;
	local $/;
	my $bytes = <$fh>;
	my $second = quotemeta pack 'q<', 9224318015999000;
	is($bytes =~ s/$second/pack 'q<', 9224318015999999/ge, 1, 'a second of the fixture becomes its last millisecond');
	$server->write_file('last.arrow', $bytes);
	$server->query("CREATE FOREIGN TABLE last (id bigint OPTIONS (key 'true'),
		exact timestamp(3) OPTIONS (filename 'last.arrow', field 'timestamp_ms'),
		rounded timestamp(0) OPTIONS (filename 'last.arrow', field 'timestamp_ms')) SERVER files");
	my ($exact, $rounded) = outcomes('', map { "SELECT ARRAY[CAST($_ AS text)] FROM last WHERE id = 25" } qw(exact rounded));
	is($exact->[0], '294276-12-31 23:59:59.999', 'it is read');
	like($rounded, qr/^ERROR 22008 .*last\.arrow/s, 'and not rounded out of range');
}

done_testing();
