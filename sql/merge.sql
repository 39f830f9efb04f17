--
-- The merge: what rows a table has, and what stands in them.
--
-- Content is defined by SQL: SELECT ... FROM a FULL JOIN b USING (id) FULL
-- JOIN c USING (id) ORDER BY id, over the files loaded as they are.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test merge
\i :prelude

-- Three files; each id that stands in any of them makes a row.
CALL put('colour.csv', E'id,colour\n1,red\n2,green\n4,red\n6,blue\n');
CALL put('length.csv', E'id,length\n2,28\n3,9\n4,17\n6,11\n');
CALL put('mass.csv', E'id,mass\n1,87.9\n2,21\n3,107\n');
CREATE FOREIGN TABLE props (
	id bigint OPTIONS (key 'true'),
	colour text,
	length integer,
	mass real
) SERVER files OPTIONS (header 'true');
-- already in order, without ORDER BY
SELECT * FROM props;
-- in another column order, and twice
SELECT mass, id, mass, length FROM props;

-- Presence does not depend on what the query names: ids 3 and 6 are here.
SELECT colour FROM props;
SELECT id FROM props;
SELECT count(*) FROM props;
SELECT count(*), count(colour), count(length), count(mass) FROM props;
SELECT 'row' FROM props;

-- The oracle itself.
CREATE TABLE colour (id bigint, colour text);
CREATE TABLE length (id bigint, length integer);
CREATE TABLE mass (id bigint, mass real);
CALL load('colour', 'colour.csv', 'format csv, header');
CALL load('length', 'length.csv', 'format csv, header');
CALL load('mass', 'mass.csv', 'format csv, header');
SELECT differences('SELECT * FROM props',
	'SELECT id, colour, length, mass
	 FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id) ORDER BY id', true);

-- A null stored under a key and a key that is absent both read as null, but
-- the stored one makes the row exist: 5 is here because of the null in b.
CALL put('a.csv', E'1,a1\n3,a3\n');
CALL put('b.csv', E'1,\n3,b3\n5,\n');
CREATE FOREIGN TABLE nulls (id int OPTIONS (key 'true'), a text, b text) SERVER files;
SELECT id, a IS NULL AS no_a, b IS NULL AS no_b FROM nulls;
SELECT count(*) FROM nulls;
SELECT a FROM nulls;

-- A key column with a file of its own is a stream of keys without a value.
CALL put('all_ids.csv', E'1\n2\n3\n4\n');
CREATE FOREIGN TABLE with_keys (
	id int OPTIONS (key 'true', filename 'all_ids.csv'),
	a text, b text
) SERVER files;
SELECT id, a, b FROM with_keys;
-- it can be the only stream
CREATE FOREIGN TABLE only_keys (id int OPTIONS (key 'true', filename 'all_ids.csv')) SERVER files;
SELECT * FROM only_keys;
SELECT count(*) FROM only_keys;

-- Two columns of one file share one stream; so does a file with fields that
-- nobody asks for.
CALL put('wide.csv', E'key,x,unused,y\n1,10,?,100\n2,,?,200\n3,30,?,\n');
CREATE FOREIGN TABLE wide (
	id int OPTIONS (key 'true'),
	y int OPTIONS (filename 'wide.csv'),
	x int OPTIONS (filename 'wide.csv'),
	a text OPTIONS (header 'false')
) SERVER files OPTIONS (header 'true');
SELECT * FROM wide;
SELECT x FROM wide;

-- Fields by name and by number; a file's own name for its key.
CALL put('odd.csv', E'kg,ref,g\n1.5,1,1500\n2.5,2,2500\n');
CREATE FOREIGN TABLE fields (
	id int OPTIONS (key 'true'),
	mass float8 OPTIONS (filename 'odd.csv', field 'kg', key_field 'ref'),
	grams int OPTIONS (filename 'odd.csv', field '3'),
	length int OPTIONS (filename 'length.csv')
) SERVER files OPTIONS (header 'true');
SELECT * FROM fields;
-- the key column's own name for it
CREATE FOREIGN TABLE renamed (
	number int OPTIONS (key 'true', field 'ref'),
	kg float8 OPTIONS (filename 'odd.csv')
) SERVER files OPTIONS (header 'true');
SELECT * FROM renamed;
-- a name wins over a number
CALL put('numbers.csv', E'id,3,2\n1,three,two\n');
CREATE FOREIGN TABLE by_number (
	id int OPTIONS (key 'true'),
	a text OPTIONS (filename 'numbers.csv', field '3'),
	b text OPTIONS (filename 'numbers.csv', field '2')
) SERVER files OPTIONS (header 'true');
SELECT * FROM by_number;
-- the only field that is no key needs no name
CREATE FOREIGN TABLE other_name (id int OPTIONS (key 'true'), tint text OPTIONS (filename 'colour.csv'))
	SERVER files OPTIONS (header 'true');
SELECT * FROM other_name;
-- several are a question
CREATE FOREIGN TABLE which_field (id int OPTIONS (key 'true'), weight float8 OPTIONS (filename 'odd.csv', key_field 'ref'))
	SERVER files OPTIONS (header 'true');
SELECT * FROM which_field;
CREATE FOREIGN TABLE no_field (id int OPTIONS (key 'true'), weight float8 OPTIONS (filename 'odd.csv', key_field 'ref', field 'lb'))
	SERVER files OPTIONS (header 'true');
SELECT * FROM no_field;

-- Files that sort downward; so do the rows.
CALL put('down_a.csv', E'9,a9\n5,a5\n-2,a-2\n');
CALL put('down_b.csv', E'7,b7\n5,b5\n-3,b-3\n');
CREATE FOREIGN TABLE down (
	id int OPTIONS (key 'true', descending 'true'),
	a text OPTIONS (filename 'down_a.csv'),
	b text OPTIONS (filename 'down_b.csv')
) SERVER files;
SELECT * FROM down;

-- The ends of the integers, and empty files.
CALL put('low.csv', E'-9223372036854775808,low\n0,zero\n9223372036854775807,high\n');
CALL put('empty.csv', '');
CALL put('one.csv', E'0,one\n');
CREATE FOREIGN TABLE ends (
	id bigint OPTIONS (key 'true'), low text, empty text, one text) SERVER files;
SELECT * FROM ends;
CREATE FOREIGN TABLE ends_down (
	id bigint OPTIONS (key 'true', descending 'true'), low text OPTIONS (sorted 'false'), empty text, one text) SERVER files;
SELECT * FROM ends_down;
CREATE FOREIGN TABLE nothing (id int OPTIONS (key 'true'), empty text) SERVER files;
SELECT * FROM nothing;
SELECT count(*), sum(id) FROM nothing;
CALL put('header_only.csv', E'id,v\n');
CREATE FOREIGN TABLE header_only (id int OPTIONS (key 'true'), v text OPTIONS (filename 'header_only.csv'))
	SERVER files OPTIONS (header 'true');
SELECT * FROM header_only;

-- Larger: streams that are dense, sparse, far apart, and interleaved.
CREATE TABLE d AS SELECT i AS id, i % 7 AS d FROM generate_series(1, 40000) i WHERE i % 5 <> 0;
CREATE TABLE s AS SELECT i * 997 AS id, CASE WHEN i % 3 <> 0 THEN i END AS s FROM generate_series(-20, 60) i;
CREATE TABLE t AS SELECT i AS id, 'text ' || i AS t FROM generate_series(39990, 60010) i;
CREATE TABLE u AS SELECT i AS id, i::real / 8 AS u FROM generate_series(-5000, 70000, 2) i;
CALL put_query('d.csv', 'SELECT * FROM d ORDER BY id');
CALL put_query('s.csv', 'SELECT * FROM s ORDER BY id');
CALL put_query('t.csv', 'SELECT * FROM t ORDER BY id');
CALL put_query('u.csv', 'SELECT * FROM u ORDER BY id');
CREATE FOREIGN TABLE dstu (id int OPTIONS (key 'true'), d int, s int, t text, u real) SERVER files;
CREATE VIEW dstu_oracle AS
	SELECT * FROM d FULL JOIN s USING (id) FULL JOIN t USING (id) FULL JOIN u USING (id) ORDER BY id;
SELECT differences('SELECT * FROM dstu', 'TABLE dstu_oracle', true);
SELECT differences('SELECT id, t FROM dstu', 'SELECT id, t FROM dstu_oracle', true);
SELECT differences('SELECT s FROM dstu', 'SELECT s FROM dstu_oracle', true);
-- the same with every batch's edge somewhere else
SET outerjoin_fdw.batch_rows = 1;
SELECT differences('SELECT * FROM dstu WHERE id < 3000', 'SELECT * FROM dstu_oracle WHERE id < 3000', true);
SET outerjoin_fdw.batch_rows = 3;
SELECT differences('SELECT * FROM dstu', 'TABLE dstu_oracle', true);
SET outerjoin_fdw.batch_rows = 1000;
SELECT differences('SELECT * FROM dstu', 'TABLE dstu_oracle', true);
RESET outerjoin_fdw.batch_rows;
SET outerjoin_fdw.block_size = 64;
SELECT differences('SELECT * FROM dstu', 'TABLE dstu_oracle', true);
RESET outerjoin_fdw.block_size;
SET outerjoin_fdw.simd = off;
SELECT differences('SELECT * FROM dstu', 'TABLE dstu_oracle', true);
RESET outerjoin_fdw.simd;
