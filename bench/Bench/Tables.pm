package Bench::Tables;

# The tables that the sections query: foreign tables over the data's folders,
# the ceiling's tables of the same shape, heap tables.
#
# A table that is there already is left as it is.
use strict;
use warnings;
use Bench::Session;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);

our @EXPORT = qw(data_folder q_over q_over_text range_of range_start
  make_servers make_table make_ceiling make_few make_heap_tables);

# what the folders of CSV files say of themselves
my $csv = "header 'true', encoding 'UTF8'";

sub data_folder
{
	return $ENV{BENCH_DATA};
}

# Q; over a table whose id is text, which has no sum
sub q_over
{
	my ($from) = @_;
	return "SELECT count(*), count(colour), sum(length), sum(mass), sum(id) FROM $from";
}

sub q_over_text
{
	my ($from) = @_;
	return "SELECT count(*), count(colour), sum(length), sum(mass), count(id) FROM $from";
}

# Q for the 10,000 ids from one on
sub range_of
{
	my ($table, $first) = @_;
	return q_over(sprintf('%s WHERE id BETWEEN %d AND %d', $table, $first, $first + 9999));
}

# An id well inside a table's
sub range_start
{
	my ($table) = @_;
	return int(run_once("SELECT max(id) FROM $table;") * 0.6);
}

sub make_servers
{
	my $ceiling = abs_path(dirname(__FILE__) . '/../ceiling/ceiling.sql');
	my $data = data_folder();

	run_once(<<"SQL");
DROP EXTENSION IF EXISTS outerjoin_fdw, file_fdw CASCADE;
DROP FOREIGN DATA WRAPPER IF EXISTS ceiling CASCADE;
DROP FUNCTION IF EXISTS ceiling_handler, ceiling_validator;
CREATE EXTENSION outerjoin_fdw;
CREATE EXTENSION file_fdw;
CREATE SERVER arrow_files FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '$data');
CREATE SERVER csv_files FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '$data', $csv);
CREATE SERVER whole_files FOREIGN DATA WRAPPER file_fdw;
\\set library $ENV{BENCH_LIBRARY}
\\i $ceiling
SQL
	return;
}

# make_table(NAME, server, columns after the id, type and collation of the id,
# folder, options): a foreign table over a folder
sub make_table
{
	my ($name, %table) = @_;
	my $type = $table{type} // 'bigint';
	my $collate = $table{collation} ? "COLLATE \"$table{collation}\"" : '';
	my $columns = $table{columns} // 'colour text, length int, mass real';
	my $folder = $table{folder} // $name;
	my $options = join(', ', "directory '$folder'", $table{options} // ());

	run_once(<<"SQL");
CREATE FOREIGN TABLE IF NOT EXISTS $name (id $type OPTIONS (key 'true') $collate, $columns)
SERVER $table{server} OPTIONS ($options);
SQL
	return;
}

# NAME_ceiling of as many rows as a table with the usual columns has; returns
# their number.
sub make_ceiling
{
	my ($name, $type) = @_;
	my $rows = run_once("SELECT count(*) FROM $name;");

	run_once(sprintf(<<"SQL", $type // 'bigint'));
CREATE FOREIGN TABLE IF NOT EXISTS ${name}_ceiling (id %s, colour text, length int, mass real)
SERVER ceiling OPTIONS (rows '$rows');
SQL
	print "    $name: $rows rows\n";
	return $rows;
}

# Ten rows of the ceiling: what any query costs
sub make_few
{
	run_once(<<"SQL");
CREATE FOREIGN TABLE IF NOT EXISTS few (id bigint, colour text, length int, mass real)
SERVER ceiling OPTIONS (rows '10');
SQL
	return;
}

# Which data a folder holds: the bench writes this when they are complete.
sub data_made
{
	my ($folder) = @_;
	open(my $file, '<', data_folder() . "/$folder/complete") or die "$folder/complete: $!\n";
	chomp(my $made = <$file> // '');
	return $made;
}

# Heap tables of the dense files, indexed and vacuumed; kept between runs as
# long as the files are the same, which a comment on the last table tells.
sub make_heap_tables
{
	my $session = session_open();
	my ($loaded) = session_run($session, "SELECT obj_description(to_regclass('joined'), 'pg_class');");
	my $made = data_made('dense');

	if ($loaded ne $made)
	{
		print "    loading, indexing and vacuuming heap tables ...\n";
		session_run($session, 'DROP TABLE IF EXISTS colour, length, mass, joined;');
		for my $pair ([ 'colour', 'text' ], [ 'length', 'int' ], [ 'mass', 'real' ])
		{
			my ($name, $type) = @$pair;
			my $file = data_folder() . "/dense/$name.csv";
			session_run($session, <<"SQL");
CREATE TABLE $name (id bigint NOT NULL, $name $type);
\\copy $name FROM '$file' WITH (FORMAT csv, HEADER true)
CREATE UNIQUE INDEX ON $name (id);
SQL
		}
		session_run($session, <<"SQL");
VACUUM (ANALYZE, FREEZE) colour, length, mass;
CREATE TABLE joined AS SELECT id, colour, length, mass
FROM colour FULL JOIN length USING (id) FULL JOIN mass USING (id) ORDER BY id;
CREATE UNIQUE INDEX ON joined (id);
VACUUM (ANALYZE, FREEZE) joined;
COMMENT ON TABLE joined IS '$made';
SQL
	}
	session_close($session);
	return;
}

1;
