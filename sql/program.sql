--
-- program: a shell command whose output is the file.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test program
\i :prelude

CALL put('w.csv', E'2,w2\n3,w3\n');
CREATE FOREIGN TABLE f (
	id int OPTIONS (key 'true'),
	v text OPTIONS (program $$printf '1,a\n2,"b, c"\n'$$),
	w text
) SERVER files;
SELECT * FROM f;
SELECT * FROM f WHERE id = 2;
SELECT count(*) FROM f;
-- run again for each rescan
SELECT n, (SELECT v FROM f WHERE id = n) FROM generate_series(1, 3) n;
-- options as for a file
CREATE FOREIGN TABLE g (
	id int OPTIONS (key 'true'),
	v text OPTIONS (program $$printf 'id\tv\n2\tb\n1\ta\n'$$, format 'text', header 'true', sorted 'false')
) SERVER files;
SELECT * FROM g;
-- no output is no rows
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program 'true');
SELECT * FROM f;
-- its failure is an error: before the first row, and after the last
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program 'exit 3');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program $$printf '1,a\n'; exit 4$$);
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program 'printf ''1,a\n''; kill -9 $$');
SELECT * FROM f;
-- but not that nobody read it to the end
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program $$seq 1 3000000 | sed 's/$/,v/'$$);
SELECT * FROM f LIMIT 3;
SELECT * FROM f WHERE id < 3;
SELECT count(*), count(v), sum(id) FROM f WHERE id <= 100000;
-- an order that is wrong is found
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program $$printf '2,a\n1,b\n'$$);
SELECT * FROM f;
-- EXPLAIN does not run it
\set program 'touch "' :dir '/ran"'
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program :'program');
EXPLAIN (COSTS OFF) SELECT * FROM f;
SELECT count(*) FROM pg_ls_dir(:'dir') name WHERE name = 'ran';
SELECT count(*) FROM f;
SELECT count(*) FROM pg_ls_dir(:'dir') name WHERE name = 'ran';
-- a program that is started again in a savepoint outlives it with its cursor
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET program $$seq 1 100000 | sed 's/$/,v/'$$);
SET enable_material = off;
BEGIN;
DECLARE c CURSOR FOR SELECT r, id, v FROM generate_series(1, 3) r, LATERAL (SELECT id, v FROM f WHERE id > r OFFSET 0) q;
FETCH 1 FROM c;
SAVEPOINT a;
MOVE 99998 IN c;
FETCH 2 FROM c;
ROLLBACK TO a;
FETCH 1 FROM c;
MOVE 90000 IN c;
FETCH 1 FROM c;
SAVEPOINT b;
MOVE 20000 IN c;
FETCH 1 FROM c;
ROLLBACK TO b;
CLOSE c;
COMMIT;
-- in a loop of scans that fail halfway, too
CREATE FUNCTION failures(query text, rounds int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	FOR i IN 1 .. rounds LOOP
		BEGIN
			EXECUTE query;
		EXCEPTION WHEN division_by_zero THEN
			n := n + 1;
		END;
	END LOOP;
	RETURN n;
END $$;
SELECT failures('SELECT count(1 / (id - 10)) FROM f', 20);
SELECT count(*) FROM f;
