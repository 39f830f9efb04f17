--
-- From the end to the top: ORDER BY id DESC reads the files' ends first,
-- where all of them can be read so.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test backward
\i :prelude
\setenv SOURCE :abs_srcdir

CREATE TABLE a AS SELECT i AS id, i * 2 AS a FROM generate_series(1, 30000) i WHERE i % 3 <> 0;
CREATE TABLE b AS SELECT i AS id, 'b' || i AS b FROM generate_series(1, 29998) i WHERE i % 7 <> 0;
CALL put_query('a.csv', 'SELECT * FROM a ORDER BY id');
CALL put_query('b.csv', 'SELECT * FROM b ORDER BY id');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int, b text) SERVER files;
CREATE VIEW o AS SELECT id, a, b FROM a FULL JOIN b USING (id);
SELECT * FROM f ORDER BY id DESC LIMIT 4;
SELECT explain('SELECT * FROM f ORDER BY id DESC LIMIT 4');
-- only the ends are read
SELECT explain('SELECT * FROM f ORDER BY id DESC LIMIT 4', ', ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF');
SELECT differences('SELECT * FROM f ORDER BY id DESC', 'SELECT * FROM o ORDER BY id DESC', true);
SELECT differences('SELECT * FROM f ORDER BY id DESC LIMIT 7 OFFSET 20000', 'SELECT * FROM o ORDER BY id DESC LIMIT 7 OFFSET 20000', true);
-- the direction is a word of its own for programs
CREATE FUNCTION explain_json(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan';
END $$;
SELECT explain_json('SELECT id FROM f ORDER BY id DESC')->'Scan Direction' AS down, explain_json('SELECT id FROM f ORDER BY id')->'Scan Direction' AS up;
-- without
SET outerjoin_fdw.backward = off;
SELECT explain('SELECT * FROM f ORDER BY id DESC LIMIT 4');
RESET outerjoin_fdw.backward;
-- which queries have a use for it
SELECT query, sorts(query), direction FROM unnest(ARRAY[
	'SELECT a FROM f ORDER BY id DESC', 'SELECT * FROM f ORDER BY id DESC NULLS LAST', 'SELECT * FROM f ORDER BY id USING >',
	'SELECT row_number() OVER (ORDER BY id DESC), b FROM f', 'SELECT DISTINCT ON (id) * FROM f ORDER BY id DESC',
	'SELECT * FROM f WHERE a > 5 ORDER BY id DESC LIMIT 1', 'SELECT * FROM (SELECT id AS x, b FROM f) s ORDER BY x DESC',
	'SELECT * FROM f ORDER BY id', 'SELECT * FROM f', 'SELECT * FROM f ORDER BY a DESC', 'SELECT * FROM f ORDER BY -id']) query,
	LATERAL (SELECT coalesce(bool_or(line ~ 'Scan Direction'), false) AS direction FROM explain(query) line) e;

-- min and max are the first row of either end.
SELECT min(id), max(id) FROM f;
SELECT explain FROM explain('SELECT min(id), max(id) FROM f', ', ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF') WHERE explain !~ 'InitPlan';
SELECT max(id) FROM f WHERE id < 100;
SELECT max(id) FROM f WHERE id < 1;

-- Ranges: a seek to the upper end.
SELECT explain('SELECT * FROM f WHERE id <= 15001 ORDER BY id DESC LIMIT 3', ', ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF');
SELECT * FROM f WHERE id <= 15001 ORDER BY id DESC LIMIT 3;
SELECT * FROM f WHERE id < 15001 AND id > 14998 ORDER BY id DESC;
SELECT * FROM f WHERE id > 29998 ORDER BY id DESC;
SELECT * FROM f WHERE id = 20 ORDER BY id DESC;
SELECT * FROM f WHERE id > 5 AND id < 3 ORDER BY id DESC;
CREATE FUNCTION wrong_ranges(step int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM generate_series(-1, 30001, step) n, unnest(ARRAY[
		format('id <= %s', n), format('id < %s', n), format('id >= %s', n), format('id > %s', n),
		format('id BETWEEN %s AND %s', n - 50, n)]) condition
	WHERE differences(format('SELECT * FROM f WHERE %s ORDER BY id DESC LIMIT 9', condition),
					  format('SELECT * FROM o WHERE %s ORDER BY id DESC LIMIT 9', condition), true) > 0
$$;
SELECT wrong_ranges(2999);
SET outerjoin_fdw.batch_rows = 3;
SELECT wrong_ranges(7499);
SET outerjoin_fdw.block_size = 64;
SELECT wrong_ranges(14999);
SELECT differences('SELECT * FROM f ORDER BY id DESC', 'SELECT * FROM o ORDER BY id DESC', true);
RESET outerjoin_fdw.batch_rows;
RESET outerjoin_fdw.block_size;
-- again and again
SELECT n, (SELECT id FROM f WHERE id <= n ORDER BY id DESC LIMIT 1), (SELECT id FROM f WHERE id >= n ORDER BY id LIMIT 1)
FROM generate_series(30001, -9999, -7000) n;

-- Partitions, the last one first; a merge join, both sides from their ends.
CALL put('low.csv', E'1,a\n2,b\n50,c\n');
CALL put('high.csv', E'100,d\n101,e\n150,f\n');
CREATE TABLE parts (id int, v text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE low (id int OPTIONS (key 'true'), v text OPTIONS (filename 'low.csv')) SERVER files;
CREATE FOREIGN TABLE high (id int OPTIONS (key 'true'), v text OPTIONS (filename 'high.csv')) SERVER files;
ALTER TABLE parts ATTACH PARTITION low FOR VALUES FROM (0) TO (100);
ALTER TABLE parts ATTACH PARTITION high FOR VALUES FROM (100) TO (200);
SELECT * FROM parts ORDER BY id DESC LIMIT 4;
SELECT explain('SELECT * FROM parts ORDER BY id DESC LIMIT 4');
SELECT max(id), min(id) FROM parts;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT explain('SELECT * FROM f JOIN parts USING (id) ORDER BY id DESC LIMIT 3');
SELECT * FROM f JOIN parts USING (id) ORDER BY id DESC LIMIT 3;
RESET enable_hashjoin;
RESET enable_nestloop;
-- a parameter's range
PREPARE down(int) AS SELECT id, b FROM f WHERE id <= $1 ORDER BY id DESC LIMIT 1;
SET plan_cache_mode = force_generic_plan;
SELECT explain('EXECUTE down(100)');
EXECUTE down(100);
EXECUTE down(10000);
EXECUTE down(0);
EXECUTE down(NULL);
RESET plan_cache_mode;

-- A cursor may go to and fro.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, b FROM f ORDER BY id DESC;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
FETCH BACKWARD 1 FROM c;
FETCH NEXT FROM c;
COMMIT;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, b FROM f;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
COMMIT;

-- Each format.  The rows are the same both ways; a file that cannot be read
-- from its end is sorted.
CREATE FUNCTION both_ways(name regclass, upward text DEFAULT 'id', downward text DEFAULT 'id DESC') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	up text[];
	down text[];
	same bool;
	batch_rows int;
	query text := format('SELECT * FROM %s ORDER BY %s', name, downward);
BEGIN
	FOREACH batch_rows IN ARRAY ARRAY[0, 1, 3, 1000]
	LOOP
		PERFORM set_config('outerjoin_fdw.batch_rows', batch_rows::text, true);
		EXECUTE format('SELECT array_agg(t::text) FROM (SELECT * FROM %s ORDER BY %s) t', name, upward) INTO up;
		EXECUTE format('SELECT array_agg(t::text) FROM (%s) t', query) INTO down;
		same := (same IS NOT false) AND up IS NOT DISTINCT FROM
			(SELECT array_agg(row ORDER BY n DESC) FROM unnest(down) WITH ORDINALITY u (row, n));
	END LOOP;
	RETURN format('%s rows, %s, %s', coalesce(cardinality(up), 0), CASE WHEN same THEN 'the same' ELSE 'OTHERS' END,
				  CASE WHEN sorts(query) THEN 'sorted' ELSE 'from the end' END);
END $$;
CREATE FUNCTION both_ways_of(file text, options text DEFAULT '', type text DEFAULT 'text') RETURNS text
LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	DROP FOREIGN TABLE IF EXISTS t;
	EXECUTE format('CREATE FOREIGN TABLE t (id bigint OPTIONS (key ''true''), v %s OPTIONS (filename %L%s)) SERVER files', type, file, options);
	RETURN both_ways('t');
END $$;
CALL put('plain.csv', E'1,a\n2,b\n3,c\n');
SELECT both_ways_of('plain.csv');
CALL put('odd.csv', E'\uFEFFid,v\r\n1,a\r\n2,"b\r\nb"\r\n3,"c""c"\r\n4,"\r\n\r\n"\r\n5,e');
SELECT both_ways_of('odd.csv', ', header ''true''');
SELECT * FROM t ORDER BY id DESC LIMIT 2;
CALL put('blank.csv', E'a comment\ranother\r\nid,v\n1,a\n2,b\n\n\n\n');
SELECT both_ways_of('blank.csv', ', header ''true'', skip ''2''');
CALL put('cr.csv', E'1,a\r2,b\r3,c');
SELECT both_ways_of('cr.csv');
CALL put('empty.csv', '');
SELECT both_ways_of('empty.csv');
CALL put('head.csv', E'id,v\n');
SELECT both_ways_of('head.csv', ', header ''true''');
SELECT both_ways_of('odd.csv', ', header ''true'', multiline ''true''');
-- with an escape of its own a quote says nothing of what precedes it: the file is looked through
CALL put('escape.csv', E'1,a\n2,"b\\"b"\n3,c\n');
SELECT both_ways_of('escape.csv', E', escape ''\\''');
-- and what the plan did not know the scan sorts
CALL put('breaks.csv', E'1,a\n2,"b\n3,b"\n4,"c\\""\n');
SELECT both_ways_of('breaks.csv', E', escape ''\\''');
SELECT * FROM t ORDER BY id DESC LIMIT 2;
-- the text format: a line end behind a backslash is data, "\." is the end
CALL put('text.tsv', E'1\ta\n2\tb\\\nb\n3\tc\\\\\n4\td\n\\.\nno data\n');
SELECT both_ways_of('text.tsv');
SELECT * FROM t ORDER BY id DESC LIMIT 2;
SELECT * FROM t WHERE id < 4 ORDER BY id DESC LIMIT 2;
CALL put('last.tsv', E'1\ta\n2\tb\n\\.\n\n');
SELECT both_ways_of('last.tsv');
SELECT both_ways_of('last.tsv', ', multiline ''false''');
CALL put('cut.tsv', E'1\ta\n2\tb\n\\.');
SELECT both_ways_of('cut.tsv', ', multiline ''false''');
-- other encodings, compression, programs, no order
CALL put_bytes('latin.csv', convert_to(E'1,\u00e4\n2,\u00f6\n3,c\n', 'LATIN1'));
SELECT both_ways_of('latin.csv', ', encoding ''LATIN1''');
\! gzip < "$DIR"/plain.csv > "$DIR"/packed.csv.gz
SELECT both_ways_of('packed.csv.gz');
CALL put('mixed.csv', E'2,b\n3,c\n1,a\n');
SELECT both_ways_of('mixed.csv', ', sorted ''false''');
CREATE FOREIGN TABLE p (id int OPTIONS (key 'true'), v text OPTIONS (program 'printf ''1,a\n2,b\n''')) SERVER files;
SELECT both_ways('p');
ALTER FOREIGN TABLE p ALTER v OPTIONS (ADD sorted 'false');
SELECT both_ways('p');
-- one of them is enough
CREATE FOREIGN TABLE m (id int OPTIONS (key 'true'), plain text, packed text) SERVER files;
SELECT both_ways('m');
-- Arrow: files and streams, of several record batches, compressed or not
\! cp "$SOURCE"/sql/data/arrow/*.arrow* "$DIR"
SELECT file, both_ways_of(file, ', field ''2''') FROM unnest(ARRAY['polars_batches.arrow', 'js_batches.arrow', 'js_stream.arrows', 'dictionary_batches.arrow',
	'dictionary_compressed.arrow', 'dictionary_deltas.arrow', 'dictionary_delta.arrows', 'dictionary_replaced.arrows', 'large_batches.arrow']) file;

-- Composite keys, each column in a direction of its own; turned round, all are.
CREATE TABLE n AS SELECT i / 5 AS x, chr(97 + i % 5) AS y, i AS n FROM generate_series(0, 99) i;
CALL put_query('n.csv', 'SELECT * FROM n ORDER BY x, y DESC');
CREATE FOREIGN TABLE composite (x int OPTIONS (key 'true'), y text OPTIONS (key 'true', descending 'true') COLLATE "C", n int) SERVER files;
SELECT both_ways('composite', 'x, y DESC', 'x DESC, y');
SELECT query, sorts(query) FROM unnest(ARRAY['SELECT * FROM composite ORDER BY x DESC', 'SELECT * FROM composite ORDER BY x DESC, y',
	'SELECT * FROM composite WHERE x = 5 ORDER BY y', 'SELECT * FROM composite ORDER BY x DESC, y DESC', 'SELECT * FROM composite ORDER BY y']) query;
SELECT * FROM composite WHERE x = 5 AND y >= 'c' ORDER BY y;
SELECT * FROM composite WHERE x <= 5 AND y > 'c' ORDER BY x DESC, y LIMIT 3;
-- a column that descends in the files
CALL put('down.csv', E'3,c\n2,b\n1,a\n');
CREATE FOREIGN TABLE down (id int OPTIONS (key 'true', descending 'true'), down text) SERVER files;
SELECT both_ways('down', 'id DESC', 'id');
SELECT min(id), max(id) FROM down;
SELECT * FROM down WHERE id > 1 ORDER BY id LIMIT 1;
-- images that say nothing, or not all
CALL put('numeric.csv', E'-1e30,a\n-2.5,b\n0,c\n1.0,d\n1.01,e\n1e30,f\n');
CREATE FOREIGN TABLE numbers (id numeric OPTIONS (key 'true'), v text OPTIONS (filename 'numeric.csv')) SERVER files;
SELECT both_ways('numbers');
SELECT * FROM numbers WHERE id <= 1.0 ORDER BY id DESC LIMIT 2;
CALL put('times.csv', E'00:00:01+01,a\n00:00:01,b\n23:00:00-01,c\n');
CREATE FOREIGN TABLE times (id timetz OPTIONS (key 'true'), v text OPTIONS (filename 'times.csv')) SERVER files;
SET TimeZone = 'UTC';
SELECT both_ways('times');
SELECT id, v FROM times WHERE id < '23:00:00-01' ORDER BY id DESC;

-- Keys that compare equal: the first stream's spelling, whichever way.
CALL put('one.csv', E'1.0,x\n3,y\n');
CALL put('two.csv', E'1.00,p\n2.0,q\n3.000,r\n');
CREATE FOREIGN TABLE spelt (id numeric OPTIONS (key 'true'), one text, two text) SERVER files;
SELECT * FROM spelt ORDER BY id DESC;

-- Repeated keys: "first" and "last" are those of the file.
CALL put('d.csv', E'1,a\n2,b1\n2,b2\n2,b3\n3,c\n3,d\n');
CREATE FOREIGN TABLE d (id int OPTIONS (key 'true'), d text) SERVER files;
SELECT * FROM d ORDER BY id DESC;
ALTER FOREIGN TABLE d ALTER d OPTIONS (ADD duplicates 'first');
SELECT both_ways('d');
SELECT * FROM d ORDER BY id DESC;
ALTER FOREIGN TABLE d ALTER d OPTIONS (SET duplicates 'last');
SELECT both_ways('d');
SELECT * FROM d ORDER BY id DESC;
ALTER FOREIGN TABLE d ALTER d OPTIONS (SET duplicates 'all');
SELECT * FROM d ORDER BY id DESC, d;
ALTER FOREIGN TABLE d ALTER d OPTIONS (ADD sorted 'false', SET duplicates 'first');
SELECT both_ways('d');
SELECT * FROM d ORDER BY id DESC;

-- Segments, one behind the other or not.
\! mkdir "$DIR"/s
CALL put('s/1.csv', E'1,a\n2,b\n3,c\n');
CALL put('s/2.csv', E'4,d\n5,e\n');
CALL put('s/3.csv', E'7,g\n9,i\n');
CREATE FOREIGN TABLE s (id int OPTIONS (key 'true'), v text OPTIONS (filename 's/')) SERVER files;
SELECT both_ways('s');
SELECT * FROM s WHERE id < 5 ORDER BY id DESC LIMIT 2;
CALL put('s/4.csv', E'0,z\n6,f\n8,h\n');
\! : > "$DIR"/s/5.csv
SELECT both_ways('s');
CALL put('s/6.csv', E'4,d6\n9,i6\n');
SELECT * FROM s ORDER BY id DESC;
ALTER FOREIGN TABLE s ALTER v OPTIONS (ADD duplicates 'first');
SELECT both_ways('s');
SELECT * FROM s WHERE id IN (4, 9) ORDER BY id DESC;
ALTER FOREIGN TABLE s ALTER v OPTIONS (SET duplicates 'last');
SELECT both_ways('s');
SELECT * FROM s WHERE id IN (4, 9) ORDER BY id DESC;
-- of a text file and Arrow, of what can be read from its end and what cannot
\! cp "$DIR"/polars_batches.arrow "$DIR"/s/7.arrow
ALTER FOREIGN TABLE s ALTER v OPTIONS (ADD field '2');
SELECT both_ways('s');
\! rm "$DIR"/s/*; cp "$DIR"/plain.csv "$DIR"/s/1.csv; printf '4,d\n5,e\n' | gzip > "$DIR"/s/2.csv.gz
SELECT both_ways('s');

-- Order is checked from this side as well; what is said is said of the file.
CALL put('v.csv', E'1,a\n2,b\n5,e\n4,d\n6,f\n');
CREATE FOREIGN TABLE v (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;
SELECT * FROM v ORDER BY id DESC LIMIT 1;
SET outerjoin_fdw.batch_rows = 1;
SELECT * FROM v ORDER BY id DESC LIMIT 1;
SELECT * FROM v ORDER BY id DESC;
RESET outerjoin_fdw.batch_rows;
CALL put('v.csv', E'3,c\n2,b\n1,a\n');
SELECT * FROM v ORDER BY id DESC;
CALL put('v.csv', E'1,a\n10,"b\nb"\n9,c\n');
SELECT * FROM v ORDER BY id DESC;
SELECT * FROM v WHERE id < 100 ORDER BY id DESC;
CALL put('v.csv', E'1,a\n2,"b\nb"\n2,c\n3,d\n');
SELECT * FROM v ORDER BY id DESC;
-- other faults, too
CALL put('v.csv', E'1,a\n2,"b\nb"\n,c\n3,d\n');
SELECT * FROM v ORDER BY id DESC;
CALL put('v.csv', E'1,a\n2,"b\nb"\n\n3,d\n');
SELECT * FROM v ORDER BY id DESC;
CALL put('v.csv', E'1,a\n2,b"\n3,d\n');
SELECT * FROM v ORDER BY id DESC;
CALL put('v.csv', E'1,a\n2,b\nx,c\n4,d\n');
SELECT * FROM v ORDER BY id DESC;
CALL put('v.csv', E'1,a\n4,"b\n3,b"\n2,"c\\""\n');
ALTER FOREIGN TABLE v OPTIONS (escape E'\\');
SELECT * FROM v ORDER BY id DESC;
CREATE FOREIGN TABLE unsorted (id bigint OPTIONS (key 'true'), v text OPTIONS (filename 'key_unsorted_batches.arrow')) SERVER files;
SELECT * FROM unsorted ORDER BY id DESC;
