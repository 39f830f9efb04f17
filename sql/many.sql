--
-- Wide tables: 1,590 streams of a table, 1,500 columns of a file.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test many
\i :prelude

-- Stream n holds n * id for each id up to 40 where n + id is a multiple of 3.
CREATE PROCEDURE make_streams(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n
	LOOP
		CALL put_query(format('c%s.csv', i), format('SELECT id, %s * id FROM generate_series(1, 40) id WHERE (id + %s) %% 3 = 0', i, i));
	END LOOP;
	EXECUTE format('CREATE FOREIGN TABLE streams (id int OPTIONS (key ''true''), %s) SERVER files',
		(SELECT string_agg(format('c%s int', i), ', ' ORDER BY i) FROM generate_series(1, n) i));
END $$;
CALL make_streams(1590);
SELECT count(*) FROM streams;
SELECT id, c1, c2, c3, c1589, c1590 FROM streams ORDER BY id LIMIT 4;
-- all sums: of n * id over the ids that stream n has
CREATE FUNCTION wrong_sums(relation regclass, n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	sums bigint[];
BEGIN
	EXECUTE format('SELECT ARRAY[%s] FROM %s', (SELECT string_agg(format('sum(c%s)', i), ', ' ORDER BY i) FROM generate_series(1, n) i), relation) INTO sums;
	RETURN (SELECT count(*) FROM generate_series(1, n) i
			WHERE sums[i] IS DISTINCT FROM (SELECT i * sum(id) FROM generate_series(1, 40) id WHERE (id + i) % 3 = 0));
END $$;
SELECT wrong_sums('streams', 1590);
SELECT count(*), sum((SELECT count(value) FROM json_each_text(row_to_json(s)))) FROM streams s;
SELECT c7, c8 FROM streams WHERE id = 20;
-- again and again
SELECT n, (SELECT c500 FROM streams WHERE id = n) FROM generate_series(1, 4) n;

-- The same values as fields of one file.
CREATE PROCEDURE make_fields(n int) LANGUAGE plpgsql AS $$
DECLARE
	list text;
BEGIN
	SELECT string_agg(format(', CASE WHEN (id + %s) %% 3 = 0 THEN %s * id END AS c%s', i, i, i), '' ORDER BY i)
		INTO list FROM generate_series(1, n) i;
	CALL put_query('fields.csv', format('SELECT id%s FROM generate_series(1, 40) id', list), 'format csv, header');
	EXECUTE format('CREATE FOREIGN TABLE fields (id int OPTIONS (key ''true''), %s) SERVER files OPTIONS (header ''match'')',
		(SELECT string_agg(format('c%s int OPTIONS (filename ''fields.csv'')', i), ', ' ORDER BY i) FROM generate_series(1, n) i));
END $$;
CALL make_fields(1500);
SELECT count(*), count(c1), count(c1500) FROM fields;
SELECT wrong_sums('fields', 1500);
SELECT id, c3, c1500 FROM fields WHERE id BETWEEN 3 AND 6;
