--
-- Formats mixed: in the streams of a table, and in the segments of a stream;
-- several columns out of one Arrow file.
--
-- sql/data/mixed has the Arrow files, and how they were made.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test arrow_mixed
\i :prelude
\setenv SOURCE :abs_srcdir
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';

-- The first example, of a CSV file, an Arrow file and an Arrow stream.
\! cp "$SOURCE"/sql/data/first/colour.csv "$SOURCE"/sql/data/mixed/length.arrow "$SOURCE"/sql/data/mixed/mass.arrows "$DIR"
CREATE FOREIGN TABLE all_props (
	id bigint OPTIONS (key 'true'), colour text, length integer, mass real OPTIONS (field 'kg')
) SERVER files OPTIONS (header 'true');
SELECT * FROM all_props;
SELECT explain('SELECT * FROM all_props');
SELECT * FROM all_props WHERE id BETWEEN 2 AND 3;
SELECT colour, length FROM all_props WHERE mass > 21;
SELECT count(*), count(colour), count(length), count(mass), sum(length) FROM all_props;
-- what is said of text files does not concern Arrow files
ALTER FOREIGN TABLE all_props OPTIONS (ADD quote '''', ADD null 'green', ADD skip '0');
SELECT * FROM all_props;
-- unless it is said of them
ALTER FOREIGN TABLE all_props ALTER length OPTIONS (ADD format 'arrow', ADD force_null 'true');
SELECT * FROM all_props;
DROP FOREIGN TABLE all_props;

-- Columns of one Arrow file are one stream: the file is read once.
\! cp "$SOURCE"/sql/data/mixed/hosts.arrow "$DIR"
CREATE TYPE mood AS ENUM ('weary', 'fine');
CREATE DOMAIN zip AS text CHECK (VALUE ~ '^\d{5}$');
CREATE FOREIGN TABLE hosts (
	id integer OPTIONS (key 'true'),
	address inet OPTIONS (filename 'hosts.arrow'),
	mood mood OPTIONS (filename 'hosts.arrow'),
	weight numeric OPTIONS (filename 'hosts.arrow'),
	seen timestamptz OPTIONS (filename 'hosts.arrow'),
	tags text[] OPTIONS (filename 'hosts.arrow'),
	zip zip OPTIONS (filename 'hosts.arrow')
) SERVER files;
SELECT explain('SELECT * FROM hosts');
SELECT * FROM hosts;
SELECT zip, id, weight FROM hosts WHERE id IN (2, 6);
-- values of an input function's type are that type's: the enum's order, an address in a network
SELECT mood, count(*) FROM hosts GROUP BY mood ORDER BY mood;
SELECT id FROM hosts WHERE address << '192.168.0.0/16';
-- a field several times, as several types
CREATE FOREIGN TABLE again (
	id bigint OPTIONS (key 'true'), zip text OPTIONS (filename 'hosts.arrow'),
	number int OPTIONS (filename 'hosts.arrow', field 'zip'), bytes bytea OPTIONS (filename 'hosts.arrow', field '7')
) SERVER files;
SELECT explain('SELECT * FROM again');
SELECT * FROM again WHERE id > 2;
-- in CSV, the same rows
CREATE TABLE loaded (id int, address inet, mood mood, weight numeric, seen timestamptz, tags text[], zip zip);
\set hosts :abs_srcdir '/sql/data/mixed/hosts.csv'
COPY loaded FROM :'hosts' (FORMAT csv, HEADER);
SELECT differences('TABLE hosts', 'TABLE loaded', true);

-- What an input function refuses is an error that names file and row.
CREATE FOREIGN TABLE refused (id bigint OPTIONS (key 'true'), v date OPTIONS (filename 'hosts.arrow', field 'zip')) SERVER files;
SELECT id FROM refused;
SELECT * FROM refused WHERE id = 2;
SELECT * FROM refused;
CREATE DOMAIN low_zip AS text CHECK (VALUE < '90000');
ALTER FOREIGN TABLE refused ALTER v TYPE low_zip;
SELECT * FROM refused WHERE id > 1 AND id < 6;
SELECT * FROM refused;
DROP TYPE mood CASCADE;
CREATE TYPE mood AS ENUM ('fine');
ALTER FOREIGN TABLE refused ALTER v TYPE mood;
ALTER FOREIGN TABLE refused ALTER v OPTIONS (SET field 'mood');
SELECT * FROM refused WHERE id > 3;
SELECT * FROM refused;

-- Segments of three formats: an Arrow file with the ids 0, 3, 6 .. 11997, whose
-- value is i * i % 1000 for id 3 * i, and null where i ends in 9; a CSV file
-- with ids between them; a file in the text format that goes on behind them.
\! mkdir "$DIR"/part && cp "$SOURCE"/sql/data/arrow/large_batches.arrow "$DIR"/part/b.arrow
CALL put_query('part/a.csv', 'SELECT id, -id AS value FROM generate_series(1, 12000, 3) id', 'format csv, header');
CALL put_query('part/c.tsv', 'SELECT id, CASE WHEN id % 5 > 0 THEN id END AS value FROM generate_series(9002, 15000, 6) id', 'header');
CREATE FOREIGN TABLE f (id bigint OPTIONS (key 'true'), value integer OPTIONS (filename 'part/')) SERVER files OPTIONS (header 'true');
CREATE TABLE o AS
SELECT 3 * i AS id, CASE WHEN i % 10 < 9 THEN (i * i % 1000)::int END AS value FROM generate_series(0, 3999) i
UNION ALL SELECT id, -id FROM generate_series(1, 12000, 3) id
UNION ALL SELECT id, CASE WHEN id % 5 > 0 THEN id END FROM generate_series(9002, 15000, 6) id;
SELECT explain('SELECT * FROM f');
SELECT count(*), count(value), sum(value), min(id), max(id) FROM f;
SELECT differences('TABLE f', 'TABLE o ORDER BY id', true);
SELECT * FROM f WHERE id BETWEEN 8998 AND 9004;
SELECT differences('SELECT * FROM f WHERE id >= 11990', 'SELECT * FROM o WHERE id >= 11990 ORDER BY id', true);
SELECT * FROM f WHERE id = 8997;
-- a key in two of them, and which comes first: by name
\! mkdir "$DIR"/twice && cp "$SOURCE"/sql/data/mixed/length.arrow "$DIR"/twice/b.arrow
CALL put('twice/a.csv', E'id,length\n3,-3\n5,-5\n');
CALL put('twice/c.csv', E'id,length\n2,-2\n3,-33\n');
CREATE FOREIGN TABLE t (id bigint OPTIONS (key 'true'), v integer OPTIONS (filename 'twice/')) SERVER files OPTIONS (header 'true');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD duplicates 'first');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET duplicates 'last');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET duplicates 'all');
SELECT * FROM t;
-- sorted on the fly
CALL put('twice/d.csv', E'id,length\n9,9\n1,1\n');
ALTER FOREIGN TABLE t OPTIONS (ADD sorted 'false', SET duplicates 'first');
SELECT * FROM t;
-- a format declared is every segment's
ALTER FOREIGN TABLE t ALTER v OPTIONS (ADD format 'arrow');
SELECT * FROM t;
ALTER FOREIGN TABLE t ALTER v OPTIONS (SET format 'csv', SET filename 'twice/[ab]*');
SELECT * FROM t;

-- A NUL is a character to Arrow, and none to PostgreSQL.
\! cp "$SOURCE"/sql/data/arrow/text_nul.arrow "$DIR"
CREATE FOREIGN TABLE nul (id bigint OPTIONS (key 'true'), value text OPTIONS (filename 'text_nul.arrow')) SERVER files;
SELECT * FROM nul WHERE id > 2;
SELECT * FROM nul;

-- A key in a dictionary that each record batch extends, or replaces: going
-- back and forth, each batch is read with its own.
\! cp "$SOURCE"/sql/data/mixed/extended.arrow "$SOURCE"/sql/data/mixed/replaced.arrows "$SOURCE"/sql/data/first/colour.csv "$DIR"
CREATE FOREIGN TABLE keys (id bigint OPTIONS (key 'true'), colour text OPTIONS (filename 'extended.arrow')) SERVER files;
CREATE TABLE colours (id bigint, colour text);
CALL load('colours', 'colour.csv', 'format csv, header');
SELECT * FROM keys;
CREATE TABLE ranges AS SELECT a, b FROM generate_series(6, 0, -1) a, generate_series(0, 7) b;
SET enable_material = off;
\set of 'SELECT a, b, l FROM ranges, LATERAL (SELECT string_agg(colour, \' \' ORDER BY id) l FROM %s WHERE id >= a AND id <= b) x'
SELECT differences(format(:'of', 'keys'), format(:'of', 'colours'));
ALTER FOREIGN TABLE keys ALTER colour OPTIONS (SET filename 'replaced.arrows');
SELECT * FROM keys;
SELECT differences(format(:'of', 'keys'), format(:'of', 'colours'));
RESET enable_material;
