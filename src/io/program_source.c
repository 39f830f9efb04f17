/*-------------------------------------------------------------------------
 *
 * program_source.c
 *	  A shell command's output as a ByteSource, as in COPY FROM PROGRAM.
 *
 * The program is started when the source is made, so that many run side by
 * side, and once more at each seek to the top after something was read.
 *
 * Waiting for output never blocks a cancel.  The pipe lives as long as its
 * source: it is closed by the reset callback of the source's memory context
 * at the latest.  OpenPipeStream would tie it to the subtransaction it was
 * opened in instead, and a cursor that starts a program again in a savepoint
 * outlives that.
 *
 * Refuses to know: who may run programs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "io/byte_source.h"

/* How long a wait for output lasts before interrupts are looked at, in ms */
#define WAIT_SLICE	50

typedef struct ProgramSource
{
	ByteSource	base;			/* base.name is the command */
	MemoryContext context;		/* holds this struct and the command */
	MemoryContextCallback callback;
	FILE	   *pipe;			/* NULL once closed; else one external
								 * descriptor is accounted for it */
	bool		reached_end;
	bool		untouched;		/* nothing was read of this run */
} ProgramSource;

/* Close the pipe, which waits for the program's end; its exit status, or -1 with errno. */
static int
program_close_pipe(ProgramSource *source)
{
	FILE	   *pipe = source->pipe;

	source->pipe = NULL;
	ReleaseExternalFD();
	return pclose(pipe);
}

static void
program_context_reset(void *argument)
{
	ProgramSource *source = (ProgramSource *) argument;

	if (source->pipe != NULL)
		(void) program_close_pipe(source);
}

/* The program's standard output, or NULL with errno. */
static FILE *
program_open_pipe(const char *command)
{
	FILE	   *pipe;
	int			save_errno;

	/* what the server ignores, the program should die of */
	(void) fflush(NULL);
	(void) signal(SIGPIPE, SIG_DFL);
	errno = 0;
	pipe = popen(command, "re");
	save_errno = errno;
	(void) signal(SIGPIPE, SIG_IGN);
	errno = save_errno;
	return pipe;
}

static void
program_start(ProgramSource *source)
{
	int			flags;

	source->reached_end = false;
	source->untouched = true;
	source_file_acquire_descriptor();
	while ((source->pipe = program_open_pipe(source->base.name)) == NULL)
	{
		int			save_errno = errno;

		if ((errno == EMFILE || errno == ENFILE) && source_file_give_one_up())
			continue;
		ReleaseExternalFD();
		errno = save_errno;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m", source->base.name)));
	}

	/*
	 * Our end only: the program's end is another open file.  Reads go past
	 * stdio, which would wait until its buffer is full.
	 */
	flags = fcntl(fileno(source->pipe), F_GETFL);
	if (flags < 0 || fcntl(fileno(source->pipe), F_SETFL, flags | O_NONBLOCK) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from command \"%s\": %m", source->base.name)));
}

/*
 * Wait for the program's end and judge its exit status.  It must not be
 * touched afterwards, even if this raises.
 */
static void
program_finish(ProgramSource *source)
{
	int			status;

	if (source->pipe == NULL)
		return;
	status = program_close_pipe(source);
	if (status == -1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close pipe to external command: %m")));
	if (status == 0)
		return;

	/* nobody read to the end, so the program may have been told to stop */
	if (!source->reached_end && wait_result_is_signal(status, SIGPIPE))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("program \"%s\" failed", source->base.name),
			 errdetail_internal("%s", wait_result_to_str(status))));
}

/* Sleep until there is output, the end, or a reason to look at interrupts. */
static void
program_wait(ProgramSource *source)
{
	struct pollfd event = {.fd = fileno(source->pipe),.events = POLLIN};

	(void) poll(&event, 1, WAIT_SLICE);
}

static size_t
program_source_read(ByteSource *base, char *buffer, size_t capacity)
{
	ProgramSource *source = (ProgramSource *) base;

	source->untouched = false;
	while (source->pipe != NULL)
	{
		ssize_t		got;

		CHECK_FOR_INTERRUPTS();
		got = read(fileno(source->pipe), buffer, capacity);
		if (got > 0)
		{
			base->blocks_read++;
			return got;
		}
		if (got == 0)
		{
			source->reached_end = true;
			program_finish(source);
		}
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			program_wait(source);
		else if (errno != EINTR)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from command \"%s\": %m", base->name)));
	}
	return 0;
}

static void
program_source_seek(ByteSource *base, int64 offset)
{
	ProgramSource *source = (ProgramSource *) base;

	if (offset != 0)
		elog(ERROR, "a program's output can only be sought to its start");
	if (source->untouched)
		return;
	program_finish(source);
	program_start(source);
}

static void
program_source_close(ByteSource *base)
{
	ProgramSource *source = (ProgramSource *) base;

	program_finish(source);
	MemoryContextDelete(source->context);
}

static const ByteSourceMethods program_source_methods = {
	.read = program_source_read,
	.seek = program_source_seek,
	.close = program_source_close
};

ByteSource *
program_source_create(const char *command)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "outerjoin program",
												  ALLOCSET_SMALL_SIZES);
	ProgramSource *source = MemoryContextAllocZero(context, sizeof(ProgramSource));

	source->context = context;
	source->callback.func = program_context_reset;
	source->callback.arg = source;
	MemoryContextRegisterResetCallback(context, &source->callback);
	source->base.methods = &program_source_methods;
	source->base.name = MemoryContextStrdup(context, command);
	source->base.seekable = false;
	source->base.size = -1;
	program_start(source);
	return &source->base;
}
