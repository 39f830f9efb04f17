-- Made for the bench by bench/run; :library is the module's path.
-- Nothing is installed into the server's folders.
CREATE FUNCTION ceiling_handler() RETURNS fdw_handler
AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION ceiling_validator(text[], oid) RETURNS void
AS :'library' LANGUAGE C STRICT;
CREATE FOREIGN DATA WRAPPER ceiling
HANDLER ceiling_handler VALIDATOR ceiling_validator;
CREATE SERVER ceiling FOREIGN DATA WRAPPER ceiling;
