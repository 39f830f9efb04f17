/*-------------------------------------------------------------------------
 *
 * stream_spec.h
 *	  A description of one stream: files, format, key fields, value fields.
 *	  Never an open file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_STREAM_SPEC_H
#define OUTERJOIN_STREAM_SPEC_H

#include "io/path.h"
#include "wire/codec.h"

typedef enum DuplicatePolicy
{
	DUPLICATES_ERROR = 0,
	DUPLICATES_FIRST,
	DUPLICATES_LAST,
	DUPLICATES_ALL
} DuplicatePolicy;

typedef enum Multiline
{
	MULTILINE_AUTO = 0,
	MULTILINE_FALSE,
	MULTILINE_TRUE
} Multiline;

typedef enum HeaderMode
{
	HEADER_NONE = 0,
	HEADER_PRESENT,
	HEADER_MATCH				/* and its names must be those of the columns */
} HeaderMode;

/*
 * COPY's options as declared: NULL (or -1) where nothing was said, since the
 * default depends on the format, which may come from a file's extension.
 */
typedef struct TextOptions
{
	const char *delimiter;
	const char *quote;
	const char *escape;
	const char *null;
	int			encoding;		/* pg_enc, or -1: the client's, as in COPY */
	HeaderMode	header;
	int			skip;
	Multiline	multiline;
} TextOptions;

/* One field of a file that a column of the table takes. */
typedef struct FieldSpec
{
	const char *column;			/* the table column, for messages */
	int			attnum;
	const char *declared;		/* the option field or key_field, or NULL */
	Oid			type;
	int32		typmod;
	bool		force_null;
	bool		force_not_null;
	bool		nulls_only;		/* nobody looks at its values: decoding says what
								 * is null, and a value means nothing, though a
								 * pointer it is not */
} FieldSpec;

typedef struct StreamSpec
{
	Folder		folder;
	const char *column;			/* the first column it stands for */
	const char *filename;		/* file, glob or folder/; NULL: found by the column's name */
	const char *program;		/* instead of a file */
	const char *format;			/* declared name, or NULL: from the extension */
	Compression compression;
	TextOptions text;
	bool		sorted;
	DuplicatePolicy duplicates;
	int			queue;
	int			nkeys;
	FieldSpec  *keys;			/* one for each key column of the table */
	int			nfields;
	FieldSpec  *fields;			/* value fields; none in a key stream */
} StreamSpec;

/* One file of a stream, resolved. */
typedef struct SegmentFile
{
	const char *name;			/* relative to the stream's folder, or absolute; NULL: program */
	const struct ColumnFormat *format;
	bool		csv;			/* of the text formats: csv, not text */
	Compression compression;	/* never COMPRESSION_BY_NAME */
	bool		alone;			/* facts are asked for estimates alone: of a stream
								 * with one file nothing is passed over on their word */
	SourceFile *source;			/* this file, open already: a format reads a
								 * duplicate of it; NULL: it opens "name" */
} SegmentFile;

/*
 * Which field of a file (0-based) each key and value column takes, by
 * the one rule that holds for all formats: the declared field, else that of
 * the column's name, else by position (keys) or the only one that is no key
 * (values).  "names" may be NULL (a file without field names).  Errors list
 * the file's fields.  Writes key_fields[spec->nkeys] and
 * value_fields[spec->nfields].
 */
extern void field_resolve(const StreamSpec *spec, const char *file,
						  int nnames, const char *const *names, int nfields,
						  int *key_fields, int *value_fields);

/*
 * Is this name of a field that one?  The one comparison of such names: byte
 * for byte, case included.
 */
extern bool field_name_equal(const char *a, const char *b);

#endif							/* OUTERJOIN_STREAM_SPEC_H */
