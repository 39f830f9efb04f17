package Bench::Aggregates;

# The section over aggregates that are computed while merging.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Exporter qw(import);

our @EXPORT = qw(aggregates_sections);

# [name, title, what it runs]
sub aggregates_sections
{
	return ([ 'aggregates', 'Aggregates computed while merging', \&section_aggregates ]);
}

sub section_aggregates
{
	local $Bench::Session::settings = '';
	my $check = 'SELECT count(*), count(colour), sum(length), sum(id), avg(length), min(mass), max(mass) FROM %s;';

	make_heap_tables();
	make_table('arrow_none', server => 'arrow_files');
	make_table('dense', server => 'csv_files');
	my $right = run_once(sprintf($check, 'joined'));
	for my $table ('arrow_none', 'dense')
	{
		my $answer = run_once(sprintf($check, $table));
		die "$table answers $answer, not $right\n" if $answer ne $right;
	}

	my %t = measure(
		[ 'Q, Arrow', q_over('arrow_none') ],
		[ 'Q, CSV', q_over('dense') ],
		[ 'Q, pre-joined heap table', q_over('joined') ],
		[ 'count(*), Arrow', 'SELECT count(*) FROM arrow_none' ],
		[ 'count(colour), Arrow', 'SELECT count(colour) FROM arrow_none' ]);
	figure('Aggregates in the merge, Arrow: Q / pre-joined heap table',
		$t{'Q, Arrow'} / $t{'Q, pre-joined heap table'}, ' x', most => 0.15);
	figure('   CSV', $t{'Q, CSV'} / $t{'Q, pre-joined heap table'}, ' x');
	return;
}

1;
