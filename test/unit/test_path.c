/*-------------------------------------------------------------------------
 *
 * test_path.c
 *	  Where names of files may lead: every case once with openat2() and once
 *	  with a kernel that refuses it (a seccomp filter answers EPERM).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "utils/memutils.h"

#include "io/folder_names.h"
#include "io/path.h"
#include "descriptors.h"
#include "server_stub.h"
#include "tap.h"

static char scratch[] = "/tmp/outerjoin_path_XXXXXX";
static const char *mode;		/* prefix of the test names */

/* ------------------------------------------------------------ the tree */

static char *
in_scratch(const char *name)
{
	return psprintf("%s/%s", scratch, name);
}

static void
make_file(const char *name)
{
	FILE	   *file = fopen(in_scratch(name), "w");

	fputs(name, file);
	fclose(file);
}

static void
make_socket(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strlcpy(address.sun_path, in_scratch(name), sizeof(address.sun_path));
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0)
		perror("bind");
	close(fd);
}

static void
make_link(const char *target, const char *name)
{
	if (symlink(target, in_scratch(name)) != 0)
		perror("symlink");
}

static void
make_tree(void)
{
	static const char *const folders[] = {
		"outside", "base", "base2", "base/sub", "base/sub/deep", "base/p1", "base/p2",
		"base/.hidden", "base/empty", "base/dir.csv"
	};
	static const char *const files[] = {
		"outside/secret.csv", "base2/x.csv", "base/a.csv", "base/b.csv", "base/c.txt", "base/.d.csv",
		"base/_e.csv", "base/[x].csv", "base/sub/s.csv", "base/sub/deep/d.csv", "base/p1/1.csv",
		"base/p2/2.csv", "base/p2/_3.csv", "base/.hidden/h.csv"
	};

	if (mkdtemp(scratch) == NULL)
		perror("mkdtemp");
	for (size_t i = 0; i < lengthof(folders); i++)
		mkdir(in_scratch(folders[i]), 0755);
	for (size_t i = 0; i < lengthof(files); i++)
		make_file(files[i]);
	make_link("../outside/secret.csv", "base/leak.csv");
	make_link(in_scratch("outside/secret.csv"), "base/leak_absolute.csv");
	make_link("../outside", "base/leak_folder");
	make_link("../base2/x.csv", "base/leak_sibling.csv");	/* base2 begins like base */
	make_link("../a.csv", "base/sub/up.csv");
	make_link("sub/s.csv", "base/inner.csv");
	make_link("/proc/self/fd/0", "base/magic.csv");
	make_link("nowhere", "base/dangling.csv");
	make_link("loop", "base/loop");
	mkfifo(in_scratch("base/fifo.csv"), 0644);
	make_socket("base/socket.csv");
}

/* ------------------------------------------------------------ calls */

typedef struct Call
{
	Folder		folder;
	const char *name;
	bool		missing_ok;
	int			fd;
	bool		exists;
	List	   *names;
} Call;

static void
call_open(void *argument)
{
	Call	   *call = argument;

	call->fd = path_open_file(&call->folder, call->name, call->missing_ok);
}

static void
call_exists(void *argument)
{
	Call	   *call = argument;

	call->exists = path_exists(&call->folder, call->name);
}

static void
call_list(void *argument)
{
	Call	   *call = argument;

	call->names = path_list(&call->folder, call->name);
}

static void
call_check_name(void *argument)
{
	path_check_name("filename", ((Call *) argument)->name);
}

static void
opens(const char *below, const char *name, const char *content)
{
	Call		call = {.folder = {in_scratch("base"), below},.name = name,.fd = -1};
	char		got[256];
	ssize_t		length = 0;

	if (server_stub_try(call_open, &call) && call.fd >= 0)
	{
		length = read(call.fd, got, sizeof(got) - 1);
		close(call.fd);
	}
	got[Max(length, 0)] = '\0';
	if (!tap_ok(strcmp(got, content) == 0, "%s: opens %s", mode, name))
		tap_note("%s", server_stub_error.message);
}

static void
refuses(const char *below, const char *name, const char *sqlstate, const char *message)
{
	Call		call = {.folder = {in_scratch("base"), below},.name = name,.fd = -1};
	bool		passed = server_stub_try(call_open, &call);

	if (!tap_ok(!passed && strstr(server_stub_error.message, message) != NULL &&
				strcmp(server_stub_sqlstate(server_stub_error.sqlerrcode), sqlstate) == 0,
				"%s: refuses %.40s", mode, name))
		tap_note("%s %s", server_stub_sqlstate(server_stub_error.sqlerrcode), server_stub_error.message);
	if (strstr(server_stub_error.message, scratch) != NULL)
		tap_ok(false, "%s: shows the resolved name: %s", mode, server_stub_error.message);
}

static void
lists(const char *below, const char *name, const char *expected)
{
	Call		call = {.folder = {in_scratch("base"), below},.name = name};
	char		got[8192] = "";
	ListCell   *cell;

	if (!server_stub_try(call_list, &call))
		strlcpy(got, server_stub_error.message, sizeof(got));
	foreach(cell, call.names)
	{
		if (got[0])
			strlcat(got, " ", sizeof(got));
		strlcat(got, lfirst(cell), sizeof(got));
	}
	tap_is_string(got, expected, psprintf("%s: lists %s", mode, name));
}

static bool
exists(const char *name)
{
	Call		call = {.folder = {in_scratch("base"), NULL},.name = name};

	return server_stub_try(call_exists, &call) && call.exists;
}

/* ------------------------------------------------------------ tests */

static void
test_open(void)
{
	char		longer[MAXPGPATH + 10];

	opens(NULL, "a.csv", "base/a.csv");
	opens(NULL, "sub/s.csv", "base/sub/s.csv");
	opens(NULL, "sub/../a.csv", "base/a.csv");
	opens(NULL, "sub/up.csv", "base/a.csv");
	opens(NULL, "inner.csv", "base/sub/s.csv");
	opens("sub", "s.csv", "base/sub/s.csv");
	opens(NULL, in_scratch("outside/secret.csv"), "outside/secret.csv");
	opens(NULL, in_scratch("base/leak.csv"), "outside/secret.csv");

	refuses(NULL, "leak.csv", "42501", "\"leak.csv\" leads out of its directory");
	refuses(NULL, "leak_absolute.csv", "42501", "leads out of its directory");
	refuses(NULL, "leak_sibling.csv", "42501", "leads out of its directory");
	refuses(NULL, "leak_folder/secret.csv", "42501", "leads out of its directory");
	refuses(NULL, "../outside/secret.csv", "42501", "leads out of its directory");
	refuses("sub", "up.csv", "42501", "leads out of its directory");
	refuses("leak_folder", "secret.csv", "42501", "\"leak_folder\" leads out of its directory");
	refuses("..", "a.csv", "42501", "\"..\" leads out of its directory");
	refuses("nothere", "a.csv", "58P01", "could not open directory \"nothere\"");
	refuses(NULL, "magic.csv", "42501", "leads out of its directory");
	refuses(NULL, "nothere.csv", "58P01", "could not open file \"nothere.csv\": No such file");
	refuses(NULL, "dangling.csv", "58P01", "could not open file \"dangling.csv\": No such file");
	refuses(NULL, "a.csv/x", "42809", "could not open file \"a.csv/x\": Not a directory");
	refuses(NULL, "sub", "42809", "\"sub\" is not a regular file");
	tap_is_string(server_stub_error.detail, "It is a directory.", "says that it is a directory");
	tap_ok(strstr(server_stub_error.hint, "\"/\"") != NULL, "hints at the slash");
	refuses(NULL, "fifo.csv", "42809", "\"fifo.csv\" is not a regular file");
	tap_is_string(server_stub_error.detail, "It is a FIFO.", "says that it is a FIFO");
	refuses(NULL, "socket.csv", "42809", "\"socket.csv\" is not a regular file");
	refuses(NULL, "/dev/null", "42809", "\"/dev/null\" is not a regular file");
	refuses(NULL, "", "22023", "must not be empty");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	refuses(NULL, longer, "42622", "is too long");

	/* shown are 64 bytes at most, and no half of a character */
	for (size_t i = 1; i + 2 < sizeof(longer); i += 2)
		memcpy(longer + i, "\xC3\xA9", 2);
	refuses(NULL, longer, "42622", psprintf("name \"%.63s...\" is too long", longer));
}

static void
test_without_base(void)
{
	Call		call = {.folder = {NULL, NULL},.name = "a.csv"};

	tap_ok(!server_stub_try(call_open, &call) &&
		   strstr(server_stub_error.hint, "\"directory\"") != NULL,
		   "%s: a relative name needs a base", mode);
	call.name = in_scratch("base/a.csv");
	tap_ok(server_stub_try(call_open, &call) && call.fd >= 0, "%s: an absolute name needs none", mode);
	close(call.fd);
}

static void
test_missing_ok(void)
{
	Call		call = {.folder = {in_scratch("base"), NULL},.name = "nothere.csv",.missing_ok = true};

	tap_ok(server_stub_try(call_open, &call) && call.fd == -1, "%s: missing_ok", mode);
	call.name = "leak.csv";
	tap_ok(!server_stub_try(call_open, &call), "%s: missing_ok does not excuse leading out", mode);
	call.folder.base = in_scratch("nobase");
	call.name = "a.csv";
	tap_ok(!server_stub_try(call_open, &call) && strstr(server_stub_error.message, scratch) == NULL,
		   "%s: missing_ok does not excuse a missing folder", mode);
}

static void
test_exists(void)
{
	tap_ok(exists("a.csv"), "%s: a.csv exists", mode);
	tap_ok(exists("inner.csv"), "%s: inner.csv, a link, exists", mode);
	tap_ok(!exists("nothere.csv"), "%s: nothere.csv does not exist", mode);
	tap_ok(!exists("dangling.csv"), "%s: dangling.csv does not exist", mode);
	tap_ok(!exists("dir.csv"), "%s: dir.csv, a directory, does not exist", mode);
	tap_ok(!exists("fifo.csv"), "%s: fifo.csv does not exist", mode);
	tap_ok(!exists("leak.csv") && server_stub_error.elevel != 0, "%s: leak.csv is an error", mode);
}

static void
test_list(void)
{
	lists(NULL, "[ab].csv", "a.csv b.csv");
	lists(NULL, "*.txt", "c.txt");
	lists(NULL, "\\[x].csv", "[x].csv");
	lists(NULL, "_*.csv", "");
	lists(NULL, ".*.csv", "");
	lists(NULL, "nothing*", "");
	lists(NULL, "sub/", "sub/s.csv sub/up.csv");
	lists(NULL, "p?/*.csv", "p1/1.csv p2/2.csv");
	lists(NULL, "p*/", "p1/1.csv p2/2.csv");
	lists(NULL, "[sp]*/s.csv", "sub/s.csv");
	lists(NULL, "[sp]*/deep/*", "sub/deep/d.csv");
	lists(NULL, "empty/", "");
	lists(NULL, "a.csv", "a.csv");
	lists(NULL, "./[ab].csv", "./a.csv ./b.csv");
	lists("sub", "*.csv", "s.csv up.csv");
	lists("sub", "./", "./s.csv ./up.csv");
	lists(NULL, in_scratch("outside/*"), in_scratch("outside/secret.csv"));

	/* kept in the list, so that opening them is the error */
	lists(NULL, "leak.c*", "leak.csv");
	lists(NULL, "dang*", "dangling.csv");
	lists(NULL, "leak_f*/secret.csv", "leak_folder/secret.csv");
	lists(NULL, "fifo*", "");
	lists(NULL, "dir.c*", "");

	lists(NULL, "nothere/", "could not open directory \"nothere/\": No such file or directory");
	lists(NULL, "nothere/*", "could not open directory \"nothere/\": No such file or directory");
	lists(NULL, "a.csv/", "could not open directory \"a.csv/\": Not a directory");
	lists(NULL, "leak_folder/", "file name \"leak_folder/\" leads out of its directory");
	lists(NULL, "leak_f*/*", "file name \"leak_folder/\" leads out of its directory");
	lists(NULL, "../outside/*", "file name \"../outside/\" leads out of its directory");
}

static void
test_names(void)
{
	static const char *const good[] = {"a", "a/b.csv", "..a", "a..", "/x/../y", "a/", "*"};
	static const char *const bad[] = {"", "..", "../a", "a/..", "a/../b", "a//../b"};
	Call		call = {.name = NULL};

	for (size_t i = 0; i < lengthof(good); i++)
	{
		call.name = good[i];
		tap_ok(server_stub_try(call_check_name, &call), "name \"%s\" may be set", good[i]);
	}
	for (size_t i = 0; i < lengthof(bad); i++)
	{
		call.name = bad[i];
		tap_ok(!server_stub_try(call_check_name, &call), "name \"%s\" may not be set", bad[i]);
	}
	tap_ok(path_names_many("a*") && path_names_many("x/") && path_names_many("[a]") &&
		   !path_names_many("a.csv") && !path_names_many(""), "which names stand for many");
	tap_is_string(path_last_component("a/b/c.csv"), "c.csv", "last component");
	tap_is_string(path_last_component("c.csv"), "c.csv", "last component of one");
}

/* The clock, for folders that are to have been left alone. */
static int	seconds_ahead = 0;

time_t
time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += seconds_ahead;
	if (result != NULL)
		*result = now.tv_sec;
	return now.tv_sec;
}

/* A folder's time, so that a change shows however coarse the clock is. */
static void
set_folder_time(const char *name, int seconds_ago)
{
	struct timespec times[2] = {{time(NULL) - seconds_ago, 0}, {time(NULL) - seconds_ago, 0}};

	if (utimensat(AT_FDCWD, in_scratch(name), times, 0) != 0)
		perror("utimensat");
}

static void
test_folder_names(void)
{
	Folder		folder = {in_scratch("base"), "p1"};
	Folder		outside = {in_scratch("base"), "leak_folder"};
	Folder		nowhere = {in_scratch("base"), "nothere"};
	Folder		none = {NULL, NULL};
	const FolderNames *names;
	const FolderNames *again;

	tap_ok(folder_names(&folder) == NULL, "%s: a folder that is new is not trusted", mode);
	seconds_ahead = 100;
	set_folder_time("base/p1", 1000);
	names = folder_names(&folder);
	tap_ok(names != NULL && folder_names_has(names, "1.csv") && !folder_names_has(names, "2.csv"),
		   "%s: names of a folder", mode);
	again = folder_names(&folder);
	tap_ok(again == names, "%s: it is read once", mode);

	make_file("base/p1/2.csv");
	seconds_ahead = 200;
	names = folder_names(&folder);
	tap_ok(names != NULL && folder_names_has(names, "1.csv") && folder_names_has(names, "2.csv"),
		   "%s: a new name is seen", mode);
	set_folder_time("base/p1", 2000);
	(void) unlink(in_scratch("base/p1/2.csv"));
	names = folder_names(&folder);
	tap_ok(names != NULL && !folder_names_has(names, "2.csv"), "%s: a removed name is not", mode);

	tap_ok(folder_names(&outside) == NULL && folder_names(&nowhere) == NULL && folder_names(&none) == NULL,
		   "%s: no names of a folder that cannot be opened", mode);
	seconds_ahead = 0;
}

static void
test_all(const char *label)
{
	int			before = descriptors_open();

	mode = label;
	test_open();
	test_without_base();
	test_missing_ok();
	test_exists();
	test_list();
	test_folder_names();
	tap_is_int(descriptors_open(), before, psprintf("%s: no descriptor is left open", mode));
}

/* From here on openat2() gives EPERM, as in sandboxes that do not know it. */
static bool
refuse_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog program = {.len = lengthof(filter),.filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int
main(void)
{
	server_stub_init();
	make_tree();
	test_names();
	test_all("openat2");
	if (refuse_openat2())
		test_all("by hand");
	else
		tap_note("no seccomp here: the check by hand is not tested");
	if (system(psprintf("rm -rf %s", scratch)) != 0)
		tap_note("%s is left", scratch);
	return tap_done();
}
