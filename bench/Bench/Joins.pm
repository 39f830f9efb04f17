package Bench::Joins;

# The section on joins with regular tables: ids of a heap table looked up in
# the Arrow files, and in a heap table with a primary key that holds the joined
# rows.  The planner has its choice on both sides.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Exporter qw(import);

our @EXPORT = qw(joins_sections);

# rows of the regular table, how long the join may take of the heap table's
my @sizes = ([ 10 ], [ 1_000 ], [ 100_000, most => 1.0 ], [ 5_000_000, most => 1.1 ]);

# [name, title, what it runs]
sub joins_sections
{
	return ([ 'joins', 'Joins with regular tables, Arrow files', \&section_joins ]);
}

# Tables of as many random ids, each once, that lie anywhere in the heap file
sub make_ids
{
	my $most = run_once('SELECT max(id) FROM joined;');

	for (@sizes)
	{
		my ($rows) = @$_;
		run_once(<<"SQL");
DROP TABLE IF EXISTS ids_$rows;
SELECT setseed(0.5);
CREATE TABLE ids_$rows AS
SELECT id FROM (SELECT DISTINCT 1 + (random() * ($most - 1))::bigint AS id FROM generate_series(1, ceil($rows * 1.5)::int)) i
ORDER BY random() LIMIT $rows;
VACUUM ANALYZE ids_$rows;
SQL
	}
	return;
}

sub join_of
{
	my ($rows, $table) = @_;
	return "SELECT count(*), sum(length) FROM ids_$rows JOIN $table USING (id)";
}

sub section_joins
{
	make_heap_tables();
	make_table('arrow_none', server => 'arrow_files');
	run_once('CREATE UNIQUE INDEX IF NOT EXISTS joined_id ON joined (id); VACUUM ANALYZE joined;');
	make_ids();
	run_once('ANALYZE arrow_none;');
	for (@sizes)
	{
		my ($rows, @target) = @$_;
		my ($here, $heap) = map { scalar run_once(join_of($rows, $_) . ';') } 'arrow_none', 'joined';
		die "$rows ids: $here, not $heap\n" if $here ne $heap;

		my $node = join ' ', map { /(Nested Loop|Hash Join|Merge Join)/ ? $1 : () } run_once('EXPLAIN ' . join_of($rows, 'arrow_none') . ';');
		my %t = measure(
			[ "$rows ids, Arrow ($node)", join_of($rows, 'arrow_none') ],
			[ "$rows ids, heap table", join_of($rows, 'joined') ]);
		figure("join with $rows random ids: Arrow / heap table with an index",
			$t{"$rows ids, Arrow ($node)"} / $t{"$rows ids, heap table"}, ' x', @target);
	}
	return;
}

1;
