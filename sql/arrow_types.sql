--
-- Each type of Arrow as each type of PostgreSQL: what it becomes, and what it
-- cannot become.
--
-- A line per type gives the values of all rows in turn; a state in its place
-- is an error, whose first message follows.  Types that do not hold the field
-- at all come last, with the hint.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test arrow_types
\i :prelude

\set arrow_dir :abs_srcdir '/sql/data/arrow'
CREATE SERVER arrow_types FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory :'arrow_dir');
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
SET IntervalStyle = 'postgres';
SET bytea_output = 'hex';
\pset format unaligned
\pset tuples_only on

-- One value as text, or the error's state; "error" becomes the first message.
CREATE PROCEDURE read_value(query text, INOUT result text, INOUT error text) LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE query INTO result;
	result := coalesce(replace(result, E'\n', '\n'), 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	result := state;
	IF state = '42804' THEN
		error := coalesce(error, concat_ws(' ', detail, hint));
	ELSE
		error := coalesce(error, message);
	END IF;
END $$;

CREATE FUNCTION matrix(file text, field text, types text[] DEFAULT
	'{boolean,smallint,integer,bigint,oid,real,double precision,numeric,"numeric(6,2)",date,time,time(0),timestamp,timestamp(0),timestamptz,interval,interval(0),text,varchar(5),char(5),bytea,uuid,json,jsonb}')
RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	type text;
	k bigint;
	value text;
	results text[];
	error text;
	refused jsonb := '{}';
	types_refused text;
BEGIN
	RETURN NEXT format('%s, field %s', file, field);
	FOREACH type IN ARRAY types
	LOOP
		EXECUTE format('CREATE FOREIGN TABLE cell (id bigint OPTIONS (key ''true''), v %s OPTIONS (filename %L, field %L)) SERVER arrow_types',
			type, file, field);
		results := '{}';
		error := NULL;
		FOR k IN EXECUTE 'SELECT id FROM cell'
		LOOP
			CALL read_value(format('SELECT v::text FROM cell WHERE id = %s', k), value, error);
			results := results || CASE WHEN length(value) > 60 THEN left(value, 40) || '...' ELSE value END;
			EXIT WHEN value = '42804';
		END LOOP;
		DROP FOREIGN TABLE cell;
		IF value = '42804' THEN
			refused := jsonb_set(refused, ARRAY[error], to_jsonb(coalesce(refused ->> error || ', ', '') || type));
		ELSE
			RETURN NEXT format('  %s: %s%s', type, array_to_string(results, ' | '), ' -- ' || error);
		END IF;
	END LOOP;
	FOR error, types_refused IN SELECT * FROM jsonb_each_text(refused)
	LOOP
		RETURN NEXT format('  not %s -- %s', types_refused, error);
	END LOOP;
END $$;

-- The same for a key: all of them, or the error.
CREATE FUNCTION keys(file text, types text[], options text DEFAULT '') RETURNS SETOF text
LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	type text;
	result text;
	error text;
BEGIN
	RETURN NEXT format('%s, key', file);
	FOREACH type IN ARRAY types
	LOOP
		EXECUTE format('CREATE FOREIGN TABLE cell (id %s OPTIONS (key ''true''%s) %s, value text OPTIONS (filename %L)) SERVER arrow_types',
			type, options, CASE WHEN type ~ 'text|char' THEN 'COLLATE "C"' END, file);
		error := NULL;
		CALL read_value('SELECT string_agg(id::text, '' | '') FROM cell', result, error);
		RETURN NEXT format('  %s: %s%s', type, result, ' -- ' || error);
		DROP FOREIGN TABLE cell;
	END LOOP;
END $$;

-- null, booleans, numbers
SELECT matrix('null.arrow', 'nothing');
SELECT matrix('bool.arrow', 'flag');
SELECT matrix('int.arrow', f) FROM unnest('{int8,int16,int32,int64}'::text[]) f;
SELECT matrix('uint.arrow', f) FROM unnest('{uint8,uint16,uint32,uint64}'::text[]) f;
SELECT matrix('float.arrow', f) FROM unnest('{float16,float32,float64}'::text[]) f;
SELECT matrix('decimal.arrow', f) FROM unnest('{d32_9_2,d64_18_6,d128_38_10,d256_76_38,d128_38_0}'::text[]) f;
SELECT matrix('decimal_scale.arrow', f) FROM unnest('{tens,tiny}'::text[]) f;

-- dates and times
SELECT matrix('date.arrow', f) FROM unnest('{date32,date64}'::text[]) f;
SELECT matrix('date64_odd.arrow', 'value');
SELECT matrix('time.arrow', f) FROM unnest('{time32_s,time32_ms,time64_us,time64_ns}'::text[]) f;
SELECT matrix('time_odd.arrow', f) FROM unnest('{time32_s,time64_us,time64_ns}'::text[]) f;
SELECT matrix('timestamp.arrow', f) FROM unnest('{timestamp_s,timestamp_ms,timestamp_us,timestamp_ns}'::text[]) f;
SELECT matrix('timestamp_berlin.arrow', f, '{timestamptz,timestamptz(0),text,jsonb,timestamp,date,time,bigint}')
	FROM unnest('{timestamp_s,timestamp_ms,timestamp_us,timestamp_ns}'::text[]) f;
SET TimeZone = 'Europe/Berlin';
SELECT matrix('timestamp_zones.arrow', f, '{timestamptz,text,timestamp}') FROM unnest('{offset,negative,etc,odd}'::text[]) f;
SET TimeZone = 'UTC';
SELECT matrix('duration.arrow', f) FROM unnest('{duration_s,duration_ms,duration_us,duration_ns}'::text[]) f;
SELECT matrix('interval.arrow', 'month_day_nano');
SELECT matrix('js_temporal.arrow', f, '{interval,text,jsonb,time}') FROM unnest('{months,day_time}'::text[]) f;

-- texts and bytes
SELECT matrix('utf8.arrow', 'utf8', '{text,varchar(5),char(5),bytea,smallint,double precision,date,interval,jsonb,uuid,text[]}');
SELECT matrix('utf8.arrow', f, '{text,varchar(12),bytea}') FROM unnest('{large_utf8,utf8_view}'::text[]) f;
SELECT matrix('text_nul.arrow', 'value', '{text,bytea,varchar(2)}');
SELECT matrix('text_broken.arrow', 'value', '{text,bytea,varchar(2)}');
SELECT matrix('binary.arrow', f) FROM unnest('{binary,large_binary,binary_view}'::text[]) f;
SELECT matrix('fixed_binary.arrow', f) FROM unnest('{uuid16,one,five,none}'::text[]) f;
SELECT matrix('extension.arrow', f, '{uuid,text,bytea,boolean,smallint,json,jsonb}') FROM unnest('{uuid,json,bool8,opaque}'::text[]) f;
SELECT matrix('extension.arrow', 'tensor', '{smallint[],jsonb,integer}');

-- dictionaries and runs are as their values
SELECT matrix('dictionary.arrow', f, '{text,varchar(5),bigint,double precision,date,bytea}')
	FROM unnest('{int8,uint16,int32,int64,uint64,of_null,of_view,of_date,ordered,all_null,unused,twice}'::text[]) f;
SELECT matrix('run_end.arrow', f, '{text,bigint,double precision,boolean,jsonb,date}')
	FROM unnest('{int32,int16,int64,each,of_struct}'::text[]) f;

-- lists
\set lists '{integer[],bigint[],numeric[],text[],boolean[],double precision[],date[],bytea[],jsonb,json,text,varchar(7),integer,bytea}'
SELECT matrix('list.arrow', f, :'lists') FROM unnest('{list,large_list,list_of_text}'::text[]) f;
SELECT matrix('list_view.arrow', f, :'lists') FROM unnest('{list_view,large_list_view}'::text[]) f;
SELECT matrix('fixed_list.arrow', f, :'lists') FROM unnest('{pair,three,none}'::text[]) f;
SELECT matrix('list_of_list.arrow', f, :'lists') FROM unnest('{rectangular,ragged,cube,fixed}'::text[]) f;

-- structs, maps, unions
CREATE TYPE spot AS (x integer, label text);
CREATE TYPE wide_spot AS (label varchar(10), x numeric);
CREATE TYPE nested AS ("inner" spot, flag boolean);
CREATE TYPE entry AS (key text, value integer);
CREATE TYPE spot_entry AS (k bigint, p spot);
\set structs '{spot,wide_spot,nested,spot[],entry[],spot_entry[],jsonb,json,text,integer,text[]}'
SELECT matrix('struct.arrow', f, :'structs') FROM unnest('{point,nested,empty}'::text[]) f;
SELECT matrix('struct_masked.arrow', 'point', :'structs');
SELECT matrix('list_of_struct.arrow', f, :'structs') FROM unnest('{points,deep}'::text[]) f;
SELECT matrix('map.arrow', f, :'structs') FROM unnest('{text_to_int,int_to_struct,sorted}'::text[]) f;
SELECT matrix('union.arrow', f, :'structs') FROM unnest('{sparse,dense}'::text[]) f;

-- domains
CREATE DOMAIN small AS integer CHECK (VALUE < 100);
CREATE DOMAIN present AS text NOT NULL;
SELECT matrix('int.arrow', 'int8', '{small}');
SELECT matrix('utf8.arrow', 'utf8', '{present}');

-- keys are exact, or an error
SELECT keys('key_int8.arrow', '{smallint,bigint,numeric,real,text}');
SELECT keys('key_uint32.arrow', '{integer,bigint,oid,real,double precision}');
SELECT keys('key_uint64.arrow', '{bigint,numeric,double precision}');
SELECT keys('key_limits.arrow', '{bigint,numeric,double precision}');
SELECT keys('key_float64.arrow', '{double precision,numeric,real,bigint}');
SELECT keys('key_decimal.arrow', '{numeric,"numeric(20,4)","numeric(20,1)",double precision,bigint}');
SELECT keys('key_date32.arrow', '{date,timestamp,timestamptz}');
SELECT keys('key_timestamp_us.arrow', '{timestamp,timestamp(0),timestamptz,date}');
SELECT keys('key_timestamp_us_utc.arrow', '{timestamptz,timestamptz(0),timestamp}');
SELECT keys('key_timestamp_ns_whole.arrow', '{timestamp}');
SELECT keys('key_timestamp_ns.arrow', '{timestamp,date}');
SELECT keys('key_text.arrow', '{text,varchar,varchar(2),char(30)}');
SELECT keys('key_uuid.arrow', '{uuid,text,bytea}');
SELECT keys('key_fixed16.arrow', '{uuid,bytea,text}');
SELECT keys('key_binary.arrow', '{bytea,text}');
SELECT keys('key_bool.arrow', '{boolean,integer}');
SELECT keys('key_run_end.arrow', '{bigint,smallint}');
