/*-------------------------------------------------------------------------
 *
 * options.h
 *	  The options of servers, foreign tables and columns: their names, and
 *	  what their values mean.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_OPTIONS_H
#define OUTERJOIN_OPTIONS_H

#include "column/stream_spec.h"

typedef enum OptionName
{
	OPTION_KEY,
	OPTION_DESCENDING,
	OPTION_DIRECTORY,
	OPTION_FILENAME,
	OPTION_PROGRAM,
	OPTION_FIELD,
	OPTION_KEY_FIELD,
	OPTION_FORMAT,
	OPTION_HEADER,
	OPTION_DELIMITER,
	OPTION_QUOTE,
	OPTION_ESCAPE,
	OPTION_NULL,
	OPTION_ENCODING,
	OPTION_FORCE_NULL,
	OPTION_FORCE_NOT_NULL,
	OPTION_SKIP,
	OPTION_COMPRESSION,
	OPTION_MULTILINE,
	OPTION_SORTED,
	OPTION_DUPLICATES,
	OPTION_QUEUE,
	OPTION_WRITABLE,
	OPTION_COUNT
} OptionName;

/* What is said at one level, or at several taken together; NULL: nothing. */
typedef struct OptionSet
{
	const char *value[OPTION_COUNT];
} OptionSet;

/*
 * From a catalog's List of DefElem, already validated when it was set.  The
 * values are borrowed from it.
 */
extern void option_set_collect(List *definitions, OptionSet *set);

/*
 * Take what the set does not say from the outer level, as far as it means
 * something in "format" (NULL: everything): an outer level's options are
 * defaults for whatever they suit.
 */
extern void option_set_inherit(OptionSet *set, const OptionSet *outer, const char *format);

/* Refuse options that mean nothing in "format" (NULL: any format, so none). */
extern void option_set_check_format(const OptionSet *set, const char *format);

/* Does an option mean something in files of this format? NULL: not known, yes. */
extern bool option_suits_format(OptionName option, const char *format);

/* Does an option describe a whole stream, so that all its columns must agree on it? */
extern bool option_describes_stream(OptionName option);

/* Do two values of an option mean the same? */
extern bool option_values_agree(OptionName option, const char *a, const char *b);

extern const char *option_name(OptionName option);
extern bool option_boolean(const OptionSet *set, OptionName option, bool otherwise);

/*
 * Fill in what options say of a stream: filename, program, format,
 * compression, COPY's options, sorted, duplicates, queue.  A combination that
 * cannot work is an error.
 */
extern void stream_options_resolve(const OptionSet *set, StreamSpec *stream);

#endif							/* OUTERJOIN_OPTIONS_H */
