--
-- Who may name which files, and where a name may lead.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set prelude :abs_srcdir '/test/prelude.psql'
\set test privileges
\i :prelude

SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_outerjoin_user, regress_outerjoin_reader,
	regress_outerjoin_runner, regress_outerjoin_writer, regress_outerjoin_guest;
RESET client_min_messages;
CREATE ROLE regress_outerjoin_user;
CREATE ROLE regress_outerjoin_reader IN ROLE pg_read_server_files;
CREATE ROLE regress_outerjoin_runner IN ROLE pg_execute_server_program;
CREATE ROLE regress_outerjoin_writer IN ROLE pg_write_server_files;
CREATE ROLE regress_outerjoin_guest;
GRANT ALL ON SCHEMA privileges TO regress_outerjoin_user, regress_outerjoin_reader,
	regress_outerjoin_runner, regress_outerjoin_writer, regress_outerjoin_guest;
GRANT USAGE ON FOREIGN DATA WRAPPER outerjoin_fdw TO regress_outerjoin_user, regress_outerjoin_reader;
GRANT USAGE ON FOREIGN SERVER files TO regress_outerjoin_user, regress_outerjoin_reader,
	regress_outerjoin_runner, regress_outerjoin_writer;

CALL put('colour.csv', E'1,red\n2,green\n');
\! mkdir -m 777 "$DIR/sub"
CALL put('sub/mass.csv', E'2,21.0\n3,107\n');

--
-- USAGE on a server allows for tables on files beneath its directory ...
--
SET ROLE regress_outerjoin_user;
CREATE FOREIGN TABLE props (
	id int OPTIONS (key 'true'),
	colour text,
	mass real OPTIONS (filename 'sub/mass.csv')
) SERVER files;
SELECT * FROM props;
CREATE FOREIGN TABLE subs (id int OPTIONS (key 'true'), mass real) SERVER files OPTIONS (directory 'sub');
SELECT * FROM subs;

-- ... and for nothing else
ALTER FOREIGN TABLE props ALTER mass OPTIONS (SET filename '/etc/passwd');  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE props ALTER mass OPTIONS (SET filename '../../mass.csv');  -- error
ALTER FOREIGN TABLE props ALTER mass OPTIONS (SET filename 'sub/..');  -- error
ALTER FOREIGN TABLE props ALTER id OPTIONS (ADD filename '/etc/passwd');  -- error
ALTER FOREIGN TABLE props ALTER colour OPTIONS (ADD program 'cat /etc/passwd');  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE props ADD c text OPTIONS (filename '/etc/passwd');  -- error
ALTER FOREIGN TABLE props OPTIONS (ADD directory '/etc');  -- error
ALTER FOREIGN TABLE props OPTIONS (ADD directory 'sub/../..');  -- error
ALTER FOREIGN TABLE props OPTIONS (ADD writable 'true');  -- error
ALTER FOREIGN TABLE props OPTIONS (ADD writable 'false');
ALTER FOREIGN TABLE props OPTIONS (DROP writable);
ALTER SERVER files OPTIONS (SET directory '/etc');  -- error
CREATE FOREIGN TABLE other (id int OPTIONS (key 'true'), c text) SERVER files OPTIONS (directory '/etc');  -- error
CREATE SERVER own FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '/etc');  -- error
CREATE SERVER own FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (writable 'true');  -- error
CREATE SERVER own FOREIGN DATA WRAPPER outerjoin_fdw;
ALTER SERVER own OPTIONS (ADD directory '/etc');  -- error
CREATE FOREIGN TABLE own_table (id int OPTIONS (key 'true'), c text OPTIONS (filename 'etc/hosts.csv')) SERVER own;
SELECT * FROM own_table;  -- error
DROP FOREIGN TABLE own_table;
DROP SERVER own;

-- a column's name is no way out either
CREATE FOREIGN TABLE sly (id int OPTIONS (key 'true'), "/etc/hosts" text) SERVER files;
SELECT * FROM sly;  -- error
ALTER FOREIGN TABLE sly RENAME "/etc/hosts" TO "../up";
SELECT * FROM sly;  -- error
DROP FOREIGN TABLE sly;

-- reading needs the table's own privileges, and no others
SET ROLE regress_outerjoin_guest;
SELECT * FROM props;  -- error
CREATE FOREIGN TABLE other (id int OPTIONS (key 'true'), colour text) SERVER files;  -- error
RESET ROLE;
GRANT SELECT (id, colour) ON props TO regress_outerjoin_guest;
SET ROLE regress_outerjoin_guest;
SELECT id, colour FROM props;
SELECT id, mass FROM props;  -- error
RESET ROLE;

-- nor does a plan tell what is in a file to who may not read it
CALL put('secret.csv', E'id,what nobody knows,nor this\n1,x,y\n');
CREATE FOREIGN TABLE secrets (id int OPTIONS (key 'true'), v text OPTIONS (filename 'secret.csv', header 'true')) SERVER files;
CREATE TABLE secrets_parent (id int, v text) PARTITION BY RANGE (id);
CREATE VIEW secrets_view AS SELECT * FROM secrets;
GRANT SELECT ON secrets_view TO regress_outerjoin_guest;
SELECT * FROM secrets;  -- error
SET ROLE regress_outerjoin_guest;
SELECT * FROM secrets;  -- error
EXPLAIN SELECT id FROM secrets WHERE id = 1;  -- error
SELECT * FROM secrets_view;  -- error
RESET ROLE;
ALTER TABLE secrets_parent ATTACH PARTITION secrets FOR VALUES FROM (1) TO (10);
SET ROLE regress_outerjoin_guest;
SELECT * FROM secrets_parent;  -- error
SELECT 1 FROM secrets_parent UNION ALL SELECT 2 FROM secrets;  -- error
RESET ROLE;
GRANT SELECT ON secrets_parent TO regress_outerjoin_guest;
SET ROLE regress_outerjoin_guest;
SELECT * FROM secrets_parent;  -- error
RESET ROLE;
DROP TABLE secrets_parent CASCADE;

--
-- Each of the three rights goes with its role.
--
\set colour :dir '/colour.csv'
\set sub :dir '/sub'
SET ROLE regress_outerjoin_reader;
CREATE SERVER reader FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory :'sub');
CREATE FOREIGN TABLE readers (
	id int OPTIONS (key 'true'),
	mass real,
	colour text OPTIONS (filename :'colour')
) SERVER reader;
SELECT * FROM readers;
ALTER FOREIGN TABLE readers ALTER mass OPTIONS (ADD program 'echo 1,2');  -- error
ALTER FOREIGN TABLE readers OPTIONS (ADD writable 'true');  -- error

SET ROLE regress_outerjoin_runner;
CREATE FOREIGN TABLE runners (
	id int OPTIONS (key 'true'),
	colour text OPTIONS (program 'echo 5,blue')
) SERVER files;
SELECT * FROM runners;
CREATE FOREIGN TABLE other (id int OPTIONS (key 'true'), c text OPTIONS (filename '/etc/passwd')) SERVER files;  -- error

SET ROLE regress_outerjoin_writer;
CREATE FOREIGN TABLE other (id int OPTIONS (key 'true'), c text) SERVER files OPTIONS (writable 'true');  -- error
CREATE FOREIGN TABLE other (id int OPTIONS (key 'true'), c text OPTIONS (filename '/etc/passwd')) SERVER files;  -- error
RESET ROLE;

-- Whoever alters an object needs the right to all that stands on it; to take
-- away what another has set needs none.
ALTER FOREIGN TABLE readers OWNER TO regress_outerjoin_user;
SET ROLE regress_outerjoin_user;
SELECT * FROM readers;
ALTER FOREIGN TABLE readers OPTIONS (ADD header 'false');
ALTER FOREIGN TABLE readers ALTER colour OPTIONS (ADD header 'false');  -- error
ALTER FOREIGN TABLE readers ALTER colour OPTIONS (DROP filename);
SELECT * FROM readers;  -- error
RESET ROLE;

--
-- Where a relative name leads is seen when it is opened.
--
CALL put('inside.csv', E'1,inside\n');
\! ln -s inside.csv "$DIR/alias.csv"
\! ln -s ../inside.csv "$DIR/sub/back.csv"
\! ln -s /etc/passwd "$DIR/passwd.csv"
\! ln -s "$DIR/inside.csv" "$DIR/absolute.csv"
\! ln -s .. "$DIR/up"
\! ln -s / "$DIR/root"
\! ln -s nothing.csv "$DIR/dangling.csv"
\! ln -s loop.csv "$DIR/loop.csv"
\! mkfifo "$DIR/fifo.csv"
\! mkdir "$DIR/folder.csv"
\! ln -s /dev/zero "$DIR/zero.csv"

-- An error at once: nothing waits for a FIFO's writer or reads a device.
SET statement_timeout = '20s';
SET ROLE regress_outerjoin_user;
CREATE FOREIGN TABLE f (id int OPTIONS (key 'true'), v text OPTIONS (filename 'alias.csv')) SERVER files;
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'sub/back.csv');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'passwd.csv');
SELECT * FROM f;  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'absolute.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'up/privileges.files/inside.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'root/etc/passwd', ADD format 'csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'root/etc/*');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'up/');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'dangling.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'loop.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'fifo.csv');
SELECT * FROM f;  -- error
\echo :LAST_ERROR_SQLSTATE
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'folder.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'zero.csv');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'missing.csv');
SELECT * FROM f;  -- error

-- a table's directory is held to the same
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'inside.csv');
ALTER FOREIGN TABLE f OPTIONS (ADD directory 'up');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f OPTIONS (SET directory 'root/etc');
SELECT * FROM f;  -- error
ALTER FOREIGN TABLE f OPTIONS (SET directory 'sub');
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'back.csv');
SELECT * FROM f;  -- error
RESET ROLE;

-- a superuser's relative names, too; an absolute name is taken as it is
ALTER FOREIGN TABLE f OPTIONS (DROP directory);
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename 'absolute.csv');
SELECT * FROM f;  -- error
\set absolute :dir '/absolute.csv'
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename :'absolute');
SELECT * FROM f;
ALTER FOREIGN TABLE f ALTER v OPTIONS (SET filename '/dev/null');
SELECT * FROM f;  -- error
RESET statement_timeout;

SET client_min_messages = warning;
DROP SERVER reader CASCADE;
DROP OWNED BY regress_outerjoin_user, regress_outerjoin_reader,
	regress_outerjoin_runner, regress_outerjoin_writer, regress_outerjoin_guest;
DROP ROLE regress_outerjoin_user, regress_outerjoin_reader,
	regress_outerjoin_runner, regress_outerjoin_writer, regress_outerjoin_guest;
