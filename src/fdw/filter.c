/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  Clauses on a required stream's values, tested before the merge.
 *
 * Of a required stream, a row that fails such a clause can be dropped as if
 * it were not in the file: no row of the table that has it qualifies.  So the
 * clause is tested where the row is read, on a column of values, and what
 * fails never becomes a row of the table.
 *
 * The tests: a comparison of one column with a value that is known before the
 * scan (also "= ANY", IS [NOT] NULL, a boolean column, and LIKE).  Integers,
 * dates and the like, floating point, and equality and prefixes of text have
 * loops of their own; all other operators are called.
 *
 * Refuses to know: files, and where the rows go.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "fdw/fdw.h"
#include "fdw/filter.h"

/* Of "<>", which is the negator of an operator class's "=" and no member. */
#define NOT_EQUAL_STRATEGY	(BTMaxStrategyNumber + 1)

/* ------------------------------------------------------------ which clauses */

/* The value column of a required stream that an expression is, or 0. */
static int
tested_column(RelOptInfo *rel, const TableSpec *table, const StreamRole *roles, Node *node)
{
	Var		   *var;
	const TableColumn *column;

	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node == NULL || !IsA(node, Var))
		return 0;
	var = (Var *) node;
	if ((Index) var->varno != rel->relid || var->varlevelsup != 0 || var->varattno <= 0 ||
		var->varattno > table->ncolumns)
		return 0;
	column = &table->columns[var->varattno - 1];
	if (column->kind != COLUMN_VALUE || roles[column->stream] != STREAM_REQUIRED)
		return 0;
	return var->varattno;
}

/* Is it known before the scan? */
static bool
is_known(PlannerInfo *root, RelOptInfo *rel, Node *node)
{
	return !bms_overlap(pull_varnos(root, node), rel->relids) &&
		!contain_volatile_functions(node) && !contain_subplans(node);
}

/*
 * How an operator compares, in terms of its left type's default btree operator
 * class: a strategy, NOT_EQUAL_STRATEGY, or 0 for one that it does not know.
 */
static int
operator_strategy(Oid operator)
{
	Oid			left;
	Oid			right;
	TypeCacheEntry *entry;
	int			strategy;
	Oid			negator;

	op_input_types(operator, &left, &right);
	entry = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY);
	if (!OidIsValid(entry->btree_opf))
		return 0;
	strategy = get_op_opfamily_strategy(operator, entry->btree_opf);
	if (strategy != 0)
		return strategy;
	negator = get_negator(operator);
	if (OidIsValid(negator) &&
		get_op_opfamily_strategy(negator, entry->btree_opf) == BTEqualStrategyNumber)
		return NOT_EQUAL_STRATEGY;
	return 0;
}

/* LIKE and its kin: no operator class has them. */
static bool
function_is_like(Oid function)
{
	switch (function)
	{
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
		case F_TEXTICLIKE:
		case F_TEXTICNLIKE:
		case F_BPCHARLIKE:
		case F_BPCHARNLIKE:
		case F_BPCHARICLIKE:
		case F_BPCHARICNLIKE:
			return true;
		default:
			return false;
	}
}

/* Comparisons do no harm on rows that other clauses would have spared them. */
static bool
operator_is_cheap(Oid operator)
{
	Oid			function = get_opcode(operator);

	if (!OidIsValid(function) || !func_strict(function) ||
		func_volatile(function) == PROVOLATILE_VOLATILE)
		return false;
	return function_is_like(function) || operator_strategy(operator) != 0;
}

static bool
match_operator(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
			   const StreamRole *roles, OpExpr *clause, EarlyClause *result)
{
	Node	   *value;

	if (list_length(clause->args) != 2 || clause->opresulttype != BOOLOID)
		return false;
	result->test = EARLY_OPERATOR;
	result->operator = clause->opno;
	result->collation = clause->inputcollid;
	result->attnum = tested_column(rel, table, roles, linitial(clause->args));
	value = lsecond(clause->args);
	if (result->attnum == 0)
	{
		result->operator = get_commutator(clause->opno);
		result->attnum = tested_column(rel, table, roles, value);
		value = linitial(clause->args);
	}
	result->value = (Expr *) value;
	return result->attnum != 0 && OidIsValid(result->operator) &&
		is_known(root, rel, value) && operator_is_cheap(result->operator);
}

static bool
match_array(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
			const StreamRole *roles, ScalarArrayOpExpr *clause, EarlyClause *result)
{
	Node	   *array = lsecond(clause->args);

	result->test = EARLY_ANY;
	result->operator = clause->opno;
	result->collation = clause->inputcollid;
	result->value = (Expr *) array;
	result->attnum = tested_column(rel, table, roles, linitial(clause->args));
	return clause->useOr && result->attnum != 0 && is_known(root, rel, array) &&
		operator_is_cheap(clause->opno);
}

static bool
match_null(RelOptInfo *rel, const TableSpec *table, const StreamRole *roles,
		   NullTest *clause, EarlyClause *result)
{
	result->test = clause->nulltesttype == IS_NULL ? EARLY_NULL : EARLY_NOT_NULL;
	result->attnum = tested_column(rel, table, roles, (Node *) clause->arg);
	/* of a composite, IS NULL looks at its fields */
	return result->attnum != 0 && !clause->argisrow;
}

/* A boolean column, as a clause of its own. */
static bool
match_boolean(RelOptInfo *rel, const TableSpec *table, const StreamRole *roles,
			  Expr *clause, EarlyClause *result)
{
	Node	   *argument = (Node *) clause;

	result->test = EARLY_TRUE;
	if (IsA(clause, BoolExpr) && ((BoolExpr *) clause)->boolop == NOT_EXPR)
	{
		argument = linitial(((BoolExpr *) clause)->args);
		result->test = EARLY_FALSE;
	}
	else if (IsA(clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) clause;

		argument = (Node *) test->arg;
		if (test->booltesttype == IS_FALSE)
			result->test = EARLY_FALSE;
		else if (test->booltesttype != IS_TRUE)
			return false;
	}
	result->attnum = tested_column(rel, table, roles, argument);
	return result->attnum != 0;
}

static bool
match_clause(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
			 const StreamRole *roles, Expr *clause, EarlyClause *result)
{
	if (IsA(clause, OpExpr))
		return match_operator(root, rel, table, roles, (OpExpr *) clause, result);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_array(root, rel, table, roles, (ScalarArrayOpExpr *) clause, result);
	if (IsA(clause, NullTest))
		return match_null(rel, table, roles, (NullTest *) clause, result);
	return match_boolean(rel, table, roles, clause, result);
}

List *
early_clauses_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
				   const StreamRole *roles, List *clauses)
{
	List	   *result = NIL;
	ListCell   *cell;

	if (!outerjoin_early_filters)
		return NIL;
	foreach(cell, clauses)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);
		EarlyClause clause = {0};

		/* what comes first may be asked of rows that a barrier would hide */
		if (!source->pseudoconstant && restriction_is_securely_promotable(source, rel) &&
			match_clause(root, rel, table, roles, source->clause, &clause))
		{
			EarlyClause *copy = palloc(sizeof(EarlyClause));

			*copy = clause;
			copy->source = source;
			result = lappend(result, copy);
		}
	}
	return result;
}

List *
early_clauses_encode(List *clauses, List **values)
{
	List	   *encoded = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const EarlyClause *clause = lfirst(cell);
		int			place = -1;

		if (clause->value != NULL)
		{
			place = list_length(*values);
			*values = lappend(*values, clause->value);
		}
		encoded = lappend(encoded, list_make5(makeInteger(clause->attnum),
											  makeInteger(clause->test),
											  makeInteger((int) clause->operator),
											  makeInteger((int) clause->collation),
											  makeInteger(place)));
	}
	return encoded;
}

/* ------------------------------------------------------------ tests */

/* How the rows are looked at. */
typedef enum Loop
{
	LOOP_INTEGER,				/* integers and what is stored like them */
	LOOP_FLOAT,
	LOOP_TEXT,					/* equality: the same bytes; LIKE 'prefix%': the first bytes */
	LOOP_CALL					/* the operator's function */
} Loop;

/* Bytes of a text. */
typedef struct TextBytes
{
	const char *data;
	int			length;
} TextBytes;

/* Entries of a dictionary are the same Datum in every row that has them. */
#define MEMORY_SLOTS 64

typedef struct MemorySlot
{
	bool		known;
	bool		passes;
	Datum		value;
} MemorySlot;

/* One clause, ready to be applied. */
typedef struct Filter
{
	EarlyTest	test;
	int			place;			/* of its value among the scan's */
	Oid			collation;
	int			strategy;
	Oid			left;			/* the operator's types */
	Oid			right;
	FmgrInfo	function;
	int16		typlen;			/* of the column */
	bool		typbyval;
	bool		bytes_decide;	/* texts are equal if their bytes are */
	int16		value_typlen;	/* of the value, or of the array's elements */
	bool		value_typbyval;
	char		value_align;

	/* as the value was evaluated last */
	Loop		loop;
	bool		prefix;			/* LOOP_TEXT */
	int			nvalues;
	Datum	   *values;
	int64	   *integers;		/* LOOP_INTEGER, ascending */
	double		number;			/* LOOP_FLOAT */
	TextBytes  *texts;			/* LOOP_TEXT, by length, then by bytes */
} Filter;

/* The tests of one stream. */
typedef struct StreamTests
{
	RowTests	base;
	Filter	   *filters;		/* [ntests] */
	MemoryContext scratch;
} StreamTests;

struct EarlyFilters
{
	int			nstreams;
	RowTests  **tests;			/* [nstreams] */
	MemoryContext values;		/* what the values were made to; reset ahead of a scan */
};

/* List the rows for which the condition, in terms of "row", holds. */
#define LIST_WHERE(condition) \
	do { \
		if (rows == NULL) \
		{ \
			for (int row = 0; row < nrows; row++) \
			{ \
				out[count] = (BatchRow) row; \
				count += (condition); \
			} \
		} \
		else \
		{ \
			for (int k = 0; k < nrows; k++) \
			{ \
				int			row = rows[k]; \
				\
				out[count] = (BatchRow) row; \
				count += (condition); \
			} \
		} \
	} while (0)

/* Those whose value is not null, too.  A null's value is not looked at. */
#define LIST_ROWS(condition)	LIST_WHERE(!isnull[row] && (condition))

/* The same where the condition may be evaluated of a null, which spares a branch. */
#define LIST_NUMBERS(condition)	LIST_WHERE(!isnull[row] & (condition))

static int
list_by_null(bool wanted, const bool *isnull, const BatchRow *rows, int nrows, BatchRow *out)
{
	int			count = 0;

	for (int k = 0; k < nrows; k++)
	{
		int			row = rows != NULL ? rows[k] : k;

		out[count] = (BatchRow) row;
		count += isnull[row] == wanted;
	}
	return count;
}

static int
list_booleans(bool wanted, const Datum *values, const bool *isnull,
			  const BatchRow *rows, int nrows, BatchRow *out)
{
	int			count = 0;

	LIST_NUMBERS(DatumGetBool(values[row]) == wanted);
	return count;
}

/* The number in the value's own width: nothing is known of the bits beyond. */
static inline int64
integer_of(Datum value, int typlen)
{
	switch (typlen)
	{
		case 2:
			return DatumGetInt16(value);
		case 4:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Is the number among n ascending ones? */
static bool
integer_is_among(int64 number, const int64 *integers, int n)
{
	int			low = 0;

	while (n > 1)
	{
		int			half = n / 2;

		low += integers[low + half] <= number ? half : 0;
		n -= half;
	}
	return integers[low] == number;
}

/* typlen: a constant where it is inlined */
static pg_attribute_always_inline int
list_integers_of(const Filter *filter, int typlen, const Datum *values, const bool *isnull,
				 const BatchRow *rows, int nrows, BatchRow *out)
{
	int64		number = filter->integers[0];
	int			count = 0;

	if (filter->nvalues > 1)
	{
		LIST_NUMBERS(integer_is_among(integer_of(values[row], typlen),
									  filter->integers, filter->nvalues));
		return count;
	}
	switch (filter->strategy)
	{
		case BTLessStrategyNumber:
			LIST_NUMBERS(integer_of(values[row], typlen) < number);
			break;
		case BTLessEqualStrategyNumber:
			LIST_NUMBERS(integer_of(values[row], typlen) <= number);
			break;
		case BTEqualStrategyNumber:
			LIST_NUMBERS(integer_of(values[row], typlen) == number);
			break;
		case BTGreaterEqualStrategyNumber:
			LIST_NUMBERS(integer_of(values[row], typlen) >= number);
			break;
		case BTGreaterStrategyNumber:
			LIST_NUMBERS(integer_of(values[row], typlen) > number);
			break;
		default:
			LIST_NUMBERS(integer_of(values[row], typlen) != number);
			break;
	}
	return count;
}

static int
list_integers(const Filter *filter, const Datum *values, const bool *isnull,
			  const BatchRow *rows, int nrows, BatchRow *out)
{
	switch (filter->typlen)
	{
		case 2:
			return list_integers_of(filter, 2, values, isnull, rows, nrows, out);
		case 4:
			return list_integers_of(filter, 4, values, isnull, rows, nrows, out);
		default:
			return list_integers_of(filter, 8, values, isnull, rows, nrows, out);
	}
}

/*
 * The number is none but a number: so a NaN, which is greater than all
 * numbers, passes where a comparison that is always false of it is negated.
 */
static pg_attribute_always_inline int
list_floats_of(const Filter *filter, int typlen, const Datum *values, const bool *isnull,
			   const BatchRow *rows, int nrows, BatchRow *out)
{
	double		number = filter->number;
	int			count = 0;

#define FLOAT_OF(value) (typlen == 4 ? (double) DatumGetFloat4(value) : DatumGetFloat8(value))
	switch (filter->strategy)
	{
		case BTLessStrategyNumber:
			LIST_NUMBERS(FLOAT_OF(values[row]) < number);
			break;
		case BTLessEqualStrategyNumber:
			LIST_NUMBERS(FLOAT_OF(values[row]) <= number);
			break;
		case BTEqualStrategyNumber:
			LIST_NUMBERS(FLOAT_OF(values[row]) == number);
			break;
		case BTGreaterEqualStrategyNumber:
			LIST_NUMBERS(!(FLOAT_OF(values[row]) < number));
			break;
		case BTGreaterStrategyNumber:
			LIST_NUMBERS(!(FLOAT_OF(values[row]) <= number));
			break;
		default:
			LIST_NUMBERS(!(FLOAT_OF(values[row]) == number));
			break;
	}
#undef FLOAT_OF
	return count;
}

static int
list_floats(const Filter *filter, const Datum *values, const bool *isnull,
			const BatchRow *rows, int nrows, BatchRow *out)
{
	if (filter->typlen == 4)
		return list_floats_of(filter, 4, values, isnull, rows, nrows, out);
	return list_floats_of(filter, 8, values, isnull, rows, nrows, out);
}

static inline TextBytes
text_bytes(Datum value)
{
	const struct varlena *text = (const struct varlena *) DatumGetPointer(value);

	return (TextBytes) {VARDATA_ANY(text), (int) VARSIZE_ANY_EXHDR(text)};
}

static inline int
compare_bytes(const TextBytes *a, const TextBytes *b)
{
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->data, b->data, a->length);
}

static int
compare_texts(const void *a, const void *b)
{
	return compare_bytes(a, b);
}

/* Most texts differ in length or in the first byte. */
static inline bool
text_equals(Datum value, TextBytes wanted)
{
	TextBytes	text = text_bytes(value);

	return text.length == wanted.length &&
		(wanted.length == 0 || (text.data[0] == wanted.data[0] &&
								memcmp(text.data, wanted.data, wanted.length) == 0));
}

static inline bool
text_begins(Datum value, TextBytes prefix)
{
	TextBytes	text = text_bytes(value);

	return text.length >= prefix.length && memcmp(text.data, prefix.data, prefix.length) == 0;
}

static bool
text_is_among(Datum value, const TextBytes *texts, int n)
{
	TextBytes	text = text_bytes(value);
	int			low = 0;

	while (low < n)
	{
		int			middle = low + (n - low) / 2;
		int			order = compare_bytes(&text, &texts[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			n = middle;
		else
			low = middle + 1;
	}
	return false;
}

static int
list_texts(const Filter *filter, const Datum *values, const bool *isnull,
		   const BatchRow *rows, int nrows, BatchRow *out)
{
	const TextBytes wanted = filter->texts[0];
	int			count = 0;

	if (filter->prefix)
		LIST_ROWS(text_begins(values[row], wanted));
	else if (filter->nvalues > 1)
		LIST_ROWS(text_is_among(values[row], filter->texts, filter->nvalues));
	else if (filter->strategy == BTEqualStrategyNumber)
		LIST_ROWS(text_equals(values[row], wanted));
	else
		LIST_ROWS(!text_equals(values[row], wanted));
	return count;
}

static bool
call_passes(Filter *filter, Datum value)
{
	for (int v = 0; v < filter->nvalues; v++)
		if (DatumGetBool(FunctionCall2Coll(&filter->function, filter->collation,
										   value, filter->values[v])))
			return true;
	return false;
}

/*
 * Call the operator, of a value by reference once for all the rows that share
 * it.
 */
static int
list_by_call(StreamTests *tests, Filter *filter, const Datum *values, const bool *isnull,
			 const BatchRow *rows, int nrows, BatchRow *out)
{
	MemorySlot	memory[MEMORY_SLOTS];
	MemoryContext old = MemoryContextSwitchTo(tests->scratch);
	int			count = 0;

	memset(memory, 0, sizeof(memory));
	for (int k = 0; k < nrows; k++)
	{
		int			row = rows != NULL ? rows[k] : k;
		Datum		value = values[row];
		MemorySlot *slot;

		if (isnull[row])
			continue;
		slot = &memory[((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> 58];
		if (!slot->known || slot->value != value)
		{
			slot->passes = call_passes(filter, value);
			slot->value = value;
			slot->known = true;
		}
		out[count] = (BatchRow) row;
		count += slot->passes;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(tests->scratch);
	return count;
}

static int
filter_pass(RowTests *base, int test, const Datum *values, const bool *isnull,
			const BatchRow *rows, int nrows, BatchRow *out)
{
	StreamTests *tests = (StreamTests *) base;
	Filter	   *filter = &tests->filters[test];

	switch (filter->test)
	{
		case EARLY_NOT_NULL:
			return list_by_null(false, isnull, rows, nrows, out);
		case EARLY_NULL:
			return list_by_null(true, isnull, rows, nrows, out);
		case EARLY_TRUE:
			return list_booleans(true, values, isnull, rows, nrows, out);
		case EARLY_FALSE:
			return list_booleans(false, values, isnull, rows, nrows, out);
		case EARLY_OPERATOR:
		case EARLY_ANY:
			break;
	}
	switch (filter->loop)
	{
		case LOOP_INTEGER:
			return list_integers(filter, values, isnull, rows, nrows, out);
		case LOOP_FLOAT:
			return list_floats(filter, values, isnull, rows, nrows, out);
		case LOOP_TEXT:
			return list_texts(filter, values, isnull, rows, nrows, out);
		case LOOP_CALL:
			break;
	}
	return list_by_call(tests, filter, values, isnull, rows, nrows, out);
}

/* ------------------------------------------------------------ values */

/* Does it compare like an integer of its width, with others of its kind? */
static bool
type_is_integer_like(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

static bool
type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
type_is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

static double
float_value(Oid type, Datum value)
{
	return type == FLOAT4OID ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
}

/*
 * "abc%", without anything else that means something to LIKE?  Where the
 * collation finds different texts equal, LIKE does not exist or is not of
 * bytes.
 */
static bool
pattern_is_prefix(const Filter *filter, TextBytes pattern)
{
	return filter->bytes_decide && pattern.length > 0 &&
		pattern.data[pattern.length - 1] == '%' &&
		memchr(pattern.data, '%', pattern.length) == pattern.data + pattern.length - 1 &&
		memchr(pattern.data, '_', pattern.length) == NULL &&
		memchr(pattern.data, '\\', pattern.length) == NULL;
}

static int
compare_integers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

static void
bind_integers(Filter *filter)
{
	filter->loop = LOOP_INTEGER;
	filter->integers = palloc(sizeof(int64) * filter->nvalues);
	for (int v = 0; v < filter->nvalues; v++)
		filter->integers[v] = integer_of(filter->values[v], filter->value_typlen);
	qsort(filter->integers, filter->nvalues, sizeof(int64), compare_integers);
}

static void
bind_texts(Filter *filter)
{
	filter->loop = LOOP_TEXT;
	filter->texts = palloc(sizeof(TextBytes) * filter->nvalues);
	for (int v = 0; v < filter->nvalues; v++)
		filter->texts[v] = text_bytes(filter->values[v]);
	qsort(filter->texts, filter->nvalues, sizeof(TextBytes), compare_texts);
}

/* Choose the loop for the values that there are. */
static void
bind_loop(Filter *filter)
{
	bool		equality = filter->strategy == BTEqualStrategyNumber;

	filter->loop = LOOP_CALL;
	filter->prefix = false;
	if (filter->nvalues > 1 && !equality)
		return;
	if (type_is_integer_like(filter->left) &&
		(filter->left == filter->right ||
		 (type_is_integer(filter->left) && type_is_integer(filter->right))))
		bind_integers(filter);
	else if (type_is_float(filter->left) && type_is_float(filter->right) && filter->nvalues == 1)
	{
		filter->number = float_value(filter->right, filter->values[0]);
		if (!isnan(filter->number))
			filter->loop = LOOP_FLOAT;
	}
	else if (filter->left == TEXTOID && filter->right == TEXTOID && filter->bytes_decide)
	{
		if (equality || filter->strategy == NOT_EQUAL_STRATEGY)
			bind_texts(filter);
		else if (filter->function.fn_oid == F_TEXTLIKE &&
				 pattern_is_prefix(filter, text_bytes(filter->values[0])))
		{
			bind_texts(filter);
			filter->prefix = true;
			filter->texts[0].length--;
		}
	}
}

/* The elements of an array that are not null. */
static void
bind_elements(Filter *filter, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool	   *nulls;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), filter->value_typlen, filter->value_typbyval,
					  filter->value_align, &filter->values, &nulls, &n);
	filter->nvalues = 0;
	for (int v = 0; v < n; v++)
	{
		if (!nulls[v])
			filter->values[filter->nvalues++] = filter->values[v];
	}
}

/* Take a filter's value, which is not null, by the current context's memory. */
static void
bind_value(Filter *filter, Datum value)
{
	if (filter->test == EARLY_ANY)
		bind_elements(filter, value);
	else
	{
		filter->nvalues = 1;
		filter->values = palloc(sizeof(Datum));
		if (filter->value_typlen == -1)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		filter->values[0] = value;
	}
	if (filter->nvalues > 0)
		bind_loop(filter);
}

void
early_filters_bind(EarlyFilters *filters, List *values, ExprContext *econtext)
{
	MemoryContext old;

	if (filters->tests == NULL)
		return;
	MemoryContextReset(filters->values);
	old = MemoryContextSwitchTo(filters->values);
	for (int s = 0; s < filters->nstreams; s++)
	{
		StreamTests *tests = (StreamTests *) filters->tests[s];

		if (tests == NULL)
			continue;
		tests->base.none = false;
		for (int t = 0; t < tests->base.ntests; t++)
		{
			Filter	   *filter = &tests->filters[t];
			Datum		value;
			bool		isnull;

			if (filter->place < 0)
				continue;
			value = ExecEvalExpr((ExprState *) list_nth(values, filter->place), econtext, &isnull);
			filter->nvalues = 0;
			if (!isnull)
				bind_value(filter, value);
			if (filter->nvalues == 0)
				tests->base.none = true;
		}
	}
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ preparing */

/* Equality of texts in this collation: is it that of their bytes? */
static bool
collation_is_deterministic(Oid collation)
{
	return collation == DEFAULT_COLLATION_OID || collation == C_COLLATION_OID ||
		(OidIsValid(collation) && get_collation_isdeterministic(collation));
}

/* As the executor does for whatever it calls. */
static void
check_execute(Oid function)
{
	AclResult	result = compat_function_aclcheck(function, GetUserId());

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
}

static void
prepare_operator(Filter *filter, Oid operator)
{
	Oid			function = get_opcode(operator);

	check_execute(function);
	op_input_types(operator, &filter->left, &filter->right);
	filter->strategy = operator_strategy(operator);
	fmgr_info(function, &filter->function);
	filter->bytes_decide = collation_is_deterministic(filter->collation);
	get_typlenbyvalalign(filter->right, &filter->value_typlen, &filter->value_typbyval,
						 &filter->value_align);
}

static void
prepare_filter(StreamTests *tests, const TableSpec *table, List *encoded)
{
	int			attnum = intVal(list_nth(encoded, 0));
	const TableColumn *column = &table->columns[attnum - 1];
	Filter	   *filter = &tests->filters[tests->base.ntests];

	tests->base.fields[tests->base.ntests++] = column->field;
	filter->test = (EarlyTest) intVal(list_nth(encoded, 1));
	filter->collation = (Oid) intVal(list_nth(encoded, 3));
	filter->place = intVal(list_nth(encoded, 4));
	get_typlenbyval(table->streams[column->stream].fields[column->field].type,
					&filter->typlen, &filter->typbyval);
	if (filter->place >= 0)
		prepare_operator(filter, (Oid) intVal(list_nth(encoded, 2)));
}

EarlyFilters *
early_filters_create(const TableSpec *table, List *encoded)
{
	EarlyFilters *filters = palloc0(sizeof(EarlyFilters));
	int			n = list_length(encoded);
	ListCell   *cell;

	if (n == 0)
		return filters;
	filters->nstreams = table->nstreams;
	filters->tests = palloc0(sizeof(RowTests *) * table->nstreams);
	filters->values = AllocSetContextCreate(CurrentMemoryContext, "outerjoin_fdw filter values",
											ALLOCSET_SMALL_SIZES);
	foreach(cell, encoded)
	{
		List	   *clause = lfirst_node(List, cell);
		int			stream = table->columns[intVal(linitial(clause)) - 1].stream;
		StreamTests *tests = (StreamTests *) filters->tests[stream];

		if (tests == NULL)
		{
			tests = palloc0(sizeof(StreamTests));
			tests->base.fields = palloc(sizeof(int) * n);
			tests->base.pass = filter_pass;
			tests->filters = palloc0(sizeof(Filter) * n);
			tests->scratch = AllocSetContextCreate(CurrentMemoryContext,
												   "outerjoin_fdw filter", ALLOCSET_SMALL_SIZES);
			filters->tests[stream] = &tests->base;
		}
		prepare_filter(tests, table, clause);
	}
	return filters;
}

RowTests  **
early_filters_tests(const EarlyFilters *filters)
{
	return filters->tests;
}

int64
early_filters_removed(const EarlyFilters *filters)
{
	int64		removed = 0;

	for (int s = 0; s < filters->nstreams; s++)
	{
		if (filters->tests[s] != NULL)
			removed += filters->tests[s]->removed;
	}
	return removed;
}
