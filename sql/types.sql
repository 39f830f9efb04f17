--
-- Values: each type reads exactly what its input function reads, and refuses
-- what that refuses, in the same words; the usual types do it without a call.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test types
\i :prelude

SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, MDY';
CREATE TABLE report (type text, read_as text, quoted boolean, spelling text, expected text, actual text);

-- What a query of one value gives: the value's text, or the error.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- A file of one row with a field per spelling.  The value (or the error) of
-- each must be what COPY makes of that field in a table of its own, with and
-- without SIMD; and the same where the spelling is a key.
CREATE PROCEDURE check_spellings(type text, spellings text[], as_key boolean DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE
	quoted boolean;
	k int;
	expected text;
	options text;
	query text;
BEGIN
	EXECUTE format('CREATE TABLE one_value (v %s)', type);
	FOREACH quoted IN ARRAY ARRAY[false, true]
	LOOP
		options := 'format csv' || CASE WHEN quoted THEN ', force_quote *' ELSE '' END;
		SELECT 'SELECT 1 AS id' || string_agg(format(', %L::text AS c%s', s, n), '' ORDER BY n) INTO query
			FROM unnest(spellings) WITH ORDINALITY u (s, n);
		CALL put_query('row.csv', query, options);
		EXECUTE format('CREATE FOREIGN TABLE one_row (id int OPTIONS (key ''true''), %s) SERVER files',
			(SELECT string_agg(format('c%s %s OPTIONS (filename ''row.csv'', field ''%s'')', n, type, n + 1), ', ' ORDER BY n)
			 FROM generate_subscripts(spellings, 1) n));
		IF as_key THEN
			EXECUTE format('CREATE FOREIGN TABLE one_key (v %s OPTIONS (key ''true'', filename ''value.csv'')) SERVER files', type);
		END IF;
		FOR k IN 1 .. array_length(spellings, 1)
		LOOP
			CALL put_query('value.csv', format('SELECT %L::text AS v', spellings[k]), options);
			BEGIN
				CALL load('one_value', 'value.csv');
				SELECT v::text INTO expected FROM one_value;
				RAISE EXCEPTION SQLSTATE 'ZZZZZ';
			EXCEPTION
				WHEN SQLSTATE 'ZZZZZ' THEN NULL;
				WHEN OTHERS THEN expected := SQLSTATE || ' ' || SQLERRM;
			END;
			query := format('SELECT c%s::text FROM one_row', k);
			INSERT INTO report VALUES (type, 'value', quoted, spellings[k], expected, outcome(query));
			SET outerjoin_fdw.simd = off;
			INSERT INTO report VALUES (type, 'value without SIMD', quoted, spellings[k], expected, outcome(query));
			RESET outerjoin_fdw.simd;
			IF as_key THEN
				INSERT INTO report VALUES (type, 'key', quoted, spellings[k], expected, outcome('SELECT v::text FROM one_key'));
			END IF;
		END LOOP;
		DROP FOREIGN TABLE one_row;
		IF as_key THEN
			DROP FOREIGN TABLE one_key;
		END IF;
	END LOOP;
	DROP TABLE one_value;
END $$;

-- The same, for one of the lists that several types are tried with.
CREATE TABLE spellings (kind text, list text[]);
CREATE PROCEDURE check_kind(type text, wanted text, as_key boolean DEFAULT true) LANGUAGE plpgsql AS $$
DECLARE
	wanted_list text[];
BEGIN
	SELECT list INTO wanted_list FROM spellings s WHERE kind = wanted;
	CALL check_spellings(type, wanted_list, as_key);
END $$;

-- Integers: signs, blanks, zeros in front, the ends and past them.
INSERT INTO spellings VALUES ('integer', ARRAY['0', '-0', '+0', '1', '+1', '-1', '007', ' 12', '12 ', E'\t12\n', '--1', '+-1', '- 1', '1 2',
	'1-', '1+', '', ' ', '-', '+', '1.0', '1.', '.5', '1e3', '0x10', '0b1', '0o7', '1_000', '1,000', 'abc', '12abc', E'\u0661', E'1\u00a0',
	'32767', '32768', '-32768', '-32769', '65536', '2147483647', '2147483648', '-2147483648', '-2147483649', '4294967296',
	'9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '18446744073709551616',
	'00000000000000000000000000000000000000000000000012', '99999999999999999999999999999999999999', 'NaN', 'null',
	'1234567', '12345678', '123456789', '-1234567', '-12345678', '1234567 ', '12345:78', '1234/678', '1234567a', '12345678a', '1234567812345678', '123456781234567x']);

-- Floats: what a short parser gets wrong in the last bit, the ends, the words.
INSERT INTO spellings VALUES ('float', ARRAY['0', '-0', '+0', '1', '-1.5', '+1.5', '.5', '5.', '.', '-.', '+.5', '-.5e1', '1e', '1e+', '1e5', '1E5', '1e+5', '1e-5', 'e5',
	'0.1', '0.2', '0.3', '87.9', '1.1', '107', '21.0', '0.30000000000000004', '2.2250738585072011e-308', '2.2250738585072014e-308', '4.9e-324', '5e-324', '2e-324', '1e-400',
	'1.7976931348623157e308', '1.7976931348623159e308', '1e309', '-1e309', '1e999999999999', '0e999999999999', '0e-999999999999', '9007199254740993', '9007199254740992.5', '9007199254740993.00000000000000001',
	'123456789012345678', '1234567890123456789', '12345678901234567890123', '0.000000000000000000000000000000000001', '8.5070591730234615865843651857942e37',
	'3.4028235e38', '3.4028236e38', '3.4028235677973366e38', '1.17549435e-38', '1.401298464324817e-45', '7e-46', '1e-46', '16777217', '16777219', '33554433', '0.100000001490116119384765625', '1.00000017881393421514957253748434595763683319091796875', '1.00000017881393432617187499', '1.000000178813934326171875', '1.00000017881393432617187501',
	'7.0385307e-26', '2.50000000000000000000000000000000000001', '1.8446744073709551616e19', '18014398509481985', '3.14159265358979323846264338327950288',
	'NaN', 'nan', 'NAN', '-nan', 'nanx', 'inf', '-inf', '+inf', 'Infinity', '-Infinity', 'infinit', 'infinityx', 'INF', '1inf', ' 1.5', '1.5 ', E'\t1.5\n', ' ', '', '1.5x', '1,5', '1.5.5', '0x1p3', '0x10', '1_0', '1d5', '--1', 'abc', '1 .5', '00001.5', '1.50000', E'1.5\u00a0', 'nan(1)', repeat('9', 400), '0.' || repeat('0', 400) || '1', repeat('1', 30) || '.' || repeat('1', 30) || 'e-20']);

INSERT INTO spellings VALUES ('bool', ARRAY['t', 'f', 'T', 'F', 'true', 'false', 'TRUE', 'False', 'tr', 'fals', 'truex', 'y', 'n', 'yes', 'no', 'ye', 'nope', 'on', 'off', 'o', 'of', 'ON', '1', '0', '01', '10', '2', '', ' ', ' t', 't ', ' true ', 'null', E't\n']);

INSERT INTO spellings VALUES ('date', ARRAY['2024-02-29', '2023-02-29', '1900-02-29', '2000-02-29', '2024-2-9', '2024-02-30', '2024-04-31', '2024-13-01', '2024-00-10', '2024-01-00', '0001-01-01', '0000-01-01', '9999-12-31', '10000-01-01', '5874897-12-31', '5874898-01-01',
	'4713-11-24 BC', '4714-11-24 BC', '4714-11-23 BC', '0001-01-01 BC', '-2024-01-01', '1999-12-31', '1970-01-01', '2024/02/29', '02/03/2024', '31/12/2024', '12/31/2024', '20240229', '240229', '2024-060', 'Feb 29 2024', '29-Feb-2024', 'J2460370', 'infinity', '-infinity', 'Infinity', 'epoch', 'today', 'tomorrow', 'yesterday',
	'2024-02-29 ', ' 2024-02-29', '2024-02-29 10:11:12', '2024-02-29T10:11:12', '2024-02-29x', '2024-02-2', '2024-02-', '2024-02', '2024', '', ' ', 'abc', '2024-02-29 BC', '24-02-29', '2024-0a-01', '2024_02_29', '٢٠٢٤-٠٢-٢٩', '2024-02-29+01', '02-03-04']);

INSERT INTO spellings VALUES ('timestamp', ARRAY['2024-02-29 12:34:56', '2024-02-29T12:34:56', '2024-02-29t12:34:56', '2024-02-29 12:34', '2024-02-29 12', '2024-02-29', '2024-02-29 12:34:56.1', '2024-02-29 12:34:56.123456', '2024-02-29 12:34:56.1234564', '2024-02-29 12:34:56.1234565', '2024-02-29 12:34:56.1234567', '2024-02-29 12:34:56.9999999', '2024-12-31 23:59:59.9999999', '2024-02-29 12:34:56.', '2024-02-29 12:34:56,5', '2024-02-29 12:34:56.0000005', '2024-02-29 12:34:56.0000015',
	'1969-12-31 23:59:59.5', '1969-12-31 23:59:59.000001', '1999-12-31 23:59:59.999999', '2024-02-29 23:59:60', '2024-02-29 23:59:60.5', '2024-02-29 23:59:61', '2024-02-29 24:00:00', '2024-02-29 24:00:01', '2024-02-29 25:00:00', '2024-02-29 12:60:00', '2023-02-29 00:00:00', '2024-13-01 00:00:00', '2024-00-01 00:00:00',
	'0001-01-01 00:00:00', '0000-01-01 00:00:00', '4714-11-24 00:00:00 BC', '4714-11-23 23:59:59 BC', '294276-12-31 23:59:59.999999', '294277-01-01 00:00:00', '10000-01-01 00:00:00', 'infinity', '-infinity', 'epoch', 'now', 'today', 'tomorrow 12:00', 'allballs',
	'2024-02-29 12:34:56+01', '2024-02-29 12:34:56 +01:30', '2024-02-29 12:34:56-08', '2024-02-29 12:34:56Z', '2024-02-29T12:34:56Z', '2024-02-29T12:34:56.5z', '2024-02-29 12:34:56 UTC', '2024-02-29 12:34:56 Europe/Paris', '2024-02-29 12:34:56+01:02:03', '2024-02-29 12:34:56+15:59', '2024-02-29 12:34:56+16', '2024-02-29 12:34:56 America/Nowhere', '2024-02-29 12:34:56+0530', '2024-02-29 12:34:56.5+00',
	'2024-03-31 02:30:00', '2024-03-31 01:59:59.999999', '2024-03-31 03:00:00', '2024-10-27 02:30:00', '2024-10-27 01:59:59', '2024-10-27 03:00:00', '1893-04-01 00:00:00', '1850-06-01 12:00:00', '1945-05-24 02:30:00', '2050-07-01 12:00:00', '1980-04-06 02:30:00',
	'2024-02-29  12:34:56', ' 2024-02-29 12:34:56', '2024-02-29 12:34:56 ', '2024-02-29 1:2:3', '2024-2-9 12:34:56', '20240229T123456', '20240229 123456', '2024-02-29 12:34:56 PM', '2024-02-29 01:34 PM', '2024-02-29 13:34 PM', '02/03/2024 12:00:00', '31/12/2024 12:00', 'Thu Feb 29 12:34:56 2024', '', ' ', 'abc', '2024-02-29 12:34:5', '2024-02-29 12:34:567', '2024-02-29 12:3456', '2024-02-29-12:34:56', '2024-02-29_12:34:56', '2024-02-29 12-34-56', '12:34:56', '2024-02-29 12:34:56 BC', '2024-02-29 12:34:56x', '2024-02-29 :34:56', '2024-02-29 1a:34:56']);

INSERT INTO spellings VALUES ('uuid', ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', '{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g', 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99_9c0b-4ef8-bb6d-6bb9bd380a11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', ' a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 ', 'a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a@1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a`1', '', 'a', '-a0eebc999c0b4ef8bb6d6bb9bd380a11']);

INSERT INTO spellings VALUES ('text', ARRAY['', ' ', 'a', 'abc', 'abcd', 'abcde', 'abcdef', 'abcde ', 'abcde   ', 'ab   ', '   ab', 'a"b', 'a,b', E'a\nb', '\', '\.', 'NULL', 'null', E'gr\u00fcn', E'gr\u00fcnes', E'\u65e5\u672c\u8a9e\u65e5\u672c', E'\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e', E'\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600', E'abc\u00fc  ', repeat('x', 126), repeat('x', 127), repeat('x', 3000)]);

-- The types that have a loop of their own.
CALL check_kind('smallint', 'integer');
CALL check_kind('integer', 'integer');
CALL check_kind('bigint', 'integer');
CALL check_kind('real', 'float');
CALL check_kind('float8', 'float');
CALL check_kind('boolean', 'bool');
CALL check_kind('date', 'date');
CALL check_kind('timestamp', 'timestamp');
CALL check_kind('timestamptz', 'timestamp');
CALL check_kind('timestamp(3)', 'timestamp');
CALL check_kind('timestamptz(0)', 'timestamp');
CALL check_kind('uuid', 'uuid');
CALL check_kind('text', 'text');
CALL check_kind('varchar', 'text');
CALL check_kind('varchar(5)', 'text');
CALL check_kind('char(5)', 'text');
CALL check_kind('char', 'text');
CALL check_kind('bpchar', 'text');
-- A loop must ask the settings that an input function asks.
SET DateStyle = 'SQL, DMY';
CALL check_kind('date', 'date');
CALL check_kind('timestamptz', 'timestamp');
SET DateStyle = 'German, YMD';
SET TimeZone = 'America/St_Johns';
CALL check_kind('date', 'date');
CALL check_kind('timestamptz', 'timestamp');
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, MDY';

-- The types that go through their input function.
CALL check_kind('numeric', 'float');
CALL check_kind('numeric(6,2)', 'float');
CALL check_kind('oid', 'integer');
CALL check_kind('time', 'timestamp');
CALL check_kind('timetz', 'timestamp');
CALL check_spellings('bytea', ARRAY['', 'abc', '\x', '\xdeadbeef', '\xdeadbee', '\xzz', 'a\000b', 'a\400b', 'a\\b', 'a\b']);
CALL check_spellings('interval', ARRAY['1 day', '1-2', 'P1Y2M3DT4H5M6S', '1 day -01:00', '@ 1 hour ago', '', 'abc', '1.5 months', '99999999999 years']);
CALL check_spellings('interval day to minute', ARRAY['1 day 2:3:4', '1 month', '10']);
CALL check_spellings('jsonb', ARRAY['{"a": [1, 2.50, null], "a": 3}', '[]', 'null', '"x"', '{', '', '1e400', '"\u0000"']);
CALL check_spellings('json', ARRAY['{"a" : 1,  "a":2}', '{', '']);
CALL check_spellings('int4[]', ARRAY['{}', '{1,2,3}', '{{1,2},{3,4}}', '[0:1]={1,2}', '{1,NULL}', '{1,a}', '{1', '1', '', '{1,2,99999999999}']);
CALL check_spellings('text[]', ARRAY['{}', '{a,"b,c",NULL,"NULL"}', '{"\""}', '{"}']);
CALL check_spellings('inet', ARRAY['10.0.0.1', '10.0.0.1/8', '::1', '10.0.0.256', '']);
CALL check_spellings('point', ARRAY['(1,2)', '1,2', '(1', '']);
CALL check_spellings('int4range', ARRAY['[1,5)', 'empty', '(,)', '[5,1)', '']);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CALL check_spellings('mood', ARRAY['sad', 'happy', 'Sad', 'angry', '']);
CREATE TYPE pair AS (a int, b text);
CALL check_spellings('pair', ARRAY['(1,a)', '(1,"a,b")', '(,)', '(1)', '(x,a)', '']);

-- How many spellings were tried, whether there were good and bad ones among
-- them (which ones depends on the server's version), whether keys were refused
-- that COPY would have rounded, and how many came out otherwise than COPY has
-- them.
CREATE FUNCTION rounded(report) RETURNS boolean LANGUAGE sql AS $$
	SELECT $1.read_as = 'key' AND $1.expected !~ '^[0-9][0-9A-Z]{4} [a-z]' AND $1.actual ~ '^22000 type .* cannot hold key .* exactly$'
$$;
SELECT type, count(*) AS tried,
	   bool_or(expected !~ '^[0-9][0-9A-Z]{4} [a-z]') AS good, bool_or(expected ~ '^[0-9][0-9A-Z]{4} [a-z]') AS bad,
	   coalesce(bool_or(rounded(report)), false) AS rounded_keys,
	   count(*) FILTER (WHERE expected IS DISTINCT FROM actual AND rounded(report) IS NOT TRUE) AS differences
FROM report GROUP BY type ORDER BY type COLLATE "C";
SELECT DISTINCT type, read_as, left(spelling, 30) AS spelling, left(expected, 60) AS expected, left(actual, 60) AS actual
FROM report WHERE expected IS DISTINCT FROM actual AND rounded(report) IS NOT TRUE ORDER BY 1, 2, 3;

-- A domain's constraints are checked, and its input is its base type's.
CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN code AS varchar(3);
CREATE DOMAIN short_code AS code CHECK (length(VALUE) < 3);
CALL check_spellings('percent', ARRAY['0', '100', '101', '-1', 'abc', ''], true);
CALL check_spellings('code', ARRAY['abc', 'abc ', 'abcd', ''], true);
CALL check_spellings('short_code', ARRAY['ab', 'abc', 'abcd'], true);
SELECT type, read_as, spelling, expected, actual FROM report
WHERE type IN ('percent', 'code', 'short_code') AND read_as IN ('value', 'key') AND NOT quoted
ORDER BY type, read_as DESC, spelling COLLATE "C";

-- A null that stands in the file is refused where the domain refuses it, as by
-- COPY; where the file has no such key, the column is null as in any outer join.
CREATE DOMAIN needed AS text NOT NULL;
CREATE FOREIGN TABLE needed_file (id int OPTIONS (key 'true'), v needed OPTIONS (filename 'needed.csv'),
	w text OPTIONS (filename 'other.csv')) SERVER files;
CALL put('other.csv', E'1,x\n3,z\n');
CALL put('needed.csv', E'1,a\n2,""\n');
SELECT id, v, v IS NULL AS "null", w FROM needed_file;
CALL put('needed.csv', E'1,a\n2,\n');
SELECT * FROM needed_file;
CREATE TABLE needed_copy (id int, v needed);
SELECT outcome(format('COPY needed_copy FROM %L (FORMAT csv)', :'dir' || '/needed.csv'));

-- Many values of each type, as COPY TO writes them and as COPY FROM reads.
CREATE TABLE many AS
	SELECT i AS id,
		   i % 3 = 0 AS b,
		   (i * 7919 % 65536 - 32768)::int2 AS i2,
		   (i::bigint * 2654435761 % 4294967296 - 2147483648)::int4 AS i4,
		   ('x' || md5(i::text))::bit(64)::bigint AS i8,
		   (('x' || md5('f4' || i))::bit(32)::int4 / 1024.0)::real AS f4,
		   (('x' || md5('f8' || i))::bit(64)::bigint::float8 / 1e5) ^ (1 + i % 3) AS f8,
		   date '0001-01-01' + i * 365 AS d,
		   timestamp '1900-01-01' + i * interval '17 days 3:07:11.123457' AS ts,
		   timestamptz '1850-01-01 00:00 UTC' + i * interval '23 days 5:13:17.000321' AS tstz,
		   md5('u' || i)::uuid AS u,
		   repeat(chr(33 + i % 90), i % 150) AS t,
		   (i * 1.10)::numeric AS n
	FROM generate_series(1, 4000) i;
CREATE FOREIGN TABLE many_file (
	id int OPTIONS (key 'true'), b boolean OPTIONS (filename 'many.csv', field '2'), i2 int2 OPTIONS (filename 'many.csv', field '3'),
	i4 int4 OPTIONS (filename 'many.csv', field '4'), i8 int8 OPTIONS (filename 'many.csv', field '5'), f4 real OPTIONS (filename 'many.csv', field '6'),
	f8 float8 OPTIONS (filename 'many.csv', field '7'), d date OPTIONS (filename 'many.csv', field '8'), ts timestamp OPTIONS (filename 'many.csv', field '9'),
	tstz timestamptz OPTIONS (filename 'many.csv', field '10'), u uuid OPTIONS (filename 'many.csv', field '11'), t text OPTIONS (filename 'many.csv', field '12'),
	n numeric OPTIONS (filename 'many.csv', field '13')
) SERVER files;
CALL put_query('many.csv', 'SELECT * FROM many ORDER BY id');
SELECT differences('TABLE many_file', 'TABLE many', true);
CALL put_query('many.csv', 'SELECT * FROM many ORDER BY id', 'format csv, force_quote *');
SELECT differences('TABLE many_file', 'TABLE many', true);
SET outerjoin_fdw.simd = off;
SELECT differences('TABLE many_file', 'TABLE many', true);
RESET outerjoin_fdw.simd;
-- another DateStyle; older offsets have no name that could be read back
SET DateStyle = 'SQL, DMY';
CREATE VIEW modern AS SELECT * FROM many WHERE tstz > '1950-01-01' ORDER BY id;
CALL put_query('many.csv', 'SELECT * FROM modern');
SELECT count(*), differences('TABLE many_file', 'TABLE modern', true) FROM modern;
SET DateStyle = 'ISO, MDY';
