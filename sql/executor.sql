--
-- All the ways in which the executor uses a scan.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test executor
\i :prelude

CALL put('a.csv', E'1,10\n2,20\n4,40\n5,50\n');
CALL put('b.csv', E'2,two\n3,three\n5,\n');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE TABLE r (id int, v text);
INSERT INTO r VALUES (5, 'five'), (1, 'one'), (3, 'three'), (9, 'nine'), (NULL, 'null'), (1, 'uno');

-- Rescans: inner side of a nested loop, with and without parameters.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT r.v, f.* FROM r JOIN f USING (id) ORDER BY r.v;
SELECT r.v, f.* FROM r LEFT JOIN f USING (id) ORDER BY r.v;
SELECT count(*) FROM r, f;
SELECT count(*) FROM f x, f y, f z;
SELECT x.id, y.id FROM f x JOIN f y ON y.id > x.id ORDER BY 1, 2;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SELECT r.v, l.* FROM r, LATERAL (SELECT * FROM f WHERE f.id >= r.id ORDER BY id LIMIT 2) l ORDER BY r.v, l.id;
SELECT r.v, l.n FROM r, LATERAL (SELECT count(*) AS n FROM f WHERE f.id < r.id) l ORDER BY r.v;
SELECT v, (SELECT a FROM f WHERE f.id = r.id) AS a FROM r ORDER BY v;
SELECT v FROM r WHERE EXISTS (SELECT FROM f WHERE f.id = r.id) ORDER BY v;
SELECT v FROM r WHERE NOT EXISTS (SELECT 1 FROM f WHERE f.id = r.id AND f.b IS NOT NULL) ORDER BY v;
SELECT v FROM r WHERE id IN (SELECT id FROM f WHERE b IS NULL) ORDER BY v;
SELECT v FROM r WHERE id NOT IN (SELECT id FROM f WHERE id IS NOT NULL) ORDER BY v;
WITH RECURSIVE chain (id) AS (SELECT 1 UNION ALL SELECT (SELECT min(f.id) FROM f WHERE f.id > chain.id) FROM chain WHERE id < 5)
SELECT * FROM chain;

-- What an outer join may make null, and what comes from its other side.
SELECT i, s.* FROM (VALUES (3), (4)) v (i) LEFT JOIN (SELECT id, coalesce(a, 3) AS c FROM f) s ON i >= s.id WHERE s.id = s.c;
SELECT i, s.* FROM (VALUES (2), (6)) v (i) LEFT JOIN LATERAL (SELECT id, i + id AS sum FROM f WHERE id <= i) s ON s.sum = i * 2 ORDER BY i;
SELECT i, s.* FROM (VALUES (1), (2)) v (i), LATERAL (SELECT f.id, i AS x, r.v FROM f LEFT JOIN r ON f.id = r.id AND r.id > i) s WHERE s.id > 3 ORDER BY i, s.id;

-- No column needed at all.
SELECT EXISTS (SELECT FROM f);
SELECT EXISTS (SELECT FROM f WHERE id > 5);
SELECT count(*) FROM f;
SELECT 1 FROM f LIMIT 2;

-- Whole rows, system columns.
SELECT f FROM f;
SELECT (f).b, f.a FROM f WHERE f.a IS NOT NULL;
SELECT f::text, row_to_json(f) FROM f WHERE id < 3;
SELECT tableoid::regclass, id FROM f LIMIT 1;
SELECT tableoid = 'f'::regclass AS same, f FROM f LIMIT 1;
SELECT count(f), count(f.*) FROM f;
SELECT DISTINCT ctid FROM f;
SELECT id FROM f WHERE tableoid = 'f'::regclass AND id < 3;

-- Columns that are dropped, added, renamed, moved about.
CREATE FOREIGN TABLE altered (gone text, id int OPTIONS (key 'true'), a int, also_gone int, b text) SERVER files;
ALTER FOREIGN TABLE altered DROP COLUMN gone, DROP COLUMN also_gone;
SELECT * FROM altered;
SELECT altered FROM altered WHERE id = 2;
ALTER FOREIGN TABLE altered ADD COLUMN c int OPTIONS (filename 'a.csv');
SELECT * FROM altered;
ALTER FOREIGN TABLE altered DROP COLUMN a;
SELECT * FROM altered;
SELECT altered FROM altered;
ALTER FOREIGN TABLE altered RENAME b TO renamed;
ALTER FOREIGN TABLE altered ALTER renamed OPTIONS (filename 'b.csv');
SELECT renamed, id FROM altered;
ALTER FOREIGN TABLE altered ALTER c TYPE numeric(8,2);
SELECT * FROM altered;

-- Prepared statements: custom, then (the sixth time) generic.
PREPARE get(int) AS SELECT * FROM f WHERE id = $1;
EXECUTE get(1);
EXECUTE get(2);
EXECUTE get(3);
EXECUTE get(4);
EXECUTE get(5);
EXECUTE get(2);
EXECUTE get(6);
EXECUTE get(NULL);
-- DDL after the plan was cached
CALL put('a2.csv', E'1,11\n2,22\n');
ALTER FOREIGN TABLE f ALTER a OPTIONS (ADD filename 'a2.csv');
EXECUTE get(2);
EXECUTE get(4);
ALTER FOREIGN TABLE f ALTER a OPTIONS (DROP filename);
EXECUTE get(4);
CALL put('a2.csv', E'2,22\n1,11\n');
PREPARE everything AS SELECT * FROM f;
EXECUTE everything;
ALTER FOREIGN TABLE f ALTER a OPTIONS (ADD filename 'a2.csv', ADD sorted 'false');
EXECUTE everything;
ALTER SERVER files OPTIONS (ADD null 'two');
EXECUTE everything;
ALTER SERVER files OPTIONS (DROP null);
ALTER FOREIGN TABLE f ALTER a OPTIONS (DROP filename, DROP sorted);
EXECUTE everything;
-- a file that changes is simply read anew
CALL put('a.csv', E'1,10\n2,20\n4,40\n5,50\n6,60\n');
EXECUTE everything;
EXECUTE get(6);
CREATE FUNCTION cached(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	SELECT a INTO result FROM f WHERE id = k;
	RETURN result;
END $$;
SELECT n, cached(n) FROM generate_series(1, 7) n;

-- Cursors: partly read, two at once, never read, moved.
BEGIN;
DECLARE c1 CURSOR FOR SELECT * FROM f;
DECLARE c2 CURSOR FOR SELECT id FROM f ORDER BY id;
DECLARE c3 CURSOR FOR SELECT * FROM f;
FETCH 2 FROM c1;
FETCH 3 FROM c2;
FETCH 1 FROM c1;
MOVE 1 IN c1;
FETCH ALL FROM c1;
FETCH ALL FROM c1;
CLOSE c1;
FETCH 1 FROM c2;
COMMIT;
BEGIN;
DECLARE s SCROLL CURSOR FOR SELECT id, b FROM f;
FETCH LAST FROM s;
FETCH FIRST FROM s;
FETCH ABSOLUTE 3 FROM s;
FETCH PRIOR FROM s;
COMMIT;
-- declared, read and rolled back in other subtransactions than the last one
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM f;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
SAVEPOINT s2;
SELECT 1 / 0;
ROLLBACK TO s2;
FETCH ALL FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;
BEGIN;
SAVEPOINT s;
DECLARE c CURSOR FOR SELECT id FROM f;
FETCH 1 FROM c;
RELEASE s;
FETCH 2 FROM c;
COMMIT;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM f;
COMMIT;
FETCH 2 FROM h;
CLOSE h;
-- a cursor reads the file that was there when it was declared
BEGIN;
DECLARE c CURSOR FOR SELECT id, a FROM f;
\! cd "$DIR" && printf '7,70\n' > a.new && mv a.new a.csv
FETCH ALL FROM c;
SELECT id, a FROM f;
COMMIT;
CALL put('a.csv', E'1,10\n2,20\n4,40\n5,50\n');

-- A scan that starts inside another's row.
CREATE FUNCTION sum_up_to(k int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(a) FROM f WHERE id <= k);
END $$;
SELECT id, sum_up_to(id) FROM f;
DO $$
DECLARE
	outer_row record;
	inner_row record;
BEGIN
	FOR outer_row IN SELECT id FROM f WHERE id < 3
	LOOP
		FOR inner_row IN SELECT id, b FROM f
		LOOP
			EXIT WHEN inner_row.id > outer_row.id;
			RAISE NOTICE '% %', outer_row, inner_row;
		END LOOP;
	END LOOP;
END $$;
-- an error in a subtransaction while the outer scan goes on
DO $$
DECLARE
	k int;
BEGIN
	FOR k IN SELECT id FROM f
	LOOP
		BEGIN
			PERFORM 1 / (a - 20) FROM f WHERE id = k;
		EXCEPTION WHEN division_by_zero THEN
			RAISE NOTICE 'id %: division by zero', k;
		END;
	END LOOP;
END $$;

-- Views, security barriers, SECURITY DEFINER, another role.
CREATE VIEW v AS SELECT id, upper(b) AS b FROM f WHERE b IS NOT NULL;
SELECT * FROM v WHERE id > 2;
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, a FROM f WHERE id < 5;
CREATE FUNCTION leak(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'sees %', $1; RETURN true; END $$;
SELECT * FROM barrier WHERE leak(id);
-- what a barrier holds back bounds no key, unless it is known not to leak
CALL put('n.csv', E'1.5,a\n2.5,b\n3.5,c\n');
CREATE FOREIGN TABLE n (id numeric OPTIONS (key 'true'), n text) SERVER files;
CREATE VIEW n_barrier WITH (security_barrier) AS SELECT id, n FROM n WHERE n <> 'c';
SELECT explain('SELECT * FROM n_barrier WHERE id > 2');
SELECT * FROM n_barrier WHERE id > 2;
SELECT explain('SELECT * FROM barrier WHERE id > 2');
CREATE FUNCTION definer() RETURNS TABLE (id int, a int) LANGUAGE sql SECURITY DEFINER SET search_path = executor AS $$ SELECT id, a FROM f WHERE a > 10 $$;
CREATE ROLE regress_outerjoin_reader;
GRANT USAGE ON SCHEMA executor TO regress_outerjoin_reader;
GRANT SELECT ON v TO regress_outerjoin_reader;
SET ROLE regress_outerjoin_reader;
SELECT * FROM f;
SELECT * FROM definer();
SELECT * FROM v;
RESET ROLE;
GRANT SELECT (id) ON f TO regress_outerjoin_reader;
SET ROLE regress_outerjoin_reader;
SELECT id FROM f;
SELECT a FROM f;
RESET ROLE;
DROP OWNED BY regress_outerjoin_reader;
DROP ROLE regress_outerjoin_reader;

-- Locking clauses take what other foreign tables take.
SELECT id FROM f WHERE id = 2 FOR UPDATE;
SELECT f.id, v FROM f JOIN r USING (id) ORDER BY v FOR UPDATE;
SELECT f.id, v FROM f JOIN r USING (id) ORDER BY v FOR UPDATE OF r;
UPDATE r SET v = f.b FROM f WHERE f.id = r.id AND f.b IS NOT NULL;
SELECT * FROM r ORDER BY id, v;
DELETE FROM r USING f WHERE f.id = r.id AND f.a = 10;
SELECT * FROM r ORDER BY id, v;
MERGE INTO r USING f ON f.id = r.id
	WHEN MATCHED THEN UPDATE SET v = 'matched'
	WHEN NOT MATCHED AND f.a IS NOT NULL THEN INSERT VALUES (f.id, f.a::text);
SELECT * FROM r ORDER BY id, v;

-- Grouping, windows, set operations, DISTINCT, CTEs; no sampling.
SELECT a IS NULL AS no_a, count(*), sum(id) FROM f GROUP BY 1 ORDER BY 1;
SELECT id, sum(a) OVER (ORDER BY id) FROM f;
SELECT id FROM f EXCEPT SELECT id FROM f WHERE a IS NULL ORDER BY 1;
WITH twice AS MATERIALIZED (SELECT * FROM f) SELECT count(*) FROM twice x JOIN twice y USING (id);
SELECT min(id), max(id), min(a), max(b), avg(a), array_agg(id), string_agg(b, ',') FROM f;
SELECT * FROM f TABLESAMPLE system (50);
SELECT * FROM f OFFSET 3;
SELECT * FROM f LIMIT 0;
SELECT x.id, y.id FROM f x FULL JOIN f y ON x.id = y.id + 1 ORDER BY 1, 2;
CREATE TABLE copied AS SELECT * FROM f;
INSERT INTO copied SELECT * FROM f;
SELECT count(*) FROM copied;
COPY (SELECT * FROM f) TO STDOUT;
-- generated columns and constraints of a foreign table are declarations
CREATE FOREIGN TABLE generated (id int OPTIONS (key 'true'), twice int OPTIONS (filename 'a.csv') GENERATED ALWAYS AS (id * 2) STORED) SERVER files;
SELECT * FROM generated WHERE id < 3;
ALTER FOREIGN TABLE f ADD CONSTRAINT positive CHECK (id > 0);
SET constraint_exclusion = on;
SELECT * FROM f WHERE id < 0;
