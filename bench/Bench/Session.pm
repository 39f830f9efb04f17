package Bench::Session;

# A session: one psql that stays, fed with statements and timed by itself.
# Every session runs without parallelism and with the bench's setting of jit.
#
# Knows nothing of tables and figures.
use strict;
use warnings;
use Exporter qw(import);
use IPC::Open2;

our @EXPORT = qw(session_open session_run session_time session_pid session_close run_once);

# What nearly all sections measure is rows: a scan that hands out a sum would
# have none.
our $settings = 'SET outerjoin_fdw.aggregates = off;';

my $jit = ($ENV{BENCH_JIT} // 'off') eq 'on' ? 'on' : 'off';

sub session_open
{
	my $pid = open2(my $out, my $in, qw(psql -X -q -A -t -v ON_ERROR_STOP=1));
	my $session = { pid => $pid, in => $in, out => $out };
	session_run($session, "SET client_min_messages = warning; SET max_parallel_workers_per_gather = 0; SET jit = $jit; $settings");
	return $session;
}

# Runs statements or psql commands; returns the output's lines.
sub session_run
{
	my ($session, $commands) = @_;
	my @lines;

	print { $session->{in} } "$commands\n\\echo --done--\n";
	$session->{in}->flush;
	while (defined(my $line = readline($session->{out})))
	{
		chomp $line;
		return @lines if $line eq '--done--';
		push @lines, $line;
	}
	die "psql ended at: $commands\n";
}

# Milliseconds of one query, or of several that \; joins.
sub session_time
{
	my ($session, $query) = @_;
	my ($time) = map { /^Time: ([0-9.]+) ms/ ? $1 : () }
	  session_run($session, "\\timing on\n$query;\n\\timing off");
	return $time;
}

# The process that serves the session
sub session_pid
{
	my ($session) = @_;
	my ($pid) = session_run($session, 'SELECT pg_backend_pid();');
	return $pid;
}

sub session_close
{
	my ($session) = @_;
	close $session->{in};
	waitpid($session->{pid}, 0);
	return;
}

sub run_once
{
	my ($commands) = @_;
	my $session = session_open();
	my @lines = session_run($session, $commands);
	session_close($session);
	return wantarray ? @lines : $lines[0];
}

1;
