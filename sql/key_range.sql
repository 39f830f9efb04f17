--
-- Clauses on the key become a range: the scan starts and stops there.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test key_range
\i :prelude

CREATE TABLE a AS SELECT i AS id, i * 2 AS a FROM generate_series(-1000, 20000) i WHERE i % 3 <> 0;
CREATE TABLE b AS SELECT i AS id, 'b' || i AS b FROM generate_series(500, 30000) i WHERE i % 7 <> 0;
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE VIEW o AS SELECT id, a, b FROM a FULL JOIN b USING (id);

-- How a range is shown.
SELECT explain('SELECT * FROM f WHERE id = 5');
SELECT explain('SELECT * FROM f WHERE id BETWEEN 5 AND 10');
SELECT explain('SELECT * FROM f WHERE id > 5 AND id <= 10 AND a IS NOT NULL');
SELECT explain('SELECT * FROM f WHERE 7 >= id');
SELECT explain('SELECT * FROM f WHERE id IN (3, 5, 9)');

-- Each of these answers what the oracle answers, in order; a join's order is
-- another matter.
SET outerjoin_fdw.parameterized_paths = off;
CREATE FUNCTION check_ranges() RETURNS TABLE (clause text, rows bigint, differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH clause IN ARRAY ARRAY[
		'id = 5', 'id = 6', '5 = id', 'id = 2147483647', 'id = -1000', 'id = 30000',
		'id < -990', 'id <= -990', 'id > 29990', 'id >= 29990', '-990 > id', '29990 <= id',
		'id BETWEEN 495 AND 505', 'id BETWEEN 505 AND 495', 'id NOT BETWEEN -900 AND 29900', 'id BETWEEN SYMMETRIC 505 AND 495',
		'id > 100 AND id > 200 AND id < 300 AND id <= 250', 'id > 100 AND id = 200', 'id = 200 AND id = 201', 'id = 200 AND id = 200', 'id > 5 AND id < 6', 'id >= 5 AND id <= 5', 'id < 5 AND id > 5',
		'id IN (700, 5, 8, 29999, 5, -77)', 'id IN (700)', 'id = ANY (''{}''::int[])', 'id = ANY (NULL::int[])', 'id = ANY (ARRAY[10, NULL, 20])', 'id IN (6, 9) AND id > 7', 'id NOT IN (1, 2, 3) AND id BETWEEN 0 AND 9', 'id > ANY (ARRAY[29995, 29990])', 'id < ALL (ARRAY[-990, -995])',
		'id > NULL', 'id = NULL', 'id BETWEEN NULL AND 5', 'id IS NULL', 'id IS NOT NULL AND id < -995', 'id = 5 OR id = 700', 'id < -995 OR id > 29995', 'NOT id > -995', 'id <> 5 AND id BETWEEN 0 AND 10',
		-- other types than the key's
		'id = 5::bigint', 'id = 5::smallint', 'id > 29990::bigint', 'id < 99999999999', 'id > 99999999999', 'id > -99999999999 AND id < -995', 'id BETWEEN 4.5 AND 10.5', 'id = 5.5', 'id > 29995.5::float8', 'id = 5::oid::int',
		'id < ''NaN''::float8 AND id > 29995',
		-- expressions, stable functions, subqueries
		'id = 2 + 3', 'id + 1 = 6', 'id = abs(-5)', 'id BETWEEN length(current_database()) * 0 AND 5', 'id > extract(year from timestamp ''2024-01-01'')::int + 27970', 'id = (SELECT 5)', 'id = (SELECT max(id) FROM b)', 'id >= (SELECT max(id) - 3 FROM b)', 'id < (SELECT NULL::int)', 'id = (SELECT id FROM a WHERE a = 20)', 'id = ANY (SELECT id FROM a WHERE a BETWEEN 20 AND 30)', 'id = ANY ((SELECT array_agg(id) FROM a WHERE a BETWEEN 20 AND 30)::int[])',
		-- with values
		'id BETWEEN 0 AND 30 AND a > 30', 'id < 600 AND b IS NOT NULL', 'id < 600 AND b IS NULL AND id > 590', 'a = 20', 'a IS NULL AND id < 600', 'b = ''b700''', 'id = 700 AND b = ''b700''', 'id = a / 2 AND id < 20', 'id > a AND id < -990', 'false', 'true AND id < -995']
	LOOP
		EXECUTE format('SELECT count(*) FROM f WHERE %s', clause) INTO rows;
		differences := differences(format('SELECT * FROM f WHERE %s', clause), format('SELECT * FROM o WHERE %s ORDER BY id', clause), true);
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM check_ranges();
-- the same in blocks and batches of all but nothing
SET outerjoin_fdw.block_size = 64;
SELECT clause FROM check_ranges() WHERE differences <> 0;
SET outerjoin_fdw.batch_rows = 3;
SELECT clause FROM check_ranges() WHERE differences <> 0;
RESET outerjoin_fdw.block_size;
RESET outerjoin_fdw.batch_rows;
-- where the files cannot be sought
ALTER SERVER files OPTIONS (ADD multiline 'true');
SELECT clause FROM check_ranges() WHERE differences <> 0;
ALTER SERVER files OPTIONS (SET multiline 'false');
SELECT clause FROM check_ranges() WHERE differences <> 0;
ALTER SERVER files OPTIONS (DROP multiline);
-- files that sort downward
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id DESC');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id DESC');
ALTER FOREIGN TABLE f ALTER id OPTIONS (ADD descending 'true');
CREATE FUNCTION check_down() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	clause text;
BEGIN
	FOR clause IN SELECT r.clause FROM check_ranges() r
	LOOP
		IF differences(format('SELECT * FROM f WHERE %s', clause), format('SELECT * FROM o WHERE %s ORDER BY id DESC', clause), true) <> 0 THEN
			RETURN NEXT clause;
		END IF;
	END LOOP;
END $$;
SELECT * FROM check_down();
SET outerjoin_fdw.block_size = 64;
SELECT * FROM check_down();
RESET outerjoin_fdw.block_size;
SELECT explain('SELECT * FROM f WHERE id BETWEEN 5 AND 10');
ALTER FOREIGN TABLE f ALTER id OPTIONS (DROP descending);
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');

-- What bounds the key, and what cannot.
CREATE FUNCTION bounds(clause text, name text DEFAULT 'f') RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(line ~ 'Key Range') FROM explain(format('SELECT * FROM %I WHERE %s', name, clause)) line;
$$;
SELECT clause, bounds(clause) FROM unnest(ARRAY[
	'id = 5::bigint', 'id < extract(year FROM now())::int', 'id > (SELECT 5)', 'a = 5 AND id < 9', 'id IS NULL', 'id = ANY (ARRAY[1, 2]::smallint[])',
	-- volatile, converted first, of the row itself, more than one range
	'id > (random() * 5)::int', 'id > 4.5', 'id + 0 = 5', 'id = a', 'id < 5 OR id > 9', 'id <> 5', 'id <> ALL (ARRAY[1, 2])', 'id IS NOT NULL', '(id, a) > (5, 6)', 'a = 5']) clause;

-- Parameters: custom and generic plans, a null among them.
PREPARE range(int, int) AS SELECT count(*), min(id), max(id), count(a), count(b) FROM f WHERE id BETWEEN $1 AND $2;
SET plan_cache_mode = force_custom_plan;
EXECUTE range(100, 200);
SET plan_cache_mode = force_generic_plan;
EXECUTE range(100, 200);
EXECUTE range(200, 100);
EXECUTE range(NULL, 100);
EXECUTE range(29000, 2147483647);
EXPLAIN (COSTS OFF) EXECUTE range(100, 200);
RESET plan_cache_mode;
DEALLOCATE range;
PREPARE any_of(int[]) AS SELECT id FROM f WHERE id = ANY ($1);
SET plan_cache_mode = force_generic_plan;
EXECUTE any_of('{5, 700, 6, 2}');
EXECUTE any_of('{}');
EXECUTE any_of(NULL);
EXECUTE any_of('{NULL, 7}');
RESET plan_cache_mode;

-- Another range with each rescan, some left before they end.
CREATE TABLE probes AS
	SELECT i, i * 7919 % 31000 - 1000 AS low, i * 7919 % 31000 - 1000 + i * 13 % 60 AS high, i % 4 AS few FROM generate_series(1, 200) i;
CREATE TABLE joined AS SELECT * FROM o;
ALTER TABLE joined ADD PRIMARY KEY (id);
SELECT differences('SELECT i, (SELECT array_agg(s) FROM (SELECT * FROM f WHERE id BETWEEN low AND high OFFSET 0) s) FROM probes',
	'SELECT i, (SELECT array_agg(s) FROM (SELECT * FROM joined WHERE id BETWEEN low AND high ORDER BY id) s) FROM probes');
SELECT differences('SELECT i, (SELECT array_agg(id) FROM (SELECT id FROM f WHERE id > low ORDER BY id LIMIT few) s) FROM probes',
	'SELECT i, (SELECT array_agg(id) FROM (SELECT id FROM joined WHERE id > low ORDER BY id LIMIT few) s) FROM probes');
SELECT differences('SELECT i, (SELECT min(id) FROM f WHERE id IN (low, high)) FROM probes',
	'SELECT i, (SELECT min(id) FROM joined WHERE id IN (low, high)) FROM probes');

-- What was not read: errors that lie outside the range do not show.
CALL put_lines('late.csv', $$SELECT format(E'%s,%s\n', i, i) FROM generate_series(1, 50000) i$$, 'not a row');
CREATE FOREIGN TABLE late (id int OPTIONS (key 'true'), late int) SERVER files;
SELECT count(late) FROM late WHERE id < 1000;
SELECT count(late) FROM late WHERE id BETWEEN 1000 AND 1010;
SELECT late FROM late WHERE id = 30000;
SELECT (regexp_match(line, 'rows=(\d+)'))[1]::int BETWEEN 1 AND 5000 AS few_rows, (regexp_match(line, 'seeks=(\d+)'))[1] AS seeks
FROM explain('SELECT late FROM late WHERE id = 30000', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off') line WHERE line ~ 'Stream';
SELECT count(late) FROM late;

-- Text keys; a clause in another collation is no range of this order.
CREATE TABLE ta AS SELECT 'key ' || i AS id, i AS ta FROM generate_series(1, 2000) i;
CALL put_query('ta.csv', 'SELECT * FROM ta ORDER BY id COLLATE "C"');
CREATE FOREIGN TABLE t (id text OPTIONS (key 'true') COLLATE "C", ta int) SERVER files;
SELECT explain($$SELECT * FROM t WHERE id >= 'key 1990'$$);
SELECT differences($$SELECT * FROM t WHERE id >= 'key 199' AND id < 'key 2'$$, $$SELECT * FROM ta WHERE id COLLATE "C" >= 'key 199' AND id COLLATE "C" < 'key 2'$$);
SELECT differences($$SELECT * FROM t WHERE id COLLATE "en-x-icu" > 'KEY 199'$$, $$SELECT * FROM ta WHERE id COLLATE "en-x-icu" > 'KEY 199'$$);
SELECT differences($$SELECT * FROM t WHERE id LIKE 'key 19%'$$, $$SELECT * FROM ta WHERE id LIKE 'key 19%'$$);
SELECT differences($$SELECT * FROM t WHERE id IN ('key 7', 'key 700', 'no key')$$, $$SELECT * FROM ta WHERE id IN ('key 7', 'key 700', 'no key')$$);
SELECT clause, bounds(clause, 't') FROM unnest(ARRAY[
	'id = ''key 7''', 'id > ''key 7''::varchar', 'id > ''key 7'' COLLATE "C"',
	'id > ''key 7'' COLLATE "en-x-icu"', 'id = ''key 7''::name', 'id::varchar(5) = ''key 7''', 'id::bpchar = ''key 7''', 'id ~<~ ''key 7''', 'id LIKE ''key 7%''']) clause;

-- dates against timestamps
CALL put_query('d.csv', $$SELECT date '2024-01-01' + i, i FROM generate_series(0, 400) i$$);
CREATE FOREIGN TABLE d (id date OPTIONS (key 'true'), d int) SERVER files;
SELECT count(*), min(d), max(d) FROM d WHERE id > timestamp '2024-02-01 12:00';
SELECT count(*), min(d), max(d) FROM d WHERE id BETWEEN '2024-02-01' AND date '2024-02-01' + interval '3 days';
SELECT count(*), min(d), max(d) FROM d WHERE id < 'infinity' AND id > '-infinity';

-- Prefixes of a composite key.
CREATE TABLE ca AS SELECT i / 100 AS m, i % 100 AS n, i AS ca FROM generate_series(0, 9999) i WHERE i % 3 <> 0;
CALL put_query('ca.csv', 'SELECT * FROM ca ORDER BY m, n');
CREATE FOREIGN TABLE c (m int OPTIONS (key 'true'), n int OPTIONS (key 'true'), ca int OPTIONS (field '3')) SERVER files;
SELECT clause, differences('SELECT * FROM c WHERE ' || clause, format('SELECT * FROM ca WHERE %s ORDER BY m, n', clause), true)
FROM unnest(ARRAY['m = 5', 'm = 5 AND n = 7', 'm = 5 AND n > 90', 'm > 5 AND n = 7 AND m < 9', 'n = 7', 'm BETWEEN 5 AND 6 AND n BETWEEN 98 AND 99',
	'm = 5 AND n IN (1, 2, 98)', 'm IN (3, 4) AND n = 1', '(m, n) = (5, 7)', '(m, n) >= (98, 50)', '(m, n) < (0, 5)', '(m, n) IN ((1, 1), (50, 50))', 'm = 5 AND n = NULL', 'm >= 99 AND n >= 97', 'm = n AND m < 5']) clause;
SELECT explain('SELECT * FROM c WHERE m = 5 AND n > 90');
