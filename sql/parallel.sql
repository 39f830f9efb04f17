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
ALTER TABLE o ADD PRIMARY KEY (id);
ALTER TABLE r ADD PRIMARY KEY (id);
VACUUM ANALYZE o;
VACUUM ANALYZE r;

-- True of every row, and slow enough that no process can have all of them.
CREATE FUNCTION slow(i int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
	IF i % 200 = 1 THEN
		PERFORM pg_sleep(0.001);
	END IF;
	RETURN true;
END $$;
CREATE FUNCTION pid() RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN pg_backend_pid(); END';
-- What a query fails with, whoever meets it first.
CREATE FUNCTION fails(query text, OUT state text, OUT message text, OUT detail text, OUT context text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	context := substring(context FROM '^file.*?$');
	context := regexp_replace(context, E'\n.*', '');
END $$;

-- Aggregates are to be the executor's here: those of the scan are one process's.
SET outerjoin_fdw.aggregates = off;

-- Of a small table a plan is parallel only where starting workers costs nothing.
SELECT explain('SELECT count(*) FROM f');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT explain('SELECT count(*), sum(a), count(b) FROM f');
SELECT count(*), sum(a), count(b) FROM f WHERE slow(id);
SELECT count(*), sum(a), count(b) FROM o;
SELECT explain('SELECT * FROM f WHERE a = 1');
SELECT differences('SELECT * FROM f WHERE a = 1', 'SELECT * FROM o WHERE a = 1');
SELECT differences('SELECT * FROM f WHERE slow(id)', 'SELECT * FROM o');
SELECT count(*) > 1 AS several, sum(n) FROM (SELECT pid(), count(*) AS n FROM f WHERE slow(id) GROUP BY 1) x;

-- The range of keys is divided among processes, whatever it is.  What they
-- count is added up.
SELECT line FROM explain('SELECT count(*) FROM f WHERE id > 5000 AND a >= 0',
						 ', ANALYZE, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Key Range|Ranges|Parallel';
SELECT sum((regexp_match(line, 'rows=(\d+)'))[1]::int) >= 30477 AS all_rows
FROM explain('SELECT count(*), count(a) FROM f', ', ANALYZE, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Stream';
SELECT count(*), min(id), max(id) FROM f WHERE id BETWEEN 5000 AND 6000 AND slow(id);
SELECT count(*), min(id), max(id) FROM o WHERE id BETWEEN 5000 AND 6000;
SELECT count(*) FROM f WHERE id > 20000;
SELECT count(*) FROM f WHERE id < 10 AND id > 20;
SELECT count(*) FROM f WHERE id = 17;
PREPARE from_to AS SELECT count(*), sum(id) FROM f WHERE id BETWEEN $1 AND $2;
SET plan_cache_mode = force_generic_plan;
SELECT explain('EXECUTE from_to (1, 2)');
EXECUTE from_to (300, 400);
EXECUTE from_to (400, 300);
EXECUTE from_to (NULL, 300);
RESET plan_cache_mode;
-- bounds that an InitPlan finds, before the ranges are chosen
SELECT count(*), sum(id) FROM f WHERE id >= (SELECT max(id) - 100 FROM r WHERE id < 10000) AND id < (SELECT max(id) FROM r WHERE id < 10000);
SELECT count(*), sum(id) FROM o WHERE id >= 9899 AND id < 9999;

-- Rows of each process come in order: Gather Merge, and merge joins, need no sort.
SET enable_sort = off;
SELECT explain('SELECT * FROM f WHERE a = 1 ORDER BY id');
SELECT differences('SELECT * FROM f WHERE slow(id) ORDER BY id', 'SELECT * FROM o ORDER BY id', true);
SELECT explain('SELECT id, count(*) FROM f GROUP BY id ORDER BY id LIMIT 10');
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT explain('SELECT count(*), sum(r) FROM f JOIN r USING (id)');
SELECT count(*), sum(r), sum(a) FROM f JOIN r USING (id) WHERE slow(f.id);
SELECT count(*), sum(r), sum(a) FROM o JOIN r USING (id);
SELECT explain('SELECT * FROM f LEFT JOIN r USING (id) ORDER BY id');
SELECT differences('SELECT * FROM f LEFT JOIN r USING (id) ORDER BY id', 'SELECT * FROM o LEFT JOIN r USING (id) ORDER BY id', true);
RESET enable_hashjoin;
RESET enable_sort;

-- In a parallel hash join, either side.
SET enable_mergejoin = off;
SELECT explain('SELECT count(*), sum(r) FROM f JOIN r USING (id)');
SELECT count(*), sum(r), sum(a) FROM f JOIN r USING (id);
SELECT explain('SELECT count(*) FROM f x JOIN f y USING (id)');
SELECT count(*), sum(x.a), count(y.b) FROM f x JOIN f y USING (id);
SELECT count(*), sum(a), count(b) FROM o;
RESET enable_mergejoin;
RESET enable_nestloop;

-- A plan of its own for each part of a UNION ALL, or of a partitioned table.
CREATE TABLE parts (id int, b text) PARTITION BY RANGE (id);
CALL put_query('low.csv', 'SELECT * FROM b WHERE id < 8000 ORDER BY id');
CALL put_query('high.csv', 'SELECT * FROM b WHERE id >= 8000 ORDER BY id');
CREATE FOREIGN TABLE low (id int OPTIONS (key 'true'), b text OPTIONS (filename 'low.csv')) SERVER files;
CREATE FOREIGN TABLE high (id int OPTIONS (key 'true'), b text OPTIONS (filename 'high.csv')) SERVER files;
ALTER TABLE parts ATTACH PARTITION low FOR VALUES FROM (0) TO (8000);
ALTER TABLE parts ATTACH PARTITION high FOR VALUES FROM (8000) TO (30000);
SELECT explain('SELECT count(*) FROM parts');
SELECT count(*), sum(id) FROM parts;
SELECT count(*), sum(id) FROM b;
SELECT differences('SELECT * FROM parts WHERE slow(id)', 'SELECT * FROM b');
SELECT differences('SELECT id, a FROM f UNION ALL SELECT id, a FROM o', 'SELECT id, a FROM o UNION ALL SELECT id, a FROM o');

-- The leader may leave the work to others, and the others may not come.
SET parallel_leader_participation = off;
SELECT differences('SELECT * FROM f', 'SELECT * FROM o');
SET max_parallel_workers = 0;
SELECT line FROM explain('SELECT count(*), count(a) FROM f', ', ANALYZE, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Workers|Ranges|Foreign Scan|Stream';
SELECT differences('SELECT * FROM f ORDER BY id', 'SELECT * FROM o ORDER BY id', true);
RESET parallel_leader_participation;
SELECT differences('SELECT * FROM f ORDER BY id', 'SELECT * FROM o ORDER BY id', true);
SET max_parallel_workers = 1;
SELECT differences('SELECT * FROM f WHERE slow(id) ORDER BY id', 'SELECT * FROM o ORDER BY id', true);
RESET max_parallel_workers;

-- Many times over: rescans of a Gather, with and without the leader, and of
-- one that a LIMIT has ended.
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT n, (SELECT count(*) FROM f WHERE a < 50) FROM generate_series(1, 3) n;
SELECT explain('SELECT n, c FROM generate_series(1, 3) n LEFT JOIN (SELECT count(*) AS c, sum(a) AS s FROM f WHERE a < 50) x ON s > n');
SELECT n, c, s FROM generate_series(1, 3) n LEFT JOIN (SELECT count(*) AS c, sum(a) AS s FROM f WHERE a < 50) x ON s > n;
SELECT n, x.id FROM generate_series(1, 3) n LEFT JOIN (SELECT id FROM f WHERE slow(id) ORDER BY id LIMIT 2) x ON x.id > n - 10;
SET parallel_leader_participation = off;
SELECT n, c, s FROM generate_series(1, 3) n LEFT JOIN (SELECT count(*) AS c, sum(a) AS s FROM f WHERE a < 50 AND slow(id)) x ON s > n;
SET max_parallel_workers = 0;
SELECT n, c, s FROM generate_series(1, 3) n LEFT JOIN (SELECT count(*) AS c, sum(a) AS s FROM f WHERE a < 50) x ON s > n;
RESET max_parallel_workers;
RESET parallel_leader_participation;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT count(*) FROM (SELECT * FROM f WHERE slow(id) LIMIT 1000) x;

-- Keys that lie far from evenly: each range has as many rows as another.
CREATE TABLE skewed AS SELECT CASE WHEN i <= 18000 THEN i ELSE (i - 18000)::bigint * 1000000000 END AS id, i AS v FROM generate_series(1, 20000) i;
CALL put_query('skewed.csv', 'SELECT * FROM skewed ORDER BY id');
CREATE FOREIGN TABLE fs (id bigint OPTIONS (key 'true'), v int OPTIONS (filename 'skewed.csv')) SERVER files;
SELECT differences('SELECT * FROM fs WHERE slow(v)', 'SELECT * FROM skewed');
SELECT max(n) < 18000 AS shared, sum(n) FROM (SELECT pid(), count(*) AS n FROM fs WHERE slow(v) GROUP BY 1) x;

-- Any key: text by a collation, several columns of which the first says
-- little, downward.
CREATE TABLE t AS SELECT DISTINCT ON (k) md5(i::text) AS k, i AS v FROM generate_series(1, 6000) i ORDER BY k;
CALL put_query('t.csv', 'SELECT * FROM t ORDER BY k');
CREATE FOREIGN TABLE ft (k text OPTIONS (key 'true'), v int OPTIONS (filename 't.csv')) SERVER files;
SELECT differences('SELECT * FROM ft WHERE slow(v)', 'SELECT * FROM t');
SELECT differences('SELECT * FROM ft WHERE k > ''7'' AND slow(v) ORDER BY k', 'SELECT * FROM t WHERE k > ''7'' ORDER BY k', true);
CREATE TABLE c AS SELECT i % 3 AS k1, md5(i::text) AS k2, i AS v FROM generate_series(1, 6000) i;
CALL put_query('c.csv', 'SELECT * FROM c ORDER BY k1, k2 COLLATE "C" DESC');
CREATE FOREIGN TABLE fc (k1 int OPTIONS (key 'true'), k2 text OPTIONS (key 'true', descending 'true') COLLATE "C", v int OPTIONS (filename 'c.csv')) SERVER files;
SELECT differences('SELECT * FROM fc WHERE slow(v)', 'SELECT * FROM c');
SELECT differences('SELECT * FROM fc WHERE slow(v) ORDER BY k1, k2 DESC', 'SELECT * FROM c ORDER BY k1, k2 COLLATE "C" DESC', true);
SELECT count(*) FROM fc WHERE k1 = 1 AND slow(v);
SELECT count(*) FROM fc WHERE k1 > 1 AND slow(v);
SELECT count(*), min(v) FROM fc WHERE k1 = 1 AND k2 = md5('4');
CREATE TABLE d AS SELECT date '2000-01-01' + i AS k, i AS v FROM generate_series(1, 6000) i;
CALL put_query('d.csv', 'SELECT * FROM d ORDER BY k DESC');
CREATE FOREIGN TABLE fd (k date OPTIONS (key 'true', descending 'true'), v int OPTIONS (filename 'd.csv')) SERVER files;
SELECT differences('SELECT * FROM fd WHERE slow(v) ORDER BY k DESC', 'SELECT * FROM d ORDER BY k DESC', true);
SELECT differences('SELECT * FROM fd WHERE k < ''2010-01-01'' AND slow(v)', 'SELECT * FROM d WHERE k < ''2010-01-01''');

-- Keys that repeat are never divided.
CREATE TABLE e AS SELECT i / 7 AS id, i AS v FROM generate_series(1, 10000) i;
CALL put_query('e.csv', 'SELECT * FROM e ORDER BY id, v');
CREATE FOREIGN TABLE fe (id int OPTIONS (key 'true'), a int, v int OPTIONS (filename 'e.csv', duplicates 'all')) SERVER files;
SELECT differences('SELECT * FROM fe WHERE slow(coalesce(v, id))', 'SELECT id, a, v FROM a FULL JOIN e USING (id)');
ALTER FOREIGN TABLE fe ALTER v OPTIONS (SET duplicates 'first');
SELECT differences('SELECT * FROM fe WHERE slow(coalesce(v, id))', 'SELECT id, a, v FROM a FULL JOIN (SELECT DISTINCT ON (id) * FROM e ORDER BY id, v) e USING (id)');
ALTER FOREIGN TABLE fe ALTER v OPTIONS (SET duplicates 'last');
SELECT differences('SELECT * FROM fe WHERE slow(coalesce(v, id))', 'SELECT id, a, v FROM a FULL JOIN (SELECT DISTINCT ON (id) * FROM e ORDER BY id, v DESC) e USING (id)');

-- Segments, some behind each other and some not.
\! mkdir "$DIR/seg" && chmod 777 "$DIR/seg"
CALL put_query('seg/1.csv', 'SELECT * FROM b WHERE id < 5000 ORDER BY id');
CALL put_query('seg/2.csv', 'SELECT * FROM b WHERE id BETWEEN 5000 AND 15000 AND id % 2 = 0 ORDER BY id');
CALL put_query('seg/3.csv', 'SELECT * FROM b WHERE id BETWEEN 5000 AND 15000 AND id % 2 = 1 ORDER BY id');
CALL put_query('seg/4.csv', 'SELECT * FROM b WHERE id > 15000 ORDER BY id');
CALL put_query('seg/5.csv', 'SELECT * FROM b WHERE false');
CREATE FOREIGN TABLE fg (id int OPTIONS (key 'true'), a int, b text OPTIONS (filename 'seg/')) SERVER files;
SELECT differences('SELECT * FROM fg WHERE slow(id) ORDER BY id', 'SELECT * FROM o ORDER BY id', true);
SELECT count(*) FROM fg WHERE id > 14000 AND slow(id);

-- Streams that cannot be divided make the plan another one, not wrong.
ALTER FOREIGN TABLE f ALTER b OPTIONS (ADD sorted 'false');
SELECT explain('SELECT count(*) FROM f');
ALTER FOREIGN TABLE f ALTER b OPTIONS (SET sorted 'true', ADD multiline 'true');
SELECT explain('SELECT count(*) FROM f');
ALTER FOREIGN TABLE f ALTER b OPTIONS (DROP multiline);
CREATE FOREIGN TABLE fp (id int OPTIONS (key 'true'), a int, p text OPTIONS (program 'echo 1,p')) SERVER files;
SELECT explain('SELECT count(*) FROM fp');
SELECT explain('SELECT count(*) FROM fp JOIN r USING (id)');
SELECT count(*), max(p) FROM fp;
-- that a quoted field holds a line break is found out late
CALL put_query('quoted.csv', 'SELECT id, CASE id WHEN 19000 THEN E''two\nlines'' ELSE b END FROM b ORDER BY id');
CREATE FOREIGN TABLE fq (id int OPTIONS (key 'true'), a int, b text OPTIONS (filename 'quoted.csv')) SERVER files;
SELECT explain('SELECT count(*), max(length(b)) FROM fq WHERE slow(id)');
SELECT count(*), max(length(b)) FROM fq WHERE slow(id);

-- An error is the query's, whoever meets it, and says where it is.
CALL put_lines('bad.csv', $$ SELECT id || ',' || CASE id WHEN 19999 THEN 'x' ELSE a::text END || E'\n' FROM a ORDER BY id $$);
CREATE FOREIGN TABLE fb (id int OPTIONS (key 'true'), bad int, b text) SERVER files;
SELECT * FROM fails('SELECT count(bad) FROM fb WHERE slow(id)');
SET parallel_leader_participation = off;
SELECT * FROM fails('SELECT count(bad) FROM fb WHERE slow(id)');
RESET parallel_leader_participation;
SELECT count(*) FROM fb WHERE slow(id);

-- So is an order that is not there, though each process reads but a part.
CALL put_lines('order.csv', $$ SELECT CASE id WHEN 10001 THEN 3 ELSE id END || ',' || a || E'\n' FROM a ORDER BY a.id $$);
CREATE FOREIGN TABLE fo (id int OPTIONS (key 'true'), v int OPTIONS (filename 'order.csv')) SERVER files;
SELECT * FROM fails('SELECT count(*) FROM fo WHERE slow(v)');
-- twice the same file: seen as such by who reads the one's end and the other's
-- beginning, or else by where ranges begin and end
CALL put_lines('order.csv', $$ SELECT id || ',' || a || E'\n' FROM (SELECT 1 AS n, * FROM a UNION ALL SELECT 2, * FROM a) x ORDER BY n, id $$);
SELECT state, message ~ 'order' AS order FROM fails('SELECT count(*) FROM fo WHERE slow(v)');
-- the same in a segment
CALL put_lines('seg/1.csv', $$ SELECT id || ',' || b || E'\n' FROM (SELECT 1 AS n, * FROM b UNION ALL SELECT 2, * FROM b) x WHERE id < 5000 ORDER BY n, id $$);
SELECT state, message ~ 'order' AS order FROM fails('SELECT count(b) FROM fg WHERE slow(id)');

-- Workers read the same files as the leader.  This InitPlan is evaluated when
-- the leader has opened its files, before there are workers.
CREATE FUNCTION replace_file() RETURNS int LANGUAGE plpgsql PARALLEL RESTRICTED AS $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('cd %1$s; cat > /dev/null; cp a.csv new.csv; mv new.csv a.csv', current_setting('test.dir')));
	RETURN 0;
END $$;
SELECT * FROM fails('SELECT count(*) FROM f WHERE id > (SELECT replace_file())');
SELECT count(*) FROM f;

-- The mode that runs whatever may be parallel in a worker.
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*), sum(a) FROM f;
SELECT count(*), sum(a) FROM f JOIN r USING (id) WHERE id < 100;
SELECT count(*), max(p) FROM fp;
