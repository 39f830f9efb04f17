/*-------------------------------------------------------------------------
 *
 * folder_names.c
 *	  The names in a folder, known without asking for each.
 *
 * A table of a thousand columns that says no file names asks for many
 * thousand names, of which a folder has a few.  So the folder is read once,
 * and its names are kept for as long as it is the same folder, unchanged:
 * device, inode and both times are compared at each call.  As with files
 * (file_cache.c), a folder is only trusted if it had been left alone for some
 * time before it was read.
 *
 * Invariant: a name that is missing here was not there when the folder was
 * looked at.
 *
 * Refuses to know: what the entries are, and where names may lead (path.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "io/file_cache.h"
#include "io/folder_names.h"

#define KEPT_FOLDERS		4
#define MOST_NAMES			65536

struct FolderNames
{
	MemoryContext context;		/* NULL: nothing is kept here */
	struct stat folder;			/* when it was read */
	int			nnames;
	char	  **names;			/* sorted */
};

static FolderNames kept[KEPT_FOLDERS];
static int	next_kept = 0;

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool
same_folder(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
		same_time(&a->st_mtim, &b->st_mtim) && same_time(&a->st_ctim, &b->st_ctim);
}

static bool
folder_settled(const struct stat *folder)
{
	return file_time_settled(folder->st_mtim.tv_sec) && file_time_settled(folder->st_ctim.tv_sec);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void
forget(FolderNames *names)
{
	MemoryContext context = names->context;

	names->context = NULL;
	if (context != NULL)
		MemoryContextDelete(context);
}

/* Read all names; false if there are too many, or the folder cannot be read. */
static bool
read_names(FolderNames *names, DIR *dir)
{
	int			room = 64;
	struct dirent *entry;

	names->nnames = 0;
	names->names = palloc(sizeof(char *) * room);
	while (errno = 0, (entry = readdir(dir)) != NULL)
	{
		if (names->nnames == MOST_NAMES)
			return false;
		if (names->nnames == room)
		{
			room *= 2;
			names->names = repalloc(names->names, sizeof(char *) * room);
		}
		names->names[names->nnames++] = pstrdup(entry->d_name);
	}
	if (errno != 0)
		return false;
	qsort(names->names, names->nnames, sizeof(char *), compare_names);
	return true;
}

/* Read the folder in the place of what was kept longest; NULL if that fails. */
static const FolderNames *
keep_folder(DIR *dir, const struct stat *folder)
{
	FolderNames *names = &kept[next_kept];
	MemoryContext context;
	MemoryContext old;
	bool		good = false;

	forget(names);
	context = AllocSetContextCreate(TopMemoryContext, "outerjoin_fdw folder names",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	PG_TRY();
	{
		good = read_names(names, dir);
	}
	PG_CATCH();
	{
		(void) closedir(dir);
		MemoryContextDelete(context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	if (!good)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	names->context = context;
	names->folder = *folder;
	next_kept = (next_kept + 1) % KEPT_FOLDERS;
	return names;
}

const FolderNames *
folder_names(const Folder *folder)
{
	const FolderNames *names = NULL;
	struct stat now;
	DIR		   *dir;
	int			fd = path_open_folder(folder);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &now) != 0 || !folder_settled(&now))
	{
		(void) close(fd);
		return NULL;
	}
	for (int i = 0; i < KEPT_FOLDERS; i++)
	{
		if (kept[i].context != NULL && same_folder(&kept[i].folder, &now))
		{
			(void) close(fd);
			return &kept[i];
		}
	}
	dir = fdopendir(fd);
	if (dir == NULL)
	{
		(void) close(fd);
		return NULL;
	}
	names = keep_folder(dir, &now);
	(void) closedir(dir);
	return names;
}

bool
folder_names_has(const FolderNames *names, const char *name)
{
	return bsearch(&name, names->names, names->nnames, sizeof(char *), compare_names) != NULL;
}
