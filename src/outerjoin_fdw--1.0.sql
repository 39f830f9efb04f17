/* src/outerjoin_fdw--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION outerjoin_fdw" to load this file. \quit

CREATE FUNCTION outerjoin_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

CREATE FUNCTION outerjoin_fdw_validator(text[], oid)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

CREATE FOREIGN DATA WRAPPER outerjoin_fdw
  HANDLER outerjoin_fdw_handler
  VALIDATOR outerjoin_fdw_validator;
