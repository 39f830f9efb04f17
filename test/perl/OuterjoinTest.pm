# What the Perl tests share: a server of their own with the extension in it,
# a folder for files, and sessions that stay open.
#
#   my $server = OuterjoinTest->new('descriptors');
#   $server->write_file('a.csv', "1,a\n");
#   is($server->query('SELECT count(*) FROM f'), '1');
#
# Where make did not set up the environment of PostgreSQL's own test modules,
# it is found through $PG_CONFIG (pg_config on the PATH by default).
package OuterjoinTest;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

BEGIN
{
	my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
	chomp(my $pgxs = `$pg_config --pgxs`);
	chomp(my $bindir = `$pg_config --bindir`);
	my $src = dirname($pgxs) . '/..';

	$ENV{PATH} = "$bindir:$ENV{PATH}";
	$ENV{PG_REGRESS} ||= "$src/test/regress/pg_regress";
	my $tmp = tempdir('outerjoin_fdw_XXXXXX', TMPDIR => 1, CLEANUP => 1);
	$ENV{TESTDATADIR} ||= "$tmp/data";
	$ENV{TESTLOGDIR}  ||= "$tmp/log";
	$ENV{TESTDIR}     ||= $tmp;
	make_path($ENV{TESTDATADIR}, $ENV{TESTLOGDIR});
	$ENV{with_icu} ||= 'no';
	unshift @INC, "$src/test/perl";
}

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

# A running server, its database "postgres" in UTF-8 and the C locale.
sub new
{
	my ($class, $name, %args) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
	$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
	$node->append_conf('postgresql.conf', $args{conf}) if $args{conf};
	my $files = $node->basedir . '/files';
	make_path($files);
	my $self = bless { node => $node, files => $files }, $class;
	$self->start;
	$self->query("CREATE EXTENSION outerjoin_fdw");
	$self->query("CREATE SERVER files FOREIGN DATA WRAPPER outerjoin_fdw OPTIONS (directory '$files')");
	return $self;
}

sub start { $_[0]{node}->start; return }
sub stop  { $_[0]{node}->stop('fast'); return }
sub files { return $_[0]{files} }
sub path  { my ($self, $name) = @_; return "$self->{files}/$name" }

# Write these bytes; folders in the name are made.
sub write_file
{
	my ($self, $name, $content) = @_;
	my $path = $self->path($name);
	make_path(dirname($path));
	open my $fh, '>:raw', $path or die "$path: $!";
	print $fh $content;
	close $fh or die "$path: $!";
	return $path;
}

# Run SQL in a session of its own; its output, or die.
sub query
{
	my ($self, $sql) = @_;
	return $self->{node}->safe_psql('postgres', $sql);
}

# Run SQL that may fail: (output, error text).
sub try
{
	my ($self, $sql) = @_;
	my ($rc, $out, $err) = $self->{node}->psql('postgres', $sql, on_error_stop => 1, timeout => 120);
	return ($out, $err);
}

# A session that stays open; say() sends and waits for the answer, send()
# does not wait.  Errors come with the output.
sub session
{
	my ($self) = @_;
	my ($in, $out) = ('', '');
	my $timer = IPC::Run::timeout(120);
	my $handle = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $self->{node}->connstr('postgres') ],
		'<', \$in, '>', \$out, '2>&1', $timer);
	my $session = bless { handle => $handle, in => \$in, out => \$out, n => 0 },
	  'OuterjoinTest::Session';
	$session->{pid} = $session->say('SELECT pg_backend_pid();');
	return $session;
}

package OuterjoinTest::Session;

sub send
{
	my ($self, $sql) = @_;
	${ $self->{in} } .= "$sql\n;\n\\echo done $self->{n}\n";
	$self->{handle}->pump_nb;
	return;
}

sub wait
{
	my ($self) = @_;
	my $mark = "done $self->{n}\n";
	$self->{handle}->pump until ${ $self->{out} } =~ /^\Q$mark\E/m;
	my $out = ${ $self->{out} };
	${ $self->{out} } = '';
	$self->{n}++;
	$out =~ s/^\Q$mark\E//m;
	chomp $out;
	return $out;
}

sub say
{
	my ($self, $sql) = @_;
	$self->send($sql);
	return $self->wait;
}

sub pid { return $_[0]{pid} }

# How many descriptors this session's backend has open beneath a folder, or
# in all.
sub descriptors
{
	my ($self, $below) = @_;
	my $n = 0;
	for my $fd (glob "/proc/$self->{pid}/fd/*")
	{
		my $target = readlink $fd;
		next if !defined $target;
		$n++ if !defined $below || index($target, $below) == 0;
	}
	return $n;
}

# The backend's peak resident memory in kB.
sub peak_memory
{
	my ($self) = @_;
	open my $fh, '<', "/proc/$self->{pid}/status" or die $!;
	my ($kb) = map { /^VmHWM:\s+(\d+)/ ? $1 : () } <$fh>;
	return $kb;
}

sub close
{
	my ($self) = @_;
	${ $self->{in} } .= "\\q\n";
	$self->{handle}->finish;
	return;
}

1;
