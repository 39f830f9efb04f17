--
-- Aggregates without GROUP BY are computed while merging: one row comes out
-- of the scan.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test aggregates
\i :prelude

CREATE TABLE colour AS SELECT i::bigint AS id, (ARRAY['red', 'green', 'blue'])[1 + i % 3] AS colour
	FROM generate_series(1, 9000) i WHERE i % 5 <> 0;
UPDATE colour SET colour = NULL WHERE id % 7 = 0;
CREATE TABLE length AS SELECT i::bigint AS id, (i * 7919) % 10007 - 3000 AS length
	FROM generate_series(500, 12000) i WHERE i % 3 <> 0;
CREATE TABLE mass AS SELECT i::bigint AS id, ((i * 31) % 1009 / 7.0)::real AS mass, i % 4 <> 1 AS heavy, date '2020-01-01' + i AS seen, (i % 100)::numeric / 8 AS price
	FROM generate_series(-2000, 3000) i;
UPDATE mass SET mass = NULL, heavy = NULL WHERE id % 11 = 0;
CALL put_query('colour.csv', 'SELECT * FROM colour ORDER BY id', 'format csv, header');
CALL put_query('length.csv', 'SELECT * FROM length ORDER BY id', 'format csv, header');
CALL put_query('mass.csv', 'SELECT * FROM mass ORDER BY id', 'format csv, header');
CREATE FOREIGN TABLE props (
	id bigint OPTIONS (key 'true'),
	colour text,
	length int,
	mass real OPTIONS (filename 'mass.csv'),
	heavy boolean OPTIONS (filename 'mass.csv'),
	seen date OPTIONS (filename 'mass.csv'),
	price numeric OPTIONS (filename 'mass.csv')
) SERVER files OPTIONS (header 'true');
CREATE VIEW o AS SELECT * FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id) ORDER BY id;

-- What a plan looks like.  A column that is only counted is read for its nulls.
SELECT explain('SELECT count(*), count(colour), sum(length) FROM props');
SELECT explain('SELECT count(*) + 1 AS n, round(avg(mass)) FROM props WHERE id > 10 HAVING count(*) > 5 ORDER BY 1 LIMIT 1', ', VERBOSE');
SELECT explain('SELECT sum(length) FILTER (WHERE colour = ''red'') FROM props WHERE mass > 3 AND heavy');
SELECT explain('SELECT count(colour), max(colour) FROM props');
SELECT jsonb_pretty(plan::jsonb -> 0 -> 'Plan' -> 'Foreign Aggregates') FROM explain('SELECT count(*), sum(length) FROM props', ', FORMAT json') plan;
-- What ran: all of what is read, and one row.
SELECT explain('SELECT count(*), count(length) FROM props WHERE id BETWEEN 0 AND 100', ', ANALYZE, TIMING OFF, SUMMARY OFF' || CASE WHEN current_setting('server_version_num')::int >= 180000 THEN ', BUFFERS OFF' ELSE '' END);

-- Left to the executor.
CREATE FUNCTION pushed(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(line ~ 'Foreign Aggregates') FROM explain(query) line;
$$;
SELECT query, pushed(query) FROM (VALUES
	('SELECT count(*) FROM props GROUP BY id'),
	('SELECT count(*) FROM props GROUP BY ()'),
	('SELECT count(*) FROM props GROUP BY GROUPING SETS ((), (colour))'),
	('SELECT count(DISTINCT colour) FROM props'),
	('SELECT string_agg(colour, '','' ORDER BY id) FROM props'),
	('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY length) FROM props'),
	('SELECT count(props) FROM props'),
	('SELECT max(tableoid) FROM props'),
	('SELECT sum(random()) FROM props'),
	('SELECT count(*) FROM props WHERE random() < 2'),
	('SELECT count(*), count(DISTINCT colour) FROM props'),
	('SELECT count(*) FROM props WHERE length = (SELECT max(l.length) FROM length l WHERE l.id = props.id)'),
	('SELECT count(*) FROM props WHERE length = (SELECT max(l.length) FROM length l)'),
	('SELECT count(*) FROM props, length WHERE props.id = length.id'),
	('SELECT count(*) FROM props WHERE false'),
	('SELECT min(id) FROM props'),
	('SELECT count(*), min(id) FROM props'),
	('SELECT count(*) OVER () FROM props'),
	('SELECT sum(count(*)) OVER () FROM props'),
	('SELECT generate_series(1, count(*)) FROM props'),
	('SELECT DISTINCT count(*) FROM props'),
	('SELECT (SELECT count(*) FROM length WHERE id < max(props.length)) FROM props'),
	('SELECT (SELECT max(props.length) FROM length LIMIT 1) FROM props')) q (query);
SET outerjoin_fdw.aggregates = off;
SELECT explain('SELECT count(*) FROM props');
RESET outerjoin_fdw.aggregates;

-- Each answers what PostgreSQL's own aggregates answer over the oracle, to the bit.
CREATE FUNCTION check_aggregates() RETURNS TABLE (pushed boolean, query text, result text, same boolean) LANGUAGE plpgsql
SET extra_float_digits = 1 AS $$
DECLARE
	expected text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'count(*), count(id), count(colour), count(length), count(heavy)',
		'sum(id), avg(id), min(id), max(id), count(*)',
		'sum(length), avg(length), min(length), max(length), sum(length::smallint), avg(length::smallint), sum(length::bigint), avg(length::bigint)',
		'sum(mass), avg(mass), min(mass), max(mass), sum(mass::float8), avg(mass::float8), stddev(mass)',
		'bool_and(heavy), bool_or(heavy), every(heavy OR id < 0)',
		'min(seen), max(seen), min(seen::timestamp), max(seen::timestamptz)',
		'sum(price), avg(price), min(price), max(price), stddev(price)',
		'min(colour), max(colour), md5(string_agg(colour, '','')), count(upper(colour))',
		'md5(array_agg(colour)::text), md5(json_agg(length)::text), bit_xor(length), corr(length, mass)',
		'count(*) FILTER (WHERE length > 0), sum(mass) FILTER (WHERE colour = ''red''), max(id) FILTER (WHERE heavy)',
		'count(*) FROM props WHERE id BETWEEN 400 AND 1100',
		'count(*), sum(mass), count(colour) FROM props WHERE id > 2900 AND length > 100',
		'count(*), sum(length), max(colour) FROM props WHERE colour IN (''red'', ''blue'') OR mass IS NULL',
		'sum(length), avg(length), min(colour), bool_and(heavy), count(*), string_agg(colour, '','') FROM props WHERE id > 100000',
		'count(*), max(length) FROM props HAVING count(*) > 100000',
		'count(*), max(length) FROM props HAVING max(length) > 1000 AND count(colour) > 1',
		'sum(length) + count(*) * 2, CASE WHEN max(mass) > 5 THEN avg(length) END',
		'(SELECT count(*) FROM length WHERE id < max(props.length))',
		'sum(mass) FROM props WHERE length < (SELECT avg(length) FROM length)',
		'sum(length + 1), max(abs(length)), count(nullif(colour, ''red'')), sum(CASE WHEN heavy THEN 1 ELSE 0 END)']
	LOOP
		query := 'SELECT ' || query || CASE WHEN query ~ ' FROM props' THEN '' ELSE ' FROM props' END;
		pushed := pushed(query);
		EXECUTE format('SELECT q::text FROM (%s) q', query) INTO result;
		EXECUTE format('SELECT q::text FROM (%s) q', replace(query, 'FROM props', 'FROM (SELECT * FROM o ORDER BY id) props')) INTO expected;
		same := result IS NOT DISTINCT FROM expected;
		RETURN NEXT;
	END LOOP;
END $$;
\pset format unaligned
SELECT * FROM check_aggregates();
\pset format aligned
SET outerjoin_fdw.batch_rows = 3;
SELECT query FROM check_aggregates() WHERE NOT same;
RESET outerjoin_fdw.batch_rows;
ALTER SERVER files OPTIONS (ADD sorted 'false');
SELECT query FROM check_aggregates() WHERE NOT same;
ALTER SERVER files OPTIONS (DROP sorted);
ALTER SERVER files OPTIONS (ADD duplicates 'all');
SELECT query FROM check_aggregates() WHERE NOT same;
ALTER SERVER files OPTIONS (SET duplicates 'last');
SELECT query FROM check_aggregates() WHERE NOT same;
ALTER SERVER files OPTIONS (DROP duplicates);

-- Sums beyond what a type holds, NaN, infinity, zeros and their signs.
CREATE TABLE extremes (id int, n bigint, i int, f float8, r real);
INSERT INTO extremes VALUES
	(1, 9223372036854775807, 2147483647, '-0', '-0'),
	(2, 9223372036854775807, 2147483647, NULL, NULL),
	(3, 9223372036854775807, NULL, '0', '0'),
	(4, NULL, -2147483648, '-0', '-0');
CALL put_query('extremes.csv', 'TABLE extremes');
CREATE FOREIGN TABLE x (id int OPTIONS (key 'true'), n bigint OPTIONS (field '2'), i int OPTIONS (field '3', filename 'extremes.csv'),
	f float8 OPTIONS (field '4', filename 'extremes.csv'), r real OPTIONS (field '5', filename 'extremes.csv')) SERVER files;
ALTER FOREIGN TABLE x ALTER n OPTIONS (ADD filename 'extremes.csv');
SELECT sum(n), avg(n), sum(i), avg(i), sum(id), max(n), min(i) FROM x;
SELECT sum(f), sum(r), avg(f), min(f), max(f), min(r), max(r) FROM x;
SELECT sum(f), sum(r), avg(f), min(f), max(f), min(r), max(r) FROM extremes;
SELECT sum(f), sum(r), min(f), max(r) FROM x WHERE id IN (1, 4) AND id <> 2;
SELECT sum(-n) FROM x;
CREATE PROCEDURE floats(VARIADIC f float8[]) LANGUAGE plpgsql AS $$
BEGIN
	CALL put_query('extremes.csv', format('SELECT id, NULL, NULL, f, f::real FROM unnest(%L::float8[]) WITH ORDINALITY u (f, id)', f));
END $$;
CALL floats(1, 'NaN', -5, NULL);
SELECT sum(f), avg(f), min(f), max(f), sum(r), avg(r), min(r), max(r) FROM x;
CALL floats('Infinity', 'Infinity', 3);
SELECT sum(f), avg(f), min(f), max(f), sum(r), avg(r), min(r), max(r) FROM x;
CALL floats('Infinity', 1, '-Infinity');
SELECT sum(f), avg(f), min(f), max(f), sum(r), avg(r), min(r), max(r) FROM x;
CALL floats(3e38, 3e38);
SELECT sum(f), avg(f), avg(r) FROM x;
SELECT sum(r) FROM x;
CALL put_query('extremes.csv', 'SELECT id, NULL, NULL, f, 0 FROM (VALUES (1, 1e308), (2, -1e308), (3, 1)) u (id, f)');
SELECT sum(f) FROM x;
-- the average is 0, but its variance is not known to be finite: PostgreSQL's own
SELECT avg(f) FROM x;
CALL put_query('extremes.csv', 'SELECT id, NULL, NULL, f, 0 FROM (VALUES (1, 1e308), (2, 1e308)) u (id, f)');
SELECT sum(f) FROM x;

-- Rescans, parameters of every kind, cursors.
SELECT n, (SELECT count(*) FROM props WHERE id < n), (SELECT sum(length) FROM props WHERE length < n)
FROM (VALUES (600), (0), (NULL), (700), (600)) v (n);
SELECT n, l.* FROM (VALUES (600), (10), (501)) v (n), LATERAL (SELECT count(*) AS c, count(length) FILTER (WHERE length > n) AS l, max(id - n) FROM props WHERE id BETWEEN n AND n + 10) l;
SELECT explain('SELECT n, (SELECT count(length) FILTER (WHERE length > n) FROM props WHERE mass > n) FROM (VALUES (600), (700)) v (n)');
PREPARE p (int, text) AS SELECT count(*), count(length), max(mass) FILTER (WHERE colour = $2) FROM props WHERE id > $1 AND colour <> $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (5, 'red');
EXECUTE p (2990, 'blue');
EXECUTE p (NULL, 'blue');
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT count(*), sum(length) FROM props;
FETCH 2 FROM c;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
COMMIT;
CREATE FUNCTION count_above(n int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM props WHERE length > n);
END $$;
SELECT count_above(0), count_above(1000);
SELECT count(*) FROM (SELECT count(*) FROM props UNION ALL SELECT sum(length) FROM props) u;
SELECT count(*), sum(s) FROM (SELECT colour, (SELECT count(*) FROM props p WHERE p.id < 3) AS s FROM props WHERE id < 5 OFFSET 0) q;

-- A view with a security barrier, policies' clauses and functions that tell what they see.
CREATE FUNCTION tells(text) RETURNS boolean LANGUAGE plpgsql COST 0.00001 AS $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM props WHERE colour = 'red' AND id < 10;
SELECT count(*) FROM barrier WHERE tells(colour);

-- The right to call the aggregate, and to the columns.
CREATE ROLE regress_outerjoin_reader;
GRANT USAGE ON SCHEMA aggregates TO regress_outerjoin_reader;
GRANT SELECT (id, colour) ON props TO regress_outerjoin_reader;
SET ROLE regress_outerjoin_reader;
SELECT count(*), count(colour) FROM aggregates.props;
SELECT sum(length) FROM aggregates.props;
SELECT count(*) FROM aggregates.props WHERE length > 3;
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(bigint) FROM PUBLIC;
SET LOCAL ROLE regress_outerjoin_reader;
SELECT sum(id) FROM aggregates.props;
ROLLBACK;
DROP OWNED BY regress_outerjoin_reader;
DROP ROLE regress_outerjoin_reader;

-- Partitions and children.
CREATE TABLE parent (LIKE props);
ALTER FOREIGN TABLE props INHERIT parent;
SELECT count(*), sum(length) FROM parent;
ALTER FOREIGN TABLE props NO INHERIT parent;

-- Nulls alone are read where a value could not be: 'x' is no integer.
CALL put('broken.csv', E'1,x\n2,\n3,5\n');
CREATE FOREIGN TABLE broken (id int OPTIONS (key 'true'), broken int) SERVER files;
SELECT count(broken) FROM broken;
SELECT sum(broken) FROM broken;
-- but for a domain that has a say
CREATE DOMAIN present AS int NOT NULL;
ALTER FOREIGN TABLE broken ALTER broken TYPE present;
SELECT count(broken) FROM broken;

-- Arrow files, with every way to say what is null.
\set arrow_dir :abs_srcdir '/sql/data/arrow'
CREATE SERVER aggregates_arrow FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory :'arrow_dir');
CREATE FUNCTION counts(file text, field text, type text DEFAULT 'jsonb', OUT nulls_only bigint, OUT with_values bigint, OUT rows bigint)
LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE counted (id bigint OPTIONS (key ''true''), v %s OPTIONS (filename %L, field %L)) SERVER aggregates_arrow',
				   type, file || '.arrow', field);
	SELECT count(v), count(*) INTO nulls_only, rows FROM counted;
	SELECT count(*) FILTER (WHERE v IS NOT NULL) INTO with_values FROM counted;
	DROP FOREIGN TABLE counted;
END $$;
SELECT f.*, counts.* FROM (VALUES
	('null', 'nothing', 'jsonb'), ('bool', 'flag', 'boolean'), ('int', 'int16', 'int'), ('decimal', 'd128_38_10', 'numeric'),
	('utf8', 'utf8', 'text'), ('utf8', 'large_utf8', 'text'), ('utf8', 'utf8_view', 'text'), ('text_broken', 'value', 'bytea'),
	('dictionary', 'int8', 'text'), ('dictionary', 'of_null', 'text'), ('dictionary', 'all_null', 'text'), ('run_end', 'int32', 'text'), ('run_end', 'each', 'text'),
	('list', 'list', 'jsonb'), ('list_view', 'list_view', 'jsonb'), ('fixed_list', 'pair', 'jsonb'), ('struct', 'point', 'jsonb'),
	('struct_masked', 'point', 'jsonb'), ('map', 'sorted', 'jsonb'), ('union', 'sparse', 'jsonb'), ('union', 'dense', 'jsonb')) f (file, field, type),
	LATERAL counts(file, field, type);
DROP SERVER aggregates_arrow CASCADE;
