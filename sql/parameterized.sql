--
-- Joins on the key: a scan for each row of another table, which seeks.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test parameterized
\i :prelude

CREATE TABLE a AS SELECT i AS id, i * 2 AS a FROM generate_series(-1000, 40000) i WHERE i % 3 <> 0;
CREATE TABLE b AS SELECT i AS id, 'b' || i AS b FROM generate_series(500, 60000) i WHERE i % 7 <> 0;
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE TABLE o AS SELECT id, a, b FROM a FULL JOIN b USING (id);
CREATE INDEX ON o (id);
CREATE TABLE few AS SELECT n, id, id::bigint AS big, id::smallint AS small, id::numeric AS num, id::float8 AS real,
	ARRAY[id, NULL, id + 5, id - 3, id] AS ids, id + 4 AS last
FROM unnest(ARRAY[700, 5, 6, NULL, 700, 29999, -1000, 3001, 3000, 3002, -1001, 20]) WITH ORDINALITY u (id, n);
ANALYZE a, b, o, few;

-- What the plan looks like: the range's value is the other table's.
SELECT explain('SELECT * FROM few JOIN f USING (id)');
SELECT explain('SELECT * FROM few JOIN f ON f.id = few.big WHERE f.a > 0');
SELECT explain('SELECT * FROM few JOIN f ON f.id = ANY (few.ids)');
SELECT explain('SELECT * FROM few JOIN f ON f.id BETWEEN few.id AND few.last');
SELECT explain('SELECT few.id FROM few WHERE NOT EXISTS (SELECT FROM f WHERE f.id = few.id)');
SELECT explain('SELECT * FROM few LEFT JOIN f USING (id)');
SELECT explain('SELECT * FROM few, LATERAL (SELECT count(*) FROM f WHERE f.id < few.id) s');
SELECT explain('SELECT * FROM few, LATERAL (SELECT * FROM f WHERE f.id > few.id ORDER BY f.id LIMIT 1) s');
-- not without the key, nor where its value has to be converted to another order first
SELECT explain('SELECT * FROM few JOIN f ON f.a = few.id WHERE f.id = 10');
SELECT explain('SELECT * FROM few JOIN f ON f.id = few.num');
SET outerjoin_fdw.parameterized_paths = off;
SELECT explain('SELECT * FROM few JOIN f USING (id)');
RESET outerjoin_fdw.parameterized_paths;
-- many rows: a pass over the files
SELECT explain('SELECT * FROM a x JOIN f USING (id)');
-- one of each row that a join finds: the planner knows that the key is unique
EXPLAIN (VERBOSE, COSTS OFF) SELECT few.n FROM few JOIN f USING (id);

-- Each of these answers what the oracle answers.
CREATE FUNCTION check_joins() RETURNS TABLE (query text, rows bigint, differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT * FROM few JOIN @ f USING (id)', 'SELECT * FROM few JOIN @ f ON f.id = few.big', 'SELECT * FROM few JOIN @ f ON f.id = few.small', 'SELECT * FROM few JOIN @ f ON f.id = few.num', 'SELECT * FROM few JOIN @ f ON f.id = few.real',
		'SELECT * FROM few JOIN @ f ON f.id = few.big + 3000000000', 'SELECT * FROM few JOIN @ f ON f.id < few.big - 3000000000', 'SELECT * FROM few JOIN @ f ON f.id = few.id * 2', 'SELECT * FROM few JOIN @ f ON f.id = abs(few.id) WHERE f.a > 10',
		'SELECT * FROM few LEFT JOIN @ f USING (id)', 'SELECT * FROM few LEFT JOIN @ f ON f.id = few.id AND f.a > 20', 'SELECT * FROM few LEFT JOIN @ f USING (id) WHERE f.b IS NULL', 'SELECT * FROM @ f RIGHT JOIN few USING (id)', 'SELECT count(*), sum(a) FROM few FULL JOIN @ f USING (id)',
		'SELECT * FROM few WHERE EXISTS (SELECT FROM @ f WHERE f.id = few.id)', 'SELECT * FROM few WHERE NOT EXISTS (SELECT FROM @ f WHERE f.id = few.id AND a > 0)', 'SELECT * FROM few WHERE id IN (SELECT id FROM @ f WHERE b IS NOT NULL)', 'SELECT * FROM @ f WHERE id IN (SELECT id FROM few)', 'SELECT * FROM few WHERE id NOT IN (SELECT id FROM @ f WHERE id > 100)',
		'SELECT * FROM few JOIN @ f ON f.id = ANY (few.ids)', 'SELECT * FROM few JOIN @ f ON f.id = ANY (few.ids) AND f.id > few.id', 'SELECT * FROM few JOIN @ f ON f.id = ANY (few.ids) AND f.id = ANY (ARRAY[few.id + 5, 5])', 'SELECT * FROM few LEFT JOIN @ f ON f.id = ANY (few.ids::bigint[])',
		'SELECT * FROM few JOIN @ f ON f.id BETWEEN few.id AND few.last', 'SELECT * FROM few JOIN @ f ON f.id > few.id AND f.id <= few.last', 'SELECT * FROM few JOIN @ f ON f.id >= few.last AND f.id < few.id', 'SELECT few.id, max(f.id), count(*) FROM few JOIN @ f ON f.id < few.id GROUP BY 1',
		'SELECT * FROM few, LATERAL (SELECT count(*), sum(a) FROM @ f WHERE f.id BETWEEN few.id - 10 AND few.id) s', 'SELECT * FROM few, LATERAL (SELECT * FROM @ f WHERE f.id > few.id ORDER BY f.id LIMIT 2) s', 'SELECT * FROM few, LATERAL (SELECT few.n, f.* FROM @ f WHERE f.id = few.id OFFSET 0) s',
		'SELECT few.n, (SELECT b FROM @ f WHERE f.id = few.id) FROM few', 'SELECT few.n, (SELECT min(f.id) FROM @ f WHERE f.id > few.id) FROM few', 'SELECT few.n, ARRAY(SELECT f.id FROM @ f WHERE f.id = ANY (few.ids) ORDER BY f.id) FROM few',
		'SELECT x.n, y.n, f.* FROM few x JOIN few y ON x.n = y.n + 1 JOIN @ f ON f.id = y.id', 'SELECT x.n, y.n, f.* FROM few x JOIN few y ON x.n = y.n + 1 JOIN @ f ON f.id BETWEEN x.id AND y.id', 'SELECT x.n, f.id, g.a FROM few x JOIN @ f USING (id) JOIN @ g ON g.id = f.id + 1', 'SELECT x.n, f.id, g.a FROM few x LEFT JOIN @ f USING (id) LEFT JOIN @ g ON g.id = f.a',
		'SELECT count(*) FROM (SELECT * FROM a WHERE id < 500) x JOIN @ f USING (id)', 'SELECT count(*), sum(f.a) FROM (SELECT * FROM a WHERE id > 39000 ORDER BY a DESC) x JOIN @ f USING (id)', 'SELECT * FROM few JOIN (SELECT * FROM @ f UNION ALL SELECT id, a, NULL FROM @ f) u USING (id)']
	LOOP
		EXECUTE format('SELECT count(*) FROM (%s) q', replace(query, '@', 'f')) INTO rows;
		differences := differences(replace(query, '@', 'f'), replace(query, '@', 'o'));
		RETURN NEXT;
	END LOOP;
END $$;
-- as the planner likes, then with parameters wherever they can be
SELECT * FROM check_joins();
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT query FROM check_joins() WHERE differences <> 0;
SET enable_memoize = off;
SET enable_material = off;
SELECT query FROM check_joins() WHERE differences <> 0;
-- in blocks and batches of all but nothing
SET outerjoin_fdw.block_size = 64;
SET outerjoin_fdw.batch_rows = 3;
SELECT query FROM check_joins() WHERE differences <> 0;
RESET outerjoin_fdw.block_size;
RESET outerjoin_fdw.batch_rows;
-- files that cannot be sought are not read again and again
RESET enable_material;
ALTER SERVER files OPTIONS (ADD multiline 'true');
SELECT explain('SELECT * FROM few JOIN f USING (id)');
SELECT query FROM check_joins() WHERE differences <> 0;
ALTER SERVER files OPTIONS (DROP multiline);
RESET enable_memoize;

-- A scan goes on from where it stands: values that ascend, that go back a
-- little, and that are the same again are found without a further seek.
CREATE FUNCTION seeks(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT substring(line, 'Stream .*') FROM explain(query, ', ANALYZE, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Stream';
$$;
SELECT seeks('SELECT * FROM (VALUES (20000), (20001), (20004), (20050), (20051)) v (id) JOIN f USING (id)');
SELECT seeks('SELECT * FROM (VALUES (20000), (20050), (20001), (20001), (20049)) v (id) JOIN f USING (id)');
SELECT seeks('SELECT * FROM (VALUES (20000), (50000), (20000), (50000)) v (id) JOIN f USING (id)');
SELECT seeks('SELECT * FROM (SELECT generate_series(20000, 30000)) v (id) JOIN f USING (id)');
SELECT seeks('SELECT * FROM f WHERE id = ANY (ARRAY(SELECT generate_series(20000, 30000, 50)))');
SELECT seeks('SELECT * FROM f WHERE id IN (50000, 20000, 20001)');
SELECT differences('SELECT * FROM f WHERE id IN (50000, 20000, 20001, 20001)', 'SELECT * FROM o WHERE id IN (50000, 20000, 20001, 20001) ORDER BY id', true);

-- No row has a null key, and no row equals a null.
SELECT count(*) FROM (VALUES (NULL::int), (NULL)) v (id) JOIN f USING (id);
SELECT count(*) FROM (VALUES (NULL::int[]), ('{}'), ('{NULL}'), ('{20,NULL}')) v (ids) JOIN f ON f.id = ANY (ids);
SELECT count(*), count(f.id) FROM (VALUES (NULL::int), (20)) v (id) LEFT JOIN f USING (id);

-- A key of several columns: each leading part of it.
CREATE TABLE c AS SELECT g AS x, chr(97 + h) COLLATE "C" AS y, k AS z, g * h + k AS c FROM generate_series(1, 60) g, generate_series(0, 9) h, generate_series(1, 5) k WHERE (g + h + k) % 3 <> 0;
CALL put_query('c.csv', 'SELECT * FROM c ORDER BY x, y, z');
CREATE FOREIGN TABLE fc (x int OPTIONS (key 'true'), y text OPTIONS (key 'true') COLLATE "C", z int OPTIONS (key 'true'), c int) SERVER files;
CREATE INDEX ON c (x, y, z);
CREATE TABLE rc AS SELECT x, y, z, ARRAY[y, 'c', 'zz'] AS ys FROM c WHERE c % 17 = 0;
ANALYZE rc;
SELECT explain('SELECT * FROM (SELECT * FROM rc LIMIT 3) r JOIN fc USING (x, y, z)');
SELECT explain('SELECT * FROM (SELECT * FROM rc LIMIT 3) r JOIN fc USING (x, y)');
SELECT explain('SELECT * FROM (SELECT * FROM rc LIMIT 3) r JOIN fc USING (x) WHERE fc.y > ''d''');
SELECT explain('SELECT * FROM (SELECT * FROM rc LIMIT 3) r JOIN fc ON fc.x = r.x AND fc.y = ANY (r.ys)');
SELECT explain('SELECT * FROM (SELECT * FROM rc LIMIT 3) r JOIN fc ON fc.x = 7 AND fc.y = r.y');
SELECT join_clause, differences('SELECT * FROM rc JOIN fc ' || join_clause, 'SELECT * FROM rc JOIN c fc ' || join_clause) FROM unnest(ARRAY[
	'USING (x, y, z)', 'USING (x, y)', 'USING (x)', 'USING (y, z)', 'USING (z)', 'USING (x, z)', 'ON fc.x = rc.x AND fc.y > rc.y', 'ON fc.x = rc.x AND fc.y BETWEEN ''b'' AND rc.y AND fc.z = rc.z',
	'ON fc.x = rc.x AND fc.y = ANY (rc.ys)', 'ON fc.x = rc.x AND fc.y = ANY (rc.ys) AND fc.z = rc.z', 'ON fc.x = rc.x AND fc.y = ANY (rc.ys) AND fc.z = ANY (ARRAY[rc.z, 2])', 'ON fc.x = ANY (ARRAY[rc.x, rc.x + 1]) AND fc.y = ANY (rc.ys)', 'ON fc.x = ANY (ARRAY[rc.x, rc.x + 1]) AND fc.y = rc.y',
	'ON fc.x > rc.x AND fc.y = rc.y', 'ON fc.x = 7 AND fc.y = rc.y', 'ON fc.x IN (7, 8) AND fc.y = rc.y AND fc.z > 1']) join_clause;
SELECT clause, differences('SELECT * FROM fc WHERE ' || clause, 'SELECT * FROM c WHERE ' || clause || ' ORDER BY x, y, z', true) FROM unnest(ARRAY[
	'x IN (9, 7, 7, 30)', 'x IN (9, 7) AND y = ''c''', 'x IN (9, 7) AND y IN (''g'', ''b'')', 'x = 9 AND y IN (''g'', ''b'') AND z > 2', 'x = 9 AND y IN (''g'', ''b'') AND z IN (4, 2)', 'x > 50 AND y IN (''g'', ''b'')', 'y IN (''g'', ''b'')', 'x IN (9, 7) AND x > 8', 'x IN (9, 7) AND x IN (7, 11)']) clause;

-- Files that sort downward.
CALL put_query('d.csv', 'SELECT id, a AS d FROM a ORDER BY id DESC');
CREATE FOREIGN TABLE fd (id int OPTIONS (key 'true', descending 'true'), d int) SERVER files;
CREATE TABLE od AS SELECT id, a AS d FROM a;
CREATE INDEX ON od (id);
SELECT differences('SELECT * FROM few JOIN fd USING (id)', 'SELECT * FROM few JOIN od USING (id)');
SELECT differences('SELECT * FROM few JOIN fd d ON d.id = ANY (few.ids)', 'SELECT * FROM few JOIN od d ON d.id = ANY (few.ids)');
SELECT differences('SELECT * FROM few JOIN fd d ON d.id BETWEEN few.id AND few.last', 'SELECT * FROM few JOIN od d ON d.id BETWEEN few.id AND few.last');
SELECT differences('SELECT * FROM fd WHERE id IN (20, 5, 700, 20)', 'SELECT * FROM od WHERE id IN (20, 5, 700) ORDER BY id DESC', true);

-- Keys that repeat, however they are treated, in several files.
CREATE TABLE r AS SELECT (i / 3) % 5000 AS id, i AS r FROM generate_series(0, 29999) i;
CALL put_query('r1.csv', 'SELECT * FROM r WHERE r % 2 = 0 ORDER BY id, r');
CALL put_query('r2.csv', 'SELECT * FROM r WHERE r % 2 = 1 ORDER BY id, r');
CREATE FOREIGN TABLE fr (id int OPTIONS (key 'true'), r int OPTIONS (filename 'r?.csv', duplicates 'all'), a int) SERVER files;
CREATE TABLE wanted AS SELECT (i * 7919) % 5200 AS id FROM generate_series(1, 300) i UNION ALL SELECT i FROM generate_series(100, 130) i UNION ALL SELECT i FROM generate_series(130, 100, -1) i;
ANALYZE wanted;
CREATE TABLE o_all AS SELECT id, r.r, a.a FROM r FULL JOIN a USING (id);
CREATE TABLE o_first AS SELECT id, r.r, a.a FROM (SELECT DISTINCT ON (id) id, r FROM r ORDER BY id, r % 2, r) r FULL JOIN a USING (id);
CREATE TABLE o_last AS SELECT id, r.r, a.a FROM (SELECT DISTINCT ON (id) id, r FROM r ORDER BY id, r % 2 DESC, r DESC) r FULL JOIN a USING (id);
CREATE INDEX ON o_all (id);
CREATE INDEX ON o_first (id);
CREATE INDEX ON o_last (id);
SELECT differences('SELECT * FROM wanted JOIN fr USING (id)', 'SELECT * FROM wanted JOIN o_all USING (id)');
SELECT differences('SELECT * FROM wanted JOIN fr r ON r.id BETWEEN wanted.id AND wanted.id + 2', 'SELECT * FROM wanted JOIN o_all r ON r.id BETWEEN wanted.id AND wanted.id + 2');
SET outerjoin_fdw.batch_rows = 4;
SELECT differences('SELECT * FROM wanted JOIN fr USING (id)', 'SELECT * FROM wanted JOIN o_all USING (id)');
RESET outerjoin_fdw.batch_rows;
ALTER FOREIGN TABLE fr ALTER r OPTIONS (SET duplicates 'first');
SELECT differences('SELECT * FROM wanted JOIN fr USING (id)', 'SELECT * FROM wanted JOIN o_first USING (id)');
ALTER FOREIGN TABLE fr ALTER r OPTIONS (SET duplicates 'last');
SELECT differences('SELECT * FROM wanted JOIN fr USING (id)', 'SELECT * FROM wanted JOIN o_last USING (id)');
-- what may be repeated is not said to be unique
EXPLAIN (VERBOSE, COSTS OFF) SELECT wanted.id FROM wanted JOIN fr USING (id);
ALTER FOREIGN TABLE fr ALTER r OPTIONS (SET duplicates 'all');
EXPLAIN (VERBOSE, COSTS OFF) SELECT wanted.id FROM wanted JOIN fr USING (id);

-- Below an Append each table takes the parameter.
CREATE TABLE p (id int, a int, b text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE p1 (id int OPTIONS (key 'true'), a int OPTIONS (filename 'p.csv', field '2'), b text OPTIONS (filename 'p.csv', field '3')) SERVER files;
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (0) TO (10000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10000) TO (60001);
CALL put_query('p.csv', 'SELECT id, a, b FROM o WHERE id >= 0 AND id < 10000 ORDER BY id');
INSERT INTO p2 SELECT * FROM o WHERE id >= 10000;
CREATE INDEX ON p2 (id);
CREATE TABLE op AS SELECT * FROM o WHERE id >= 0;
CREATE INDEX ON op (id);
CREATE TABLE q (id int, n int) PARTITION BY RANGE (id);
CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (10000);
CREATE TABLE q2 PARTITION OF q FOR VALUES FROM (10000) TO (60001);
INSERT INTO q SELECT i, i % 7 FROM generate_series(5, 60000, 997) i;
ANALYZE p2, q;
SET enable_bitmapscan = off;
SELECT explain('SELECT * FROM few JOIN p USING (id)');
SELECT differences('SELECT * FROM few JOIN p USING (id)', 'SELECT * FROM few JOIN op USING (id)');
SET enable_partitionwise_join = on;
SELECT explain('SELECT * FROM q JOIN p USING (id)');
SELECT differences('SELECT * FROM q JOIN p USING (id)', 'SELECT * FROM q JOIN op USING (id)');
SELECT differences('SELECT * FROM q LEFT JOIN p USING (id) WHERE n < 4', 'SELECT * FROM q LEFT JOIN op USING (id) WHERE n < 4');

-- A prepared statement's parameter, and the other kind at once.
PREPARE both_kinds AS SELECT count(*), sum(f.a) FROM few JOIN f ON f.id BETWEEN few.id AND few.id + $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE both_kinds(3);
EXECUTE both_kinds(NULL);
SELECT count(*), sum(f.a) FROM few JOIN o f ON f.id BETWEEN few.id AND few.id + 3;
-- A view with a security barrier
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM f WHERE a % 4 = 0;
SELECT explain('SELECT * FROM few JOIN barrier USING (id)');
SELECT differences('SELECT * FROM few JOIN barrier USING (id)', 'SELECT * FROM few JOIN o USING (id) WHERE a % 4 = 0');
