--
-- sorted 'false': a stream that is sorted on the fly.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test unsorted
\i :prelude

CALL put('u.csv', E'3,c\n1,a\n2,b\n');
CALL put('v.csv', E'1,x\n3,z\n');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), u text OPTIONS (sorted 'false'), v text) SERVER files;
SELECT * FROM f;
SELECT * FROM f WHERE id >= 2;
-- still one row per key
CALL put('u.csv', E'3,c\n1,a\n3,d\n2,b\n');
SELECT * FROM f;
-- first and last: of the file's rows, in the file's order
ALTER FOREIGN TABLE f ALTER u OPTIONS (ADD duplicates 'first');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER u OPTIONS (SET duplicates 'last');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER u OPTIONS (SET duplicates 'all');
SELECT * FROM f ORDER BY id, u;
-- a null key is refused here too
CALL put('u.csv', E'3,c\n,a\n');
SELECT * FROM f;
-- a bad value names its own line, not its place in the order
CREATE FOREIGN TABLE numbers (id int OPTIONS (key 'true'), u int OPTIONS (sorted 'false')) SERVER files;
CALL put('u.csv', E'3,30\n2,twenty\n1,10\n');
SELECT * FROM numbers;

-- Larger than work_mem, in every direction, with nulls and long values.
CREATE TABLE big AS
	SELECT i * 7919 % 20011 AS id, i AS n, CASE WHEN i % 4 <> 0 THEN repeat('v', i % 300) END AS v
	FROM generate_series(1, 20000) i;
CALL put_query('big.csv', 'SELECT * FROM big ORDER BY n');
CREATE FOREIGN TABLE big_file (
	id int OPTIONS (key 'true'), n int OPTIONS (filename 'big.csv', field '2'), v text OPTIONS (filename 'big.csv', field '3')
) SERVER files OPTIONS (sorted 'false');
SET work_mem = '64kB';
SELECT differences('TABLE big_file', 'SELECT * FROM big ORDER BY id', true);
SELECT differences('SELECT id, v FROM big_file', 'SELECT id, v FROM big ORDER BY id', true);
SELECT differences('SELECT id FROM big_file WHERE id BETWEEN 100 AND 200', 'SELECT id FROM big WHERE id BETWEEN 100 AND 200 ORDER BY id', true);
RESET work_mem;
SELECT differences('TABLE big_file', 'SELECT * FROM big ORDER BY id', true);
ALTER FOREIGN TABLE big_file ALTER id OPTIONS (ADD descending 'true');
SELECT differences('TABLE big_file', 'SELECT * FROM big ORDER BY id DESC', true);
-- first and last past work_mem keep the file's order
CREATE TABLE repeated AS SELECT i % 50 AS id, i AS n, repeat('r', 100) AS v FROM generate_series(1, 20000) i;
CALL put_query('big.csv', 'SELECT * FROM repeated ORDER BY n');
ALTER FOREIGN TABLE big_file OPTIONS (ADD duplicates 'first');
SET work_mem = '64kB';
SELECT differences('SELECT id, n FROM big_file', 'SELECT id, min(n) FROM repeated GROUP BY id ORDER BY id DESC', true);
ALTER FOREIGN TABLE big_file OPTIONS (SET duplicates 'last');
SELECT differences('SELECT id, n FROM big_file', 'SELECT id, max(n) FROM repeated GROUP BY id ORDER BY id DESC', true);
RESET work_mem;
-- text keys, sorted by the column's collation
CALL put_query('t.csv', $$SELECT 'k' || i * 7919 % 20011, i FROM generate_series(1, 5000) i$$);
CREATE FOREIGN TABLE t_c (id text OPTIONS (key 'true') COLLATE "C", t int OPTIONS (sorted 'false')) SERVER files;
SELECT differences('TABLE t_c', $$SELECT 'k' || i * 7919 % 20011 AS id, i FROM generate_series(1, 5000) i ORDER BY ('k' || i * 7919 % 20011) COLLATE "C"$$, true);
-- scanned again without being sorted again
SELECT o.n, (SELECT count(*) FROM f WHERE f.id > o.n - 2) FROM (VALUES (1), (2)) o (n);
CALL put('u.csv', E'3,c\n1,a\n2,b\n');
SELECT o.n, (SELECT count(*) FROM f WHERE f.id >= o.n) FROM (VALUES (1), (2), (3)) o (n);
