--
-- EXPLAIN: what each stream is, what is done with it, and what it cost.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test explain
\i :prelude

CALL put('colour.csv', E'1,red\n2,green\n4,red\n6,blue\n');
CALL put('length.csv', E'2,28\n3,9\n4,17\n6,11\n');
\! cd "$DIR" && mkdir mass && printf '1,87.9\n' > mass/1.csv && printf '2,21\n3,107\n' | gzip > mass/2.csv.gz
CALL put('ids.csv', E'1\n2\n8\n');
CREATE FOREIGN TABLE props (
	id bigint OPTIONS (key 'true', filename 'ids.csv'), colour text, length integer,
	mass real OPTIONS (filename 'mass/'),
	shape text OPTIONS (program $$printf '1,round\n'$$)
) SERVER files;

SELECT explain('SELECT * FROM props');
SELECT explain('SELECT colour FROM props WHERE id > 2');
SELECT explain('SELECT count(*) FROM props');
SELECT explain('SELECT mass FROM props WHERE colour = ''red'' AND length IS NOT NULL');
SELECT explain('SELECT colour FROM props WHERE id BETWEEN 2 AND 4', ', VERBOSE');
PREPARE p(bigint) AS SELECT colour FROM props WHERE id >= $1 AND length > 3;
SET plan_cache_mode = force_generic_plan;
SELECT explain('EXECUTE p(2)');
RESET plan_cache_mode;

-- With ANALYZE: rows read, blocks read and skipped, seeks.
SELECT explain('SELECT * FROM props', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');
SELECT explain('SELECT colour FROM props WHERE id = 2', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');
SELECT explain('SELECT * FROM props WHERE id > 3 AND id < 2', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');
SELECT explain('SELECT r, (SELECT colour FROM props WHERE id = r) FROM generate_series(1, 3) r', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');
SELECT explain('SELECT * FROM props LIMIT 1', ', ANALYZE, TIMING off, SUMMARY off, BUFFERS off');

-- The structured formats.
SELECT explain('SELECT colour, mass FROM props WHERE id >= 2', ', FORMAT json');
SELECT explain('SELECT colour, mass FROM props WHERE id >= 2', ', FORMAT yaml');
SELECT explain('SELECT colour, mass FROM props WHERE id >= 2', ', FORMAT xml');
-- every one of them is well formed, with counters too
CREATE FUNCTION explain_json(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS off, COSTS off, TIMING off, SUMMARY off, FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan';
END $$;
SELECT key FROM json_object_keys(explain_json('SELECT colour, mass FROM props WHERE id >= 2')) key
WHERE key <> 'Disabled' ORDER BY key COLLATE "C";
SELECT stream->>'Column' AS stream, stream->>'Rows Read' AS rows, stream->>'Blocks Read' AS blocks, stream->>'Blocks Skipped' AS skipped, stream->>'Seeks' AS seeks
FROM json_array_elements(explain_json('SELECT colour, mass FROM props WHERE id >= 2')->'Streams') stream;
-- each element that is opened is closed
SELECT name, open - close AS left_open
FROM (SELECT tag[2] AS name, count(*) FILTER (WHERE tag[1] = '') AS open, count(*) FILTER (WHERE tag[1] = '/') AS close
	  FROM explain('SELECT colour FROM props WHERE id >= 2', ', ANALYZE, FORMAT xml') line, regexp_matches(line, '<(/?)([\w-]+)[^>]*>', 'g') tag GROUP BY 1) t
WHERE name IN ('explain', 'Streams', 'Stream', 'Rows-Read', 'Seeks') ORDER BY name COLLATE "C";

-- A file that is not there is no reason not to plan.
\! rm "$DIR"/length.csv
SELECT explain('SELECT colour FROM props');
SELECT explain('SELECT * FROM props');
SELECT * FROM props;
ALTER FOREIGN TABLE props ALTER length OPTIONS (ADD filename 'length.csv');
SELECT explain('SELECT length FROM props');
SELECT stream->>'Column' AS stream, stream->>'File' AS file, stream->>'Segments' AS segments, stream->>'Format' AS format
FROM explain('SELECT length FROM props', ', FORMAT json') plan, json_array_elements(plan::json->0->'Plan'->'Streams') stream;
SELECT length FROM props;
