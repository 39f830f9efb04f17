--
-- gzip, zstd and lz4 around a CSV or text file: all members and frames, and
-- never a short answer from a cut or damaged one.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test compression
\i :prelude

CREATE TABLE plain AS SELECT i * 3 AS id, 'value ' || md5(i::text) AS v FROM generate_series(1, 5000) i;
CALL put_query('plain.csv', 'SELECT * FROM plain ORDER BY id');
CREATE FOREIGN TABLE gz (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv.gz')) SERVER files;
CREATE FOREIGN TABLE zst (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv.zst')) SERVER files;
CREATE FOREIGN TABLE lz4 (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv.lz4')) SERVER files;

-- One member each.
\! cd "$DIR" && gzip -c plain.csv > v.csv.gz && zstd -q -c plain.csv > v.csv.zst && lz4 -q -c plain.csv > v.csv.lz4
SELECT differences('TABLE gz', 'TABLE plain', true), differences('TABLE zst', 'TABLE plain', true), differences('TABLE lz4', 'TABLE plain', true);
SELECT differences('SELECT * FROM gz WHERE id BETWEEN 5000 AND 6000', 'SELECT * FROM plain WHERE id BETWEEN 5000 AND 6000', true);

-- Extensions in capitals are the same extensions.
ALTER FOREIGN TABLE gz ALTER v OPTIONS (SET filename 'v.CSV.GZ');
\! cd "$DIR" && mv v.csv.gz v.CSV.GZ
SELECT differences('TABLE gz', 'TABLE plain', true);
ALTER FOREIGN TABLE gz ALTER v OPTIONS (SET filename 'v.csv.gz');

-- Several, which end in the middle of a line; an empty one among them.
\! cd "$DIR" && head -c 100001 plain.csv > 1 && tail -c +100002 plain.csv > 2 && : > 0
\! cd "$DIR" && for f in 1 0 2; do gzip -c $f; done > v.csv.gz
\! cd "$DIR" && for f in 1 0 2; do zstd -q -c $f; done > v.csv.zst
\! cd "$DIR" && for f in 1 0 2; do lz4 -q -c $f; done > v.csv.lz4
SELECT differences('TABLE gz', 'TABLE plain', true), differences('TABLE zst', 'TABLE plain', true), differences('TABLE lz4', 'TABLE plain', true);
-- other levels and frame options
\! cd "$DIR" && gzip -1 -n -c plain.csv > v.csv.gz && zstd -q -19 --no-check -c < plain.csv > v.csv.zst && lz4 -q -9 -BD -B4 -BX --content-size -c plain.csv > v.csv.lz4
SELECT differences('TABLE gz', 'TABLE plain', true), differences('TABLE zst', 'TABLE plain', true), differences('TABLE lz4', 'TABLE plain', true);
-- in small blocks
SET outerjoin_fdw.block_size = 64;
SELECT differences('TABLE gz', 'TABLE plain', true), differences('TABLE zst', 'TABLE plain', true), differences('TABLE lz4', 'TABLE plain', true);
RESET outerjoin_fdw.block_size;

-- Skippable frames of zstd and lz4: in front, between, behind.
\! cd "$DIR" && printf '\120\052\115\030\005\000\000\000skip!' > s
\! cd "$DIR" && { cat s; zstd -q -c 1; cat s s; zstd -q -c 2; cat s; } > v.csv.zst
\! cd "$DIR" && { cat s; lz4 -q -c 1; cat s s; lz4 -q -c 2; cat s; } > v.csv.lz4
SELECT differences('TABLE zst', 'TABLE plain', true), differences('TABLE lz4', 'TABLE plain', true);

-- Zero padding behind the last gzip member is accepted; anything else is not.
\! cd "$DIR" && { gzip -c plain.csv; head -c 1000 /dev/zero; } > v.csv.gz
SELECT differences('TABLE gz', 'TABLE plain', true);
-- the detail says at which byte, which depends on the compressor
\set VERBOSITY terse
\! cd "$DIR" && { gzip -c plain.csv; printf 'junk'; } > v.csv.gz
SELECT count(*) FROM gz;
\! cd "$DIR" && { gzip -c plain.csv; head -c 10 /dev/zero; printf 'junk'; } > v.csv.gz
SELECT count(*) FROM gz;
\! cd "$DIR" && { gzip -c plain.csv; printf '\037'; } > v.csv.gz
SELECT count(*) FROM gz;
\! cd "$DIR" && { zstd -q -c plain.csv; printf 'junk'; } > v.csv.zst && { lz4 -q -c plain.csv; printf 'junk'; } > v.csv.lz4
SELECT count(*) FROM zst;
SELECT count(*) FROM lz4;
\! cd "$DIR" && { zstd -q -c plain.csv; printf '\0'; } > v.csv.zst && { lz4 -q -c plain.csv; printf '\0'; } > v.csv.lz4
SELECT count(*) FROM zst;
SELECT count(*) FROM lz4;
\set VERBOSITY default

-- Cut, at each of many places: always an error that names the file.
CREATE FUNCTION cuts_that_pass(relation regclass, name text) RETURNS TABLE (cut int, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	whole bytea := pg_read_binary_file(current_setting('test.dir') || '/whole.' || name);
BEGIN
	FOR i IN 1 .. 60
	LOOP
		cut := CASE WHEN i <= 30 THEN i WHEN i <= 50 THEN length(whole) - (i - 30) ELSE length(whole) * (i - 50) / 11 END;
		CALL put_bytes('v.csv.' || name, substr(whole, 1, cut));
		BEGIN
			EXECUTE format('SELECT count(v) FROM %s', relation) INTO rows;
			RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			IF SQLERRM NOT LIKE '%v.csv.%' THEN
				RAISE;
			END IF;
		END;
	END LOOP;
END $$;
\! cd "$DIR" && gzip -c plain.csv > whole.gz && zstd -q -c plain.csv > whole.zst && lz4 -q -c plain.csv > whole.lz4
SELECT * FROM cuts_that_pass('gz', 'gz');
SELECT * FROM cuts_that_pass('zst', 'zst');
SELECT * FROM cuts_that_pass('lz4', 'lz4');
\! cd "$DIR" && head -c 50000 whole.gz > v.csv.gz && head -c 50000 whole.zst > v.csv.zst && head -c 50000 whole.lz4 > v.csv.lz4
SELECT count(*) FROM gz;
SELECT count(*) FROM zst;
SELECT count(*) FROM lz4;
-- an empty file is no gzip file
\! cd "$DIR" && : > v.csv.gz && : > v.csv.zst && : > v.csv.lz4
SELECT count(*) FROM gz;
SELECT count(*) FROM zst;
SELECT count(*) FROM lz4;

-- Damaged: a byte in the middle, and the checksum at the end.
CREATE FUNCTION damages_that_pass(relation regclass, name text) RETURNS TABLE (at int, differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	whole bytea := pg_read_binary_file(current_setting('test.dir') || '/whole.' || name);
BEGIN
	FOR i IN 1 .. 20
	LOOP
		at := CASE WHEN i <= 4 THEN length(whole) - 4 - i ELSE length(whole) / 21 * i + i END;
		CALL put_bytes('v.csv.' || name, set_byte(whole, at, get_byte(whole, at) # 32));
		BEGIN
			differences := differences(format('TABLE %s', relation), 'TABLE plain', true);
			RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
	END LOOP;
END $$;
SELECT * FROM damages_that_pass('gz', 'gz');
SELECT * FROM damages_that_pass('zst', 'zst');
SELECT * FROM damages_that_pass('lz4', 'lz4');
-- what was not compressed at all
\! cd "$DIR" && cp plain.csv v.csv.gz && cp plain.csv v.csv.zst && cp plain.csv v.csv.lz4
SELECT count(*) FROM gz;
SELECT count(*) FROM zst;
SELECT count(*) FROM lz4;
-- a declared compression wins over the name
ALTER FOREIGN TABLE gz OPTIONS (ADD compression 'none');
SELECT differences('TABLE gz', 'TABLE plain', true);
\! cd "$DIR" && gzip -c plain.csv > v.csv
CREATE FOREIGN TABLE declared (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv', compression 'gzip')) SERVER files;
SELECT differences('TABLE declared', 'TABLE plain', true);
-- a compressed file that nothing declares is not valid text
CREATE FOREIGN TABLE undeclared (id int OPTIONS (key 'true'), v text OPTIONS (filename 'v.csv')) SERVER files;
DO $$
BEGIN
	PERFORM * FROM undeclared;
	RAISE NOTICE 'it was read';
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE 'refused';
END $$;

-- With header, found by the column's name, tab-separated, unsorted.
\! cd "$DIR" && printf 'id\tname\n2\tb\n1\ta\n' | zstd -q > name.tsv.zst
CREATE FOREIGN TABLE by_name (id int OPTIONS (key 'true'), name text OPTIONS (sorted 'false')) SERVER files OPTIONS (header 'true');
SELECT * FROM by_name;
-- nothing that is not there is left open: a scan that stops early
SELECT * FROM declared LIMIT 1;
