# The measuring half of the bench: sections of queries, and a table of figures
# with their targets.
#
# Started by bench/run, which has made the data and started the server.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench::Aggregates;
use Bench::Arrow;
use Bench::Csv;
use Bench::Figures;
use Bench::Parallel;
use Bench::Required;
use Bench::Session;
use Bench::Tables;

die "start bench/run\n" if !$ENV{BENCH_DATA};

my ($scale) = data_folder() =~ /_([0-9.]+)$/;
my @sections = (csv_sections(), arrow_sections(), required_sections(), aggregates_sections(), parallel_sections());
my @only = split /,/, $ENV{BENCH_ONLY} // '';

sub print_setting
{
	my ($cpu) = map { /^model name\s*:\s*(.*)/ ? $1 : () } do { open(my $f, '<', '/proc/cpuinfo') or die; <$f> };
	chomp(my $cores = `nproc`);

	print "machine   ", $cpu // 'unknown processor', ", $cores cores\n";
	print "server    ", scalar run_once('SELECT version();'), "\n";
	print "settings  ", join(', ', map { "$_ = " . run_once("SHOW $_;") }
		qw(shared_buffers work_mem jit max_parallel_workers_per_gather)), "\n";
	print "data      ", data_folder(), ", scale $scale; ", runs(), " runs in turns, medians\n";
	return;
}

# Those that BENCH_ONLY names; all without it
sub wanted_sections
{
	return @sections if !@only;
	for my $name (@only)
	{
		die "there is no section \"$name\"\n" if !grep { $_->[0] eq $name } @sections;
	}
	return grep { my $name = $_->[0]; grep { $_ eq $name } @only } @sections;
}

$| = 1;
print_setting();
make_servers();
for my $section (wanted_sections())
{
	my ($name, $title, $run) = @$section;
	print "\n== $title\n";
	$run->();
}
print_table();
print "The targets are meant for BENCH_SCALE=1, not for $scale.\n" if $scale != 1;
