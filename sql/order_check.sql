--
-- Order is checked on every row that is read, never assumed: a violation
-- names the file, the row and both keys, and hints at what would help.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test order_check
\i :prelude

CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;

CALL put('v.csv', E'1,a\n3,c\n2,b\n');
SELECT * FROM v;
-- a file sorted as text
CALL put('v.csv', E'1,a\n10,b\n9,c\n');
SELECT * FROM v;
-- a file sorted downward, read upward, and the other way round
CALL put('v.csv', E'3,c\n2,b\n1,a\n');
SELECT * FROM v;
CREATE FOREIGN TABLE down (id int OPTIONS (key 'true', descending 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;
SELECT * FROM down;
CALL put('v.csv', E'1,a\n2,b\n3,c\n');
SELECT * FROM down;
-- a repeated key
CALL put('v.csv', E'1,a\n2,b\n2,c\n3,d\n');
SELECT * FROM v;
-- even where no value and no key is asked for
SELECT count(*) FROM v;
-- the line is not the row where there is a header, or a value in two lines
CALL put('v.csv', E'id,v\n1,a\n2,"b\nb"\n5,c\n4,d\n');
CREATE FOREIGN TABLE h (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files OPTIONS (header 'true');
SELECT * FROM h;
-- the other stream is named if it is the other one
CALL put('w.csv', E'1,a\n2,b\n1,c\n');
CREATE FOREIGN TABLE vw (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv', header 'true', sorted 'false'), w text) SERVER files;
SELECT * FROM vw;

-- Text sorted by another rule than the column's: the hint is the collation.
CALL put('t.csv', E'apple,1\nBanana,2\ncherry,3\n');
CREATE FOREIGN TABLE t_c (id text OPTIONS (key 'true') COLLATE "C", t int) SERVER files;
SELECT * FROM t_c;
CALL put('t.csv', E'Banana,2\napple,1\ncherry,3\n');
SELECT * FROM t_c;
CREATE FOREIGN TABLE t_en (id text OPTIONS (key 'true') COLLATE "en-x-icu", t int) SERVER files;
SELECT * FROM t_en;

-- Composite keys.
CALL put('c.csv', E'1,b,x\n1,a,y\n');
CREATE FOREIGN TABLE composite (n int OPTIONS (key 'true'), s text OPTIONS (key 'true') COLLATE "C",
	c text OPTIONS (field '3')) SERVER files;
SELECT * FROM composite;

-- Wherever a batch's edge lies: rows 4 and 5 change places.
CALL put('v.csv', E'1,a\n2,b\n3,c\n5,e\n4,d\n6,f\n');
CREATE FUNCTION batch_rows_that_miss_it() RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 8
	LOOP
		PERFORM set_config('outerjoin_fdw.batch_rows', n::text, false);
		BEGIN
			PERFORM * FROM v;
			RETURN NEXT n;
		EXCEPTION WHEN OTHERS THEN
			IF SQLERRM NOT LIKE '%v.csv%' THEN
				RAISE;
			END IF;
		END;
	END LOOP;
END $$;
SELECT * FROM batch_rows_that_miss_it();
RESET outerjoin_fdw.batch_rows;
-- and at a large file's far end
CREATE TABLE big AS SELECT i AS id, 'v' || i AS v FROM generate_series(1, 30000) i;
CALL put_query('v.csv', 'SELECT * FROM big ORDER BY CASE id WHEN 29999 THEN 30000 WHEN 30000 THEN 29999 ELSE id END');
SELECT count(*) FROM v;
-- a scan that ends before it has nothing to complain of
SELECT * FROM v LIMIT 2;
