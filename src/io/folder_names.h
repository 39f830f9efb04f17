/*-------------------------------------------------------------------------
 *
 * folder_names.h
 *	  The names in a folder, known without asking for each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FOLDER_NAMES_H
#define OUTERJOIN_FOLDER_NAMES_H

#include "io/path.h"

typedef struct FolderNames FolderNames;

/*
 * The names of all entries of the folder, valid until the next call; NULL
 * where they are not known and each must be looked for: the folder has
 * changed just now, has too many entries, or cannot be read.
 */
extern const FolderNames *folder_names(const Folder *folder);

/* Is there an entry of this name, which holds no slash? */
extern bool folder_names_has(const FolderNames *names, const char *name);

#endif							/* OUTERJOIN_FOLDER_NAMES_H */
