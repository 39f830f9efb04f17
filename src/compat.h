/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  The one place that asks which PostgreSQL this is built for.
 *
 * Supported: 15, 17 and 18.  Every shim says what the server changed, and in
 * which major release.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_COMPAT_H
#define OUTERJOIN_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "outerjoin_fdw needs PostgreSQL 15 or later"
#endif

#if SIZEOF_DATUM != 8
#error "outerjoin_fdw needs a 64-bit server: integer keys travel as Datums"
#endif

#endif							/* OUTERJOIN_COMPAT_H */
