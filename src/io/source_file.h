/*-------------------------------------------------------------------------
 *
 * source_file.h
 *	  One file that a scan reads, by position, under a bounded number of
 *	  descriptors.
 *
 * A SourceFile is the file as it was when it was opened: its identity
 * (device, inode, size, modification time) is kept and checked again at each
 * read and at each reopening; a difference is an error, so a byte past the
 * end is never taken for data.
 *
 * Descriptors are counted with the server (AcquireExternalFD).  When none is
 * left, the least recently used SourceFile of this backend is closed for a
 * while.  A SourceFile lives in the memory context it was opened in and is
 * closed by that context's reset callback at the latest, so neither an error
 * nor a cancel leaks a descriptor.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_SOURCE_FILE_H
#define OUTERJOIN_SOURCE_FILE_H

#include "io/path.h"

typedef struct FileIdentity
{
	uint64		device;
	uint64		inode;
	int64		size;
	int64		mtime_sec;
	int64		mtime_nsec;
} FileIdentity;

typedef struct SourceFile SourceFile;

/* Opens now (see path_open_file); "name" is copied and shown in errors as it is. */
extern SourceFile *source_file_open(const Folder *folder, const char *name);

/*
 * Another SourceFile, in the current context, for the very same open file,
 * whatever has been renamed over its name since.
 */
extern SourceFile *source_file_duplicate(SourceFile *file);

extern const char *source_file_name(const SourceFile *file);
extern const FileIdentity *source_file_identity(const SourceFile *file);
extern bool file_identity_equal(const FileIdentity *a, const FileIdentity *b);

/*
 * Read "length" bytes from "offset", fewer only at the end of the file.
 * Checks that the file is still the one that was opened.
 */
extern size_t source_file_read(SourceFile *file, int64 offset, char *buffer, size_t length);

/* Ask the kernel to have a range ready; never blocks, never fails. */
extern void source_file_prefetch(SourceFile *file, int64 offset, int64 length);

/* Close and free; safe once. */
extern void source_file_close(SourceFile *file);

/*
 * Account for one more descriptor of whatever kind, which ReleaseExternalFD
 * gives back; files are closed for a while where need be.
 */
extern void source_file_acquire_descriptor(void);

/* Close the least recently used file for a while; false if none is open. */
extern bool source_file_give_one_up(void);

/* How many SourceFiles of this backend hold a descriptor now (for tests). */
extern int	source_file_open_count(void);

#endif							/* OUTERJOIN_SOURCE_FILE_H */
