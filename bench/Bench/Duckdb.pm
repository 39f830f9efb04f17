package Bench::Duckdb;

# DuckDB on all cores over the same CSV files, in turns with Q.
use strict;
use warnings;
use Bench::Figures;
use Bench::Session;
use Bench::Tables;
use Exporter qw(import);
use File::Basename qw(dirname);
use IPC::Open2;

our @EXPORT = qw(duckdb_wanted compare_duckdb);

sub duckdb_wanted
{
	return scalar grep { $_ eq 'duckdb' } split /,/, $ENV{PEERS} // '';
}

# Where DuckDB is; nothing where npm cannot bring it
sub install_duckdb
{
	my $folder = "$ENV{BENCH_DIR}/duckdb";
	my $program = dirname(__FILE__) . '/../duckdb.mjs';

	if (!-d "$folder/node_modules/\@duckdb/node-api")
	{
		print "    installing \@duckdb/node-api with npm in $folder ...\n";
		mkdir $folder;
		if (system("cd '$folder' && npm install --silent --no-audit --no-fund \@duckdb/node-api >npm.log 2>&1") != 0)
		{
			print "    npm could not install it; see $folder/npm.log\n";
			return;
		}
	}
	system("cp '$program' '$folder/duckdb.mjs'") == 0 or die;
	return $folder;
}

# Q over a folder, which is a table's name too
sub compare_duckdb
{
	my ($name) = @_;
	my $folder = install_duckdb() // return;
	my (@ours, @theirs);

	my $pid = open2(my $out, my $in, 'node', "$folder/duckdb.mjs", data_folder() . "/$name");
	my $ask = sub {
		print {$in} "\n";
		$in->flush;
		my $line = readline($out);
		return if !defined $line;
		chomp $line;
		return split / /, $line, 2;
	};
	local $SIG{PIPE} = 'IGNORE';
	my ($version, $rows) = $ask->();
	if (!defined $version)
	{
		print "    DuckDB does not run here\n";
		return;
	}
	print "    DuckDB $version answers $rows\n";
	my $session = session_open();
	for (1 .. runs())
	{
		my ($time) = $ask->();
		push @theirs, $time;
		push @ours, session_time($session, q_over($name));
	}
	session_close($session);
	close $in;
	waitpid($pid, 0);
	printf "    DuckDB %.1f ms, outerjoin_fdw %.1f ms\n", median(@theirs), median(@ours);
	figure('DuckDB on all cores / Q', median(@theirs) / median(@ours), ' x', least => 3);
	return;
}

1;
