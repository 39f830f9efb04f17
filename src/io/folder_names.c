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
	MemoryContext context;
	bool		valid;
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

/* False if there is no room for it. */
static bool
add_name(FolderNames *names, const char *name)
{
	size_t		size = strlen(name) + 1;
	char	   *copy = palloc_extended(size, MCXT_ALLOC_NO_OOM);

	if (copy == NULL || names->nnames == MOST_NAMES)
		return false;
	memcpy(copy, name, size);
	names->names[names->nnames++] = copy;
	return true;
}

/* Read all names; false if there are too many, or the folder cannot be read. */
static bool
read_names(FolderNames *names, DIR *dir)
{
	struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)) != NULL)
	{
		if (!add_name(names, entry->d_name))
			return false;
	}
	if (errno != 0)
		return false;
	qsort(names->names, names->nnames, sizeof(char *), compare_names);
	return true;
}

/* Read the folder, in the place of what was kept longest; NULL if that fails. */
static const FolderNames *
keep_folder(int fd, const struct stat *folder)
{
	FolderNames *names = &kept[next_kept];
	MemoryContext old;
	DIR		   *dir;
	bool		good;

	names->valid = false;
	MemoryContextReset(names->context);
	old = MemoryContextSwitchTo(names->context);
	names->folder = *folder;
	names->nnames = 0;
	names->names = palloc_extended(sizeof(char *) * MOST_NAMES, MCXT_ALLOC_NO_OOM);
	dir = fdopendir(fd);
	good = dir != NULL && names->names != NULL && read_names(names, dir);
	MemoryContextSwitchTo(old);
	if (dir != NULL)
		(void) closedir(dir);
	else
		(void) close(fd);
	if (!good)
	{
		MemoryContextReset(names->context);
		return NULL;
	}
	names->valid = true;
	next_kept = (next_kept + 1) % KEPT_FOLDERS;
	return names;
}

const FolderNames *
folder_names(const Folder *folder)
{
	struct stat now;
	int			fd;

	/* while the folder is open, nothing may fail with an error */
	if (kept[next_kept].context == NULL)
		kept[next_kept].context = AllocSetContextCreate(TopMemoryContext,
														"outerjoin_fdw folder names",
														ALLOCSET_DEFAULT_SIZES);
	fd = path_open_folder(folder);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &now) != 0 || !folder_settled(&now))
	{
		(void) close(fd);
		return NULL;
	}
	for (int i = 0; i < KEPT_FOLDERS; i++)
	{
		if (kept[i].valid && same_folder(&kept[i].folder, &now))
		{
			(void) close(fd);
			return &kept[i];
		}
	}
	return keep_folder(fd, &now);
}

bool
folder_names_has(const FolderNames *names, const char *name)
{
	return bsearch(&name, names->names, names->nnames, sizeof(char *), compare_names) != NULL;
}
