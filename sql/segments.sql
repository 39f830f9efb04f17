--
-- Segments: a glob or a folder names several files that are one stream.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test segments
\i :prelude

\! mkdir "$DIR"/part "$DIR"/mixed "$DIR"/empty
CALL put('part/2024.csv', E'1,a\n2,b\n');
CALL put('part/2025.csv', E'3,c\n5,e\n');
CALL put('part/2026.csv', E'7,g\n');
CALL put('w.csv', E'2,w2\n4,w4\n');
-- a folder
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text OPTIONS (filename 'part/'), w text) SERVER files;
SELECT * FROM f;
SELECT * FROM f WHERE id BETWEEN 3 AND 5;
-- a glob
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'part/202[45].csv');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'p*/*6.csv');
SELECT * FROM f;
-- that matches nothing
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'part/1*.csv');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'nowhere/');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'empty/');
SELECT * FROM f;
-- files may come and go between scans
CALL put('empty/new.csv', E'9,new\n');
SELECT * FROM f;
\! rm "$DIR"/empty/new.csv

-- Hidden names, names that begin with "_", and unknown extensions are passed
-- over; formats and compressions may mix.
CALL put('mixed/a.csv', E'1,csv\n');
CALL put('mixed/b.tsv', E'2\ttsv\n');
CALL put('mixed/c.txt', E'3\ttxt\n');
\! printf '4,gzip\n' | gzip > "$DIR"/mixed/d.csv.gz
CALL put('mixed/.hidden.csv', 'not,a,row');
CALL put('mixed/_temporary.csv', 'not,a,row');
CALL put('mixed/README.md', 'not a row');
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'mixed/');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'mixed/*');
SELECT * FROM f;
-- with a format declared every extension counts
CALL put('mixed/README.md', E'5,md\n');
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'mixed/*.md', ADD format 'csv');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (DROP format);

-- Segments may overlap and interleave, in any order of their names.
CALL put('part/2024.csv', E'5,a5\n9,a9\n');
CALL put('part/2025.csv', E'1,b1\n6,b6\n10,b10\n');
CALL put('part/2026.csv', E'2,c2\n7,c7\n');
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'part/');
SELECT * FROM f;
SELECT * FROM f WHERE id > 6;
-- a key in two segments is a repeated key; first and last go by the names
CALL put('part/2026.csv', E'2,c2\n6,c6\n7,c7\n');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (ADD duplicates 'first');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET duplicates 'last');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET duplicates 'all');
SELECT * FROM f ORDER BY id, v;
ALTER FOREIGN TABLE f ALTER v OPTIONS (DROP duplicates);
-- each segment's order is checked, and the error names the segment
CALL put('part/2026.csv', E'7,c7\n2,c2\n');
SELECT * FROM f;
-- not needed where it is sorted on the fly
ALTER FOREIGN TABLE f ALTER v OPTIONS (ADD sorted 'false');
SELECT * FROM f;
-- a header in each
CALL put('part/2024.csv', E'id,v\n1,a\n');
CALL put('part/2025.csv', E'v,id\nb,2\n');
CALL put('part/2026.csv', E'id,note,v\n3,,c\n');
CREATE FOREIGN TABLE h (id int OPTIONS (key 'true'), v text OPTIONS (filename 'part/', header 'true'),
	note text OPTIONS (filename 'part/2026.csv', header 'true')) SERVER files;
SELECT * FROM h;

-- Two columns of the same segments share them.
\! mkdir "$DIR"/two
CALL put('two/1.csv', E'1,10,x\n2,20,y\n');
CALL put('two/2.csv', E'3,30,\n');
CREATE FOREIGN TABLE two (id int OPTIONS (key 'true'), a int OPTIONS (filename 'two/', field '2'), b text OPTIONS (filename 'two/', field '3')) SERVER files;
SELECT * FROM two;
EXPLAIN (COSTS OFF) SELECT * FROM two;

-- 300 of them: disjoint, and all interleaved.
\! mkdir "$DIR"/disjoint "$DIR"/interleaved "$DIR"/unsorted
DO $$
BEGIN
	FOR n IN 0 .. 299
	LOOP
		CALL put_query(format('disjoint/%s.csv', to_char(n, 'FM000')), format('SELECT %s + i, i FROM generate_series(0, 9) i', n * 10));
		-- names do not follow the keys
		CALL put_query(format('unsorted/%s.csv', to_char(n * 7 % 300, 'FM000')), format('SELECT %s + i, i FROM generate_series(0, 9) i', n * 10));
		CALL put_query(format('interleaved/%s.csv', to_char(n, 'FM000')), format('SELECT %s + i * 300, i FROM generate_series(0, 9) i', n));
	END LOOP;
END $$;
CREATE FOREIGN TABLE s300 (id int OPTIONS (key 'true'), d int OPTIONS (filename 'disjoint/'),
	i int OPTIONS (filename 'interleaved/*.csv'), u int OPTIONS (filename 'unsorted/')) SERVER files;
SELECT count(*), count(d), count(i), count(u), sum(d), sum(i), sum(u) FROM s300;
SELECT differences('TABLE s300', 'SELECT n AS id, n % 10, n / 300, n % 10 FROM generate_series(0, 2999) n', true);
SELECT * FROM s300 WHERE id BETWEEN 1499 AND 1501;
SELECT * FROM s300 WHERE id IN (0, 299, 300, 2999);
SET outerjoin_fdw.batch_rows = 2;
SELECT differences('TABLE s300', 'SELECT n AS id, n % 10, n / 300, n % 10 FROM generate_series(0, 2999) n', true);
RESET outerjoin_fdw.batch_rows;

-- A name that is no text in the database's encoding gets into no message.
\! mkdir "$DIR"/names && printf '1,a\n' > "$DIR"/names/grün.csv && printf '2,b\n' > "$DIR"/names/"$(printf 'gr\374n.bak')"
CREATE FOREIGN TABLE names (id int OPTIONS (key 'true'), v text OPTIONS (filename 'names/')) SERVER files;
SELECT * FROM names;
\! printf 'x,b\n' > "$DIR"/names/"$(printf 'gr\374n.csv')"
SELECT * FROM names;  -- error
ALTER FOREIGN TABLE names ALTER v OPTIONS (SET filename 'na*/*.csv');
EXPLAIN SELECT * FROM names;  -- error
