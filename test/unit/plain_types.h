/*-------------------------------------------------------------------------
 *
 * plain_types.h
 *	  Catalog look-ups for tests in which no type is a domain and a type's
 *	  number is its input function's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PLAIN_TYPES_H
#define OUTERJOIN_PLAIN_TYPES_H

#include "fmgr.h"
#include "utils/lsyscache.h"

Oid
getBaseType(Oid typid)
{
	return typid;
}

void
getTypeInputInfo(Oid type, Oid *typInput, Oid *typIOParam)
{
	*typInput = type;
	*typIOParam = type;
}

void
fmgr_info_cxt(Oid functionId, FmgrInfo *finfo, MemoryContext mcxt)
{
	(void) functionId;
	(void) mcxt;
	memset(finfo, 0, sizeof(*finfo));
	finfo->fn_strict = true;
}

#endif							/* OUTERJOIN_PLAIN_TYPES_H */
