# Arrow files for the Perl tests, written by test/arrow/arrow_from_csv.
#
#   OuterjoinArrow::write_arrow($path, [ [ 'id', 'int64' ], [ 'v', 'utf8' ] ], \@rows, '--codec', 'lz4');
#
# Rows hold texts as arrow_from_csv takes them, undef for a null.  The program
# is built in $OUTERJOIN_BUILD, where make has already been, or in a folder of
# its own.
package OuterjoinArrow;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build;
my %programs;

# The path of a writer, arrow_from_csv or another.
sub program
{
	my ($name) = @_;
	$name //= 'arrow_from_csv';
	return $programs{$name} if $programs{$name};
	$build ||= $ENV{OUTERJOIN_BUILD} || tempdir('outerjoin_fdw_XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $make = $ENV{MAKE} || 'make';
	system("cd '$top' && $make -s -f test/unit/Makefile BUILD='$build' $name >&2") == 0 or die "$name cannot be built";
	$programs{$name} = "$build/test/arrow/$name";
	return $programs{$name};
}

sub quoted { my ($text) = @_; $text =~ s/"/""/g; return "\"$text\"" }

sub write_arrow
{
	my ($path, $fields, $rows, @options) = @_;
	my $csv = "$path.input";
	make_path(dirname($path));
	open my $fh, '>:raw', $csv or die "$csv: $!";
	print $fh join(',', map { quoted($_) } @$_), "\n" for [ map { $_->[0] } @$fields ];
	print $fh join(',', map { defined $_ ? quoted($_) : '' } @$_), "\n" for @$rows;
	close $fh or die "$csv: $!";
	my @command = (program(), @options, '--fields', join(',', map { "$_->[0]:$_->[1]" } @$fields));
	system(join(' ', map { s/'/'\\''/gr =~ s/.*/'$&'/sr } @command) . " <'$csv' >'$path'") == 0 or die "@command <$csv failed";
	unlink $csv;
	return;
}

1;
