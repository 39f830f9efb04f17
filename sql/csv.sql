--
-- CSV: read as COPY reads it, with the same options.
--
-- same_as_copy() loads a file with COPY and through a foreign table.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test csv
\i :prelude

CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;

-- Quotes, doubled quotes, delimiters and line breaks inside quotes; a quote
-- that opens in the middle of a field.
CALL put('v.csv', $$1,plain
2,"quoted"
3,"a ""word"" in quotes"
4,"comma, inside"
5,"two
lines"
6,mid"dle, still"
7,"a"b"c"
8," spaces "
9, spaces 
10,""""
$$);
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);

-- Empty is null, quoted empty is the empty string.
CALL put('v.csv', E'1,\n2,""\n3,NULL\n4,\\N\n');
SELECT id, v, v IS NULL AS "null" FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);

-- Another null string: only unquoted.
CALL put('v.csv', E'1,\n2,""\n3,NULL\n4,"NULL"\n5,NULLS\n6,NUL\n');
ALTER FOREIGN TABLE v OPTIONS (null 'NULL');
SELECT id, v, v IS NULL AS "null" FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv', null 'NULL'$$);

-- force_null: quoted too; force_not_null: never.
CREATE FOREIGN TABLE forced (
	id int OPTIONS (key 'true'),
	v text OPTIONS (filename 'v.csv', force_null 'true')
) SERVER files OPTIONS (null 'NULL');
SELECT id, v, v IS NULL AS "null" FROM forced;
ALTER FOREIGN TABLE forced ALTER v OPTIONS (DROP force_null, ADD force_not_null 'true');
SELECT id, v, v IS NULL AS "null" FROM forced;
ALTER FOREIGN TABLE v OPTIONS (DROP null);

-- Delimiter, quote and escape of one's own.
CALL put('v.csv', E'1;''it\\''s''\n2;''semi;colon''\n3;"\n4;a\\b\n5;''a\\\\b''\n6;''a\\b''\n');
CREATE FOREIGN TABLE dialect (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv'))
	SERVER files OPTIONS (delimiter ';', quote '''', escape '\');
SELECT id, v FROM dialect;
SELECT * FROM same_as_copy('v.csv', $$format 'csv', delimiter ';', quote '''', escape '\'$$);
CALL put('v.csv', E'1\ta,b\n2\t"tab\there"\n');
SELECT * FROM same_as_copy('v.csv', $$format 'csv', delimiter E'\t'$$);

-- Line ends: LF, CRLF, CR; the last one may be missing.
CALL put('v.csv', E'1,a\n2,b\n3,c');
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
CALL put('v.csv', E'1,a\r\n2,"b\r\nb"\r\n3,c\r\n');
SELECT id, replace(replace(v, E'\r', '<CR>'), E'\n', '<LF>') AS v FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
CALL put('v.csv', E'1,a\r\n2,b\r\n3,c');
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
CALL put('v.csv', E'1,a\r2,b\r3,c\r');
SELECT id, v FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
CALL put('v.csv', E'1,a\n2,"b\rb"\n3,"c"\n');
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
-- the last row ends in the middle: an empty, unquoted last field
CALL put('v.csv', E'1,a\n2,');
SELECT id, v, v IS NULL AS "null" FROM v;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
-- line ends that do not agree are refused, as by COPY
CALL put('v.csv', E'1,a\n2,b\r\n3,c\n');
SELECT * FROM v;
SELECT (same_as_copy('v.csv', $$format 'csv'$$)).copy_error;
CALL put('v.csv', E'1,a\r\n2,b\n3,c\r\n');
SELECT * FROM v;
SELECT (same_as_copy('v.csv', $$format 'csv'$$)).copy_error;
CALL put('v.csv', E'1,a\n2,b\rb\n');
SELECT * FROM v;
SELECT (same_as_copy('v.csv', $$format 'csv'$$)).copy_error;

-- Departures from COPY, each on purpose.
-- A byte order mark at the very start is passed over, with and without header.
CALL put_bytes('v.csv', '\xefbbbf' || convert_to(E'1,a\n2,b\n', 'UTF8'));
SELECT id, v FROM v;
CALL put_bytes('v.csv', '\xefbbbf' || convert_to(E'id,v\n1,a\n2,b\n', 'UTF8'));
CREATE FOREIGN TABLE with_header (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv'))
	SERVER files OPTIONS (header 'true');
SELECT * FROM with_header;
-- but not in front of a row further down
CALL put_bytes('v.csv', convert_to(E'1,a\n2,', 'UTF8') || '\xefbbbf' || convert_to(E'b\n', 'UTF8'));
SELECT id, length(v) FROM v;
-- A line \. is data.
CREATE FOREIGN TABLE one_field (id text OPTIONS (key 'true', filename 'one_field.csv') COLLATE "C") SERVER files;
CALL put('one_field.csv', E'A\n\\.\na\n');
SELECT * FROM one_field;
CALL put('v.csv', E'1,\\.\n2,"\\."\n3,\\.x\n');
SELECT id, v FROM v;
-- Blank lines at the very end are ignored; elsewhere they are rows.
CALL put('v.csv', E'1,a\n2,b\n\n\n\n');
SELECT id, v FROM v;
CALL put('v.csv', E'1,a\r\n2,b\r\n\r\n');
SELECT id, v FROM v;
CALL put('v.csv', E'1,a\n\n2,b\n');
SELECT id, v FROM v;

-- header: true passes over one line, match checks it, false is none.
CALL put('v.csv', E'id,v\n1,a\n');
SELECT * FROM with_header;
SELECT * FROM v;
ALTER FOREIGN TABLE with_header OPTIONS (SET header 'match');
SELECT * FROM with_header;
CALL put('v.csv', E'id,w\n1,a\n');
SELECT * FROM with_header;
ALTER FOREIGN TABLE with_header OPTIONS (SET header 'true');
SELECT * FROM with_header;
-- a header that itself is quoted
CALL put('v.csv', E'"id","the ""value"", in\ntwo lines"\n1,a\n');
CREATE FOREIGN TABLE quoted_header (
	id int OPTIONS (key 'true'),
	v text OPTIONS (filename 'v.csv', field E'the "value", in\ntwo lines')
) SERVER files OPTIONS (header 'true');
SELECT * FROM quoted_header;

-- skip: lines before the header or the first row.
CALL put('v.csv', E'made by hand\n"not a quote\nid,v\n1,a\n2,b\n');
ALTER FOREIGN TABLE with_header OPTIONS (ADD skip '2');
SELECT * FROM with_header;
ALTER FOREIGN TABLE with_header OPTIONS (SET skip '4', SET header 'false');
SELECT * FROM with_header;
ALTER FOREIGN TABLE with_header OPTIONS (SET skip '5');
SELECT * FROM with_header;
ALTER FOREIGN TABLE with_header OPTIONS (SET skip '50');
SELECT * FROM with_header;

-- multiline 'false' promises that no quoted field holds a line break.
CALL put('v.csv', E'1,"a, b"\n2,"c ""d"""\n');
CREATE FOREIGN TABLE one_line (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv'))
	SERVER files OPTIONS (multiline 'false');
SELECT * FROM one_line;
CREATE FOREIGN TABLE more_lines (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv'))
	SERVER files OPTIONS (multiline 'true');
CALL put('v.csv', E'1,"a\n2,b"\n3,c\n');
SELECT * FROM more_lines;
SELECT * FROM v;

-- Values of every length, quoted or not, at every place of a block: the
-- lengths around a short header's limit, and one of a megabyte.
CREATE TABLE lengths AS
	SELECT i AS id, CASE WHEN i % 11 = 0 THEN NULL
						 WHEN i % 3 = 0 THEN repeat('q"', i / 2)
						 WHEN i % 7 = 0 THEN repeat(E'l\n', i / 2)
						 ELSE repeat('x', i) END AS v
	FROM generate_series(0, 600) i
	UNION ALL SELECT 1000, repeat('megabyte', 131072) UNION ALL SELECT 1001, 'after it';
CALL put_query('v.csv', 'SELECT * FROM lengths ORDER BY id');
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
SET outerjoin_fdw.batch_rows = 1;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
SET outerjoin_fdw.simd = off;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
RESET outerjoin_fdw.block_size;
RESET outerjoin_fdw.batch_rows;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
RESET outerjoin_fdw.simd;
SELECT count(*), sum(length(v)) FROM v;
CALL put_query('v.csv', 'SELECT * FROM lengths ORDER BY id', 'format csv, force_quote *');
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$);
CALL put_query('v.csv', 'SELECT * FROM lengths ORDER BY id', $$format csv, quote '''', escape '\', delimiter '|', null 'x'$$);
SELECT * FROM same_as_copy('v.csv', $$format 'csv', quote '''', escape '\', delimiter '|', null 'x'$$);

-- A small grammar, spelled out: every field of up to four characters from
-- this alphabet, between two others, read as COPY reads it.
CREATE TABLE alphabet AS SELECT * FROM unnest(ARRAY['a', '"', '\', ' ', '.', 'N']) c;
CREATE TABLE fields AS
	SELECT row_number() OVER (ORDER BY f COLLATE "C") AS id, f FROM (
		SELECT '' AS f
		UNION ALL SELECT a.c FROM alphabet a
		UNION ALL SELECT a.c || b.c FROM alphabet a, alphabet b
		UNION ALL SELECT a.c || b.c || c.c FROM alphabet a, alphabet b, alphabet c
		UNION ALL SELECT a.c || b.c || c.c || d.c FROM alphabet a, alphabet b, alphabet c, alphabet d) x
	WHERE length(replace(f, '"', '')) % 2 = length(f) % 2;	-- quotes in pairs
CALL put_lines('v.csv', $$SELECT format(E'%s,%s,%s\n', id, f, f) FROM fields ORDER BY id$$);
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, 'v text, w text');
SELECT * FROM same_as_copy('v.csv', $$format 'csv', null '\N'$$, 'v text, w text');
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, 'v text, w text');
SET outerjoin_fdw.simd = off;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, 'v text, w text');
RESET outerjoin_fdw.block_size;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, 'v text, w text');
RESET outerjoin_fdw.simd;
CALL put_lines('v.csv', $$SELECT format(E'%s,"%s",%s\n', id, f, f) FROM fields
	WHERE f !~ '"' AND f !~ '\\$' AND f !~ '\\\.' ORDER BY id$$);
SELECT * FROM same_as_copy('v.csv', $$format 'csv', escape '\'$$, 'v text, w text');

-- Many fields, each with quotes, in rows that are short and long: none is
-- shifted or cut by those before it, and a query takes those that it needs.
CALL put_lines('v.csv', $$SELECT format(E'%s,%s\n', i, string_agg(format('"%s""%s,"', repeat('x', i % 7 * j), j), ',' ORDER BY j))
	FROM generate_series(1, 300) i, generate_series(1, 20) j GROUP BY i ORDER BY i$$);
SELECT string_agg(format('c%s text', j), ', ' ORDER BY j) AS columns FROM generate_series(1, 20) j \gset
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, :'columns');
SELECT id, c1, c9, c20 FROM scanned_rows WHERE id < 3;
SET outerjoin_fdw.block_size = 64;
SELECT * FROM same_as_copy('v.csv', $$format 'csv'$$, :'columns');
RESET outerjoin_fdw.block_size;
CALL put_query('v.csv', 'TABLE copied_rows ORDER BY id', $$format csv, escape '\', force_quote *$$);
SELECT * FROM same_as_copy('v.csv', $$format 'csv', escape '\'$$, :'columns');
SELECT id, c1, c9, c20 FROM scanned_rows WHERE id < 3;
