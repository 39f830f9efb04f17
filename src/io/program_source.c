/*-------------------------------------------------------------------------
 *
 * program_source.c
 *	  A shell command's output as a ByteSource, as in COPY FROM PROGRAM.
 *
 * The program is started when the source is made, so that many run side by
 * side, and once more at each seek to the top after something was read.
 *
 * Waiting for output never blocks a cancel.  A pipe that an error leaves open
 * is closed by the server at the end of the (sub)transaction, as every pipe
 * of OpenPipeStream is.
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

#include "io/byte_source.h"

/* How long a wait for output lasts before interrupts are looked at, in ms */
#define WAIT_SLICE	50

typedef struct ProgramSource
{
	ByteSource	base;			/* base.name is the command */
	FILE	   *pipe;			/* NULL once closed */
	bool		reached_end;
	bool		untouched;		/* nothing was read of this run */
} ProgramSource;

static void
program_start(ProgramSource *source)
{
	int			flags;

	source->reached_end = false;
	source->untouched = true;
	source->pipe = OpenPipeStream(source->base.name, PG_BINARY_R);
	if (source->pipe == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m", source->base.name)));

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
	FILE	   *pipe = source->pipe;
	int			status;

	if (pipe == NULL)
		return;
	source->pipe = NULL;
	status = ClosePipeStream(pipe);
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
	program_finish((ProgramSource *) base);
	pfree(base);
}

static const ByteSourceMethods program_source_methods = {
	.read = program_source_read,
	.seek = program_source_seek,
	.close = program_source_close
};

ByteSource *
program_source_create(const char *command)
{
	ProgramSource *source = palloc0(sizeof(ProgramSource));

	source->base.methods = &program_source_methods;
	source->base.name = pstrdup(command);
	source->base.seekable = false;
	source->base.size = -1;
	program_start(source);
	return &source->base;
}
