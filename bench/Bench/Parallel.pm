package Bench::Parallel;

# The section on parallel scans: Q by two workers and the leader, and by one
# process.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Exporter qw(import);

our @EXPORT = qw(parallel_sections);

my @tables = ([ 'arrow_none', 'Arrow files' ], [ 'dense', 'CSV files' ]);

# [name, title, what it runs]
sub parallel_sections
{
	return ([ 'parallel', 'Q by several processes', \&section_parallel ]);
}

sub by
{
	my ($workers, $query) = @_;
	return "SET max_parallel_workers_per_gather = $workers\\; $query";
}

# Are rows divided among processes, and does every row come once?
sub check_plan
{
	my ($table) = @_;
	my $plan = join "\n", run_once('SET max_parallel_workers_per_gather = 2; EXPLAIN ' . q_over($table) . ';');
	my @counts = map { scalar run_once("SET max_parallel_workers_per_gather = $_; SELECT count(*) || ' ' || sum(id) FROM $table;") } 0, 2;

	die "the plan over $table is not parallel\n" if $plan !~ /Parallel Foreign Scan/;
	die "$table: $counts[1] in parallel, not $counts[0]\n" if $counts[0] ne $counts[1];
	return;
}

sub section_parallel
{
	make_table('arrow_none', server => 'arrow_files');
	make_table('dense', server => 'csv_files');
	for (@tables)
	{
		my ($table, $what) = @$_;
		check_plan($table);
		my %t = measure(
			[ "$what, one process", by(0, q_over($table)) ],
			[ "$what, two workers", by(2, q_over($table)) ]);
		figure("$what: Q by one process / by two workers and the leader",
			$t{"$what, one process"} / $t{"$what, two workers"}, ' x', least => 1.7);
	}
	return;
}

1;
