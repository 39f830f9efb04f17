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

/* 16 took the macros for values of variable length out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * 18 spells it the way C11 and C23 do, in front of a declaration; its older
 * pg_attribute_noreturn() behind one is gone.
 */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/*
 * 17 added the restriction clauses that a foreign join takes over, 18 the
 * number of disabled nodes; a base relation has none of either.
 */
#if PG_VERSION_NUM >= 180000
#define compat_create_foreignscan_path(root, rel, target, rows, startup, total, \
									   pathkeys, required_outer, outerpath, private) \
	create_foreignscan_path(root, rel, target, rows, 0, startup, total, \
							pathkeys, required_outer, outerpath, NIL, private)
#elif PG_VERSION_NUM >= 170000
#define compat_create_foreignscan_path(root, rel, target, rows, startup, total, \
									   pathkeys, required_outer, outerpath, private) \
	create_foreignscan_path(root, rel, target, rows, startup, total, \
							pathkeys, required_outer, outerpath, NIL, private)
#else
#define compat_create_foreignscan_path create_foreignscan_path
#endif

/* 17 looks at statistics for it, and so wants to know the query. */
#if PG_VERSION_NUM >= 170000
#define compat_estimate_array_length(root, array) estimate_array_length(root, array)
#else
#define compat_estimate_array_length(root, array) ((double) estimate_array_length(array))
#endif

/* The same two, for the path of an upper relation. */
#if PG_VERSION_NUM >= 180000
#define compat_create_foreign_upper_path(root, rel, target, rows, startup, total, \
										 pathkeys, outerpath, private) \
	create_foreign_upper_path(root, rel, target, rows, 0, startup, total, \
							  pathkeys, outerpath, NIL, private)
#elif PG_VERSION_NUM >= 170000
#define compat_create_foreign_upper_path(root, rel, target, rows, startup, total, \
										 pathkeys, outerpath, private) \
	create_foreign_upper_path(root, rel, target, rows, startup, total, \
							  pathkeys, outerpath, NIL, private)
#else
#define compat_create_foreign_upper_path create_foreign_upper_path
#endif

/* 16 checks the rights to every kind of object by one function. */
#if PG_VERSION_NUM >= 160000
#define compat_function_aclcheck(function, user) \
	object_aclcheck(ProcedureRelationId, function, user, ACL_EXECUTE)
#else
#define compat_function_aclcheck(function, user) \
	pg_proc_aclcheck(function, user, ACL_EXECUTE)
#endif

/* 16 dropped the relations that outer joins may null: expressions carry them. */
#if PG_VERSION_NUM >= 160000
#define compat_build_expression_pathkey(root, expr, operator, rel) \
	build_expression_pathkey(root, expr, operator, (rel)->relids, false)
#else
#define compat_build_expression_pathkey(root, expr, operator, rel) \
	build_expression_pathkey(root, expr, NULL, operator, (rel)->relids, false)
#endif

/* 18 says a sort's direction by a comparison, no longer by a btree strategy. */
#if PG_VERSION_NUM >= 180000
#define compat_pathkey_direction(pathkey) ((int) (pathkey)->pk_cmptype)
#else
#define compat_pathkey_direction(pathkey) ((pathkey)->pk_strategy)
#endif

/* 18 took ExplainState, and the functions that write properties, out of explain.h. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXPLAIN_FORMAT_HEADER "commands/explain_format.h"
#define COMPAT_EXPLAIN_STATE_HEADER "commands/explain_state.h"
#else
#define COMPAT_EXPLAIN_FORMAT_HEADER "commands/explain.h"
#define COMPAT_EXPLAIN_STATE_HEADER "commands/explain.h"
#endif

/* 16 made one function of those that check a user's rights to an object. */
#if PG_VERSION_NUM >= 160000
#define compat_function_aclcheck(function, user) \
	object_aclcheck(ProcedureRelationId, function, user, ACL_EXECUTE)
#else
#define compat_function_aclcheck(function, user) pg_proc_aclcheck(function, user, ACL_EXECUTE)
#endif

/*
 * 18 added virtual generated columns.  No column of an earlier server is one,
 * so that the test may stay in the code.
 */
#if PG_VERSION_NUM < 180000
#define ATTRIBUTE_GENERATED_VIRTUAL 'v'
#endif

/*
 * What stands in for the server in unit tests has its functions' prototypes:
 * 16 took the type of an assertion out of its failure, 17 made the values of
 * a tuple constant.
 */
#if PG_VERSION_NUM >= 160000
#define COMPAT_FAILED_ASSERTION const char *conditionName, const char *fileName, int lineNumber
#else
#define COMPAT_FAILED_ASSERTION const char *conditionName, const char *errorType pg_attribute_unused(), \
	const char *fileName, int lineNumber
#endif
#if PG_VERSION_NUM >= 170000
#define COMPAT_TUPLE_VALUES const Datum *values, const bool *isnull
#else
#define COMPAT_TUPLE_VALUES Datum *values, bool *isnull
#endif

/*
 * 16 added the search for the name that a misspelt one is closest to.  The
 * distance that it is made from was there before.
 */
#include "utils/varlena.h"
#if PG_VERSION_NUM < 160000
#define CLOSEST_MATCH_MAX_BYTES 255

typedef struct ClosestMatchState
{
	const char *source;
	int			limit;			/* only what is closer than this */
	const char *match;
} ClosestMatchState;

static inline void
initClosestMatch(ClosestMatchState *state, const char *source, int max_d)
{
	state->source = source;
	state->limit = Min(max_d, (int) strlen(source) / 2) + 1;
	state->match = NULL;
}

static inline void
updateClosestMatch(ClosestMatchState *state, const char *candidate)
{
	int			length = strlen(state->source);
	int			distance;

	if (length > CLOSEST_MATCH_MAX_BYTES || state->limit <= 0)
		return;
	distance = varstr_levenshtein_less_equal(state->source, length,
											 candidate, strlen(candidate),
											 1, 1, 1, state->limit, true);
	if (distance < state->limit)
	{
		state->limit = distance;
		state->match = candidate;
	}
}

static inline const char *
getClosestMatch(ClosestMatchState *state)
{
	return state->match;
}
#endif

#endif							/* OUTERJOIN_COMPAT_H */
