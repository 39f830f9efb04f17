package Bench::Figures;

# What is taken of a query (its time, its time as a session's first, its
# memory) and the table of figures with their targets.
#
# Knows nothing of what the queries read.
use strict;
use warnings;
use Bench::Session;
use Exporter qw(import);
use List::Util qw(max);

our @EXPORT = qw(runs median print_times print_per_row measure measure_first peak_growth figure print_table);

my @table;    # [figure, measured, target, met]

sub runs
{
	return $ENV{BENCH_RUNS} || 5;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	my $n = @sorted;
	return $n % 2 ? $sorted[ $n / 2 ] : ($sorted[ $n / 2 - 1 ] + $sorted[ $n / 2 ]) / 2;
}

# Prints the times of each name in the order given; returns name => median.
sub print_times
{
	my ($times, @names) = @_;
	my %median = map { $_ => median(@{ $times->{$_} }) } @names;

	printf "    %-34s %10.1f ms   (%s)\n", $_, $median{$_}, join(' ', map { sprintf '%.1f', $_ } @{ $times->{$_} })
	  for @names;
	return %median;
}

# Nanoseconds for each row, in the order of the names
sub print_per_row
{
	my ($rows, $milliseconds, @names) = @_;
	printf "    per row: %s\n",
	  join(', ', map { sprintf '%s %.1f ns', $_, $milliseconds->{$_} * 1e6 / $rows } @names);
	return;
}

# measure([name, query, most runs], ...): each once to warm up, then in turns.
# Returns name => median milliseconds.
sub measure
{
	my @queries = @_;
	my $session = session_open();
	my %times;

	session_time($session, $_->[1]) for @queries;
	for my $run (1 .. runs())
	{
		for my $entry (@queries)
		{
			my ($name, $query, $most) = @$entry;
			next if $most && $run > $most;
			push @{ $times{$name} }, session_time($session, $query);
		}
	}
	session_close($session);
	return print_times(\%times, map { $_->[0] } @queries);
}

# measure_first([name, query], ...): the same, each the first query of a
# session of its own.
sub measure_first
{
	my @queries = @_;
	my %times;

	for my $run (0 .. runs())
	{
		for my $entry (@queries)
		{
			my ($name, $query) = @$entry;
			my $session = session_open();
			my $time = session_time($session, $query);
			session_close($session);
			push @{ $times{$name} }, $time if $run > 0;
		}
	}
	return print_times(\%times, map { $_->[0] } @queries);
}

# Megabytes by which a new backend's peak grows during one query, median of
# three backends
sub peak_growth
{
	my ($query) = @_;
	return median(map { peak_growth_once($query) } 1 .. 3);
}

sub peak_growth_once
{
	my ($query) = @_;
	my $session = session_open();
	my $pid = session_pid($session);
	my $before = peak($pid);
	session_run($session, "$query;");
	my $after = peak($pid);
	session_close($session);
	return ($after - $before) / 1024;
}

# Kilobytes
sub peak
{
	my ($pid) = @_;
	open(my $status, '<', "/proc/$pid/status") or die "/proc/$pid/status: $!\n";
	return (map { /^VmHWM:\s+(\d+) kB/ ? $1 : () } <$status>)[0];
}

# most / less / least: the target, or none of them where there is none
sub figure
{
	my ($what, $value, $unit, %target) = @_;
	my $shown = sprintf($value < 0.1 ? '%.4f%s' : '%.2f%s', $value, $unit);
	my ($goal, $met) = ('', '');

	if (defined $target{most})
	{
		$goal = "at most $target{most}$unit";
		$met = $value <= $target{most} ? 'met' : 'NOT MET';
	}
	elsif (defined $target{less})
	{
		$goal = "less than $target{less}$unit";
		$met = $value < $target{less} ? 'met' : 'NOT MET';
	}
	elsif (defined $target{least})
	{
		$goal = "at least $target{least}$unit";
		$met = $value >= $target{least} ? 'met' : 'NOT MET';
	}
	push @table, [ $what, $shown, $goal, $met ];
	return;
}

sub print_table
{
	my @rows = ([ 'figure', 'measured', 'target', '' ], @table);
	my @width = map { my $i = $_; max map { length $_->[$i] } @rows } 0 .. 3;

	print "\n";
	printf "%-$width[0]s  %$width[1]s  %-$width[2]s  %s\n", @$_ for @rows;
	return;
}

1;
