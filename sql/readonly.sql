--
-- Nothing is written: the table refuses, in PostgreSQL's own words.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test readonly
\i :prelude

CALL put('a.csv', E'1,10\n2,20\n');
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), a int) SERVER files;
INSERT INTO f VALUES (3, 30);
INSERT INTO f SELECT * FROM f;
INSERT INTO f DEFAULT VALUES;
UPDATE f SET a = 0;
UPDATE f SET a = 0 WHERE false;
DELETE FROM f;
DELETE FROM f WHERE id = 1;
TRUNCATE f;
COPY f FROM STDIN;
3	30
\.
MERGE INTO f USING (VALUES (1)) v (id) ON v.id = f.id WHEN MATCHED THEN DELETE;
INSERT INTO f VALUES (1, 1) ON CONFLICT DO NOTHING;
CREATE INDEX ON f (id);
ALTER FOREIGN TABLE f ADD PRIMARY KEY (id);
CREATE VIEW v AS SELECT * FROM f;
SELECT is_insertable_into, is_updatable FROM information_schema.views
	WHERE table_schema = 'readonly' AND table_name = 'v';
INSERT INTO v VALUES (3, 30);
-- through a partition too
CREATE TABLE parts (id int, a int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE part (id int OPTIONS (key 'true'), a int) SERVER files;
ALTER TABLE parts ATTACH PARTITION part FOR VALUES FROM (0) TO (10);
INSERT INTO parts VALUES (3, 30);
UPDATE parts SET a = 0;
DELETE FROM parts;
-- the file is what it was
SELECT * FROM f;
