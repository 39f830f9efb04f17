--
-- Parallel scans: several processes read one table, each takes ranges of keys.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test parallel
\i :prelude

CREATE TABLE a AS SELECT i AS id, i % 100 AS a FROM generate_series(1, 20000) i WHERE i % 3 <> 0;
CREATE TABLE b AS SELECT i AS id, 'b' || i AS b FROM generate_series(1, 20000) i WHERE i % 7 <> 0;
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE TABLE o AS SELECT id, a, b FROM a FULL JOIN b USING (id) ORDER BY id;
CREATE TABLE r AS SELECT i AS id, i % 10 AS r FROM generate_series(1, 30000, 2) i;
ALTER TABLE r ADD PRIMARY KEY (id);
ALTER TABLE o ADD PRIMARY KEY (id);
ANALYZE a, b, o, r;

-- Of a small table a plan is parallel only where starting workers costs nothing.
SELECT explain('SELECT count(*) FROM f');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT explain('SELECT count(*), sum(a), count(b) FROM f');
SELECT count(*), sum(a), count(b) FROM f;
SELECT count(*), sum(a), count(b) FROM o;
SELECT explain('SELECT * FROM f WHERE a = 1');
SELECT differences('SELECT * FROM f WHERE a = 1', 'SELECT * FROM o WHERE a = 1');
SELECT differences('SELECT * FROM f', 'SELECT * FROM o');

-- Each row is read once, whoever reads it: these are all processes' counters.
SELECT explain('SELECT count(*) FROM f WHERE a >= 0', ', ANALYZE, TIMING OFF, SUMMARY OFF');
