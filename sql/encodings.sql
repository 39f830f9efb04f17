--
-- Text is verified, and converted from the file's encoding.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test encodings
\i :prelude

CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;

-- UTF-8 as it is.
CALL put('v.csv', E'1,gr\u00fcn\n2,\u65e5\u672c\u8a9e\n3,\U0001F600\n');
SELECT id, v, length(v) FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);

-- latin1 converted.
CALL put_bytes('v.csv', convert_to(E'1,gr\u00fcn\n2,"\u00e9t\u00e9, \u00ab"\n', 'LATIN1'));
ALTER FOREIGN TABLE v OPTIONS (encoding 'latin1');
SELECT id, v, length(v) FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv', encoding 'latin1'$$);
-- what would be a byte order mark in UTF-8 is data here
CALL put_bytes('v.csv', '\x312c610a322cefbbbf0a');
SELECT * FROM same_as_copy('v.csv', $$format 'csv', encoding 'latin1'$$);
CALL put_bytes('v.csv', '\xefbbbf2c610a');
CREATE FOREIGN TABLE marked (id text OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files OPTIONS (encoding 'latin1');
SELECT * FROM marked;
-- a NUL byte is refused there too
CALL put_bytes('v.csv', '\x312c610a322c00620a');
SELECT * FROM v;
-- latin1 is not taken for UTF-8
CALL put_bytes('v.csv', convert_to(E'1,gr\u00fcn\n', 'LATIN1'));
ALTER FOREIGN TABLE v OPTIONS (SET encoding 'utf8');
SELECT * FROM v;
SELECT (same_as_copy('v.csv', $$format 'csv', encoding 'utf8'$$)).copy_error;
-- an encoding whose second byte can look like a delimiter or a backslash
CALL put_bytes('v.csv', convert_to(E'1,\u8868\u793a\n2,"\u30bd, \u4e88"\n3,\u5341\n', 'SJIS'));
ALTER FOREIGN TABLE v OPTIONS (SET encoding 'sjis');
SELECT id, v, length(v) FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv', encoding 'sjis'$$);
-- a character that the file's encoding has not
CALL put_bytes('v.csv', '\x312c810a');
SELECT * FROM v;
-- a header in another encoding
CALL put_bytes('v.csv', convert_to(E'id,gr\u00f6\u00dfe\n1,\u00e4\n', 'LATIN1'));
CREATE FOREIGN TABLE umlaut (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv', field U&'gr\00f6\00dfe'))
	SERVER files OPTIONS (header 'true', encoding 'latin1');
SELECT * FROM umlaut;
-- an encoding there is not
ALTER FOREIGN TABLE v OPTIONS (SET encoding 'ebcdic');
ALTER FOREIGN TABLE v OPTIONS (SET encoding 'utf8');

-- Broken UTF-8: an error that names file and row.  A cut sequence, a stray
-- continuation, an overlong one, a surrogate, past the last character.
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\xc3' || convert_to(E'\n3,ok\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\x80' || convert_to(E'\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\xc0af' || convert_to(E'\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\xeda080' || convert_to(E'\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\xf4908080' || convert_to(E'\n', 'UTF8'));
SELECT * FROM v;
-- cut at the end of the file
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,', 'UTF8') || '\xe697');
SELECT * FROM v;
-- a NUL byte, in a value, in a key, at the start, alone
CALL put_bytes('v.csv', convert_to(E'1,ok\n2,a', 'UTF8') || '\x00' || convert_to(E'b\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', convert_to(E'1', 'UTF8') || '\x00' || convert_to(E',b\n', 'UTF8'));
SELECT * FROM v;
CALL put_bytes('v.csv', '\x00');
SELECT * FROM v;
-- in a block that begins with good rows
CALL put_lines('v.csv', $$SELECT format(E'%s,value %s\n', i, i) FROM generate_series(1, 5000) i$$, '\x353030312cff0a');
SELECT count(v) FROM v;

-- Every length before a character, so that each stands at each block's edge.
CALL put_lines('v.csv', $$SELECT format(E'%s,%s\n', i, repeat('x', i % 67) || E'\u00fc\u65e5\U0001F600') FROM generate_series(1, 1000) i$$);
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
RESET outerjoin_fdw.block_size;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
