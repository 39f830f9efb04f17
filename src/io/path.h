/*-------------------------------------------------------------------------
 *
 * path.h
 *	  Where names of files may lead, and opening what they name.
 *
 * The one path check of the extension.  A relative name stays beneath its
 * folder whatever links or ".." it holds; an absolute name is taken as it is.
 * What is opened is a regular file or an error at once: a FIFO or a device
 * never blocks.
 *
 * Refuses to know: options, roles, formats.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PATH_H
#define OUTERJOIN_PATH_H

#include "nodes/pg_list.h"

/*
 * The folder that relative names start from.  "base" is absolute, or NULL
 * where no directory was declared (then only absolute names can be opened);
 * "below" is a folder relative to base, confined to it, or NULL.  Names given
 * relative to a Folder are confined to its innermost part.
 */
typedef struct Folder
{
	const char *base;
	const char *below;
} Folder;

/*
 * Refuse a name that can never be right: empty, or relative with a ".."
 * component.  Purely textual, for use when an option is set; "what" names the
 * option in the message.
 */
extern void path_check_name(const char *what, const char *name);

/* Does the name hold a wildcard (* ? [) or end in "/"? Then it names several files. */
extern bool path_names_many(const char *name);

/* What follows the last slash: a part of "name" itself. */
extern const char *path_last_component(const char *name);

/*
 * Open a file beneath the folder (or an absolute name) for reading.  Returns
 * a descriptor of a regular file, opened close-on-exec; anything else is an
 * error that shows the name as the user wrote it.  The caller accounts for
 * the descriptor (AcquireExternalFD) before calling.
 * With missing_ok a file that does not exist gives -1.
 */
extern int	path_open_file(const Folder *folder, const char *name, bool missing_ok);

/*
 * The same, but where the process or the system is out of descriptors it
 * returns -1 with errno EMFILE or ENFILE, so that the caller can give one up
 * and try again.
 */
extern int	path_try_open(const Folder *folder, const char *name);

/*
 * The folder that relative names start from, as a descriptor that its entries
 * can be read from; -1 if it cannot be had, whatever the reason.
 */
extern int	path_open_folder(const Folder *folder);

/* Does a regular file of this name exist beneath the folder? */
extern bool path_exists(const Folder *folder, const char *name);

/* Is there nothing at all of this name?  Any other trouble is left to who opens it. */
extern bool path_is_missing(const Folder *folder, const char *name);

/*
 * The regular files that a glob or a folder ("name/") stands for, as names
 * relative to the same folder, sorted bytewise by name; a List of char * in
 * the current memory context.  Names beginning with "." or "_" in the last
 * component are passed over.  A folder that does not exist or cannot be read
 * is an error; a pattern that matches nothing gives NIL.
 */
extern List *path_list(const Folder *folder, const char *name);

#endif							/* OUTERJOIN_PATH_H */
