/*-------------------------------------------------------------------------
 *
 * path.c
 *	  Where names of files may lead, and opening what they name.
 *
 * A relative name is resolved by the kernel beneath a descriptor of its
 * folder: openat2() with RESOLVE_BENEATH, so that neither "..", nor a
 * symbolic link, nor a rename at the wrong moment leads out of it.  Where
 * openat2() is not to be had (an old kernel, a sandbox that refuses it), the
 * file is opened first, and the opened descriptor is asked where it is.  In
 * both ways it is the open descriptor that is judged, never the text.
 *
 * Invariants: no function here returns or raises with a descriptor of its
 * own still open; what is opened to be read is a regular file.  At most
 * three descriptors are open at a time beside the one handed out, and they
 * are gone when the function returns; fd.c's reserve covers them.
 *
 * Refuses to know: options, roles, formats, extensions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "compat.h"
#include "io/path.h"

/*
 * How often an opening that the kernel could not make safely (EAGAIN: a
 * rename got in the way) is tried, and after how many tries with a pause.
 */
#define RACE_TRIES		100
#define RACE_SPINS		10

#define FILE_FLAGS		(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define FOLDER_FLAGS	(O_PATH | O_DIRECTORY | O_CLOEXEC)
#define LISTING_FLAGS	(O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
#define LOOKUP_FLAGS	(O_PATH | O_CLOEXEC)

/*
 * What names are resolved against: a folder's descriptor, or, for an absolute
 * name, the whole file system.
 */
typedef struct Root
{
	int			fd;				/* AT_FDCWD if not confined */
	bool		confined;
} Root;

/* The state of one path_list(). */
typedef struct Listing
{
	const char *pattern;		/* as the user wrote it */
	Root		root;
	DIR		   *dir;			/* being read, or NULL */
} Listing;

typedef enum EntryKind
{
	ENTRY_FILE,
	ENTRY_FOLDER
} EntryKind;

/* ------------------------------------------------------------- opening */

static bool
is_absolute(const char *name)
{
	return name[0] == '/';
}

static void
close_quietly(int fd)
{
	int			save_errno = errno;

	(void) close(fd);
	errno = save_errno;
}

/* Where does an open descriptor point? False with errno if that cannot be told. */
static bool
descriptor_path(int fd, char *path, size_t size)
{
	char		link[64];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, size);
	if (length < 0)
		return false;
	if ((size_t) length >= size)
	{
		errno = ENAMETOOLONG;
		return false;
	}
	path[length] = '\0';
	if (!is_absolute(path))
	{
		errno = EXDEV;			/* "(unreachable)...", "pipe:[...]" */
		return false;
	}
	return true;
}

static bool
descriptor_is_beneath(int folder, int fd)
{
	char		outer[PATH_MAX];
	char		inner[PATH_MAX];
	size_t		length;

	if (!descriptor_path(folder, outer, sizeof(outer)) ||
		!descriptor_path(fd, inner, sizeof(inner)))
		return false;
	length = strlen(outer);
	if (length == 1)
		return true;			/* the folder is "/" */
	if (strncmp(outer, inner, length) == 0 &&
		(inner[length] == '/' || inner[length] == '\0'))
		return true;
	errno = EXDEV;
	return false;
}

/* RESOLVE_BENEATH by hand: open, then see where that has led. */
static int
open_then_check(int folder, const char *name, int flags)
{
	int			fd;

	if (is_absolute(name))
	{
		errno = EXDEV;
		return -1;
	}
	fd = openat(folder, name, flags);
	if (fd >= 0 && !descriptor_is_beneath(folder, fd))
	{
		close_quietly(fd);
		return -1;
	}
	return fd;
}

static int
open_beneath(int folder, const char *name, int flags)
{
#ifdef SYS_openat2
	struct open_how how;
	long		fd;

	memset(&how, 0, sizeof(how));
	how.flags = flags;
	how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
	fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));

	/* sandboxes that do not know the call answer EPERM */
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int) fd;
#endif
	return open_then_check(folder, name, flags);
}

/* Returns -1 with errno; EXDEV is the name that leads out. */
static int
root_open(const Root *root, const char *name, int flags)
{
	int			tries = 0;

	for (;;)
	{
		int			fd;

		if (root->confined)
			fd = open_beneath(root->fd, name, flags);
		else
			fd = openat(root->fd, name, flags);
		if (fd >= 0)
			return fd;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || ++tries >= RACE_TRIES)
			return -1;
		if (tries > RACE_SPINS)
			pg_usleep(1000L);
	}
}

static void
root_close(Root *root)
{
	if (root->fd >= 0)
		close_quietly(root->fd);
	root->fd = -1;
}

/* ------------------------------------------------------------- errors */

static bool
out_of_descriptors(int error)
{
	return error == EMFILE || error == ENFILE;
}

static bool
does_not_exist(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

pg_noreturn static void
report_leads_out(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("file name \"%s\" leads out of its directory", name),
			 errdetail("A relative name stays beneath the directory that it is relative to; neither \"..\" nor an absolute symbolic link is followed out of it.")));
}

/* The innermost folder, whose own name is not shown, by a name relative to it. */
#define BASE_DIRECTORY	"the base directory of file"

/* "verb": open, read, examine; "kind": file, directory, BASE_DIRECTORY */
pg_noreturn static void
report_failure(const char *verb, const char *kind, const char *name)
{
	if (errno == EXDEV)
		report_leads_out(name);
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s %s \"%s\": %m", verb, kind, name)));
}

pg_noreturn static void
report_not_regular(const char *name, mode_t mode)
{
	const char *what = "something else";

	if (S_ISDIR(mode))
		what = "a directory";
	else if (S_ISFIFO(mode))
		what = "a FIFO";
	else if (S_ISSOCK(mode))
		what = "a socket";
	else if (S_ISCHR(mode))
		what = "a character device";
	else if (S_ISBLK(mode))
		what = "a block device";

	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a regular file", name),
			 errdetail("It is %s.", what),
			 S_ISDIR(mode) ? errhint("End the name with \"/\" to read the files in the directory.") : 0));
}

static void
check_length(const char *name)
{
	if (strlen(name) >= MAXPGPATH)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("file name \"%.*s...\" is too long",
						pg_mbcliplen(name, strlen(name), 64), name),
				 errdetail("A name may have %d bytes at most.", MAXPGPATH - 1)));
}

/* ------------------------------------------------------------- folders */

/*
 * Make *root what "name" is resolved against.  False with errno if the
 * process is out of descriptors; everything else that fails is an error.
 */
static bool
folder_try_open(const Folder *folder, const char *name, Root *root)
{
	Root		base = {AT_FDCWD, false};

	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a file name must not be empty")));
	check_length(name);

	*root = base;
	if (is_absolute(name))
		return true;

	if (folder->base == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("there is no directory that file name \"%s\" could be relative to", name),
				 errhint("Set the server's option \"directory\", or use an absolute name.")));

	Assert(is_absolute(folder->base));
	root->fd = root_open(&base, folder->base, FOLDER_FLAGS);
	root->confined = true;
	if (root->fd < 0)
	{
		if (out_of_descriptors(errno))
			return false;
		report_failure("open", BASE_DIRECTORY, name);
	}

	if (folder->below != NULL)
	{
		int			fd = root_open(root, folder->below, FOLDER_FLAGS);

		root_close(root);
		if (fd < 0)
		{
			if (out_of_descriptors(errno))
				return false;
			report_failure("open", "directory", folder->below);
		}
		root->fd = fd;
	}
	return true;
}

static void
folder_open(const Folder *folder, const char *name, Root *root)
{
	if (!folder_try_open(folder, name, root))
		report_failure("open", BASE_DIRECTORY, name);
}

int
path_open_folder(const Folder *folder)
{
	Root		root = {AT_FDCWD, false};
	Root		base = {-1, true};
	int			fd;

	if (folder->base == NULL)
		return -1;
	if (folder->below == NULL)
		return root_open(&root, folder->base, LISTING_FLAGS);
	base.fd = root_open(&root, folder->base, FOLDER_FLAGS);
	if (base.fd < 0)
		return -1;
	fd = root_open(&base, folder->below, LISTING_FLAGS);
	root_close(&base);
	return fd;
}

/* ------------------------------------------------------------- files */

/* What path_open_file and path_try_open have in common: -1 with errno if opening failed. */
static int
file_open_beneath(const Folder *folder, const char *name)
{
	Root		root;
	int			fd;
	struct stat st;

	if (!folder_try_open(folder, name, &root))
		return -1;
	fd = root_open(&root, name, FILE_FLAGS);
	root_close(&root);
	if (fd < 0)
	{
		/* what open() says of a socket */
		if (errno == ENXIO)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a regular file", name),
					 errdetail("It is a socket, or a device that is not there.")));
		return -1;
	}

	if (fstat(fd, &st) < 0)
	{
		close_quietly(fd);
		report_failure("examine", "file", name);
	}
	if (!S_ISREG(st.st_mode))
	{
		close_quietly(fd);
		report_not_regular(name, st.st_mode);
	}
	return fd;
}

int
path_open_file(const Folder *folder, const char *name, bool missing_ok)
{
	int			fd = file_open_beneath(folder, name);

	if (fd < 0 && !(missing_ok && does_not_exist(errno)))
		report_failure("open", "file", name);
	return fd;
}

int
path_try_open(const Folder *folder, const char *name)
{
	int			fd = file_open_beneath(folder, name);

	if (fd < 0 && !out_of_descriptors(errno))
		report_failure("open", "file", name);
	return fd;
}

/* What a name stands for, links followed: 0 and *mode, or -1 with errno. */
static int
root_examine(const Root *root, const char *name, mode_t *mode)
{
	struct stat st;
	int			fd = root_open(root, name, LOOKUP_FLAGS);
	int			result;

	if (fd < 0)
		return -1;
	result = fstat(fd, &st);
	close_quietly(fd);
	if (result == 0)
		*mode = st.st_mode;
	return result;
}

bool
path_exists(const Folder *folder, const char *name)
{
	Root		root;
	mode_t		mode = 0;
	int			result;

	folder_open(folder, name, &root);
	result = root_examine(&root, name, &mode);
	root_close(&root);
	if (result < 0 && !does_not_exist(errno))
		report_failure("examine", "file", name);
	return result == 0 && S_ISREG(mode);
}

bool
path_is_missing(const Folder *folder, const char *name)
{
	Root		root;
	mode_t		mode = 0;
	int			result;
	int			save_errno;

	folder_open(folder, name, &root);
	result = root_examine(&root, name, &mode);
	save_errno = errno;
	root_close(&root);
	return result < 0 && does_not_exist(save_errno);
}

/* ------------------------------------------------------------- names */

static bool
has_wildcard(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

bool
path_names_many(const char *name)
{
	size_t		length = strlen(name);

	return has_wildcard(name) || (length > 0 && name[length - 1] == '/');
}

const char *
path_last_component(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/*
 * The next component of *rest, slashes dropped: its start, and *rest behind
 * it; *length is 0 at the end.
 */
static const char *
next_component(const char **rest, size_t *length)
{
	const char *start = *rest + strspn(*rest, "/");

	*length = strcspn(start, "/");
	*rest = start + *length;
	return start;
}

void
path_check_name(const char *what, const char *name)
{
	const char *rest = name;
	const char *component;
	size_t		length;

	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", what)));
	check_length(name);
	if (is_absolute(name))
		return;
	while (component = next_component(&rest, &length), length > 0)
	{
		if (length == 2 && strncmp(component, "..", 2) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a relative \"%s\" must not contain \"..\": \"%s\"", what, name),
					 errdetail("A relative name stays beneath the directory that it is relative to.")));
	}
}

/* ------------------------------------------------------------- listing */

/*
 * Is this directory entry, "path" from the root, of the wanted kind?  A link
 * that cannot be followed counts as one: opening it will say why, where
 * passing it over would silently leave rows out.
 */
static bool
entry_is(const Listing *listing, const struct dirent *entry, const char *path, EntryKind kind)
{
	mode_t		mode = 0;

	switch (entry->d_type)
	{
		case DT_REG:
			return kind == ENTRY_FILE;
		case DT_DIR:
			return kind == ENTRY_FOLDER;
		case DT_LNK:
		case DT_UNKNOWN:
			if (root_examine(&listing->root, path, &mode) < 0)
				return true;
			return kind == ENTRY_FILE ? S_ISREG(mode) : S_ISDIR(mode);
		default:
			return false;
	}
}

/* Does an entry's name match? A NULL glob takes all. */
static bool
name_matches(const char *name, const char *glob, EntryKind kind)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	if (kind == ENTRY_FILE && (name[0] == '.' || name[0] == '_'))
		return false;
	return glob == NULL || fnmatch(glob, name, FNM_PERIOD) == 0;
}

pg_noreturn static void
report_folder_failure(const Listing *listing, const char *verb, const char *prefix)
{
	if (prefix[0] == '\0')
		report_failure(verb, BASE_DIRECTORY, listing->pattern);
	report_failure(verb, "directory", prefix);
}

/*
 * Open the folder "prefix" for reading its entries.  False if it is not there
 * (any more), or no folder, unless it must be.
 */
static bool
listing_open_folder(Listing *listing, const char *prefix, bool must_exist)
{
	int			fd = root_open(&listing->root, prefix[0] ? prefix : ".", LISTING_FLAGS);

	if (fd < 0)
	{
		if (!must_exist && does_not_exist(errno))
			return false;
		report_folder_failure(listing, "open", prefix);
	}
	listing->dir = fdopendir(fd);
	if (listing->dir == NULL)
	{
		close_quietly(fd);
		report_folder_failure(listing, "open", prefix);
	}
	return true;
}

static void
listing_close_folder(Listing *listing)
{
	if (listing->dir != NULL)
		(void) closedir(listing->dir);
	listing->dir = NULL;
}

/* Append to "found" what of the folder "prefix" matches, folders with a "/". */
static List *
listing_match(Listing *listing, const char *prefix, const char *glob,
			  EntryKind kind, bool must_exist, List *found)
{
	struct dirent *entry;

	CHECK_FOR_INTERRUPTS();
	if (!listing_open_folder(listing, prefix, must_exist))
		return found;
	while (errno = 0, (entry = readdir(listing->dir)) != NULL)
	{
		char	   *path;

		CHECK_FOR_INTERRUPTS();
		if (!name_matches(entry->d_name, glob, kind))
			continue;
		path = psprintf("%s%s%s", prefix, entry->d_name, kind == ENTRY_FOLDER ? "/" : "");
		if (entry_is(listing, entry, path, kind))
			found = lappend(found, path);
		else
			pfree(path);
	}
	if (errno != 0)
		report_folder_failure(listing, "read", prefix);
	listing_close_folder(listing);
	return found;
}

/* Append prefix + name if that is a regular file, or cannot be examined. */
static List *
listing_take_file(Listing *listing, const char *prefix, const char *name, List *found)
{
	char	   *path = psprintf("%s%s", prefix, name);
	mode_t		mode = 0;
	bool		take;

	CHECK_FOR_INTERRUPTS();
	if (name[0] == '.' || name[0] == '_')
		take = false;
	else if (root_examine(&listing->root, path, &mode) == 0)
		take = S_ISREG(mode);
	else
		take = !does_not_exist(errno);
	if (take)
		return lappend(found, path);
	pfree(path);
	return found;
}

/* One step down the pattern: from folders to the files or folders in them. */
static List *
listing_descend(Listing *listing, List *prefixes, const char *component,
				EntryKind kind, bool must_exist)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, prefixes)
	{
		const char *prefix = lfirst(cell);

		if (component == NULL || has_wildcard(component))
			found = listing_match(listing, prefix, component, kind, must_exist, found);
		else if (kind == ENTRY_FOLDER)
			found = lappend(found, psprintf("%s%s/", prefix, component));
		else
			found = listing_take_file(listing, prefix, component, found);
	}
	list_free_deep(prefixes);
	return found;
}

/*
 * Walk the pattern from left to right, holding the folders that match so far.
 * Each folder is opened by its whole path beneath the root, so that no more
 * than one is open at a time and each is confined anew.
 */
static List *
listing_expand(Listing *listing)
{
	const char *rest = listing->pattern;
	List	   *prefixes = list_make1(pstrdup(is_absolute(rest) ? "/" : ""));
	bool		literal = true; /* no wildcard so far: the folders must exist */

	for (;;)
	{
		size_t		length;
		const char *start = next_component(&rest, &length);
		char	   *component;
		bool		last = (*rest == '\0');

		if (length == 0)		/* the pattern ended in "/": all files */
			return listing_descend(listing, prefixes, NULL, ENTRY_FILE, literal);

		component = pnstrdup(start, length);
		prefixes = listing_descend(listing, prefixes, component,
								   last ? ENTRY_FILE : ENTRY_FOLDER, literal);
		literal = literal && !has_wildcard(component);
		pfree(component);
		if (last)
			return prefixes;
	}
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

List *
path_list(const Folder *folder, const char *name)
{
	Listing    *listing = palloc0(sizeof(Listing));
	List	   *volatile names = NIL;

	listing->pattern = name;
	folder_open(folder, name, &listing->root);
	PG_TRY();
	{
		names = listing_expand(listing);
	}
	PG_FINALLY();
	{
		listing_close_folder(listing);
		root_close(&listing->root);
	}
	PG_END_TRY();
	pfree(listing);
	list_sort(names, compare_names);
	return names;
}
