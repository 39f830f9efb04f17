--
-- The planner is told of the order: no Sort where the files have it already.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test pathkeys
\i :prelude

CREATE TABLE a AS SELECT i AS id, i * 2 AS a FROM generate_series(1, 5000) i WHERE i % 3 <> 0;
CREATE TABLE b AS SELECT i AS id, 'b' || i AS b FROM generate_series(1, 5000) i WHERE i % 7 <> 0;
CREATE TABLE r AS SELECT i AS id, i % 10 AS r FROM generate_series(1, 5000, 2) i;
ALTER TABLE r ADD PRIMARY KEY (id);
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE VIEW o AS SELECT id, a, b FROM a FULL JOIN b USING (id);
ANALYZE a, b, r;

SELECT explain('SELECT * FROM f ORDER BY id');
SELECT explain('SELECT * FROM f ORDER BY id LIMIT 10');
SELECT query, sorts(query) FROM unnest(ARRAY[
	'SELECT a FROM f ORDER BY id', 'SELECT * FROM f ORDER BY id NULLS LAST', 'SELECT * FROM f WHERE id > 10 ORDER BY id, a LIMIT 5',
	'SELECT * FROM (SELECT id AS x, b FROM f) s ORDER BY x', 'SELECT * FROM f ORDER BY id NULLS FIRST',
	'SELECT DISTINCT id FROM f ORDER BY id', 'SELECT row_number() OVER (ORDER BY id), b FROM f', 'SELECT * FROM f WHERE id = 5 ORDER BY id, a',
	-- the files read from their ends
	'SELECT * FROM f ORDER BY id DESC', 'SELECT * FROM f ORDER BY id USING >',
	-- these are not the files' order
	'SELECT * FROM f ORDER BY a', 'SELECT * FROM f ORDER BY id + 0', 'SELECT * FROM f ORDER BY -id', 'SELECT * FROM f WHERE a = 10 ORDER BY a, b']) query;
-- no null key, but the order says where nulls would go
SELECT * FROM f ORDER BY id NULLS FIRST LIMIT 3;
SELECT * FROM f ORDER BY id DESC LIMIT 3;
SELECT * FROM f ORDER BY a LIMIT 3;

-- A merge join takes the order as it is, on both sides of itself.
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT sorts('SELECT * FROM f x JOIN f y USING (id)');
SELECT sorts('SELECT * FROM f FULL JOIN f g USING (id) ORDER BY id');
SET enable_seqscan = off;
SELECT explain('SELECT * FROM f JOIN r USING (id)');
SELECT differences('SELECT * FROM f JOIN r USING (id)', 'SELECT * FROM o JOIN r USING (id)');
SELECT differences('SELECT * FROM f LEFT JOIN r USING (id) ORDER BY id', 'SELECT * FROM o LEFT JOIN r USING (id) ORDER BY id', true);
SELECT differences('SELECT * FROM f FULL JOIN r USING (id) ORDER BY id', 'SELECT * FROM o FULL JOIN r USING (id) ORDER BY id', true);
SELECT differences('SELECT * FROM f x JOIN f y ON x.id = y.id', 'SELECT * FROM o x JOIN o y ON x.id = y.id');
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_nestloop;

-- UNION ALL, inheritance and partitions keep it (Merge Append).
CREATE FOREIGN TABLE g (id int OPTIONS (key 'true'), b text) SERVER files;
SELECT explain('SELECT id, b FROM f UNION ALL SELECT id, b FROM g ORDER BY id LIMIT 5');
SELECT id, b FROM f UNION ALL SELECT id, b FROM g ORDER BY id LIMIT 5;
SELECT sorts('SELECT * FROM (SELECT id, b FROM f UNION ALL SELECT id, b FROM g) u WHERE id > 100 ORDER BY id');
CREATE TABLE parent (id int, a int);
CREATE FOREIGN TABLE child (id int OPTIONS (key 'true'), a int) INHERITS (parent) SERVER files;
SELECT explain('SELECT * FROM child ORDER BY id');
SELECT differences('SELECT * FROM parent ORDER BY id', 'SELECT * FROM a ORDER BY id', true);
SELECT tableoid::regclass, count(*) FROM parent GROUP BY 1;
CREATE TABLE parts (b text, id int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE part_low (id int OPTIONS (key 'true'), b text OPTIONS (filename 'low.csv')) SERVER files;
ALTER TABLE parts ATTACH PARTITION part_low FOR VALUES FROM (1) TO (1000);
CREATE FOREIGN TABLE part_high (id int OPTIONS (key 'true'), b text OPTIONS (filename 'high.csv')) SERVER files;
ALTER TABLE parts ATTACH PARTITION part_high FOR VALUES FROM (1000) TO (10000);
CALL put_query('low.csv', 'SELECT * FROM b WHERE id < 1000 ORDER BY id');
CALL put_query('high.csv', 'SELECT * FROM b WHERE id >= 1000 ORDER BY id');
SELECT explain('SELECT * FROM parts ORDER BY id');
SELECT differences('SELECT id, b FROM parts ORDER BY id', 'SELECT * FROM b ORDER BY id', true);
SELECT differences('SELECT id, b FROM parts WHERE id BETWEEN 990 AND 1010 ORDER BY id', 'SELECT * FROM b WHERE id BETWEEN 990 AND 1010 ORDER BY id', true);
SELECT explain('SELECT * FROM parts WHERE id = 500');

-- A key that goes down gives that order, and its reverse.
CALL put_query('down.csv', 'SELECT * FROM a ORDER BY id DESC');
CREATE FOREIGN TABLE down (id int OPTIONS (key 'true', descending 'true'), down int) SERVER files;
SELECT query, sorts(query) FROM unnest(ARRAY[
	'SELECT * FROM down ORDER BY id DESC', 'SELECT * FROM down ORDER BY id DESC NULLS LAST', 'SELECT * FROM down ORDER BY id']) query;
SELECT * FROM down ORDER BY id DESC LIMIT 3;
SELECT * FROM down ORDER BY id LIMIT 3;
SELECT differences('SELECT * FROM down ORDER BY id', 'SELECT * FROM a ORDER BY id', true);

-- A text key's order is its collation's.
CALL put_query('t.csv', $$SELECT 'k' || i, i FROM generate_series(1, 3000) i ORDER BY ('k' || i) COLLATE "C"$$);
CREATE FOREIGN TABLE t (id text OPTIONS (key 'true') COLLATE "C", t int) SERVER files;
SELECT query, sorts(query) FROM unnest(ARRAY[
	'SELECT * FROM t ORDER BY id', 'SELECT * FROM t ORDER BY id COLLATE "C"', 'SELECT * FROM t ORDER BY id COLLATE "en-x-icu"', 'SELECT * FROM t ORDER BY id USING ~<~']) query;
SELECT * FROM t ORDER BY id LIMIT 3;

-- Composite keys: each prefix.
CALL put_query('c.csv', 'SELECT i / 10, i % 10, i FROM generate_series(1, 2000) i ORDER BY 1, 2 DESC');
CREATE FOREIGN TABLE c (m int OPTIONS (key 'true'), n int OPTIONS (key 'true', descending 'true'), c int OPTIONS (field '3')) SERVER files;
SELECT query, sorts(query) FROM unnest(ARRAY[
	'SELECT * FROM c ORDER BY m, n DESC', 'SELECT * FROM c ORDER BY m', 'SELECT * FROM c ORDER BY m, n DESC, c', 'SELECT * FROM c ORDER BY m, n', 'SELECT * FROM c ORDER BY n DESC', 'SELECT * FROM c WHERE m = 5 ORDER BY n DESC', 'SELECT m, count(*) FROM c GROUP BY m ORDER BY m',
	'SELECT * FROM c WHERE n = 5 ORDER BY m', 'SELECT * FROM c WHERE n = 5 ORDER BY m, n', 'SELECT * FROM c ORDER BY n DESC, m', 'SELECT * FROM c ORDER BY m DESC, n']) query;
-- a column that equals one before it adds nothing to the order
CALL put_query('d.csv', 'SELECT m, m, n, c FROM c');
CREATE FOREIGN TABLE d (k int OPTIONS (key 'true'), m int OPTIONS (key 'true'), n int OPTIONS (key 'true', descending 'true'),
	d int OPTIONS (field '4')) SERVER files;
SELECT sorts('SELECT * FROM d WHERE k = m ORDER BY m, n DESC');
SELECT differences('SELECT m, n, d FROM d WHERE k = m ORDER BY m, n DESC', 'SELECT m, n, c FROM c', true);
SELECT * FROM c ORDER BY m, n LIMIT 3;
SELECT * FROM c WHERE m = 5 ORDER BY n LIMIT 3;

-- Estimates are near: within a factor of two here.
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT count(*), estimate('SELECT * FROM f') BETWEEN count(*) / 2 AND count(*) * 2 AS near FROM f;
SELECT count(*), estimate('SELECT * FROM f WHERE id BETWEEN 1000 AND 2000') BETWEEN count(*) / 2 AND count(*) * 2 AS near FROM f WHERE id BETWEEN 1000 AND 2000;
SELECT estimate('SELECT * FROM f WHERE id = 5') BETWEEN 1 AND 2 AS one_row;
SELECT estimate('SELECT * FROM f WHERE id > 9000') = 1 AS one_row;

-- ANALYZE counts the rows and looks at the values.
ANALYZE f;
SELECT reltuples FROM pg_class WHERE oid = 'f'::regclass;
SELECT attname, round(null_frac::numeric, 4) AS null_frac, round(n_distinct::numeric, 4) AS n_distinct, correlation = 1 AS ascends
FROM pg_stats WHERE schemaname = 'pathkeys' AND tablename = 'f' ORDER BY 1;
SELECT count(*), estimate('SELECT * FROM f WHERE a IS NULL') BETWEEN count(*) / 2 AND count(*) * 2 AS near FROM f WHERE a IS NULL;
-- of a larger table, a sample
CREATE TABLE many AS SELECT i AS id, i % 10 AS m FROM generate_series(1, 50000) i;
CALL put_query('m.csv', 'SELECT * FROM many ORDER BY id');
CREATE FOREIGN TABLE many_file (id int OPTIONS (key 'true'), m int) SERVER files;
SET default_statistics_target = 10;
ANALYZE many_file;
RESET default_statistics_target;
SELECT reltuples FROM pg_class WHERE oid = 'many_file'::regclass;
SELECT count(*) FILTER (WHERE freq BETWEEN 0.05 AND 0.15) AS near_a_tenth
FROM pg_stats, unnest(most_common_freqs) freq WHERE schemaname = 'pathkeys' AND tablename = 'many_file' AND attname = 'm';
-- as one of a table's children
ANALYZE parts;
SELECT null_frac, n_distinct FROM pg_stats WHERE schemaname = 'pathkeys' AND tablename = 'parts' AND attname = 'id';
