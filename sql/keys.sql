--
-- Keys: any type with a btree order, one column or several, up or down.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test keys
\i :prelude

-- Three files of different thirds of 3,000 values; the merge must give what
-- the FULL JOIN gives, in the same order.  Returns rows and differences.
CREATE FUNCTION check_key(type text, value text, direction text DEFAULT 'ASC', OUT rows bigint, OUT differences bigint)
LANGUAGE plpgsql AS $$
DECLARE
	name text;
	down text := CASE direction WHEN 'DESC' THEN ', descending ''true''' ELSE '' END;
BEGIN
	DROP FOREIGN TABLE IF EXISTS f;
	DROP TABLE IF EXISTS a, b, c;
	EXECUTE format('CREATE TABLE a (id %s, a int)', type);
	EXECUTE format('CREATE TABLE b (id %s, b int)', type);
	EXECUTE format('CREATE TABLE c (id %s, c int)', type);
	EXECUTE format('INSERT INTO a SELECT DISTINCT ON (1) %s, i FROM generate_series(1, 3000) i WHERE i %% 3 <> 0 ORDER BY 1', value);
	EXECUTE format('INSERT INTO b SELECT DISTINCT ON (1) %s, i FROM generate_series(1, 3000) i WHERE i %% 5 <> 0 ORDER BY 1', value);
	EXECUTE format('INSERT INTO c SELECT DISTINCT ON (1) %s, i FROM generate_series(1, 3000) i WHERE i / 100 %% 4 = 1 ORDER BY 1', value);
	FOREACH name IN ARRAY ARRAY['a', 'b', 'c']
	LOOP
		CALL put_query(name || '.csv', format('SELECT * FROM %I ORDER BY id %s', name, direction));
	END LOOP;
	EXECUTE format('CREATE FOREIGN TABLE f (id %s OPTIONS (key ''true''%s) %s, a int, b int, c int) SERVER files',
		regexp_replace(type, ' COLLATE .*', ''), down, substring(type FROM 'COLLATE .*'));
	EXECUTE 'SELECT count(*) FROM f' INTO rows;
	differences := differences('TABLE f',
		'SELECT id, a, b, c FROM a FULL JOIN b USING (id) FULL JOIN c USING (id) ORDER BY id ' || direction, true);
END $$;

SET TimeZone = 'UTC';
SELECT * FROM check_key('smallint', '(i * 7 - 10000)::int2');
SELECT * FROM check_key('integer', '(i * 700001 % 1000003) - 500000');
SELECT * FROM check_key('bigint', '(i - 1500)::bigint * 6148914691236517');
SELECT * FROM check_key('bigint', '(i - 1500)::bigint * 6148914691236517', 'DESC');
SELECT * FROM check_key('date', $$date '1997-01-01' + i * 3$$);
SELECT * FROM check_key('date', $$date '1997-01-01' + i * 3$$, 'DESC');
SELECT * FROM check_key('timestamp', $$timestamp '1999-12-01' + i * interval '13:07:00.000001'$$);
SELECT * FROM check_key('timestamptz', $$timestamptz '1999-12-01' + i * interval '13:07:00.000001'$$);
SELECT * FROM check_key('timestamptz', $$timestamptz '1999-12-01' + i * interval '13:07:00.000001'$$, 'DESC');
SELECT * FROM check_key('numeric', '(i - 1500) * 1.5');
SELECT * FROM check_key('numeric', '10::numeric ^ (i % 60) * (i - 1500)', 'DESC');
SELECT * FROM check_key('float8', '(i - 1500) / 7.0::float8');
SELECT * FROM check_key('real', '(i - 1500) / 8.0::real', 'DESC');
SELECT * FROM check_key('boolean', 'i % 2 = 0');
SELECT * FROM check_key('uuid', 'md5(i::text)::uuid');
SELECT * FROM check_key('uuid', 'md5(i::text)::uuid', 'DESC');
SELECT * FROM check_key('text COLLATE "C"', 'md5(i::text)');
SELECT * FROM check_key('text COLLATE "C"', $$'common prefix ' || i$$);
SELECT * FROM check_key('text COLLATE "C"', $$'common prefix ' || i$$, 'DESC');
SELECT * FROM check_key('text COLLATE "C"', $$repeat('x', i % 40) || CASE WHEN i % 2 = 0 THEN E'\u00fc' ELSE 'u' END$$);
SELECT * FROM check_key('varchar COLLATE "C"', $$'v' || i$$);
SELECT * FROM check_key('char(9) COLLATE "C"', $$'v' || i$$);
SELECT * FROM check_key('bytea', $$decode(md5(i::text), 'hex')$$);
SELECT * FROM check_key('interval', $$i * interval '3 days 7 hours'$$);
SELECT * FROM check_key('inet', $$('10.0.' || i % 7 || '.' || i % 256)::inet$$);
SELECT * FROM check_key('int4[]', 'ARRAY[i % 10, i]');
SELECT * FROM check_key('oid', '(4294967295 - i)::oid');
CREATE TYPE level AS ENUM ('low', 'middle', 'high');
SELECT * FROM check_key('level', $$(ARRAY['high', 'low', 'middle'])[1 + i % 3]::level$$);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT * FROM check_key('positive', 'i');

-- Another order than the bytes': files in a language's order.
SELECT * FROM check_key('text COLLATE "en-x-icu"', $$CASE WHEN i % 2 = 0 THEN 'Word ' ELSE 'word ' END || chr(97 + i % 26) || i$$);
SELECT * FROM check_key('text COLLATE "en-x-icu"', $$CASE WHEN i % 2 = 0 THEN 'Word ' ELSE 'word ' END || chr(97 + i % 26) || i$$, 'DESC');
-- one in which different spellings are equal
CREATE COLLATION case_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT * FROM check_key('text COLLATE case_blind', $$'word ' || i$$);
CALL put('a.csv', E'apple,1\nPEAR,2\n');
CALL put('b.csv', E'Apple,10\nbanana,20\npear,30\n');
CREATE FOREIGN TABLE fruit (name text OPTIONS (key 'true') COLLATE case_blind,
	a int, b int) SERVER files;
-- the first stream's spelling shows
SELECT * FROM fruit;
SELECT * FROM fruit WHERE name = 'APPLE';

-- Keys that are equal and look different: the first stream's shows.
CALL put('x.csv', E'-Infinity,x1\n0,x2\n1.0,x3\n2.50,x4\nNaN,x5\n');
CALL put('y.csv', E'-5,y1\n-0,y2\n1.00,y3\n2.5,y4\nInfinity,y5\nNaN,y6\n');
CREATE FOREIGN TABLE f8xy (id float8 OPTIONS (key 'true'), x text, y text) SERVER files;
CREATE FOREIGN TABLE f8yx (id float8 OPTIONS (key 'true'), y text, x text) SERVER files;
CREATE FOREIGN TABLE numxy (id numeric OPTIONS (key 'true'), x text, y text) SERVER files;
CREATE FOREIGN TABLE numyx (id numeric OPTIONS (key 'true'), y text, x text) SERVER files;
SELECT * FROM f8xy;
SELECT * FROM f8yx;
SELECT * FROM numxy;
SELECT * FROM numyx;
-- whichever columns the query names
SELECT id, x FROM numyx;
SELECT id FROM f8yx;
SELECT id FROM f8xy WHERE id = 0;

-- Several key columns sort in column order.
CREATE TABLE ca AS SELECT i / 10 AS n, 'k' || i % 10 AS t, i AS a FROM generate_series(1, 1000) i WHERE i % 3 <> 0;
CREATE TABLE cb AS SELECT i / 10 AS n, 'k' || i % 10 AS t, i AS b FROM generate_series(1, 1000) i WHERE i % 4 <> 0;
CALL put_query('ca.csv', 'SELECT n, t, a FROM ca ORDER BY n, t COLLATE "C"');
CALL put_query('cb.csv', 'SELECT n, t, b FROM cb ORDER BY n, t COLLATE "C"');
CREATE FOREIGN TABLE composite (
	n int OPTIONS (key 'true'), t text OPTIONS (key 'true') COLLATE "C",
	a int OPTIONS (filename 'ca.csv'), b int OPTIONS (filename 'cb.csv')) SERVER files;
SELECT * FROM composite LIMIT 5;
SELECT differences('TABLE composite',
	'SELECT n, t, a, b FROM ca FULL JOIN cb USING (n, t) ORDER BY n, t COLLATE "C"', true);
SELECT differences('SELECT * FROM composite WHERE n = 7',
	'SELECT n, t, a, b FROM ca FULL JOIN cb USING (n, t) WHERE n = 7 ORDER BY n, t COLLATE "C"', true);
SELECT differences('SELECT * FROM composite WHERE (n, t) > (50, ''k7'')',
	'SELECT n, t, a, b FROM ca FULL JOIN cb USING (n, t) WHERE (n, t) > (50, ''k7'') ORDER BY n, t COLLATE "C"', true);
-- the second column downward
CALL put_query('ca.csv', 'SELECT n, t, a FROM ca ORDER BY n, t COLLATE "C" DESC');
CALL put_query('cb.csv', 'SELECT n, t, b FROM cb ORDER BY n, t COLLATE "C" DESC');
ALTER FOREIGN TABLE composite ALTER t OPTIONS (ADD descending 'true');
SELECT * FROM composite LIMIT 5;
SELECT differences('TABLE composite',
	'SELECT n, t, a, b FROM ca FULL JOIN cb USING (n, t) ORDER BY n, t COLLATE "C" DESC', true);
-- two integers, the first downward; fields in another order in the file
CALL put_query('ca.csv', 'SELECT a, n, a % 7 AS m FROM (SELECT DISTINCT ON (n, a % 7) * FROM ca) ca ORDER BY n DESC, m');
CALL put_query('cb.csv', 'SELECT b, n, b % 7 AS m FROM (SELECT DISTINCT ON (n, b % 7) * FROM cb) cb ORDER BY n DESC, m');
CREATE FOREIGN TABLE two_ints (
	n int OPTIONS (key 'true', descending 'true', field '2'), m int OPTIONS (key 'true', field '3'),
	a int OPTIONS (filename 'ca.csv', field '1'), b int OPTIONS (filename 'cb.csv', field '1')) SERVER files;
SELECT count(*), count(a), count(b), sum(n), sum(m) FROM two_ints;
SELECT differences('SELECT n, m, a IS NULL, b IS NULL FROM two_ints',
	'SELECT n, m, bool_and(a IS NULL), bool_and(b IS NULL)
	 FROM (SELECT n, a % 7 AS m, a, NULL::int AS b FROM ca UNION ALL SELECT n, b % 7, NULL, b FROM cb) u
	 GROUP BY n, m ORDER BY n DESC, m', true);

-- A key is never rounded, and never wraps.
CALL put('r.csv', E'1.5,a\n');
CREATE FOREIGN TABLE rounded (id int OPTIONS (key 'true'), r text) SERVER files;
SELECT * FROM rounded;
CALL put('r.csv', E'99999,a\n');
CREATE FOREIGN TABLE wrapped (id smallint OPTIONS (key 'true'), r text) SERVER files;
SELECT * FROM wrapped;
-- a type's own precision would round a key
CALL put('r.csv', E'2024-01-01 00:00:00.0000004,a\n2024-01-01 00:00:00.0000006,b\n');
CREATE FOREIGN TABLE nano (id timestamp OPTIONS (key 'true'), r text) SERVER files;
SELECT * FROM nano;
CREATE FUNCTION key_error(type text, key text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	CALL put('r.csv', key || E',r\n');
	EXECUTE format('CREATE FOREIGN TABLE exact (id %s OPTIONS (key ''true''), r text) SERVER files', type);
	SELECT id::text INTO result FROM exact;
	DROP FOREIGN TABLE exact;
	RETURN result;
EXCEPTION WHEN data_exception THEN
	RETURN SQLERRM;
END $$;
CREATE DOMAIN price AS numeric(6,2);
SET DateStyle = 'ISO';
SELECT type, key, key_error(type, key) FROM (VALUES
	('numeric(6,2)', '1.004'), ('numeric(6,2)', '1.10000'), ('price', '1.004'), ('price', '1.1'), ('numeric', '1.004'),
	('timestamp', '2024-01-01 10:00:00.1234560'), ('timestamp', '2024-01-01 10:00:00.1234561'),
	('timestamptz', '2024-01-01 10:00:00.123456700+00'), ('timestamp(0)', '2024-01-01 10:00:00.5'), ('timestamp(0)', '2024-01-01 10:00:00.0'),
	('date', '2024-01-01 10:00:00'), ('date', '2024-01-01 00:00:00'), ('time', '10:00:00.0000001'), ('time(3)', '10:00:00.0001'),
	('interval', '00:00:00.0000001'), ('varchar(2)', 'ab '), ('char(2)', 'ab '), ('name', repeat('n', 64)), ('float8', '0.1')) v (type, key);
RESET DateStyle;
-- a message shows the first hundred bytes of a key, in whole characters
SELECT substring(key_error('name', 'x' || repeat('é', 100)) FROM 'key "(x.*)" exactly$') = 'x' || repeat('é', 49) || '...' AS cut;

-- Any type with an order gives the planner that order, its reverse, and ranges.
CREATE FUNCTION of_no_use(type text, value text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	CALL put('u.csv', '');
	EXECUTE format('CREATE FOREIGN TABLE u (id %s OPTIONS (key ''true''), u int) SERVER files', type);
	RETURN sorts('SELECT * FROM u ORDER BY id') OR sorts('SELECT * FROM u ORDER BY id DESC') OR
		NOT EXISTS (SELECT FROM explain(format('SELECT * FROM u WHERE id >= %L::%s', value, type)) line WHERE line ~ 'Key Range');
END $$;
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM (VALUES
		('smallint', '1'), ('int', '1'), ('bigint', '1'), ('numeric', '1'), ('numeric(6,2)', '1'), ('real', '1'), ('float8', '1'), ('oid', '1'), ('money', '1'), ('boolean', 't'),
		('date', '2024-01-01'), ('time', '10:00'), ('timetz', '10:00+00'), ('timestamp', '2024-01-01'), ('timestamptz', '2024-01-01'), ('timestamp(0)', '2024-01-01'), ('interval', '1 day'),
		('text', 'a'), ('varchar', 'a'), ('varchar(9)', 'a'), ('char(9)', 'a'), ('name', 'a'), ('"char"', 'a'), ('bytea', 'a'), ('uuid', '00000000-0000-0000-0000-000000000000'), ('bit(3)', '101'), ('bit varying', '101'),
		('inet', '1.2.3.4'), ('cidr', '1.2.3.4'), ('macaddr', '08:00:2b:01:02:03'), ('pg_lsn', '0/0'), ('jsonb', '1'), ('tsvector', 'a'), ('int4[]', '{1}'), ('text[]', '{a}'), ('int4range', '[1,2)'),
		('level', 'low'), ('positive', '1'), ('price', '1')) v (type, value)
	LOOP
		IF of_no_use(r.type, r.value) THEN
			RAISE WARNING 'type % has neither', r.type;
		END IF;
		DROP FOREIGN TABLE u;
	END LOOP;
END $$;
-- a type without an order cannot be a key
CREATE FOREIGN TABLE no_order (id json OPTIONS (key 'true'), r text) SERVER files;
SELECT * FROM no_order;
