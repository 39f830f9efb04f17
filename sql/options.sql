--
-- Options: which there are, where they stand, what they take, and that what
-- cannot work is refused when it is set.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test options
\i :prelude

--
-- Names
--
ALTER FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '/srv/props');  -- error
CREATE USER MAPPING FOR CURRENT_USER SERVER files OPTIONS (user 'someone');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directry '/srv/props');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (host 'localhost');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (filename 'a.csv');  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int) SERVER files OPTIONS (delimeter ';');  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int) SERVER files OPTIONS (filename 'a.csv');  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (primary_key 'true'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (file_name 'a.csv')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (directory 'sub')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (writable 'true')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS ("Filename" 'a.csv')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int) SERVER files OPTIONS (skip '1', skip '2');  -- error
\echo :LAST_ERROR_SQLSTATE

--
-- Values
--
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory 'props');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '');  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int) SERVER files OPTIONS (directory '../up');  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (filename '')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (filename 'a/../../b.csv')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (program '')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (field '')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (key_field '')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'perhaps'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true', descending '1'), a int) SERVER files;  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (format 'xml');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (format 'CSV');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (compression 'bzip2');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (header 'some');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (skip '-1');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (skip '3 lines');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (skip '99999999999');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (queue '65');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (queue '');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (multiline 'no');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (duplicates 'ignore');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (sorted 'yes');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (encoding 'utf9');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (force_null 'a, b');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (writable 'true');  -- error
\echo :LAST_ERROR_SQLSTATE

-- COPY's rules for its own
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (delimiter '||');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (delimiter '');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (delimiter '
');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (delimiter 'a', format 'text');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (quote 'ab');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (quote '"', delimiter '"');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (escape '');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (null '
');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (null 'a;b', delimiter ';');  -- error
CREATE SERVER bad FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (null '''', quote '''');  -- error

-- a null string with a comma is well where another level sets the delimiter
CREATE SERVER semicolons FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (delimiter ';', null 'none, yet');
CREATE SERVER commas FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (null 'none, yet');
CREATE FOREIGN TABLE late (id int OPTIONS (key 'true'), a int) SERVER commas OPTIONS (format 'csv');
SELECT * FROM late;  -- error
DROP SERVER semicolons;
DROP SERVER commas CASCADE;

--
-- Options that do not go together
--
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (filename 'a.csv', program 'cat')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (descending 'true')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'false', descending 'true'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true', key_field 'n'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true', program 'seq 9'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true', delimiter ';'), a int) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (format 'text', quote '"')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int OPTIONS (format 'text', force_null 'true')) SERVER files;  -- error
CREATE FOREIGN TABLE bad (id int OPTIONS (key 'true'), a int) SERVER files OPTIONS (escape '\', format 'text');  -- error

--
-- ALTER is held to the same, for the options as they will be.
--
CREATE FOREIGN TABLE t (
	id int OPTIONS (key 'true'),
	a int OPTIONS (filename 'a.csv', quote '''')
) SERVER files;
ALTER FOREIGN TABLE t OPTIONS (ADD header 'maybe');  -- error
ALTER FOREIGN TABLE t OPTIONS (ADD heading 'true');  -- error
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true', delimiter ';');
ALTER FOREIGN TABLE t OPTIONS (SET delimiter ';;');  -- error
ALTER FOREIGN TABLE t OPTIONS (DROP delimiter, SET header 'match');
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD program 'cat');  -- error
ALTER FOREIGN TABLE t ALTER a OPTIONS (DROP filename, ADD program 'cat');
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD format 'text');  -- error
ALTER FOREIGN TABLE t ALTER a OPTIONS (DROP quote, ADD format 'text');
ALTER FOREIGN TABLE t ALTER id OPTIONS (ADD descending 'true');
ALTER FOREIGN TABLE t ALTER id OPTIONS (DROP key);  -- error
ALTER FOREIGN TABLE t ALTER id OPTIONS (DROP key, DROP descending);
ALTER SERVER files OPTIONS (SET directory 'elsewhere');  -- error
ALTER SERVER files OPTIONS (ADD queue '0');
ALTER SERVER files OPTIONS (DROP queue);
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0;
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 't'::regclass;
DROP FOREIGN TABLE t;

-- every option with a value that it takes
CREATE FOREIGN TABLE t (
	id int OPTIONS (key 'true', descending 'false', field '1', force_null 'off', force_not_null 'on'),
	a int OPTIONS (filename 'a.csv', field 'n', key_field 'k', format 'csv', header 'match', delimiter ';',
		quote '''', escape '\', "null" 'none', encoding 'latin1', force_null 'true', force_not_null 'false',
		skip '3', compression 'gzip', multiline 'auto', sorted 'false', duplicates 'all', queue '64'),
	b int OPTIONS (program 'seq 9', format 'text', compression 'none', multiline 'off')
) SERVER files OPTIONS (
	directory 'sub', writable 'false', header 'TRUE', skip '2147483647', compression 'zstd', multiline 'true',
	sorted 'on', duplicates 'first', queue '0', force_null 'false'
);
DROP FOREIGN TABLE t;

--
-- What a table as a whole cannot do
--
CREATE FOREIGN TABLE t (id int, a int) SERVER files;
SELECT * FROM t;  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE t ALTER id OPTIONS (key 'true');
ALTER FOREIGN TABLE t DROP a;
SELECT * FROM t;  -- error

-- columns of one file must not say different things of it
CREATE FOREIGN TABLE shared (
	id int OPTIONS (key 'true'),
	a text OPTIONS (filename 'shared.csv', field '2', sorted 'false'),
	b text OPTIONS (filename 'shared.csv', field '3', sorted 'off'),
	c text OPTIONS (filename 'shared.csv', field '4', delimiter '|')
) SERVER files;
ALTER FOREIGN TABLE shared ALTER a OPTIONS (ADD delimiter ';');
SELECT * FROM shared;  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE shared ALTER c OPTIONS (SET delimiter ';');
ALTER FOREIGN TABLE shared ALTER b OPTIONS (SET sorted 'true');
SELECT * FROM shared;  -- error
ALTER FOREIGN TABLE shared ALTER b OPTIONS (DROP sorted);
ALTER FOREIGN TABLE shared ALTER b OPTIONS (ADD format 'text');
ALTER FOREIGN TABLE shared ALTER c OPTIONS (ADD force_null 'true');
SELECT * FROM shared;  -- error
ALTER FOREIGN TABLE shared ALTER b OPTIONS (DROP format);
ALTER FOREIGN TABLE shared ALTER a OPTIONS (ADD key_field 'n');
ALTER FOREIGN TABLE shared ALTER b OPTIONS (ADD key_field 'm');
SELECT * FROM shared;  -- error
ALTER FOREIGN TABLE shared ALTER a OPTIONS (DROP key_field);
ALTER FOREIGN TABLE shared ALTER b OPTIONS (DROP key_field);

-- what one of them says, holds for the file
CALL put('shared.csv', E'2;two;zwei;deux\n1;one;eins;NULL\n');
SELECT * FROM shared;
ALTER FOREIGN TABLE shared OPTIONS (ADD delimiter ',', null 'NULL');
SELECT * FROM shared;

-- key_field says where one file names its key otherwise
CREATE FOREIGN TABLE two_keys (
	id int OPTIONS (key 'true'),
	part int OPTIONS (key 'true'),
	a text OPTIONS (key_field 'n')
) SERVER files;
SELECT * FROM two_keys;  -- error

--
-- The innermost level wins.
--
CALL put('plain.csv', E'1,p1\n2,p2\n');
CALL put('semi.csv', E'id;semi\n2;s2\n3;s3\n');
CALL put('bars.csv', E'bars|number\nb1|1\nb3|3\n');
CREATE SERVER levels FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory :'dir', delimiter '|');
CREATE FOREIGN TABLE innermost (
	id int OPTIONS (key 'true'),
	plain text OPTIONS (delimiter ',', header 'false'),
	semi text OPTIONS (delimiter ';'),
	bars text OPTIONS (key_field 'number')
) SERVER levels OPTIONS (header 'true');
SELECT * FROM innermost;
ALTER SERVER levels OPTIONS (SET delimiter ';');
ALTER FOREIGN TABLE innermost ALTER semi OPTIONS (DROP delimiter);
ALTER FOREIGN TABLE innermost OPTIONS (ADD delimiter ',');
ALTER FOREIGN TABLE innermost ALTER semi OPTIONS (ADD delimiter ';');
ALTER FOREIGN TABLE innermost ALTER plain OPTIONS (DROP delimiter);
ALTER FOREIGN TABLE innermost ALTER bars OPTIONS (ADD delimiter '|');
SELECT * FROM innermost;

-- an outer level's options are for whatever they suit: quote is not for the text format
CALL put('tabs', E'1\t"t1"\n3\t\\N\n');
CALL put('quotes.csv', E'1,\'q,1\'\n3,\'q3\'\n');
CREATE FOREIGN TABLE mixed (
	id int OPTIONS (key 'true'),
	tabs text OPTIONS (filename 'tabs', format 'text'),
	quotes text
) SERVER files OPTIONS (quote '''');
SELECT * FROM mixed;
DROP SERVER levels CASCADE;

--
-- Files
--
-- a column's file goes by its name; two that could be meant are an error
CALL put('twice.csv', E'1,a\n');
CREATE FOREIGN TABLE by_name (id int OPTIONS (key 'true'), twice text, other text OPTIONS (filename 'plain.csv')) SERVER files;
SELECT * FROM by_name;
CALL put('twice.tsv', E'1\tb\n');
SELECT * FROM by_name;  -- error
ALTER FOREIGN TABLE by_name ALTER twice OPTIONS (ADD filename 'twice.tsv');
SELECT * FROM by_name;
ALTER FOREIGN TABLE by_name RENAME twice TO once;
SELECT * FROM by_name;
ALTER FOREIGN TABLE by_name ALTER once OPTIONS (DROP filename);
SELECT * FROM by_name;  -- error
ALTER FOREIGN TABLE by_name RENAME once TO "a/b";
SELECT * FROM by_name;  -- error
ALTER FOREIGN TABLE by_name DROP "a/b";
SELECT * FROM by_name;
ALTER FOREIGN TABLE by_name ALTER other OPTIONS (SET filename 'plain.data');
SELECT * FROM by_name;  -- error

-- a table's directory is relative to its server's
\! mkdir -m 777 "$DIR/sub"
CALL put('sub/plain.csv', E'7,below\n');
CREATE FOREIGN TABLE below (id int OPTIONS (key 'true'), plain text) SERVER files OPTIONS (directory 'sub');
SELECT * FROM below;
\set sub :dir '/sub'
ALTER FOREIGN TABLE below OPTIONS (SET directory :'sub');
SELECT * FROM below;
CREATE SERVER nowhere FOREIGN DATA WRAPPER outerjoin_fdw;
CREATE FOREIGN TABLE lost (id int OPTIONS (key 'true'), plain text) SERVER nowhere;
SELECT * FROM lost;  -- error
\set plain :dir '/plain.csv'
ALTER FOREIGN TABLE lost ALTER plain OPTIONS (ADD filename :'plain');
SELECT * FROM lost;
DROP SERVER nowhere CASCADE;

-- a key column with a file: rows without any value
CALL put('ids.csv', E'1\n5\n9\n');
CREATE FOREIGN TABLE with_keys (id int OPTIONS (key 'true', filename 'ids.csv'), plain text) SERVER files;
SELECT * FROM with_keys;
ALTER FOREIGN TABLE with_keys DROP plain;
SELECT * FROM with_keys;

-- a program's output is CSV unless declared otherwise
CREATE FOREIGN TABLE from_program (
	id int OPTIONS (key 'true'),
	word text OPTIONS (program 'printf "1,one\n2,two\n"'),
	line text OPTIONS (program 'printf "2\tb\n3\tc\n"', format 'text')
) SERVER files;
SELECT * FROM from_program;

-- a stored generated column comes from a file like any other
CALL put('twofold.csv', E'1,2\n2,4\n');
CREATE FOREIGN TABLE computed (
	id int OPTIONS (key 'true'),
	twofold int GENERATED ALWAYS AS (id * 2) STORED
) SERVER files;
SELECT * FROM computed;
