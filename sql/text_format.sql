--
-- The text format: COPY's default, tab-separated with backslash escapes.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test text_format
\i :prelude

CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.tsv')) SERVER files;

-- Escapes, and \N for null.
CALL put('v.tsv', E'1\tplain\n2\t\\N\n3\t\n4\ta\\tb\n5\ta\\nb\n6\ta\\\\b\n7\t\\x41\\x4a\\101\n8\t\\q\\"\n9\t"quotes"\n10\t\\\\N\n');
SELECT id, v, v IS NULL AS "null" FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
-- Escapes can spell the bytes of a character; what they spell is verified.
CALL put('v.tsv', E'1\tgr\\xc3\\xbcn\n2\tgr\\303\\274n\n');
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
CALL put('v.tsv', E'1\tok\n2\tgr\\xfcn\n');
SELECT * FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
CALL put('v.tsv', E'1\tok\n2\tzero \\0\n');
SELECT * FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
-- a delimiter or a line break after a backslash is data
CALL put('v.tsv', E'1\ta\\\tb\n2\tc\\\nd\n3\te\n');
SELECT id, replace(replace(v, E'\t', '<TAB>'), E'\n', '<LF>') AS v FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
-- the end-of-data marker ends the file here, as in COPY
CALL put('v.tsv', E'1\ta\n2\tb\n\\.\n');
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
-- behind a row's data it is refused, as by COPY since PostgreSQL 18
CALL put('v.tsv', E'1\ta\n2\tb\\.\n');
SELECT * FROM v;
-- and so is data behind it
CALL put('v.tsv', E'1\ta\n\\.x\tb\n');
SELECT * FROM v;
SELECT left(copy_error, 5) AS copy_error, left(scan_error, 5) AS scan_error FROM same_as_copy('v.tsv', $$format 'text'$$);

-- Line ends.
CALL put('v.tsv', E'1\ta\r\n2\tb\r\n');
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
CALL put('v.tsv', E'1\ta\r2\tb\r');
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
CALL put('v.tsv', E'1\ta\n2\tb');
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$);
CALL put('v.tsv', E'1\ta\n2\tb\rb\n');
SELECT * FROM v;
SELECT (same_as_copy('v.tsv', $$format 'text'$$)).copy_error;
CALL put('v.tsv', E'1\ta\n2\tb\r\n');
SELECT * FROM v;
SELECT (same_as_copy('v.tsv', $$format 'text'$$)).copy_error;

-- Options.
CALL put('v.txt', E'id|v\n1|a\n2|-\n3|\\-\n4|a\\|b\n');
SELECT * FROM same_as_copy('v.txt', $$format 'text', delimiter '|', null '-', header 'true'$$);
CREATE FOREIGN TABLE piped (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.txt'))
	SERVER files OPTIONS (delimiter '|', null '-', header 'match');
SELECT id, v, v IS NULL AS "null" FROM piped;

-- Every way to spell a field of up to four of these characters, but for
-- broken ones: an end marker, an open escape, bytes that are no character.
CREATE TABLE alphabet AS SELECT * FROM unnest(ARRAY['a', '\', 'N', 'x', '4', '7', 'b', '.', ' ']) c;
CREATE TABLE fields AS
	SELECT row_number() OVER (ORDER BY f COLLATE "C") AS id, f FROM (
		SELECT '' AS f
		UNION ALL SELECT a.c FROM alphabet a
		UNION ALL SELECT a.c || b.c FROM alphabet a, alphabet b
		UNION ALL SELECT a.c || b.c || c.c FROM alphabet a, alphabet b, alphabet c
		UNION ALL SELECT a.c || b.c || c.c || d.c FROM alphabet a, alphabet b, alphabet c, alphabet d) x
	WHERE f !~ '\\\.|\\x[ab][ab47]|\\7[47][47]' AND length((regexp_match(f, '(\\*)$'))[1]) % 2 = 0;
CALL put_lines('v.tsv', $$SELECT format(E'%s\t%s\t%s\n', id, f, f) FROM fields ORDER BY id$$);
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, 'v text, w text');
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, 'v text, w text');
SET outerjoin_fdw.simd = off;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, 'v text, w text');
RESET outerjoin_fdw.block_size;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, 'v text, w text');
RESET outerjoin_fdw.simd;

-- What COPY TO writes, read back.
CREATE TABLE written AS
	SELECT i AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE repeat(chr(1 + i % 126), i % 200) END AS v
	FROM generate_series(1, 2000) i;
CALL put_query('v.tsv', 'SELECT * FROM written ORDER BY id', 'format text');
SELECT differences('TABLE v', 'TABLE written', true);

-- Many fields, each with escapes: none is shifted or cut by those before it.
CALL put_lines('v.tsv', $$SELECT format(E'%s\t%s\n', i, string_agg(format('%s\t\\%s\x41', repeat('x', i % 7 * j), j), E'\t' ORDER BY j))
	FROM generate_series(1, 300) i, generate_series(10, 29) j GROUP BY i ORDER BY i$$);
SELECT string_agg(format('c%s text', j), ', ' ORDER BY j) AS columns FROM generate_series(1, 20) j \gset
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, :'columns');
SELECT id, c1, c9, c20 FROM scanned_rows WHERE id < 3;
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.tsv', $$format 'text'$$, :'columns');
RESET outerjoin_fdw.block_size;
