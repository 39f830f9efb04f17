package Bench::Required;

# What clauses on values spare: rows that lack a required column's key, and
# files that nobody asks for.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Exporter qw(import);

our @EXPORT = qw(required_sections);

# name, clause, what is asked for, how the time relates to Q's
my @cases = (
	[ "colour = 'red'", "colour = 'red'", 'sum(length)', most => 0.35 ],
	[ 'no value is null', 'colour IS NOT NULL AND length IS NOT NULL AND mass IS NOT NULL', 'count(*), sum(length), sum(mass)', most => 1 ]);

# [name, title, what it runs]
sub required_sections
{
	return ([ 'required', 'Clauses on values, Arrow files', \&section_required ]);
}

sub query
{
	my ($clause, $asked, $table) = @_;
	return "SELECT $asked FROM $table WHERE $clause";
}

sub section_required
{
	my $table = 'arrow_none';

	make_table($table, server => 'arrow_files');
	# what the reduction must not change
	for my $case (@cases)
	{
		my $exact = query($case->[1], 'count(*), sum(length), count(mass), sum(id)', $table);
		my ($here, $plain) = map { scalar run_once("SET outerjoin_fdw.required_streams = $_; $exact;") } 'on', 'off';
		die "$exact answers $here, not $plain\n" if $here ne $plain;
	}

	my %t = measure([ 'Q', q_over($table) ], map { [ $_->[0], query(@$_[ 1, 2 ], $table) ] } @cases);
	figure("Arrow, uncompressed: $_->[0] / Q", $t{ $_->[0] } / $t{Q}, ' x', @$_[ 3, 4 ]) for @cases;
	return;
}

1;
