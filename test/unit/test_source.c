/*-------------------------------------------------------------------------
 *
 * test_source.c
 *	  Files under a bounded number of descriptors, files that change while
 *	  they are read, plain files and programs as byte sources, answers kept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "descriptors.h"
#include "io/byte_source.h"
#include "io/file_cache.h"
#include "server_stub.h"
#include "tap.h"

#define MANY_FILES 5000

static char scratch[] = "/tmp/outerjoin_source_XXXXXX";
static Folder folder = {scratch, NULL};

static void
write_file(const char *name, const char *content)
{
	FILE	   *file = fopen(psprintf("%s/%s", scratch, name), "w");

	fputs(content, file);
	fclose(file);
}

typedef struct Call
{
	const char *name;
	SourceFile *file;
	ByteSource *source;
	char		buffer[256];
	size_t		length;
} Call;

static void
call_open(void *argument)
{
	Call	   *call = argument;

	call->file = source_file_open(&folder, call->name);
}

static void
call_read(void *argument)
{
	Call	   *call = argument;

	call->length = source_file_read(call->file, 0, call->buffer, sizeof(call->buffer) - 1);
	call->buffer[call->length] = '\0';
}

/* Read a byte source to its end; the head of it stands in buffer. */
static void
call_drain(void *argument)
{
	Call	   *call = argument;
	char		block[100];
	size_t		got;

	call->length = 0;
	call->buffer[0] = '\0';
	while ((got = byte_source_read(call->source, block, sizeof(block))) > 0)
	{
		for (size_t i = 0; i < got; i++, call->length++)
		{
			if (call->length < sizeof(call->buffer) - 1)
			{
				call->buffer[call->length] = block[i];
				call->buffer[call->length + 1] = '\0';
			}
		}
	}
}

static void
call_close(void *argument)
{
	byte_source_close(((Call *) argument)->source);
}

/* ------------------------------------------------------------ many files */

static bool
many_read_right(SourceFile **files, int from, int step)
{
	char		got[32];
	char		expected[32];

	for (int i = from; i < MANY_FILES; i += step)
	{
		snprintf(expected, sizeof(expected), "file %d", i);
		if (source_file_read(files[i], 0, got, sizeof(got)) != strlen(expected) ||
			memcmp(got, expected, strlen(expected)) != 0)
			return false;
	}
	return true;
}

static void
test_many(const char *label)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "test", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	SourceFile **files = palloc(sizeof(SourceFile *) * MANY_FILES);
	int			open_before = descriptors_open();

	for (int i = 0; i < MANY_FILES; i++)
		files[i] = source_file_open(&folder, psprintf("many%d", i));
	tap_ok(source_file_open_count() < 256, "%s: %d files, %d of them open", label,
		   MANY_FILES, source_file_open_count());
	tap_ok(many_read_right(files, 0, 1), "%s: all are read", label);
	tap_ok(many_read_right(files, 7, 13), "%s: some are read again", label);

	/* the used ones stay */
	{
		int			count = source_file_open_count();
		int			opened = descriptors_open();
		char		byte;

		for (int i = 0; i < 3 * count; i++)
		{
			source_file_read(files[0], 0, &byte, 1);
			source_file_read(files[10 + i], 0, &byte, 1);
		}
		tap_is_int(source_file_open_count(), count, psprintf("%s: as many stay open", label));
		tap_is_int(descriptors_open(), opened, psprintf("%s: and no more descriptors", label));
	}
	for (int i = 0; i < MANY_FILES; i += 2)
		source_file_close(files[i]);
	tap_ok(many_read_right(files, 1, 2), "%s: half are closed, the rest is read", label);

	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	tap_is_int(source_file_open_count(), 0, psprintf("%s: the context's end closes all", label));
	tap_is_int(descriptors_open(), open_before, psprintf("%s: no descriptor is left", label));
}

/* What the server still grants: all of it, if nothing was kept. */
static int
external_left(void)
{
	extern bool AcquireExternalFD(void);
	extern void ReleaseExternalFD(void);
	int			count = 0;

	while (AcquireExternalFD())
		count++;
	for (int i = 0; i < count; i++)
		ReleaseExternalFD();
	return count;
}

static void
test_limits(void)
{
	struct rlimit limit;
	struct rlimit tight;
	Call		call = {.name = "nothere"};

	for (int i = 0; i < MANY_FILES; i++)
		write_file(psprintf("many%d", i), psprintf("file %d", i));

	server_stub_external_fds = 80;
	test_many("80 external descriptors");
	server_stub_external_fds = 5;
	test_many("one descriptor and four to spare");
	server_stub_external_fds = 2;
	test_many("fewer than are to spare");

	server_stub_external_fds = 1000;
	getrlimit(RLIMIT_NOFILE, &limit);
	tight = limit;
	tight.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &tight);
	test_many("EMFILE from the kernel");
	setrlimit(RLIMIT_NOFILE, &limit);

	tap_ok(!server_stub_try(call_open, &call), "a missing file is an error");
	tap_is_int(external_left(), 1000, "and gives its descriptor back");
	server_stub_external_fds = 0;
	call.name = "many1";
	tap_ok(!server_stub_try(call_open, &call) && server_stub_error.hint[0], "no descriptor at all is an error");
	server_stub_external_fds = 1000;
}

/* ------------------------------------------------------------ changes */

static bool
changed(SourceFile *file, const char *message)
{
	Call		call = {.file = file};

	if (!server_stub_try(call_read, &call) && strstr(server_stub_error.message, message) != NULL &&
		strcmp(server_stub_sqlstate(server_stub_error.sqlerrcode), "55000") == 0)
		return true;
	tap_note("%s", server_stub_error.message);
	return false;
}

static void
replace_file(const char *name, const char *content)
{
	write_file("replacement", content);
	if (rename(psprintf("%s/replacement", scratch), psprintf("%s/%s", scratch, name)) != 0)
		perror("rename");
}

/* Open a file where there is a descriptor for one only: all others are closed for a while. */
static SourceFile *
open_alone(const char *name)
{
	SourceFile *file;

	server_stub_external_fds = 1;
	file = source_file_open(&folder, name);
	server_stub_external_fds = 1000;
	return file;
}

static void
test_changes(void)
{
	SourceFile *file;
	SourceFile *twin;
	SourceFile *other;
	Call		call;
	struct timespec times[2] = {{.tv_sec = 1000},{.tv_sec = 1000}};

	write_file("grows", "12345");
	file = source_file_open(&folder, "grows");
	write_file("grows", "1234567890");
	tap_ok(changed(file, "file \"grows\" changed while it was being read"), "a file that grows");
	tap_is_string(server_stub_error.detail, "It had 5 bytes when it was opened and has 10 now.", "says how");
	source_file_close(file);

	write_file("shrinks", "12345");
	file = source_file_open(&folder, "shrinks");
	write_file("shrinks", "1");
	tap_ok(changed(file, "file \"shrinks\" changed"), "a file that shrinks");
	source_file_close(file);

	write_file("touched", "12345");
	file = source_file_open(&folder, "touched");
	utimensat(AT_FDCWD, psprintf("%s/touched", scratch), times, 0);
	tap_ok(changed(file, "file \"touched\" changed"), "a file that is touched");
	source_file_close(file);

	/* renamed over: the old one goes on */
	write_file("old", "the old one");
	file = source_file_open(&folder, "old");
	replace_file("old", "the new one");
	call.file = file;
	tap_ok(server_stub_try(call_read, &call) && strcmp(call.buffer, "the old one") == 0,
		   "a file renamed over is read on");

	/* so does its twin, which the name alone would not give */
	twin = source_file_duplicate(file);
	tap_ok(file_identity_equal(source_file_identity(twin), source_file_identity(file)), "a twin is the same file");
	source_file_close(file);
	call.file = twin;
	tap_ok(server_stub_try(call_read, &call) && strcmp(call.buffer, "the old one") == 0,
		   "a twin outlives the first, whatever was renamed over");

	/* unless it had to be closed */
	other = open_alone("many1");
	tap_is_int(source_file_open_count(), 1, "all are closed but one");
	tap_ok(changed(twin, "file \"old\" was replaced while it was being read"),
		   "a file replaced while it was closed for a while");
	source_file_close(twin);

	/* a closed one that nobody touched is opened again */
	call.file = other;
	other = open_alone("many2");
	tap_ok(server_stub_try(call_read, &call) && strcmp(call.buffer, "file 1") == 0,
		   "a file that was closed for a while is read on");
	twin = source_file_duplicate(call.file);
	source_file_close(call.file);
	source_file_close(other);
	source_file_close(twin);

	/* an empty file, and reads past the end */
	write_file("empty", "");
	call.file = source_file_open(&folder, "empty");
	tap_ok(server_stub_try(call_read, &call) && call.length == 0, "an empty file");
	tap_is_int(source_file_read(call.file, PG_INT64_MAX, call.buffer, 10), 0, "far past the end");
	source_file_close(call.file);
}

/* ------------------------------------------------------------ plain files */

static void
test_file_source(void)
{
	char		content[10001];
	Call		call;

	for (int i = 0; i < 10000; i++)
		content[i] = 'a' + i % 26;
	content[10000] = '\0';
	write_file("long", content);
	for (int queue = 0; queue < 4; queue++)
	{
		bool		passed;

		call.source = file_source_create(source_file_open(&folder, "long"), 4096, queue);
		passed = server_stub_try(call_drain, &call) && call.length == 10000 &&
			memcmp(call.buffer, content, sizeof(call.buffer) - 1) == 0;
		passed = passed && call.source->seekable && call.source->size == 10000 && call.source->blocks_read == 100;
		byte_source_seek(call.source, 9990);
		passed = passed && server_stub_try(call_drain, &call) && strcmp(call.buffer, content + 9990) == 0;
		byte_source_seek(call.source, 20000);
		passed = passed && server_stub_try(call_drain, &call) && call.length == 0;
		byte_source_seek(call.source, 0);
		passed = passed && server_stub_try(call_drain, &call) && call.length == 10000;
		tap_ok(passed, "a plain file, %d blocks ahead", queue);
		byte_source_close(call.source);
	}
}

static void
call_read_source(void *argument)
{
	Call	   *call = argument;

	call->length = byte_source_read(call->source, call->buffer, 4);
	call->buffer[call->length] = '\0';
}

/* A part of a file that somebody else owns, and then a part of another one. */
static void
test_range_source(void)
{
	Call		call = {0};
	SourceFile *file;

	write_file("range", "0123456789");
	write_file("other", "abcdef");
	file = source_file_open(&folder, "range");
	for (int queue = 0; queue < 3; queue++)
	{
		call.source = file_source_create_range(file, 2, 7, 2, queue);
		tap_is_int(call.source->size, 5, "a range has its own size");
		server_stub_try(call_drain, &call);
		tap_is_string(call.buffer, "23456", "... and is read to its end, not the file's");
		byte_source_seek(call.source, 3);
		server_stub_try(call_read_source, &call);
		tap_is_string(call.buffer, "56", "... and counts from its own beginning");
		file_source_set_range(call.source, source_file_open(&folder, "other"), 1, 3);
		server_stub_try(call_drain, &call);
		tap_is_string(call.buffer, "bc", "a source may go on with another file");
		tap_is_string(call.source->name, "other", "... and has its name");
		file_source_set_range(call.source, file, 10, 10);
		server_stub_try(call_drain, &call);
		tap_is_int(call.length, 0, "a range may be empty");
		server_stub_try(call_close, &call);
	}
	call.file = file;
	server_stub_try(call_read, &call);
	tap_is_string(call.buffer, "0123456789", "the file is still open when the source is closed");
	source_file_close(file);
}

/* ------------------------------------------------------------ programs */

static void
cancel(int signal_number)
{
	(void) signal_number;
	InterruptPending = true;
	QueryCancelPending = true;
}

static void
test_program_cancel(void)
{
	struct sigaction action = {.sa_handler = cancel,.sa_flags = SA_RESTART};
	struct itimerval timer = {.it_value = {.tv_usec = 100000}};
	Call		call;

	sigaction(SIGALRM, &action, NULL);
	call.source = program_source_create("sleep 1");
	setitimer(ITIMER_REAL, &timer, NULL);
	tap_ok(!server_stub_try(call_drain, &call) &&
		   strcmp(server_stub_sqlstate(server_stub_error.sqlerrcode), "57014") == 0,
		   "a silent program can be cancelled");
	tap_ok(server_stub_try(call_close, &call), "and closed");
}

static void
test_program(void)
{
	Call		call;

	call.source = program_source_create("echo one; sleep 0.2; echo two");
	tap_ok(server_stub_try(call_drain, &call), "a program's output");
	tap_is_string(call.buffer, "one\ntwo\n", "is all read");
	tap_ok(server_stub_try(call_drain, &call) && call.length == 0, "its end is its end again");
	byte_source_seek(call.source, 0);
	tap_ok(server_stub_try(call_drain, &call) && strcmp(call.buffer, "one\ntwo\n") == 0, "it can be run again");
	tap_ok(server_stub_try(call_close, &call), "and closed");

	call.source = program_source_create("echo one; exit 3");
	tap_ok(!server_stub_try(call_drain, &call), "an exit status is an error");
	tap_is_string(server_stub_error.message, "program \"echo one; exit 3\" failed", "its message");
	tap_is_string(server_stub_error.detail, "child process exited with exit code 3", "its detail");
	tap_is_string(call.buffer, "one\n", "after the output");
	tap_ok(server_stub_try(call_close, &call), "closing it then is none");

	call.source = program_source_create("exec yes");
	call.length = byte_source_read(call.source, call.buffer, 100);
	tap_ok(call.length > 0 && server_stub_try(call_close, &call), "SIGPIPE is no error where nobody read on");

	call.source = program_source_create("kill -PIPE $$");
	tap_ok(!server_stub_try(call_drain, &call), "SIGPIPE is an error where somebody did");
	server_stub_try(call_close, &call);

	call.source = program_source_create("outerjoin_no_such_program 2>/dev/null");
	tap_ok(!server_stub_try(call_drain, &call) && strstr(server_stub_error.detail, "not found") != NULL,
		   "a program that does not exist");
	server_stub_try(call_close, &call);
	test_program_cancel();
}

/* ------------------------------------------------------------ answers kept */

/* The file "cached", last changed so many seconds ago. */
static SourceFile *
open_aged(int seconds)
{
	struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};

	write_file("cached", "12345");
	utimensat(AT_FDCWD, psprintf("%s/cached", scratch), times, 0);
	return source_file_open(&folder, "cached");
}

/* The answer to a question about the file, or -1; then it is answered. */
static int
ask(FileCache *cache, const SourceFile *file, uint64 reading, int answer)
{
	FileQuestion question;
	const int  *known = file_cache_find(cache, file, reading, &question);
	int			result = known != NULL ? *known : -1;

	file_cache_keep(cache, &question, &answer);
	return result;
}

static void
test_cache(void)
{
	FileCache	cache = {"answers", sizeof(int), NULL};
	SourceFile *file = open_aged(3600);
	SourceFile *other = open_aged(1800);

	tap_is_int(ask(&cache, file, 1, 11), -1, "nothing is known at first");
	tap_is_int(ask(&cache, file, 1, 12), 11, "an answer is kept");
	tap_is_int(ask(&cache, file, 1, 12), 12, "the last one");
	tap_is_int(ask(&cache, file, 2, 22), -1, "read in another way it is another question");
	tap_is_int(ask(&cache, other, 1, 31), -1, "a file that has changed since is another");
	tap_is_int(ask(&cache, other, 1, 31), 31, "its own answer is kept");
	for (int i = 0; i < 20000; i++)
		(void) ask(&cache, file, 1000 + i, i);
	tap_ok(hash_get_num_entries(cache.entries) < 10000, "no more are kept than there is room for");
	tap_is_int(ask(&cache, file, 1000 + 19999, 0), 19999, "the last ones are");
	source_file_close(file);
	source_file_close(other);

	file = open_aged(0);
	(void) ask(&cache, file, 1, 41);
	tap_is_int(ask(&cache, file, 1, 42), -1, "no answer is kept for a file that has just changed");
	source_file_close(file);
	file = open_aged(-3600);
	(void) ask(&cache, file, 1, 41);
	tap_is_int(ask(&cache, file, 1, 42), -1, "nor for one that changes in the future");
	source_file_close(file);
}

int
main(void)
{
	int			before;

	server_stub_init();
	signal(SIGPIPE, SIG_DFL);
	if (mkdtemp(scratch) == NULL)
		perror("mkdtemp");
	before = descriptors_open();
	test_limits();
	test_changes();
	test_file_source();
	test_range_source();
	test_program();
	test_cache();
	MemoryContextReset(TopMemoryContext);
	tap_is_int(descriptors_open(), before, "no descriptor is left in the end");
	tap_is_int(external_left(), 1000, "nor one accounted for");
	if (system(psprintf("rm -rf %s", scratch)) != 0)
		tap_note("%s is left", scratch);
	return tap_done();
}
