--
-- A key repeated in one stream: error, first, last, or all.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test duplicates
\i :prelude

CALL put('a.csv', E'1,a1\n2,a2x\n2,a2y\n2,a2z\n4,a4\n4,a4\n5,\n5,a5\n');
CALL put('b.csv', E'2,b2x\n2,b2y\n3,b3\n4,b4\n5,b5\n5,\n');
CREATE FOREIGN TABLE f (
	id int OPTIONS (key 'true'), a text, b text OPTIONS (duplicates 'all')
) SERVER files;
-- error is the default
SELECT * FROM f;
-- first
ALTER FOREIGN TABLE f OPTIONS (duplicates 'first');
ALTER FOREIGN TABLE f ALTER b OPTIONS (DROP duplicates);
SELECT * FROM f;
-- last
ALTER FOREIGN TABLE f OPTIONS (SET duplicates 'last');
SELECT * FROM f;
-- of each stream its own
ALTER FOREIGN TABLE f ALTER a OPTIONS (ADD duplicates 'first');
SELECT * FROM f;
-- all: the product of the groups, as SQL's join gives it
ALTER FOREIGN TABLE f OPTIONS (SET duplicates 'all');
ALTER FOREIGN TABLE f ALTER a OPTIONS (DROP duplicates);
SELECT * FROM f ORDER BY id, a, b;
SELECT count(*), count(a), count(b) FROM f;
CREATE TABLE a (id int, a text);
CREATE TABLE b (id int, b text);
CALL load('a', 'a.csv');
CALL load('b', 'b.csv');
SELECT differences('TABLE f', 'SELECT id, a, b FROM a FULL JOIN b USING (id)');
-- a column that nobody asks for counts all the same
SELECT id FROM f;
SELECT id, b FROM f ORDER BY id, b;

-- Three streams, long groups, at every batch size.
CREATE TABLE x AS SELECT i / 3 AS id, i AS x FROM generate_series(1, 60) i ORDER BY 1, 2;
CREATE TABLE y AS SELECT i / 5 * 2 AS id, i AS y FROM generate_series(1, 60) i ORDER BY 1, 2;
CREATE TABLE z AS SELECT i % 4 * 4 AS id, i AS z FROM generate_series(1, 20) i ORDER BY 1, 2;
CALL put_query('x.csv', 'SELECT * FROM x ORDER BY id, x');
CALL put_query('y.csv', 'SELECT * FROM y ORDER BY id, y');
CALL put_query('z.csv', 'SELECT * FROM z ORDER BY id, z');
CREATE FOREIGN TABLE xyz (id int OPTIONS (key 'true'), x int, y int, z int) SERVER files OPTIONS (duplicates 'all');
CREATE VIEW xyz_oracle AS SELECT id, x, y, z FROM x FULL JOIN y USING (id) FULL JOIN z USING (id);
SELECT count(*) FROM xyz_oracle;
CREATE FUNCTION at_batch_sizes(a text, b text) RETURNS TABLE (rows int, differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH rows IN ARRAY ARRAY[1, 2, 3, 5, 7, 64, 16384]
	LOOP
		PERFORM set_config('outerjoin_fdw.batch_rows', rows::text, false);
		differences := differences(a, b);
		RETURN NEXT;
	END LOOP;
	PERFORM set_config('outerjoin_fdw.batch_rows', '16384', false);
END $$;
SELECT * FROM at_batch_sizes('TABLE xyz', 'TABLE xyz_oracle');
SELECT * FROM at_batch_sizes('SELECT id, y FROM xyz WHERE id BETWEEN 4 AND 8', 'SELECT id, y FROM xyz_oracle WHERE id BETWEEN 4 AND 8');
RESET outerjoin_fdw.batch_rows;
-- still in key order
SELECT bool_and(id >= before) FROM (SELECT id, lag(id) OVER () AS before FROM xyz) s;

-- Groups over a batch's edge: first and last take the right row.
CREATE TABLE xy_first AS
	SELECT * FROM (SELECT id, min(x) AS x FROM x GROUP BY id) x FULL JOIN (SELECT id, min(y) AS y FROM y GROUP BY id) y USING (id);
CREATE TABLE xy_last AS
	SELECT * FROM (SELECT id, max(x) AS x FROM x GROUP BY id) x FULL JOIN (SELECT id, max(y) AS y FROM y GROUP BY id) y USING (id);
CREATE FOREIGN TABLE xy (id int OPTIONS (key 'true'), x int, y int) SERVER files OPTIONS (duplicates 'first');
SELECT * FROM at_batch_sizes('TABLE xy', 'TABLE xy_first');
ALTER FOREIGN TABLE xy OPTIONS (SET duplicates 'last');
SELECT * FROM at_batch_sizes('TABLE xy', 'TABLE xy_last');
RESET outerjoin_fdw.batch_rows;

-- A product that does not fit work_mem spills.
CREATE TABLE big_a AS SELECT 1 + (i > 3000)::int AS id, repeat('a', 90) || i AS a FROM generate_series(1, 3010) i;
CREATE TABLE big_b AS SELECT 1 + (i > 40)::int AS id, repeat('b', 90) || i AS b FROM generate_series(1, 3040) i;
CALL put_query('big_a.csv', 'SELECT * FROM big_a ORDER BY id');
CALL put_query('big_b.csv', 'SELECT * FROM big_b ORDER BY id');
CREATE FOREIGN TABLE big (id int OPTIONS (key 'true'), a text OPTIONS (filename 'big_a.csv'), b text OPTIONS (filename 'big_b.csv'))
	SERVER files OPTIONS (duplicates 'all');
SET work_mem = '64kB';
SELECT id, count(*), count(DISTINCT a), count(DISTINCT b), sum(length(a)), sum(length(b)) FROM big GROUP BY id ORDER BY id;
SELECT id, count(*), count(DISTINCT a), count(DISTINCT b), sum(length(a)), sum(length(b))
FROM big_a FULL JOIN big_b USING (id) GROUP BY id ORDER BY id;
RESET work_mem;

-- Equal keys that look different are repeated keys too.
CALL put('n.csv', E'1.0,a\n1.00,b\n');
CREATE FOREIGN TABLE n (id numeric OPTIONS (key 'true'), n text) SERVER files;
SELECT * FROM n;
ALTER FOREIGN TABLE n OPTIONS (ADD duplicates 'last');
SELECT * FROM n;
ALTER FOREIGN TABLE n OPTIONS (SET duplicates 'all');
SELECT * FROM n;

-- first and last do not excuse a wrong order
CALL put('a.csv', E'1,a\n2,b\n1,c\n');
ALTER FOREIGN TABLE f OPTIONS (SET duplicates 'first');
SELECT id, a FROM f;

-- Groups that spill, and are read back again and again.
CALL put_lines('many.csv', $$SELECT '1,' || n || E'\n' FROM generate_series(1, 5000) n$$, '2,0');
CALL put_lines('some.csv', $$SELECT '1,' || n || E'\n' FROM generate_series(1, 70) n$$, '2,0');
CREATE FOREIGN TABLE spilled (
	id int OPTIONS (key 'true'),
	a int OPTIONS (filename 'many.csv'),
	b text OPTIONS (filename 'some.csv')
) SERVER files OPTIONS (duplicates 'all');
SET work_mem = '64kB';
SET outerjoin_fdw.batch_rows = 64;
SELECT id, count(*), sum(a), sum(b::int) FROM spilled WHERE id > 1 OR a <= 5000 GROUP BY id ORDER BY id;
-- one after another, and left in the middle
SELECT n, (SELECT sum(a) FROM spilled WHERE id <= n), (SELECT a FROM spilled WHERE a > 3000 AND id < n LIMIT 1)
FROM generate_series(0, 3) n;
RESET work_mem;
RESET outerjoin_fdw.batch_rows;
