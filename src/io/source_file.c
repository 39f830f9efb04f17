/*-------------------------------------------------------------------------
 *
 * source_file.c
 *	  One file that a scan reads, by position, under a bounded number of
 *	  descriptors.
 *
 * All SourceFiles of this backend that hold a descriptor stand in one list,
 * most recently used first.  Whoever needs a descriptor and gets none closes
 * the file at the list's end; that one is opened again, and checked, at its
 * next read.
 *
 * Invariants:
 *	- file->fd >= 0 exactly while the file is in the list, and exactly then
 *	  one external descriptor is accounted for it.
 *	- A SourceFile is the content of a memory context of its own, whose reset
 *	  callback closes the descriptor: closing the file is deleting the context,
 *	  and whatever deletes an outer context closes the file.
 *	- Bytes are handed out only after the file was found unchanged since it
 *	  was opened.
 *
 * Refuses to know: what the bytes mean, and who reads them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "io/source_file.h"

/*
 * External descriptors left to the rest of the backend (wait sets, sockets of
 * other wrappers): a pool that takes the last one makes those fail.
 */
#define SPARE_DESCRIPTORS	4

struct SourceFile
{
	MemoryContext context;		/* holds this struct and all it points to */
	MemoryContextCallback callback;
	dlist_node	node;			/* in open_files while fd >= 0 */
	int			fd;				/* -1: closed for a while */
	Folder		folder;
	char	   *name;
	FileIdentity identity;
};

static dlist_head open_files = DLIST_STATIC_INIT(open_files);
static int	open_file_count = 0;

/* ------------------------------------------------------------- descriptors */

/* Into the list, with a descriptor that is accounted for. */
static void
file_adopt_descriptor(SourceFile *file, int fd)
{
	file->fd = fd;
	dlist_push_head(&open_files, &file->node);
	open_file_count++;
}

static void
file_give_up_descriptor(SourceFile *file)
{
	if (file->fd < 0)
		return;
	(void) close(file->fd);
	file->fd = -1;
	dlist_delete(&file->node);
	open_file_count--;
	ReleaseExternalFD();
}

bool
source_file_give_one_up(void)
{
	if (dlist_is_empty(&open_files))
		return false;
	file_give_up_descriptor(dlist_container(SourceFile, node, dlist_tail_node(&open_files)));
	return true;
}

/* One descriptor from the server, if SPARE_DESCRIPTORS more could be had. */
static bool
acquire_with_spare(void)
{
	int			acquired = 0;

	while (acquired < 1 + SPARE_DESCRIPTORS && AcquireExternalFD())
		acquired++;
	if (acquired == 1 + SPARE_DESCRIPTORS)
	{
		for (int i = 0; i < SPARE_DESCRIPTORS; i++)
			ReleaseExternalFD();
		return true;
	}
	while (acquired-- > 0)
		ReleaseExternalFD();
	return false;
}

void
source_file_acquire_descriptor(void)
{
	while (!acquire_with_spare())
	{
		if (source_file_give_one_up())
			continue;
		/* none of ours to close: the spare ones are there for us, too */
		if (AcquireExternalFD())
			return;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("out of file descriptors for files of foreign tables"),
				 errhint("Raise \"max_files_per_process\" or the limit of open files (ulimit -n).")));
	}
}

/*
 * A descriptor of the file: by its name, or that of a twin, unless that one
 * has just been closed for a while.  -1 with errno where one must be given up.
 */
static int
file_try_open(const SourceFile *file, const SourceFile *twin)
{
	if (twin != NULL && twin->fd >= 0)
		return fcntl(twin->fd, F_DUPFD_CLOEXEC, 0);
	return path_try_open(&file->folder, file->name);
}

/*
 * Open the file, which must not be open.  The server's count may promise more
 * than the kernel gives; then, too, other files are closed.
 */
static void
file_open_descriptor(SourceFile *file, const SourceFile *twin)
{
	int			fd;

	Assert(file->fd < 0);
	source_file_acquire_descriptor();

	/* an error of path_try_open must not keep what was acquired */
	PG_TRY();
	{
		while ((fd = file_try_open(file, twin)) < 0)
		{
			int			save_errno = errno;

			if (source_file_give_one_up())
				continue;
			errno = save_errno;
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not open file \"%s\": %m", file->name)));
		}
		file_adopt_descriptor(file, fd);
	}
	PG_CATCH();
	{
		ReleaseExternalFD();
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* ------------------------------------------------------------- identity */

bool
file_identity_equal(const FileIdentity *a, const FileIdentity *b)
{
	return a->device == b->device &&
		a->inode == b->inode &&
		a->size == b->size &&
		a->mtime_sec == b->mtime_sec &&
		a->mtime_nsec == b->mtime_nsec;
}

static void
file_identify(const SourceFile *file, FileIdentity *identity)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not examine file \"%s\": %m", file->name)));
	identity->device = st.st_dev;
	identity->inode = st.st_ino;
	identity->size = st.st_size;
	identity->mtime_sec = st.st_mtim.tv_sec;
	identity->mtime_nsec = st.st_mtim.tv_nsec;
}

static void
file_check_unchanged(const SourceFile *file)
{
	const FileIdentity *then = &file->identity;
	FileIdentity now;

	file_identify(file, &now);
	if (file_identity_equal(then, &now))
		return;
	if (now.device != then->device || now.inode != then->inode)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was replaced while it was being read", file->name),
				 errdetail("It had been closed for a while because too many files were open."),
				 errhint("Run the query again, or raise \"max_files_per_process\" so that all files can stay open.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" changed while it was being read", file->name),
			 now.size == then->size ?
			 errdetail("It has been modified since it was opened.") :
			 errdetail("It had %lld bytes when it was opened and has %lld now.",
					   (long long) then->size, (long long) now.size),
			 errhint("Renaming a new file over an old one does not disturb those who read the old one.")));
}

/* Have a descriptor, the right one, and be the most recently used file. */
static void
file_make_ready(SourceFile *file)
{
	if (file->fd >= 0)
	{
		dlist_move_head(&open_files, &file->node);
		return;
	}
	file_open_descriptor(file, NULL);
	file_check_unchanged(file);
}

/* ------------------------------------------------------------- life */

static void
file_context_reset(void *argument)
{
	file_give_up_descriptor((SourceFile *) argument);
}

/* In a new context beneath the current one; not open yet. */
static SourceFile *
file_create(const Folder *folder, const char *name)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "outerjoin source file",
												  ALLOCSET_SMALL_SIZES);
	SourceFile *file = MemoryContextAllocZero(context, sizeof(SourceFile));

	file->context = context;
	file->fd = -1;
	file->name = MemoryContextStrdup(context, name);
	if (folder->base)
		file->folder.base = MemoryContextStrdup(context, folder->base);
	if (folder->below)
		file->folder.below = MemoryContextStrdup(context, folder->below);
	file->callback.func = file_context_reset;
	file->callback.arg = file;
	MemoryContextRegisterResetCallback(context, &file->callback);
	return file;
}

SourceFile *
source_file_open(const Folder *folder, const char *name)
{
	SourceFile *file = file_create(folder, name);

	file_open_descriptor(file, NULL);
	file_identify(file, &file->identity);
	return file;
}

SourceFile *
source_file_duplicate(SourceFile *file)
{
	SourceFile *twin = file_create(&file->folder, file->name);

	file_make_ready(file);
	file_open_descriptor(twin, file);
	twin->identity = file->identity;
	file_check_unchanged(twin);
	return twin;
}

void
source_file_close(SourceFile *file)
{
	MemoryContextDelete(file->context);
}

const char *
source_file_name(const SourceFile *file)
{
	return file->name;
}

const FileIdentity *
source_file_identity(const SourceFile *file)
{
	return &file->identity;
}

int
source_file_open_count(void)
{
	return open_file_count;
}

/* ------------------------------------------------------------- reading */

size_t
source_file_read(SourceFile *file, int64 offset, char *buffer, size_t length)
{
	size_t		done = 0;

	Assert(offset >= 0);
	CHECK_FOR_INTERRUPTS();
	file_make_ready(file);
	if (offset >= file->identity.size)
		length = 0;
	else
		length = Min(length, (size_t) (file->identity.size - offset));

	while (done < length)
	{
		ssize_t		got = pread(file->fd, buffer + done, length - done, offset + done);

		if (got > 0)
			done += got;
		else if (got == 0)
			break;				/* shorter than it was */
		else if (errno == EINTR)
			CHECK_FOR_INTERRUPTS();
		else
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", file->name)));
	}

	/*
	 * Looked at after the bytes were copied, not before: a change in between
	 * would go unnoticed.
	 */
	file_check_unchanged(file);
	if (done < length)
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("could not read file \"%s\": it ends at byte %lld of %lld",
						file->name, (long long) (offset + done),
						(long long) file->identity.size)));
	return done;
}

void
source_file_prefetch(SourceFile *file, int64 offset, int64 length)
{
	/* a file that is closed for a while is not opened for the sake of a hint */
	if (file->fd < 0 || length <= 0)
		return;
	(void) posix_fadvise(file->fd, offset, length, POSIX_FADV_WILLNEED);
}
