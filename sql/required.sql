--
-- Required streams: where clauses cannot be true of rows that lack a column's
-- key, only keys that have it make rows; streams that nobody asks for are not
-- read; and clauses on one column are tested before rows are made.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test required
\i :prelude

CALL put('colour.csv', E'1,red\n2,green\n4,red\n6,blue\n8,\n');
CALL put('length.csv', E'2,28\n3,9\n4,17\n6,11\n8,5\n');
CALL put('mass.csv', E'1,87.9\n2,21\n3,107\n8,\n');
CREATE FOREIGN TABLE props (id bigint OPTIONS (key 'true'), colour text, length integer, mass real) SERVER files;
CREATE TABLE colour (id bigint, colour text);
CREATE TABLE length (id bigint, length integer);
CREATE TABLE mass (id bigint, mass real);
CALL load('colour', 'colour.csv');
CALL load('length', 'length.csv');
CALL load('mass', 'mass.csv');
CREATE VIEW o AS SELECT id, colour, length, mass FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id);

-- What a clause asks for is required; what else is asked for, looked up; the rest not read.
SELECT explain('SELECT sum(length) FROM props WHERE colour = ''red''');
SELECT id, length FROM props WHERE colour = 'red';
SELECT explain('SELECT id FROM props WHERE colour IS NOT NULL AND length IS NOT NULL AND mass IS NOT NULL');
SELECT * FROM props WHERE colour IS NOT NULL AND length IS NOT NULL AND mass IS NOT NULL;
SELECT * FROM props WHERE colour IS NOT NULL AND length IS NOT NULL;

-- The roles that clauses give, and that the answers are the oracle's.
CREATE FUNCTION check_clauses() RETURNS TABLE (clause text, colour text, length text, mass text, early text, rows bigint, differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	lines text[];
BEGIN
	FOREACH clause IN ARRAY ARRAY[
		'true', 'id = 2', 'id IS NOT NULL',
		'colour = ''red''', '''red'' = colour', 'colour <> ''red''', 'colour > ''green''', 'colour IN (''red'', ''blue'')', 'colour IN (''red'', NULL)', 'colour NOT IN (''red'')', 'colour = ANY (''{}'')', 'colour = NULL', 'colour LIKE ''r%''', 'colour LIKE ''%e_''', 'colour LIKE ''''', 'colour ILIKE ''R%''', 'colour ~ ''^r''', 'colour = lower(''RED'')', 'colour COLLATE "C" < ''green''',
		'length > 10', '10 < length', 'length = 11', 'length <> 11', 'length >= 11::bigint', 'length < 11.5', 'length IN (5, 28, 9, 77)', 'length = ANY (ARRAY[9, NULL])', 'length BETWEEN 10 AND 20', 'length % 2 = 1', 'length = (SELECT max(l.length) FROM length l)', 'length = id * 14', 'abs(length) > 10', 'length::text > ''2''',
		'mass > 50', 'mass < ''NaN''', 'mass = ''NaN''', 'mass >= 21::real', 'mass <> 21',
		-- null is a value like others
		'colour IS NULL', 'colour IS NULL AND length IS NOT NULL', 'length IS NOT NULL AND mass IS NULL', 'NOT (colour IS NULL)', '(colour IS NULL) IS FALSE', 'colour IS NOT NULL IS NOT NULL',
		-- one does as well as the other
		'colour = ''red'' OR length = 9', 'colour = ''red'' OR colour = ''green''', '(colour = ''red'' AND length > 1) OR (colour = ''blue'' AND mass IS NULL)', '(colour = ''red'' OR length = 9) AND mass > 1', 'NOT (colour = ''red'' OR length = 9)', 'NOT (colour = ''red'' AND length = 9)',
		'length < mass', 'length + mass > 100', 'coalesce(colour, ''none'') = ''none''', 'coalesce(length, mass) > 20', 'concat(colour, length) = ''''', 'colour IS DISTINCT FROM ''red''', 'colour IS NOT DISTINCT FROM ''red''', 'CASE WHEN colour IS NULL THEN true ELSE length > 1 END', 'colour || length = ''red17''', '(colour, length) = (''red'', 17)', '(colour, length) > (''green'', 1)', 'greatest(length, mass) > 20', 'props IS NOT NULL', 'nullif(colour, ''red'') IS NOT NULL',
		'colour = ''red'' AND id > 1', 'id < 3 AND colour = ''red''', 'length > 5 AND id BETWEEN 3 AND 6']
	LOOP
		EXECUTE format('SELECT array_agg(line) FROM explain(%L) line', 'SELECT id FROM props WHERE ' || clause) INTO lines;
		SELECT string_agg(substring(l FROM 'Stream colour: .*\), (.*)'), ''), string_agg(substring(l FROM 'Stream length: .*\), (.*)'), ''), string_agg(substring(l FROM 'Stream mass: .*\), (.*)'), ''), string_agg(substring(l FROM 'Early Filter: (.*)'), '')
			INTO colour, length, mass, early FROM unnest(lines) l;
		-- 17 names the subplan
		early := replace(early, '(InitPlan 1).col1', '$0');
		EXECUTE format('SELECT count(*) FROM props WHERE %s', clause) INTO rows;
		differences := differences(format('SELECT * FROM props WHERE %s', clause), format('SELECT * FROM o props WHERE %s ORDER BY id', clause), true)
			+ differences(format('SELECT length FROM props WHERE %s', clause), format('SELECT length FROM o props WHERE %s ORDER BY id', clause), true)
			+ differences(format('SELECT count(*), min(id), count(mass) FROM props WHERE %s', clause), format('SELECT count(*), min(id), count(mass) FROM o props WHERE %s', clause));
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM check_clauses();
-- each can be turned off, and changes no answer
SET outerjoin_fdw.early_filters = off;
SELECT explain('SELECT sum(length) FROM props WHERE colour = ''red''');
SELECT clause, early FROM check_clauses() WHERE differences <> 0 OR early IS NOT NULL;
RESET outerjoin_fdw.early_filters;
SET outerjoin_fdw.required_streams = off;
SELECT explain('SELECT sum(length) FROM props WHERE colour = ''red''');
SELECT clause FROM check_clauses() c WHERE differences <> 0 OR c.colour = 'required';
RESET outerjoin_fdw.required_streams;
SET outerjoin_fdw.batch_rows = 1;
SELECT clause FROM check_clauses() WHERE differences <> 0;
RESET outerjoin_fdw.batch_rows;

-- A file that is not read need not be there, or be right.
CALL put('mass.csv', E'2,heavy\n1,light\n');
SELECT sum(length) FROM props WHERE colour = 'red';
SELECT mass FROM props WHERE colour = 'red';
\! rm "$DIR"/mass.csv
SELECT sum(length) FROM props WHERE colour = 'red';
SELECT explain('SELECT sum(length) FROM props WHERE colour = ''red''');
SELECT sum(length) FROM props;
-- one that is read is checked, whatever its rows come to
CALL put('mass.csv', E'1,87.9\n2,21\n2,22\n');
SELECT id FROM props WHERE mass < 0;
-- but not beyond the range of keys
CALL put('mass.csv', E'1,87.9\n2,21\n3,heavy\n');
SELECT id FROM props WHERE mass > 0 AND id < 3;
SELECT id FROM props WHERE mass > 0;

-- Parameters: the test is made anew with each value.
CALL put('mass.csv', E'1,87.9\n2,21\n3,107\n8,\n');
SET plan_cache_mode = force_generic_plan;
PREPARE p(text, int[]) AS SELECT id, colour, length FROM props WHERE colour = $1 AND length = ANY ($2);
SELECT explain('EXECUTE p(''red'', ''{17}'')');
EXECUTE p('red', '{17}');
EXECUTE p('blue', '{17, 11, NULL}');
EXECUTE p(NULL, '{17}');
EXECUTE p('red', NULL);
EXECUTE p('red', '{}');
EXECUTE p('red', '{17, 28}');
RESET plan_cache_mode;
SELECT c, (SELECT string_agg(id::text, ',') FROM props WHERE colour = c) FROM unnest(ARRAY['red', 'blue', NULL, 'pink', 'red']) c;
SELECT n, (SELECT count(*) FROM props WHERE length > n AND mass IS NOT NULL) FROM generate_series(0, 30, 10) n;

-- Types that have no loop of their own, and what each type's edges are.
CALL put('v.csv', E'1,-32768,-2147483648,-9223372036854775808,-Infinity,-1e300,1999-12-31,2000-01-01 00:00:00,t,1.50,a,ab ,00000000-0000-0000-0000-000000000001,{1}\n'
	'2,32767,2147483647,9223372036854775807,NaN,NaN,infinity,infinity,f,2,B,abc,00000000-0000-0000-0000-000000000002,{}\n'
	'3,0,0,0,-0,0,-infinity,-infinity,,-0.0,,x,,{NULL}\n'
	'4,,,,,,,,,,"",,,\n');
CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), i2 int2 OPTIONS (filename 'v.csv', field '2'), i4 int4 OPTIONS (filename 'v.csv', field '3'), i8 int8 OPTIONS (filename 'v.csv', field '4'),
	f4 float4 OPTIONS (filename 'v.csv', field '5'), f8 float8 OPTIONS (filename 'v.csv', field '6'), d date OPTIONS (filename 'v.csv', field '7'), ts timestamp OPTIONS (filename 'v.csv', field '8'),
	b boolean OPTIONS (filename 'v.csv', field '9'), n numeric OPTIONS (filename 'v.csv', field '10'), t text OPTIONS (filename 'v.csv', field '11') COLLATE "C", c char(3) OPTIONS (filename 'v.csv', field '12'),
	u uuid OPTIONS (filename 'v.csv', field '13'), a int[] OPTIONS (filename 'v.csv', field '14')) SERVER files;
CREATE TABLE w AS SELECT * FROM v;
CREATE FUNCTION check_types() RETURNS TABLE (clause text, early boolean, ids text, differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOR clause IN
		SELECT format('%s %s %s', col, op, val) FROM (VALUES
			('i2', ARRAY['0', '32767', '99999::int4', '(-3000000000)::int8', '(-32768)::int2']), ('i4', ARRAY['0', '2147483647', '3000000000::int8', '1::int2']), ('i8', ARRAY['0', '9223372036854775807', '1::int2']),
			('f4', ARRAY['0::real', '''NaN''::float8', '''-Infinity''', '1e300::float8']), ('f8', ARRAY['0', '''NaN''', '''-1e300''', '1.5::real']),
			('d', ARRAY['''2000-01-01''', '''infinity''', '''1999-12-31 12:00''::timestamp']), ('ts', ARRAY['''2000-01-01''', '''-infinity''', '''2000-01-01''::date']),
			('n', ARRAY['1.5', '0', '''NaN''']), ('t', ARRAY['''a''', '''''', '''B''']), ('c', ARRAY['''ab''', '''ab ''', '''ab''::text']), ('u', ARRAY['''00000000000000000000000000000002''']),
			('a', ARRAY['''{}''::int[]', '''{1}''::int[]'])) x (col, vals), unnest(vals) val, unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) op
		UNION ALL
		SELECT unnest(ARRAY['b', 'NOT b', 'b IS TRUE', 'b IS FALSE', 'b IS NOT TRUE', 'b = false', 'b <> true', 'b IS NOT NULL AND t IS NULL', 'i4 IN (0, 2147483647, 5, 6, 7, 8, 9, 10, 11, 12)', 'n IN (1.5, 0)', 't IN (''a'', ''B'', ''C'')', 't IN (''a'')', 'f8 IN (0, ''NaN'')', 'c IN (''ab'', ''x'')', 'i4 < ANY (''{0, 7}'')', 'i4 <> ANY (''{0, 7}'')', 'u IS NULL AND a IS NOT NULL', 't LIKE ''%''', 't LIKE ''a%''', 't LIKE ''a\%''', 't NOT LIKE ''a%''', 'c LIKE ''ab%'''])
	LOOP
		EXECUTE format('SELECT count(*) > 0 FROM explain(%L) line WHERE line ~ ''Early''', 'SELECT id FROM v WHERE ' || clause) INTO early;
		EXECUTE format('SELECT string_agg(id::text, '' '') FROM v WHERE %s', clause) INTO ids;
		differences := differences(format('SELECT * FROM v WHERE %s', clause), format('SELECT * FROM w WHERE %s ORDER BY id', clause), true);
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE checked AS SELECT * FROM check_types();
SELECT count(*), count(ids) AS with_rows, count(*) FILTER (WHERE early) AS early, sum(differences) AS differences FROM checked;
SELECT clause, ids FROM checked WHERE NOT early AND clause !~ '[<>=]';
SELECT clause, ids FROM checked WHERE clause ~ '^(f4 .*NaN|i2 .*(99999|-3))|^(b|u) |IN|ANY|LIKE' ORDER BY clause COLLATE "C";

-- Keys far apart: who is far behind seeks, one that is near reads on.
CALL put_query('few.csv', 'SELECT i * 20000, i FROM generate_series(1, 5) i');
CALL put_query('many.csv', 'SELECT i, i % 1000 FROM generate_series(0, 120000) i');
CALL put_query('other.csv', 'SELECT i * 2, ''o'' || i FROM generate_series(0, 60000) i');
CREATE FOREIGN TABLE far (id int OPTIONS (key 'true'), few int, many int, other text) SERVER files OPTIONS (multiline 'false');
CREATE FUNCTION counters(query text) RETURNS TABLE (stream text, role text, rows bigint, seeks bigint) LANGUAGE sql AS $$
	SELECT m[1], m[2], m[3]::bigint, m[4]::bigint
	FROM explain(query, ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off') line, regexp_match(line, 'Stream (\w+): .*\), (.*), rows=(\d+) .*seeks=(\d+)') m WHERE m IS NOT NULL;
$$;
SELECT * FROM far WHERE few IS NOT NULL AND many IS NOT NULL;
SELECT stream, role, rows < 30000 AS few, seeks >= 4 AS sought FROM counters('SELECT * FROM far WHERE few IS NOT NULL AND many IS NOT NULL');
SELECT stream, role, rows < 30000 AS few, seeks >= 4 AS sought FROM counters('SELECT * FROM far WHERE few > 0');
-- rows near each other are read
SELECT stream, role, rows > 100000 AS many, seeks FROM counters('SELECT other, many FROM far WHERE many >= 0 ORDER BY id');
-- nothing to look up, nothing read
SELECT stream, role, rows, seeks FROM counters('SELECT * FROM far WHERE few > 5');
-- and none of what a null says beforehand
SELECT stream, role, rows, seeks FROM counters('SELECT * FROM far WHERE few = (SELECT NULL::int)');

-- Which spelling of a key: the first stream's that has it, asked for or not.
CALL put('a.csv', E'1.0,a1\n2.0,a2\n');
CALL put('b.csv', E'1.00,b1\n2.00,b2\n3,b3\n');
CREATE FOREIGN TABLE spelled (id numeric OPTIONS (key 'true'), a text, b text) SERVER files;
SELECT id, b FROM spelled WHERE b IS NOT NULL;
SELECT explain('SELECT id, b FROM spelled WHERE b IS NOT NULL');
SELECT explain('SELECT b FROM spelled WHERE b IS NOT NULL');
SELECT explain('SELECT id, a FROM spelled WHERE a IS NOT NULL');

-- A stream that repeats keys repeats rows, asked for or not.
CALL put('r.csv', E'1,r1\n1,r2\n2,r3\n2,r4\n5,r5\n');
CALL put('s.csv', E'1,s1\n2,s2\n2,s3\n7,s4\n');
CREATE FOREIGN TABLE repeated (id int OPTIONS (key 'true'), r text OPTIONS (duplicates 'all'), s text OPTIONS (duplicates 'all'), a text) SERVER files;
SELECT id, s FROM repeated WHERE s IS NOT NULL;
SELECT explain('SELECT id, s FROM repeated WHERE s IS NOT NULL');
SELECT id, r, s FROM repeated WHERE s IN ('s1', 's3');
SELECT id, r, s FROM repeated WHERE r > 'r1' AND s > 's1';
SELECT count(*) FROM repeated WHERE r IS NOT NULL;

-- A clause that a security barrier holds back is not tested before those of the barrier.
CREATE FUNCTION tells(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN $1 = $2; END $$;
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = tells);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM props WHERE length < 15;
SELECT explain('SELECT id FROM barrier WHERE colour === ''blue''');
SELECT id FROM barrier WHERE colour === 'blue';
SELECT explain('SELECT id FROM barrier WHERE colour = ''blue''');
SELECT explain('SELECT id FROM barrier WHERE mass > 5');
-- an operator that may not be called is not called
CREATE ROLE required_user;
GRANT USAGE ON SCHEMA required TO required_user;
GRANT SELECT ON props TO required_user;
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.int4eq(int, int) FROM PUBLIC;
SET LOCAL ROLE required_user;
SELECT id FROM props WHERE length = 11;
ROLLBACK;
DROP OWNED BY required_user;
DROP ROLE required_user;

-- Joins: above the scan nothing changes; rows to be locked and rechecked come whole.
SELECT p.id, p.length, q.mass FROM props p JOIN props q USING (id) WHERE p.colour = 'green' AND q.mass > 1;
SELECT p.id, q.id FROM props p LEFT JOIN props q ON q.id = p.length AND q.colour IS NOT NULL WHERE p.length < 15 ORDER BY p.id;
SELECT x.id, p.colour FROM (VALUES (2), (4), (5)) x (id) LEFT JOIN props p ON p.id = x.id AND p.length > 20 ORDER BY x.id;
SELECT id FROM props WHERE colour = 'red' FOR UPDATE;

-- How many rows the planner expects: those that all required files can have.
CALL put_query('even.csv', 'SELECT i, i FROM generate_series(2, 10000, 2) i');
CALL put_query('late.csv', 'SELECT i, i FROM generate_series(9001, 30000) i');
CREATE FOREIGN TABLE sizes (id int OPTIONS (key 'true'), even int, late int) SERVER files;
CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT expected('SELECT * FROM sizes') BETWEEN 24000 AND 28000 AS all,
	expected('SELECT * FROM sizes WHERE even IS NOT NULL') BETWEEN 4800 AND 5200 AS even,
	expected('SELECT * FROM sizes WHERE even IS NOT NULL AND late IS NOT NULL') BETWEEN 400 AND 600 AS both;
SELECT count(*) FROM sizes WHERE even IS NOT NULL AND late IS NOT NULL;

-- What fails early is counted.
SELECT explain('SELECT many FROM far WHERE many = 7 AND id < 5000', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');
SELECT explain('SELECT many FROM far WHERE many = 7 AND few IS NULL', ', FORMAT yaml');
