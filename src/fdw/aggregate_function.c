/*-------------------------------------------------------------------------
 *
 * aggregate_function.c
 *	  An aggregate by its own transition and final functions.
 *
 * What the executor's aggregate node does for one aggregate of one group.  The
 * functions find what they look for in a node of that kind: the memory that
 * their state lives in, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_agg.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "fdw/aggregate.h"

struct AggregateFunction
{
	int			narguments;
	FmgrInfo	transition;
	FmgrInfo	final;
	bool		has_final;
	int			nfinal;			/* the final function's arguments, the state included */
	AggState   *node;			/* as the functions see it */
	FunctionCallInfo call;
	Datum		initial;
	bool		initial_null;
	Datum		state;
	bool		state_null;
	bool		untouched;		/* the first value becomes the state */
	int16		state_length;
	bool		state_byval;
	int16		result_length;
	bool		result_byval;
};

static Datum
read_initial_value(HeapTuple tuple, Oid type, bool *isnull)
{
	Datum		initial = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, isnull);
	Oid			input;
	Oid			ioparam;

	if (*isnull)
		return (Datum) 0;
	getTypeInputInfo(type, &input, &ioparam);
	return OidInputFunctionCall(input, TextDatumGetCString(initial), ioparam, -1);
}

/* An aggregate node with nothing in it but the memory for states. */
static AggState *
make_node(EState *estate)
{
	AggState   *node = makeNode(AggState);

	node->ss.ps.state = estate;
	node->curaggcontext = CreateExprContext(estate);
	return node;
}

static void
prepare_functions(AggregateFunction *function, const Aggref *aggregate,
				  Form_pg_aggregate form)
{
	Oid			types[FUNC_MAX_ARGS];
	int			ntypes = get_aggregate_argtypes(unconstify(Aggref *, aggregate), types);
	Expr	   *expr;

	build_aggregate_transfn_expr(types, ntypes, 0, false, aggregate->aggtranstype,
								 aggregate->inputcollid, form->aggtransfn, InvalidOid,
								 &expr, NULL);
	fmgr_info(form->aggtransfn, &function->transition);
	fmgr_info_set_expr((Node *) expr, &function->transition);

	function->has_final = OidIsValid(form->aggfinalfn);
	if (!function->has_final)
		return;
	function->nfinal = form->aggfinalextra ? ntypes + 1 : 1;
	build_aggregate_finalfn_expr(types, function->nfinal, aggregate->aggtranstype,
								 aggregate->aggtype, aggregate->inputcollid, form->aggfinalfn,
								 &expr);
	fmgr_info(form->aggfinalfn, &function->final);
	fmgr_info_set_expr((Node *) expr, &function->final);
}

AggregateFunction *
aggregate_function_create(const Aggref *aggregate, MemoryContext parent, EState *estate)
{
	MemoryContext old = MemoryContextSwitchTo(parent);
	AggregateFunction *function = palloc0(sizeof(AggregateFunction));
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate->aggfnoid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate->aggfnoid);
	function->narguments = list_length(aggregate->args);
	function->node = make_node(estate);
	prepare_functions(function, aggregate, (Form_pg_aggregate) GETSTRUCT(tuple));
	function->initial = read_initial_value(tuple, aggregate->aggtranstype, &function->initial_null);
	ReleaseSysCache(tuple);

	get_typlenbyval(aggregate->aggtranstype, &function->state_length, &function->state_byval);
	get_typlenbyval(aggregate->aggtype, &function->result_length, &function->result_byval);
	function->call = palloc0(SizeForFunctionCallInfo(FUNC_MAX_ARGS));
	InitFunctionCallInfoData(*function->call, &function->transition, function->narguments + 1,
							 aggregate->inputcollid, (fmNodePtr) function->node, NULL);
	MemoryContextSwitchTo(old);
	return function;
}

bool
aggregate_function_is_strict(const AggregateFunction *function)
{
	return function->transition.fn_strict;
}

/* Where states live, until the next start. */
static MemoryContext
state_memory(const AggregateFunction *function)
{
	return function->node->curaggcontext->ecxt_per_tuple_memory;
}

static Datum
keep_state(const AggregateFunction *function, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(state_memory(function));

	value = datumCopy(value, function->state_byval, function->state_length);
	MemoryContextSwitchTo(old);
	return value;
}

void
aggregate_function_start(AggregateFunction *function)
{
	ReScanExprContext(function->node->curaggcontext);
	function->state_null = function->initial_null;
	function->untouched = function->initial_null;
	function->state = function->state_null ? (Datum) 0 : keep_state(function, function->initial);
}

void
aggregate_function_add(AggregateFunction *function, const Datum *values, const bool *isnull)
{
	FunctionCallInfo call = function->call;
	Datum		result;

	if (function->transition.fn_strict)
	{
		for (int i = 0; i < function->narguments; i++)
			if (isnull[i])
				return;
		if (function->untouched)
		{
			/* the types are the same, or the aggregate could not be */
			function->state = keep_state(function, values[0]);
			function->state_null = false;
			function->untouched = false;
			return;
		}
		if (function->state_null)
			return;
	}
	for (int i = 0; i < function->narguments; i++)
	{
		call->args[i + 1].value = values[i];
		call->args[i + 1].isnull = isnull[i];
	}
	call->args[0].value = function->state;
	call->args[0].isnull = function->state_null;
	call->isnull = false;
	result = FunctionCallInvoke(call);
	if (!function->state_byval && DatumGetPointer(result) != DatumGetPointer(function->state))
	{
		Datum		old = function->state;

		if (!call->isnull)
			result = keep_state(function, result);
		if (!function->state_null)
			pfree(DatumGetPointer(old));
	}
	function->state = result;
	function->state_null = call->isnull;
}

Datum
aggregate_function_result(AggregateFunction *function, bool *isnull)
{
	FunctionCallInfo call;
	Datum		result = function->state;

	*isnull = function->state_null;
	if (function->has_final)
	{
		bool		lacking = function->state_null || function->nfinal > 1;

		if (function->final.fn_strict && lacking)
		{
			*isnull = true;
			return (Datum) 0;
		}
		call = palloc0(SizeForFunctionCallInfo(function->nfinal));
		InitFunctionCallInfoData(*call, &function->final, function->nfinal,
								 function->call->fncollation, (fmNodePtr) function->node, NULL);
		call->args[0].value = function->state;
		call->args[0].isnull = function->state_null;
		for (int i = 1; i < function->nfinal; i++)
			call->args[i].isnull = true;
		result = FunctionCallInvoke(call);
		*isnull = call->isnull;
	}
	if (*isnull)
		return (Datum) 0;
	return datumCopy(result, function->result_byval, function->result_length);
}
