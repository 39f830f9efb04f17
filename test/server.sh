# Private servers for the tests, the demo and the bench; sourced by bash.
#
# A server started here listens on a socket in its own folder only, runs as
# an unprivileged user, and touches no other.  The extension is never
# installed into the system: private_installation makes a second installation
# of PostgreSQL, in a folder, out of copies and links (a server finds its files
# relative to where its program lies), and the extension goes there.
#
# Set by server_setup: make (the command), server_user, pg_config.

fail()
{
	echo "$*" >&2
	exit 1
}

server_setup()
{
	make=${MAKE:-make}
	pg_config=${PG_CONFIG:-pg_config}
	if ! command -v "$pg_config" >/dev/null || [ ! -f "$("$pg_config" --pgxs)" ]
	then
		# what test/dependencies has installed
		pg_config=/usr/lib/postgresql/15/bin/pg_config
	fi
	pg_config=$(command -v "$pg_config") || fail "There is no pg_config."
	# a make that started us must not hand its own variables on
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES PGHOST PGPORT PGUSER PGDATABASE PGOPTIONS PGSERVICE

	server_user=
	if [ "$(id -u)" -eq 0 ]
	then
		server_user=postgres
		id "$server_user" >/dev/null 2>&1 || server_user=nobody
	fi
}

# Run a command as the user that owns the servers.
as_server_user()
{
	if [ -n "$server_user" ]
	then
		runuser -u "$server_user" -- "$@"
	else
		"$@"
	fi
}

# The same for a program of the server's, "server_program FOLDER PROGRAM ...":
# they want to start in a folder that their user may enter, which the sources'
# need not be.
server_program()
{
	local folder=$1 program
	program=$("$pg_config" --bindir)/$2
	shift 2

	(cd "$folder" && as_server_user "$program" "$@")
}

# A new folder that the server's user owns; on tmpfs or not as TMPDIR says.
private_folder()
{
	local folder

	folder=$(mktemp -d "${TMPDIR:-/tmp}/outerjoin_$1.XXXXXX")
	chmod 755 "$folder"
	[ -z "$server_user" ] || chown "$server_user" "$folder"
	echo "$folder"
}

# Copy the sources, without what was built from them, to where the server's
# user may read and write them.
copy_sources()
{
	local from=$1 to=$2

	mkdir -p "$to"
	tar -C "$from" --exclude=./.git --exclude=./demo --exclude=./build --exclude=./results \
		--exclude='*.o' --exclude='*.so' --exclude='*.bc' -cf - . | tar -C "$to" --no-same-owner -xf -
	[ -z "$server_user" ] || chown -R "$server_user" "$to"
}

# Make an installation of PostgreSQL below a folder and point pg_config to it.
# The programs are copied, since a linked one would find the old place.
private_installation()
{
	local root=$1 what from

	for what in bindir pkglibdir sharedir includedir-server
	do
		from=$("$pg_config" --$what)
		case $what in
			bindir)
				mkdir -p "$root$from"
				cp -L "$from"/* "$root$from"/
				;;
			includedir-server)
				mkdir -p "$root$(dirname "$from")"
				[ -e "$root$from" ] || ln -s "$from" "$root$from"
				;;
			*)
				mkdir -p "$root$from"
				cp -as --remove-destination "$from"/. "$root$from"/
				;;
		esac
	done
	rm -f "$root$("$pg_config" --pkglibdir)"/outerjoin_fdw* "$root$("$pg_config" --sharedir)"/extension/outerjoin_fdw*
	[ -z "$server_user" ] || chown -hR "$server_user" "$root"
	pg_config=$root$("$pg_config" --bindir)/pg_config
}

# server_start FOLDER [SETTING=VALUE ...]: a new server in FOLDER/data with
# its socket and log in FOLDER; sets PGHOST, PGPORT, PGUSER, PGDATABASE.
server_start()
{
	local folder=$1 setting
	shift

	# a socket's path may have 107 bytes
	[ ${#folder} -lt 85 ] || fail "The path \"$folder\" is too long for a socket."
	if [ ! -d "$folder/data" ]
	then
		server_program "$folder" initdb -D "$folder/data" -U postgres -A trust -N \
			--encoding=UTF8 --locale=C.UTF-8 >"$folder/initdb.log" 2>&1 ||
			{ cat "$folder/initdb.log" >&2; fail "initdb failed"; }
		{
			echo "listen_addresses = ''"
			echo "unix_socket_directories = '$folder'"
			echo "port = ${server_port:-54321}"
			for setting
			do
				echo "${setting%%=*} = '${setting#*=}'"
			done
		} | as_server_user tee -a "$folder/data/postgresql.conf" >/dev/null
	fi
	server_program "$folder" pg_ctl -w -D "$folder/data" -l "$folder/log" start >/dev/null ||
		{ cat "$folder/log" >&2; fail "the server does not start"; }
	export PGHOST=$folder PGPORT=${server_port:-54321} PGUSER=postgres PGDATABASE=postgres
}

# The psql of that installation.
run_psql()
{
	"$("$pg_config" --bindir)/psql" -X -v ON_ERROR_STOP=1 "$@"
}

server_stop()
{
	local folder=$1

	if [ -f "$folder/data/postmaster.pid" ]
	then
		server_program "$folder" pg_ctl -w -m fast -D "$folder/data" stop >/dev/null
	fi
}
