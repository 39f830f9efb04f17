package Bench::Wide;

# The table of a hundred columns, whatever the format of its files.
use strict;
use warnings;
use Bench::Figures;
use Bench::Tables;
use Exporter qw(import);

our @EXPORT = qw(make_wide_table wide_ratio);

# A table of the folder's columns c1 .. cN; returns the query for all sums.
sub make_wide_table
{
	my ($server, $folder, $n) = @_;
	my $name = "$folder$n";

	make_table($name, server => $server, folder => $folder, columns => join(', ', map { "c$_ int" } 1 .. $n));
	return 'SELECT count(*), ' . join(', ', map { "sum(c$_)" } 1 .. $n) . " FROM $name";
}

# Rows of the streams c1 .. cN: lines of the CSV files less their headers
sub stream_rows
{
	my ($n) = @_;
	my @files = map { data_folder() . "/wide/c$_.csv" } 1 .. $n;

	open(my $lines, '-|', 'wc', '-l', @files) or die "wc: $!\n";
	my ($total) = map { /^\s*(\d+) total$/ ? $1 : () } <$lines>;
	close $lines or die "wc could not read @files\n";
	return $total - $n;
}

# Time for each row of a stream with a hundred streams, as a multiple of that
# with three
sub wide_ratio
{
	my ($server, $folder) = @_;
	my %t = measure(map { [ "N = $_", make_wide_table($server, $folder, $_) ] } 3, 100);
	my ($few, $many) = map { $t{"N = $_"} * 1e6 / stream_rows($_) } 3, 100;

	printf "    per stream row: N = 3 %.1f ns, N = 100 %.1f ns\n", $few, $many;
	return $many / $few;
}

1;
