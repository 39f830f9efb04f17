package Bench::Arrow;

# The sections over Arrow files, which hold the same data as the CSV files.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Bench::Wide;
use Exporter qw(import);
use List::Util qw(max);

our @EXPORT = qw(arrow_sections);

# table, which is also its folder => what its files are
my %files = (
	arrow_none       => 'uncompressed',
	arrow_lz4        => 'LZ4',
	arrow_zstd       => 'ZSTD',
	arrow_stream     => 'stream variant',
	arrow_whole_lz4  => 'one LZ4 record batch',
	arrow_whole_zstd => 'one ZSTD record batch');
my @codecs = qw(arrow_none arrow_lz4 arrow_zstd);
my @whole  = qw(arrow_whole_lz4 arrow_whole_zstd);

# [name, title, what it runs]
sub arrow_sections
{
	return (
		[ 'arrow', 'Arrow files: Q and count(*)', \&section_arrow ],
		[ 'arrow_short', 'Arrow files: a range of ids and the first row', \&section_short ],
		[ 'arrow_wide', 'Arrow files: N = 100 columns of int', \&section_wide ],
		[ 'arrow_memory', 'Arrow files: peak memory of the backend', \&section_memory ]);
}

# Do tables hold what another does?  But for the sum of floats, which depends
# on the order.
sub check_answers
{
	my ($right_table, @tables) = @_;
	my $check = 'SELECT count(*), count(colour), sum(length), sum(id), count(mass) FROM %s;';
	my $right = run_once(sprintf($check, $right_table));

	for my $table (@tables)
	{
		my $answer = run_once(sprintf($check, $table));
		die "$table answers $answer, not $right\n" if $answer ne $right;
	}
	return;
}

sub section_arrow
{
	my %most = (arrow_none => 1.25, arrow_lz4 => 1.6, arrow_zstd => 2.0);

	make_heap_tables();
	make_table($_, server => 'arrow_files') for @codecs;
	check_answers('joined', @codecs);
	my $rows = make_ceiling('arrow_none');

	my %t = measure(
		(map { [ $files{$_}, q_over($_) ] } @codecs),
		[ 'ceiling', q_over('arrow_none_ceiling') ],
		[ 'pre-joined heap table', q_over('joined') ]);
	my %count = measure(
		[ 'count(*), uncompressed', 'SELECT count(*) FROM arrow_none' ],
		[ 'count(*), ceiling', 'SELECT count(*) FROM arrow_none_ceiling' ]);
	print_per_row($rows, \%t, (map { $files{$_} } @codecs), 'ceiling');
	print_per_row($rows, \%count, 'count(*), uncompressed', 'count(*), ceiling');
	figure("Arrow, $files{$_}: Q / ceiling", $t{ $files{$_} } / $t{ceiling}, ' x', most => $most{$_}) for @codecs;
	figure('Arrow, uncompressed: Q / scan of the pre-joined heap table',
		$t{uncompressed} / $t{'pre-joined heap table'}, ' x', less => 1);
	figure('Arrow, uncompressed: count(*) / ceiling',
		$count{'count(*), uncompressed'} / $count{'count(*), ceiling'}, ' x', most => 1.3);
	return;
}

sub section_short
{
	make_table($_, server => 'arrow_files') for keys %files;
	check_answers('arrow_none', 'arrow_stream');
	measure_range();
	measure_first_row($_) for @codecs, 'arrow_stream', @whole;
	measure_ends($_) for @codecs, 'arrow_stream';
	return;
}

sub measure_range
{
	my $start = range_start('arrow_none');
	my @queries = map { [ $files{$_}, range_of($_, $start) ] } @codecs;

	my ($first, $again) = measure_first_and_again('10,000 ids', @queries);
	for my $what (map { $files{$_} } @codecs)
	{
		my @target = $what eq $files{arrow_none} ? (less => 5) : ();
		figure("Arrow, $what: range of 10,000 ids, a session's first query", $first->{$what}, ' ms', @target);
		figure('   repeated', $again->{$what}, ' ms', @target);
	}
	return;
}

# Each query as a session's first, and then repeated: two references to name => median.
sub measure_first_and_again
{
	my ($title, @queries) = @_;

	print "    $title, the first query of a session:\n";
	my %first = measure_first(@queries);
	print "    repeated:\n";
	my %again = measure(@queries);
	return (\%first, \%again);
}

# LIMIT 1 and the first FETCH of a cursor, which is closed again
sub measure_first_row
{
	my ($table) = @_;
	my @queries = (
		[ 'LIMIT 1', "SELECT * FROM $table LIMIT 1" ],
		[ 'FETCH 1', "BEGIN\\; DECLARE c CURSOR FOR SELECT * FROM $table\\; FETCH 1 FROM c\\; COMMIT" ]);

	my ($first, $again) = measure_first_and_again("first row, $files{$table}", @queries);
	figure("Arrow, $files{$table}: first row, a session's first query", max(values %$first), ' ms', less => 5);
	figure('   repeated', max(values %$again), ' ms', less => 5);
	return;
}

# the last rows, and the keys at both ends
sub measure_ends
{
	my ($table) = @_;
	my @queries = (
		[ 'ORDER BY id DESC LIMIT 10', "SELECT * FROM $table ORDER BY id DESC LIMIT 10" ],
		[ 'min(id), max(id)', "SELECT min(id), max(id) FROM $table" ]);

	my ($first, $again) = measure_first_and_again("the ends, $files{$table}", @queries);
	for my $what (map { $_->[0] } @queries)
	{
		figure("Arrow, $files{$table}: $what, a session's first query", $first->{$what}, ' ms', less => 5);
		figure('   repeated', $again->{$what}, ' ms', less => 5);
	}
	return;
}

sub section_wide
{
	my ($ours, $right) = map { scalar run_once("$_;") }
	  make_wide_table('arrow_files', 'arrow_wide', 100), make_wide_table('csv_files', 'wide', 100);
	die "answers differ: $ours and $right\n" if $ours ne $right;

	my $ratio = wide_ratio('arrow_files', 'arrow_wide');

	figure('Arrow, uncompressed: time per stream row, N = 100 / N = 3', $ratio, ' x', most => 1.5);
	return;
}

sub section_memory
{
	make_table($_, server => 'arrow_files') for @codecs, @whole;
	make_table('whole', server => 'csv_files');
	check_answers('whole', @whole);
	make_few();
	my $few = peak_growth(q_over('few'));

	printf "    %-34s %10.1f MB\n", 'ten rows of the ceiling', $few;
	for my $table (@codecs, @whole)
	{
		my $growth = peak_growth(q_over($table));
		printf "    %-34s %10.1f MB\n", $files{$table}, $growth;
		figure("Arrow, $files{$table}: peak memory grows during Q by", $growth - $few, ' MB', less => 32);
	}
	return;
}

1;
