# Texts of Arrow files, which are UTF-8, in databases of other encodings:
# converted, or an error that names file and row; a NUL byte, which no
# database holds, is an error in each.  And the files of sql/data/mixed are
# what arrow_from_csv writes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../perl";
use OuterjoinArrow;
use OuterjoinTest;
use File::Compare qw(compare);
use File::Path qw(make_path);
use Test::More;

my $server = OuterjoinTest->new('arrow_texts');
my $node = $server->{node};
my $files = $server->files;

my $gruen = "gr\xc3\xbcn";			# in Latin-1: 67 72 fc 6e
my $long = "\xc3\x84" x 40;			# in Latin-1: 40 times c4
my $nihon = "\xe6\x97\xa5\xe6\x9c\xac";	# not in Latin-1; in EUC_JP: c6 fc cb dc
my $euro = "\xe2\x82\xac";			# not in Latin-1; in Latin-9: a4

sub create_database
{
	my ($name, $encoding) = @_;
	$server->query("CREATE DATABASE $name TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($name, "CREATE EXTENSION outerjoin_fdw; CREATE SERVER files FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '$files')");
	return;
}

sub query { my ($database, $sql) = @_; return $node->safe_psql($database, $sql) }

# The error's lines.
sub error
{
	my ($database, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($database, $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	return $err =~ s/^LOCATION:.*\n?//mgr =~ s/^psql:\S+ //mgr =~ s/\n+\z//r;
}

sub arrow { my ($name, @rest) = @_; OuterjoinArrow::write_arrow("$files/$name", @rest); return }

my @layouts = qw(utf8 largeutf8 utf8view binary largebinary binaryview);
create_database('latin1', 'LATIN1');
create_database('latin9', 'LATIN9');
create_database('eucjp', 'EUC_JP');
create_database('ascii', 'SQL_ASCII');

# ---- converted: each layout, with and without a dictionary, in short batches

for my $layout (@layouts)
{
	for my $dictionary (0, 1)
	{
		my $name = "converted_$layout$dictionary.arrow";
		my $what = $layout . ($dictionary ? ' in a dictionary' : '');
		arrow($name, [ [ 'id', 'int32' ], [ 'v', $layout ] ],
			[ [ 1, $gruen ], [ 2, 'plain' ], [ 3, undef ], [ 4, $long ], [ 5, '' ], [ 6, $gruen ] ],
			'--batch', 2, '--codec', 'lz4', $dictionary ? ('--dictionary', 'v') : ());
		for my $database ('latin1', 'postgres', 'ascii')
		{
			query($database, "CREATE FOREIGN TABLE $layout$dictionary (id int OPTIONS (key 'true'), v text OPTIONS (filename '$name')) SERVER files");
			# bytes as they are in the database
			my $out = query($database, "SELECT id, encode(convert_to(v, getdatabaseencoding()), 'hex') FROM $layout$dictionary");
			my ($u, $a) = $database eq 'latin1' ? ('fc', 'c4') : ('c3bc', 'c384');
			is($out, join("\n", "1|6772${u}6e", '2|' . unpack('H*', 'plain'), '3|', '4|' . $a x 40, '5|', "6|6772${u}6e"), "$what, $database");
		}
		is(query('latin1', "SELECT sum(length(v)) FROM $layout$dictionary"), 4 + 5 + 40 + 4, "$what: a character is a byte");
		is(query('latin1', "SELECT id FROM $layout$dictionary WHERE v = convert_from('\\x6772fc6e', 'LATIN1')"), "1\n6", "$what: compared");
	}
}

# other types that have texts inside; the array's literal is UTF-8 in the file as well
arrow('nested.arrow', [ [ 'id', 'int32' ], [ 'l', 'list<utf8>' ], [ 't', 'utf8' ] ], [ [ 1, "{$gruen,x}", qq({"a":"$gruen"}) ] ]);
query('latin1', "CREATE FOREIGN TABLE nested (id int OPTIONS (key 'true'), l text[] OPTIONS (filename 'nested.arrow'), j jsonb OPTIONS (filename 'nested.arrow', field 'l'), t jsonb OPTIONS (filename 'nested.arrow'), c varchar(20) OPTIONS (filename 'nested.arrow', field 't'))  SERVER files");
is(query('latin1', "SELECT encode(convert_to(l[1], 'LATIN1'), 'hex'), length(l[1]), length(j->>0), length(t->>'a'), length(c) FROM nested"), '6772fc6e|4|4|4|12', 'lists, jsonb, varchar');

# names of fields; psql sends them in UTF-8
arrow('names.arrow', [ [ 'id', 'int32' ], [ "gr\xc3\xb6\xc3\x9fe", 'int32' ], [ $nihon, 'int32' ] ], [ [ 1, 17, 18 ] ]);
is(query('latin1', "SET client_encoding = 'UTF8'; CREATE FOREIGN TABLE names (id int OPTIONS (key 'true'), \"gr\xc3\xb6\xc3\x9fe\" int OPTIONS (filename 'names.arrow')) SERVER files; SELECT * FROM names"),
	'1|17', 'a field by its name');
is(query('eucjp', "SET client_encoding = 'UTF8'; CREATE FOREIGN TABLE names (id int OPTIONS (key 'true'), \"$nihon\" int OPTIONS (filename 'names.arrow')) SERVER files; SELECT * FROM names"),
	'1|18', 'in EUC_JP');

# one that the encoding has not is named by its number, where fields are listed and where one is asked for
query('latin1', "CREATE FOREIGN TABLE no_name (id int OPTIONS (key 'true'), v int OPTIONS (filename 'names.arrow')) SERVER files");
is(error('latin1', "SET client_encoding = 'UTF8'; SELECT * FROM no_name"),
	qq{ERROR:  HV005: file "names.arrow" has no field "v", and not exactly one field that is no key\nDETAIL:  Its fields are "id", "gr\xc3\xb6\xc3\x9fe", "\\u65E5\\u672C".\nHINT:  Name the column's field with the option "field".}, 'fields are listed');
is(query('latin1', "ALTER FOREIGN TABLE no_name ALTER v OPTIONS (ADD field '\\u65E5\\u672C'); SELECT * FROM no_name"), '1|18', 'a field by a name that the encoding has not');

# keys
arrow('keys.arrow', [ [ 'k', 'utf8' ], [ 'v', 'int32' ] ], [ [ 'gr', 1 ], [ $gruen, 2 ], [ "\xc3\xbc", 3 ] ], '--batch', 1);
query('latin1', qq{CREATE FOREIGN TABLE keys (k text OPTIONS (key 'true') COLLATE "C", v int OPTIONS (filename 'keys.arrow')) SERVER files});
is(query('latin1', "SELECT v FROM keys WHERE k = convert_from('\\x6772fc6e', 'LATIN1')"), '2', 'a key is converted');
is(query('latin1', "SELECT v FROM keys WHERE k > 'gr'"), "2\n3", 'a range of keys');

# ---- what an encoding has not

for my $layout (@layouts)
{
	for my $dictionary (0, 1)
	{
		my $name = "missing_$layout$dictionary.arrow";
		my $what = $layout . ($dictionary ? ' in a dictionary' : '');
		arrow($name, [ [ 'id', 'int32' ], [ 'v', $layout ] ], [ [ 10, 'a' ], [ 20, $gruen ], [ 30, 'b' ], [ 40, $euro ], [ 50, 'c' ] ],
			'--batch', 2, $dictionary ? ('--dictionary', 'v', '--delta') : ());
		my $table = "CREATE FOREIGN TABLE missing_$layout$dictionary (id int OPTIONS (key 'true'), v text OPTIONS (filename '$name')) SERVER files";
		query($_, $table) for 'latin1', 'latin9';
		is(error('latin1', "SELECT * FROM missing_$layout$dictionary"),
			qq{ERROR:  22P05: character with byte sequence 0xe2 0x82 0xac in encoding "UTF8" has no equivalent in encoding "LATIN1"\nCONTEXT:  file "$name", row 4, column "v"},
			"$what: LATIN1 has no euro sign");
		is(query('latin1', "SELECT sum(length(v)) FROM missing_$layout$dictionary WHERE id < 40"), 6, "$what: rows before it");
		is(query('latin1', "SELECT v FROM missing_$layout$dictionary WHERE id > 40"), 'c', "$what: rows behind it");
		is(query('latin1', "SELECT count(*) FROM missing_$layout$dictionary"), 5, "$what: nobody asks for it");
		is(query('latin9', "SELECT encode(convert_to(v, 'LATIN9'), 'hex') FROM missing_$layout$dictionary WHERE id = 40"), 'a4', "$what: LATIN9 has one");
	}
}
arrow('missing_key.arrow', [ [ 'k', 'utf8' ], [ 'v', 'int32' ] ], [ [ 'a', 1 ], [ $nihon, 2 ] ]);
my $table = qq{CREATE FOREIGN TABLE missing_key (k text OPTIONS (key 'true') COLLATE "C", v int OPTIONS (filename 'missing_key.arrow')) SERVER files};
query('latin1', $table);
like(error('latin1', 'SELECT count(*) FROM missing_key'),
	qr/^ERROR:  22P05: character with byte sequence 0xe6 0x97 0xa5 in encoding "UTF8" has no equivalent in encoding "LATIN1"\nCONTEXT:  file "missing_key\.arrow", row 2/, 'a key that LATIN1 has not');
query('eucjp', $table);
is(query('eucjp', "SELECT encode(convert_to(k, 'EUC_JP'), 'hex') FROM missing_key WHERE v = 2"), 'c6fccbdc', 'and EUC_JP has');

# ---- NUL bytes

for my $layout (@layouts)
{
	for my $dictionary (0, 1)
	{
		my $name = "nul_$layout$dictionary.arrow";
		my $what = $layout . ($dictionary ? ' in a dictionary' : '');
		arrow($name, [ [ 'id', 'int32' ], [ 'v', $layout ] ], [ [ 1, 'a' ], [ 2, 'b' ], [ 3, "x\0y" ], [ 4, "a longer text, then\0" ] ],
			'--batch', 3, $dictionary ? ('--dictionary', 'v') : ());
		for my $database ('postgres', 'latin1', 'ascii')
		{
			query($database, "CREATE FOREIGN TABLE nul_$layout$dictionary (id int OPTIONS (key 'true'), v text OPTIONS (filename '$name'), b bytea OPTIONS (filename '$name', field 'v')) SERVER files");
			is(error($database, "SELECT v FROM nul_$layout$dictionary"),
				qq{ERROR:  22021: invalid byte sequence for encoding "UTF8": 0x00\nCONTEXT:  file "$name", row 3, column "v"}, "$what: a NUL byte, $database");
			like(error($database, "SELECT v FROM nul_$layout$dictionary WHERE id = 4"), qr/^ERROR:  22021: .*\nCONTEXT:  file "$name", row 4,/, "$what: at the end, $database");
		}
		is(query('postgres', "SELECT b FROM nul_$layout$dictionary WHERE id = 3"), '\x780079', "$what: no error of bytes");
	}
}

# ---- the files of sql/data/mixed

my $mixed = "$FindBin::Bin/../../sql/data/mixed";
my $anew = "$files/anew";
make_path($anew);
is(system('sh', "$mixed/write", OuterjoinArrow::program(), $anew), 0, 'sql/data/mixed can be written anew');
for my $file (map { s/.*\///r } glob "$mixed/*.arrow*")
{
	is(compare("$mixed/$file", "$anew/$file"), 0, "$file is the same");
}

$server->stop;
done_testing();
