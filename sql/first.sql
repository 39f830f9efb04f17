--
-- The first example: three column files, one table.
--
CREATE EXTENSION outerjoin_fdw;

\getenv abs_srcdir PG_ABS_SRCDIR
\set folder :abs_srcdir '/sql/data/first'
CREATE SERVER props FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory :'folder');

CREATE FOREIGN TABLE all_props (
	id     bigint OPTIONS (key 'true'),
	colour text,                                  -- colour.csv, found by the column's name
	length integer OPTIONS (filename 'length.csv'),
	mass   real    OPTIONS (filename 'mass.csv', field 'kg')
) SERVER props OPTIONS (header 'true');

-- One row for each id that stands in any file, in the order of the ids.
SELECT * FROM all_props;

-- It is what the full join of the three files gives.
CREATE TABLE colour (id bigint, colour text);
CREATE TABLE length (id bigint, length integer);
CREATE TABLE mass (id bigint, mass real);
\set file :folder '/colour.csv'
COPY colour FROM :'file' WITH (FORMAT csv, HEADER true);
\set file :folder '/length.csv'
COPY length FROM :'file' WITH (FORMAT csv, HEADER true);
\set file :folder '/mass.csv'
COPY mass FROM :'file' WITH (FORMAT csv, HEADER true);
SELECT id, colour, length, mass
FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id)
ORDER BY id;

-- A row exists as soon as one file has its id, whatever columns are named.
SELECT colour FROM all_props;
SELECT count(*) FROM all_props;

-- The rows come in order: nothing is sorted.
EXPLAIN (COSTS OFF) SELECT id, mass FROM all_props ORDER BY id;

-- Joined with a regular table.
CREATE TABLE orders (id bigint, customer text);
INSERT INTO orders VALUES (2, 'Ada'), (3, 'Grace'), (4, 'Edsger'), (7, 'Alan');
SELECT * FROM all_props JOIN orders USING (id) WHERE id BETWEEN 2 AND 4 ORDER BY id;
SELECT * FROM orders LEFT JOIN all_props USING (id) ORDER BY id;

DROP TABLE colour, length, mass, orders;
DROP SERVER props CASCADE;
