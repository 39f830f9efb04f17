/*-------------------------------------------------------------------------
 *
 * arrow_name.h
 *	  Names of fields in the database's encoding.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_NAME_H
#define OUTERJOIN_ARROW_NAME_H

#include "arrow/arrow_metadata.h"

/*
 * A name as columns are compared with it and messages show it.  A character
 * that the database's encoding has not becomes "\u65E5", so that a name that
 * nobody asks for is no error.
 */
extern const char *arrow_name_shown(const char *name);

/* Those of all fields of a schema. */
extern const char **arrow_schema_names(const ArrowSchema *schema);

#endif							/* OUTERJOIN_ARROW_NAME_H */
