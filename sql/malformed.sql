--
-- Lines that are no rows: the error says which line, how many fields it has
-- and how many were expected; never a short or a shifted answer.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test malformed
\i :prelude

CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;
CREATE FOREIGN TABLE t (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.tsv')) SERVER files;

-- Too few fields, too many; each in the first row and in a later one.
CALL put('v.csv', E'1,a\n2\n3,c\n');
SELECT * FROM v;
CALL put('v.csv', E'1,a\n2,b,more\n3,c\n');
SELECT * FROM v;
CALL put('v.csv', E'1,a\n2,b,\n3,c\n');
SELECT * FROM v;
-- even where the query needs no value
SELECT count(*) FROM v;
-- a header tells how many fields a file has
CREATE FOREIGN TABLE h (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files OPTIONS (header 'true');
CALL put('v.csv', E'id,v,w\n1,a\n');
SELECT * FROM h;
CALL put('v.csv', E'id,v\n1,a,b\n');
SELECT * FROM h;
-- lines are counted as an editor counts them: this is line 5, row 3
CALL put('v.csv', E'id,v\n1,"two\nlines"\n2,b\n3,c,d\n');
SELECT * FROM h;
CALL put('v.tsv', E'1\ta\n2\n');
SELECT * FROM t;
CALL put('v.tsv', E'1\ta\n2\tb\tc\n');
SELECT * FROM t;
-- the wrong delimiter
CALL put('v.csv', E'1;a\n2;b\n');
SELECT * FROM v;
-- Nothing at all is no error: no rows, unless a header has to be there.
CALL put('v.csv', '');
SELECT * FROM v;
SELECT * FROM h;
ALTER FOREIGN TABLE h OPTIONS (SET header 'match');
SELECT * FROM h;
CALL put('v.csv', E'id,v\n');
SELECT * FROM h;

-- A quote that is never closed names the line where it opened.
CALL put('v.csv', E'1,a\n2,"b\n3,c\n4,d\n');
SELECT * FROM v;
CALL put('v.csv', E'1,a\n2,b\n3,"');
SELECT * FROM v;

-- A null key.
CALL put('v.csv', E'1,a\n,b\n');
SELECT * FROM v;
CALL put('v.csv', E'1,a\n"",b\n');
SELECT * FROM v;
CALL put('v.tsv', E'1\ta\n\\N\tb\n');
SELECT * FROM t;

-- A bad key, a bad value: file, line and column.
CALL put('v.csv', E'1,a\nx,b\n');
SELECT * FROM v;
CREATE FOREIGN TABLE n (id int OPTIONS (key 'true'), v int OPTIONS (filename 'v.csv')) SERVER files;
CALL put('v.csv', E'1,1\n2,"2\n"\n3,three\n');
SELECT * FROM n;
-- only where the value is asked for
SELECT id FROM n;
SELECT count(*) FROM n;
CALL put('v.csv', E'1,1\n2,2147483648\n');
SELECT * FROM n;
CALL put('v.csv', E'1,1\n99999999999,2\n');
SELECT * FROM n;

-- A file that is not there, a folder, no candidates, two of them.
CREATE FOREIGN TABLE missing (id int OPTIONS (key 'true'), v int OPTIONS (filename 'gone.csv')) SERVER files;
SELECT * FROM missing;
EXPLAIN (COSTS OFF) SELECT * FROM missing;
\! mkdir "$DIR"/folder.csv
ALTER FOREIGN TABLE missing ALTER v OPTIONS (SET filename 'folder.csv');
SELECT * FROM missing;
CREATE FOREIGN TABLE by_name (id int OPTIONS (key 'true'), found int) SERVER files;
SELECT * FROM by_name;
CALL put('found.csv', E'1,1\n');
SELECT * FROM by_name;
CALL put('found.tsv', E'1\t1\n');
SELECT * FROM by_name;

-- An error leaves nothing behind: the next scan is right.
CALL put('v.csv', E'1,a\n2,b\n');
SELECT * FROM v;
