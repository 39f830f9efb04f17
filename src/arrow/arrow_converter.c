/*-------------------------------------------------------------------------
 *
 * arrow_converter.c
 *	  Which fields can be read as which types, and what all converters share:
 *	  nulls, dictionaries, run ends, domains.
 *
 * The table of pairs decides everything: a field's family and a type beneath
 * its domains lead to a function that chooses the methods.  The first row that
 * fits counts, and the hint of a pair that is not there is made from the rows
 * of the field's family.
 *
 * A dictionary's entry is converted when a row first asks for it, so that an
 * entry that nobody uses is no reason for an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "arrow/arrow_converter_internal.h"
#include "arrow/arrow_name.h"

/* ------------------------------------------------------------ the table */

enum
{
	FAMILY_NULL = 1 << 0,
	FAMILY_BOOL = 1 << 1,
	FAMILY_INTEGER = 1 << 2,
	FAMILY_FLOAT = 1 << 3,
	FAMILY_DECIMAL = 1 << 4,
	FAMILY_DATE = 1 << 5,
	FAMILY_TIME = 1 << 6,
	FAMILY_TIMESTAMP = 1 << 7,	/* wall-clock */
	FAMILY_INSTANT = 1 << 8,	/* a timestamp with a zone */
	FAMILY_INTERVAL = 1 << 9,	/* and durations */
	FAMILY_STRING = 1 << 10,
	FAMILY_BINARY = 1 << 11,
	FAMILY_NESTED = 1 << 12,

	FAMILY_NUMBER = FAMILY_INTEGER | FAMILY_FLOAT | FAMILY_DECIMAL,
	FAMILY_MOMENT = FAMILY_DATE | FAMILY_TIME | FAMILY_TIMESTAMP | FAMILY_INSTANT | FAMILY_INTERVAL,
	FAMILY_BYTES = FAMILY_STRING | FAMILY_BINARY
};

#define ANY_TYPE	InvalidOid

static void arrow_prepare_null(ArrowConverter *converter);

static const struct
{
	int			families;
	Oid			type;
	ArrowPrepare prepare;
}			pairs[] =
{
	{FAMILY_NULL, ANY_TYPE, arrow_prepare_null},

	{FAMILY_BOOL | FAMILY_INTEGER, BOOLOID, arrow_prepare_bool},
	{FAMILY_BOOL | FAMILY_NUMBER, INT2OID, arrow_prepare_integer},
	{FAMILY_BOOL | FAMILY_NUMBER, INT4OID, arrow_prepare_integer},
	{FAMILY_BOOL | FAMILY_NUMBER, INT8OID, arrow_prepare_integer},
	{FAMILY_INTEGER, OIDOID, arrow_prepare_integer},
	{FAMILY_NUMBER, FLOAT4OID, arrow_prepare_float},
	{FAMILY_NUMBER, FLOAT8OID, arrow_prepare_float},
	{FAMILY_NUMBER, NUMERICOID, arrow_prepare_numeric},

	{FAMILY_DATE | FAMILY_TIMESTAMP, DATEOID, arrow_prepare_date},
	{FAMILY_TIME, TIMEOID, arrow_prepare_time},
	{FAMILY_DATE | FAMILY_TIMESTAMP, TIMESTAMPOID, arrow_prepare_timestamp},
	{FAMILY_INSTANT, TIMESTAMPTZOID, arrow_prepare_timestamp},
	{FAMILY_INTERVAL, INTERVALOID, arrow_prepare_interval},

	{FAMILY_BYTES, TEXTOID, arrow_prepare_text},
	{FAMILY_BYTES, VARCHAROID, arrow_prepare_text},
	{FAMILY_BYTES, BPCHAROID, arrow_prepare_text},
	{FAMILY_BYTES, BYTEAOID, arrow_prepare_bytea},
	{FAMILY_BINARY, UUIDOID, arrow_prepare_uuid},
	{FAMILY_STRING, ANY_TYPE, arrow_prepare_input},

	{FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT, TEXTOID, arrow_prepare_output},
	{FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT, VARCHAROID, arrow_prepare_output},
	{FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT, BPCHAROID, arrow_prepare_output},

	{FAMILY_NESTED, ANY_TYPE, arrow_nested_converter},
	{FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT | FAMILY_BINARY, JSONBOID, arrow_nested_converter},
	{FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT | FAMILY_BINARY, JSONOID, arrow_nested_converter},
};

/* 0 for run ends, which have no family of their own. */
static int
field_family(const ArrowField *field)
{
	switch (field->type)
	{
		case ARROW_NULL:
			return FAMILY_NULL;
		case ARROW_BOOL:
			return FAMILY_BOOL;
		case ARROW_INT:
			return FAMILY_INTEGER;
		case ARROW_FLOATING_POINT:
			return FAMILY_FLOAT;
		case ARROW_DECIMAL:
			return FAMILY_DECIMAL;
		case ARROW_DATE:
			return FAMILY_DATE;
		case ARROW_TIME:
			return FAMILY_TIME;
		case ARROW_TIMESTAMP:
			return field->timezone != NULL && field->timezone[0] != '\0' ?
				FAMILY_INSTANT : FAMILY_TIMESTAMP;
		case ARROW_DURATION:
		case ARROW_INTERVAL:
			return FAMILY_INTERVAL;
		case ARROW_UTF8:
		case ARROW_LARGE_UTF8:
		case ARROW_UTF8_VIEW:
			return FAMILY_STRING;
		case ARROW_BINARY:
		case ARROW_LARGE_BINARY:
		case ARROW_BINARY_VIEW:
		case ARROW_FIXED_SIZE_BINARY:
			return FAMILY_BINARY;
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
		case ARROW_FIXED_SIZE_LIST:
		case ARROW_STRUCT:
		case ARROW_MAP:
		case ARROW_UNION:
			return FAMILY_NESTED;
		case ARROW_RUN_END_ENCODED:
			break;
	}
	return 0;
}

/* The field that says what the values are. */
static const ArrowField *
field_behind_runs(const ArrowField *field)
{
	/* bounded by the parser's ARROW_MAX_DEPTH */
	while (field->type == ARROW_RUN_END_ENCODED)
		field = &field->children[1];
	return field;
}

bool
arrow_field_is_nested(const ArrowField *field)
{
	return field_family(field_behind_runs(field)) == FAMILY_NESTED;
}

/* 16 bytes whose writer said that they are one. */
static bool
field_is_uuid(const ArrowField *field)
{
	const char *extension = arrow_metadata_value(&field->metadata, "ARROW:extension:name");

	return field->type == ARROW_FIXED_SIZE_BINARY && field->byte_width == UUID_LEN &&
		extension != NULL && strcmp(extension, "arrow.uuid") == 0;
}

Oid
arrow_natural_type(const ArrowField *field)
{
	field = field_behind_runs(field);
	switch (field_family(field))
	{
		case FAMILY_BOOL:
			return BOOLOID;
		case FAMILY_INTEGER:
			if (field->bit_width <= (field->is_signed ? 16 : 8))
				return INT2OID;
			if (field->bit_width <= (field->is_signed ? 32 : 16))
				return INT4OID;
			return field->bit_width == 64 && !field->is_signed ? NUMERICOID : INT8OID;
		case FAMILY_FLOAT:
			return field->bit_width == 64 ? FLOAT8OID : FLOAT4OID;
		case FAMILY_DECIMAL:
			return NUMERICOID;
		case FAMILY_DATE:
			return DATEOID;
		case FAMILY_TIME:
			return TIMEOID;
		case FAMILY_TIMESTAMP:
			return TIMESTAMPOID;
		case FAMILY_INSTANT:
			return TIMESTAMPTZOID;
		case FAMILY_INTERVAL:
			return INTERVALOID;
		case FAMILY_BINARY:
			return field_is_uuid(field) ? UUIDOID : BYTEAOID;
		case FAMILY_NESTED:
			return JSONBOID;
		default:
			return TEXTOID;
	}
}

/* ------------------------------------------------------------ errors */

static const char *
unit_name(ArrowTimeUnit unit)
{
	static const char *const names[] = {"s", "ms", "us", "ns", "day"};

	return names[unit];
}

static const char *
nested_name(ArrowTypeId type)
{
	switch (type)
	{
		case ARROW_LIST:
			return "list";
		case ARROW_LARGE_LIST:
			return "large_list";
		case ARROW_LIST_VIEW:
			return "list_view";
		case ARROW_LARGE_LIST_VIEW:
			return "large_list_view";
		case ARROW_FIXED_SIZE_LIST:
			return "fixed_size_list";
		case ARROW_STRUCT:
			return "struct";
		case ARROW_MAP:
			return "map";
		default:
			return "union";
	}
}

static const char *
bytes_name(ArrowTypeId type)
{
	switch (type)
	{
		case ARROW_UTF8:
			return "utf8";
		case ARROW_LARGE_UTF8:
			return "large_utf8";
		case ARROW_UTF8_VIEW:
			return "utf8_view";
		case ARROW_BINARY:
			return "binary";
		case ARROW_LARGE_BINARY:
			return "large_binary";
		default:
			return "binary_view";
	}
}

char *
arrow_field_type_name(const ArrowField *field)
{
	static const char *const intervals[] = {"months", "day_time", "month_day_nano"};

	field = field_behind_runs(field);
	switch (field->type)
	{
		case ARROW_NULL:
			return pstrdup("null");
		case ARROW_BOOL:
			return pstrdup("bool");
		case ARROW_INT:
			return psprintf("%sint%d", field->is_signed ? "" : "u", field->bit_width);
		case ARROW_FLOATING_POINT:
			return psprintf("float%d", field->bit_width);
		case ARROW_DECIMAL:
			return psprintf("decimal%d(%d, %d)", field->bit_width, field->precision, field->scale);
		case ARROW_DATE:
			return psprintf("date%d", field->bit_width);
		case ARROW_TIME:
			return psprintf("time%d[%s]", field->bit_width, unit_name(field->unit));
		case ARROW_TIMESTAMP:
			if (field->timezone != NULL && field->timezone[0] != '\0')
				return psprintf("timestamp[%s, tz=%s]", unit_name(field->unit),
								arrow_name_shown(field->timezone));
			return psprintf("timestamp[%s]", unit_name(field->unit));
		case ARROW_DURATION:
			return psprintf("duration[%s]", unit_name(field->unit));
		case ARROW_INTERVAL:
			return psprintf("interval[%s]", intervals[field->interval]);
		case ARROW_FIXED_SIZE_BINARY:
			return psprintf("fixed_size_binary[%d]", field->byte_width);
		default:
			if (field_family(field) == FAMILY_NESTED)
				return pstrdup(nested_name(field->type));
			return pstrdup(bytes_name(field->type));
	}
}

/* Names of the types in the table's rows of the field's family. */
static char *
types_for_field(const ArrowField *field)
{
	int			family = field_family(field);
	StringInfoData names;

	if (family == FAMILY_NESTED)
		return pstrdup(arrow_nested_types(field));
	initStringInfo(&names);
	for (int i = 0; i < (int) lengthof(pairs); i++)
	{
		if ((pairs[i].families & family) != 0 && pairs[i].type != ANY_TYPE)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", format_type_be(pairs[i].type));
	}
	return names.data;
}

void
arrow_refuse_pair(const ArrowConverter *converter)
{
	const ArrowField *field = field_behind_runs(converter->field);
	int			family = field_family(field);
	const char *sense = "";

	if (family == FAMILY_INSTANT && (converter->type == TIMESTAMPOID || converter->type == DATEOID))
		sense = " It holds instants, which show as times of day in a time zone only.";
	else if (family == FAMILY_TIMESTAMP && converter->type == TIMESTAMPTZOID)
		sense = " It holds times of day without saying in which time zone.";

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of type %s cannot hold field \"%s\" of file \"%s\"",
					converter->column, format_type_with_typemod(converter->type, converter->typmod),
					arrow_name_shown(converter->field->name), converter->file),
			 errdetail("The field's type is %s.%s", arrow_field_type_name(field), sense),
			 errhint("Types that can hold it: %s.", types_for_field(field))));
}

static bool
type_is_moment(Oid type)
{
	return type == DATEOID || type == TIMEOID || type == TIMESTAMPOID ||
		type == TIMESTAMPTZOID || type == INTERVALOID;
}

void
arrow_refuse_range(const ArrowConverter *converter, const char *value)
{
	ereport(ERROR,
			(errcode(type_is_moment(converter->type) ? ERRCODE_DATETIME_VALUE_OUT_OF_RANGE :
					 ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value %s is out of range for type %s", value,
					format_type_with_typemod(converter->type, converter->typmod)),
			 errdetail("The field's type is %s.", arrow_field_type_name(converter->field))));
}

void
arrow_refuse_fraction(const ArrowConverter *converter, const char *value, const char *what)
{
	Oid			better = arrow_natural_type(converter->field);

	/* a date of milliseconds that is no date after all */
	if (better == converter->type)
		better = TIMESTAMPOID;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("value %s is not %s", value, what),
			 errdetail("Type %s cannot hold it exactly; the field's type is %s.",
					   format_type_with_typemod(converter->type, converter->typmod),
					   arrow_field_type_name(converter->field)),
			 errhint("Declare the column as %s.", format_type_be(better))));
}

/* The words are those of text_exact.c, so that formats do not differ. */
void
arrow_refuse_rounding(const ArrowConverter *converter, const char *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("type %s cannot hold key \"%s\" exactly",
					format_type_with_typemod(converter->type, converter->typmod), value),
			 errdetail("A key is never rounded or cut, since it could then equal another one.")));
}

/* ------------------------------------------------------------ the null type */

static void
convert_null(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	int			n = arrow_run_count(run);

	(void) converter;
	(void) vector;
	for (int k = 0; k < n; k++)
	{
		int			row = arrow_run_row(run, k);

		run->values[row] = 0;
		run->isnull[row] = true;
	}
}

static Datum
element_null(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	(void) converter;
	(void) vector;
	(void) i;
	(void) arena;
	*isnull = true;
	return 0;
}

static void
arrow_prepare_null(ArrowConverter *converter)
{
	converter->convert = convert_null;
	converter->element = element_null;
}

/* ------------------------------------------------------------ run ends */

static Datum
element_of_run(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	return arrow_element(converter->children[0], &vector->children[1],
						 arrow_run_element(vector, i), arena, isnull);
}

/* The value of the last run that was met. */
typedef struct KnownRun
{
	const ArrowVector *vector;
	uint64		epoch;			/* of the arena that the value is in */
	int64		element;
	Datum		value;
	bool		isnull;
} KnownRun;

/*
 * A run's value is converted once, for all its rows, also where a batch is
 * asked for piece by piece.
 */
static void
convert_runs(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	KnownRun   *known = converter->state;
	int			n = arrow_run_count(run);
	KnownRun	at = {.element = -1};

	/* a value that lies in no arena says nothing of the arena's epoch */
	if (known->epoch == run->arena->epoch && known->vector == vector &&
		!converter->children[0]->by_value)
		at = *known;
	known->epoch = 0;
	for (int k = 0; k < n; k++)
	{
		int			row = arrow_run_row(run, k);
		int64		element = arrow_run_element(vector, run->from + row);

		if (element != at.element)
		{
			*run->current = row;
			at.value = arrow_element(converter->children[0], &vector->children[1], element,
									 run->arena, &at.isnull);
			at.element = element;
		}
		run->values[row] = at.value;
		run->isnull[row] = at.isnull;
	}
	at.vector = vector;
	at.epoch = run->arena->epoch;
	*known = at;
}

static void
prepare_runs(ArrowConverter *converter)
{
	converter->nchildren = 1;
	converter->children = palloc(sizeof(ArrowConverter *));
	converter->children[0] = arrow_converter_create_child(converter, &converter->field->children[1],
														  converter->type, converter->typmod);
	converter->state = palloc0(sizeof(KnownRun));
	converter->convert = convert_runs;
	converter->element = element_of_run;
}

/* ------------------------------------------------------------ dictionaries */

/* What is known of one entry. */
enum
{
	ENTRY_UNKNOWN = 0,
	ENTRY_VALUE,
	ENTRY_NULL
};

/*
 * Entries that are not kept, by reference, in the memory of one batch: of a
 * large value that many rows have there is one.
 */
typedef struct BatchEntry
{
	int64		index;
	Datum		value;
	char		status;
} BatchEntry;

#define SH_PREFIX batch_entries
#define SH_ELEMENT_TYPE BatchEntry
#define SH_KEY_TYPE int64
#define SH_KEY index
#define SH_HASH_KEY(table, key) ((uint32) (((uint64) (key) * UINT64CONST(0x9E3779B97F4A7C15)) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A dictionary's entries, those that were asked for. */
typedef struct ArrowEntries
{
	const ArrowDictionary *dictionary;	/* NULL: none yet */
	uint64		generation;
	MemoryContext context;		/* of the arena; NULL: none yet */
	ValueArena *arena;			/* by-reference values */
	int64		n;				/* entries that may be kept */
	int64		capacity;
	Datum	   *values;			/* [capacity] */
	uint8	   *states;			/* [capacity] */
	uint64		epoch;			/* of the arena that batch_entries are in; 0: there are none */
	batch_entries_hash *batch_entries;
} ArrowEntries;

static void
entries_reserve(ArrowEntries *entries, int64 n, MemoryContext context)
{
	entries->n = 0;
	if (n > entries->capacity)
	{
		if (entries->values != NULL)
			pfree(entries->values);
		if (entries->states != NULL)
			pfree(entries->states);
		entries->values = NULL;
		entries->states = NULL;
		entries->capacity = 0;
		entries->values = MemoryContextAlloc(context, sizeof(Datum) * n);
		entries->states = MemoryContextAlloc(context, n);
		entries->capacity = n;
	}
	if (n > 0)
		memset(entries->states, ENTRY_UNKNOWN, n);
	entries->n = n;
}

/*
 * Another dictionary, or another generation.  Rows may still show values of
 * the one before: they go when the arena is reset.
 */
static void
entries_renew(ArrowConverter *converter, const ArrowDictionary *dictionary, ValueArena *arena)
{
	ArrowEntries *entries = converter->entries;
	MemoryContext before = entries->context;

	entries->dictionary = NULL;
	entries->context = NULL;
	entries->epoch = 0;
	if (before != NULL)
		MemoryContextSetParent(before, value_arena_context(arena));
	entries->context = AllocSetContextCreate(converter->context, "outerjoin_fdw dictionary",
											 ALLOCSET_SMALL_SIZES);
	entries->arena = value_arena_create(entries->context);
	entries_reserve(entries, Min(dictionary->length, ARROW_KEPT_ENTRIES), converter->context);
	entries->generation = dictionary->generation;
	entries->dictionary = dictionary;
}

static ArrowEntries *
entries_current(ArrowConverter *converter, const ArrowVector *vector, ValueArena *arena)
{
	ArrowEntries *entries = converter->entries;
	const ArrowDictionary *dictionary = vector->dictionary;

	if (unlikely(dictionary == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a dictionary of file \"%s\" is missing", converter->file),
				 errdetail("Field \"%s\" refers to dictionary %lld.",
						   arrow_name_shown(converter->field->name),
						   (long long) converter->field->dictionary_id)));
	if (unlikely(entries->dictionary != dictionary || entries->generation != dictionary->generation))
		entries_renew(converter, dictionary, arena);
	return entries;
}

/* Entries that are not kept, of the batch whose values the arena has. */
static batch_entries_hash *
entries_of_batch(ArrowEntries *entries, ValueArena *arena)
{
	if (entries->epoch != arena->epoch)
	{
		entries->epoch = 0;
		entries->batch_entries = batch_entries_create(value_arena_context(arena), 64, NULL);
		entries->epoch = arena->epoch;
	}
	return entries->batch_entries;
}

/* An entry that is not known yet, or cannot be. */
static pg_noinline Datum
entry_convert(ArrowConverter *converter, ArrowEntries *entries, int64 index, ValueArena *arena, bool *isnull)
{
	int64		element;
	ArrowVector *part = arrow_dictionary_entry(entries->dictionary, index, &element);
	bool		keep = index < entries->n &&
		MemoryContextMemAllocated(entries->context, true) < ARROW_KEPT_ENTRY_BYTES;
	bool		share = !keep && !converter->by_value;
	Datum		value = 0;
	bool		found;

	*isnull = arrow_is_null(part, element);
	if (!*isnull && share)
	{
		BatchEntry *known = batch_entries_lookup(entries_of_batch(entries, arena), index);

		if (known != NULL)
			return known->value;
	}
	if (!*isnull)
		value = converter->element(converter, part, element, keep ? entries->arena : arena, isnull);
	if (*isnull)
		value = 0;
	else if (share)
		batch_entries_insert(entries_of_batch(entries, arena), index, &found)->value = value;
	if (keep)
	{
		entries->values[index] = value;
		entries->states[index] = *isnull ? ENTRY_NULL : ENTRY_VALUE;
	}
	return value;
}

/* Indexes are not negative, whatever their signedness, once they were loaded. */
static pg_attribute_always_inline int64
load_index(const char *p, int width)
{
	uint8		byte;
	uint16		two;
	uint32		four;
	uint64		eight;

	switch (width)
	{
		case 1:
			memcpy(&byte, p, 1);
			return byte;
		case 2:
			memcpy(&two, p, 2);
			return two;
		case 4:
			memcpy(&four, p, 4);
			return four;
		default:
			memcpy(&eight, p, 8);
			return (int64) eight;
	}
}

static pg_attribute_always_inline void
index_rows(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run, int width,
		   const int16 *rows)
{
	ArrowEntries *entries = NULL;
	const Datum *known = NULL;
	const uint8 *states = NULL;
	int64		nknown = 0;
	Datum	   *values = run->values;
	bool	   *isnull = run->isnull;
	const char *indexes = vector->values + (run->from - vector->from) * width;
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		int64		index;

		values[row] = 0;
		if (isnull[row])
			continue;
		if (unlikely(entries == NULL))
		{
			/* rows that are all null need no dictionary */
			*run->current = row;
			entries = entries_current(converter, vector, run->arena);
			known = entries->values;
			states = entries->states;
			nknown = entries->n;
		}
		index = load_index(indexes + (int64) row * width, width);
		if (unlikely(index >= nknown || states[index] == ENTRY_UNKNOWN))
		{
			*run->current = row;
			values[row] = entry_convert(converter, entries, index, run->arena, &isnull[row]);
			continue;
		}
		values[row] = known[index];
		isnull[row] = states[index] == ENTRY_NULL;
	}
}

static pg_attribute_always_inline void
convert_indexes(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run, int width)
{
	if (run->rows != NULL)
		index_rows(converter, vector, run, width, run->rows);
	else
		index_rows(converter, vector, run, width, NULL);
}

static void
convert_dictionary(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	switch (vector->width)
	{
		case 1:
			convert_indexes(converter, vector, run, 1);
			break;
		case 2:
			convert_indexes(converter, vector, run, 2);
			break;
		case 4:
			convert_indexes(converter, vector, run, 4);
			break;
		default:
			convert_indexes(converter, vector, run, 8);
			break;
	}
}

/* ------------------------------------------------------------ nulls */

/* isnull of eight rows, a byte each, from eight bits. */
static inline uint64
spread_nulls(uint8 valid)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	uint64		word = (valid * ones) & UINT64CONST(0x8040201008040201);

	/* a byte that is not 0 carries into its high bit, and never further */
	word = ((word + 0x7F * ones) >> 7) & ones;
	word ^= ones;
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	return word;
}

static void
expand_nulls(const ArrowVector *vector, int64 from, int n, bool *isnull)
{
	int64		bit = from - vector->validity_from;
	const uint8 *bits = vector->validity + (bit >> 3);
	int			shift = bit & 7;
	int			row = 0;

	for (; row + 8 <= n; row += 8, bits++)
	{
		/* the byte behind the last may be the buffer's slack, and is not used then */
		unsigned	two = bits[0] | (unsigned) bits[1] << 8;
		uint64		word = spread_nulls((uint8) (two >> shift));

		memcpy(isnull + row, &word, 8);
	}
	for (; row < n; row++)
		isnull[row] = arrow_is_null(vector, from + row);
}

static void
set_nulls(const ArrowVector *vector, const ArrowRun *run)
{
	if (run->rows == NULL)
	{
		if (vector->validity != NULL)
			expand_nulls(vector, run->from, arrow_run_count(run), run->isnull);
		else
			memset(run->isnull, false, arrow_run_count(run));
		return;
	}
	for (int k = 0; k < run->nrows; k++)
		run->isnull[run->rows[k]] = arrow_is_null(vector, run->from + run->rows[k]);
}

/* ------------------------------------------------------------ domains */

/* Volatile expressions and memory are domain_check's; it keeps what it can. */
static void
check_domain(ArrowConverter *converter, Datum value, bool isnull)
{
	domain_check(value, isnull, converter->domain, &converter->domain_extra, converter->context);
}

static void
check_domain_rows(ArrowConverter *converter, const ArrowRun *run)
{
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = arrow_run_row(run, k);

		*run->current = row;
		check_domain(converter, run->values[row], run->isnull[row]);
	}
}

/* ------------------------------------------------------------ conversion */

void
arrow_convert_elements(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = arrow_run_row(run, k);

		run->values[row] = 0;
		if (run->isnull[row])
			continue;
		*run->current = row;
		run->values[row] = converter->element(converter, vector, run->from + row, run->arena,
											  &run->isnull[row]);
	}
}

void
arrow_convert(ArrowConverter *converter, ArrowVector *vector, int64 from, int64 to,
			  const int16 *rows, int nrows, ValueArena *arena,
			  Datum *values, bool *isnull, volatile int *current)
{
	ArrowRun	run = {from, to, rows, nrows, arena, values, isnull, current};

	if (arrow_run_count(&run) == 0)
		return;
	set_nulls(vector, &run);
	if (converter->entries != NULL)
		convert_dictionary(converter, vector, &run);
	else
		converter->convert(converter, vector, &run);
	if (OidIsValid(converter->domain))
		check_domain_rows(converter, &run);
}

void
arrow_convert_nulls(const ArrowVector *vector, int64 from, int64 to,
					const int16 *rows, int nrows, bool *isnull)
{
	ArrowRun	run = {from, to, rows, nrows, NULL, NULL, isnull, NULL};

	set_nulls(vector, &run);
}

static Datum
element_of_dictionary(ArrowConverter *converter, ArrowVector *vector, int64 i,
					  ValueArena *arena, bool *isnull)
{
	ArrowEntries *entries = entries_current(converter, vector, arena);
	int64		index = load_index(arrow_fixed(vector, i), vector->width);

	if (index >= entries->n || entries->states[index] == ENTRY_UNKNOWN)
		return entry_convert(converter, entries, index, arena, isnull);
	*isnull = entries->states[index] == ENTRY_NULL;
	return entries->values[index];
}

Datum
arrow_element(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	Datum		value = 0;

	*isnull = arrow_is_null(vector, i);
	if (!*isnull)
	{
		if (converter->entries != NULL)
			value = element_of_dictionary(converter, vector, i, arena, isnull);
		else
			value = converter->element(converter, vector, i, arena, isnull);
	}
	if (OidIsValid(converter->domain))
		check_domain(converter, value, *isnull);
	return value;
}

/* ------------------------------------------------------------ creation */

static ArrowPrepare
find_pair(int family, Oid type)
{
	for (int i = 0; i < (int) lengthof(pairs); i++)
	{
		if ((pairs[i].families & family) != 0 && (pairs[i].type == ANY_TYPE || pairs[i].type == type))
			return pairs[i].prepare;
	}
	return NULL;
}

static void
converter_prepare(ArrowConverter *converter)
{
	ArrowPrepare prepare;

	if (converter->field->type == ARROW_RUN_END_ENCODED)
	{
		prepare_runs(converter);
		return;
	}
	prepare = find_pair(field_family(converter->field), converter->type);
	if (prepare == NULL)
		arrow_refuse_pair(converter);
	converter->convert = arrow_convert_elements;
	prepare(converter);
	Assert(converter->element != NULL);
}

/* The field as its dictionary's batches have it. */
static const ArrowField *
field_of_entries(const ArrowField *field)
{
	ArrowField *copy;

	if (!field->has_dictionary)
		return field;
	copy = palloc(sizeof(ArrowField));
	*copy = *field;
	copy->has_dictionary = false;
	return copy;
}

static ArrowConverter *
converter_create(const ArrowField *field, Oid type, int32 typmod, bool key,
				 const char *file, const char *column)
{
	ArrowConverter *converter = palloc0(sizeof(ArrowConverter));

	check_stack_depth();
	converter->field = field_of_entries(field);
	converter->typmod = typmod;
	converter->type = getBaseTypeAndTypmod(type, &converter->typmod);
	converter->key = key;
	converter->file = file;
	converter->column = column;
	converter->by_value = get_typbyval(converter->type);
	converter->context = CurrentMemoryContext;
	converter->precision = -1;
	converter->max_length = PG_INT32_MAX;
	if (field->has_dictionary)
		converter->entries = palloc0(sizeof(ArrowEntries));
	if (converter->type != type && DomainHasConstraints(type))
		converter->domain = type;
	converter_prepare(converter);
	return converter;
}

ArrowConverter *
arrow_converter_create(const ArrowField *field, Oid type, int32 typmod, bool key,
					   const char *file, const char *column)
{
	return converter_create(field, type, typmod, key, pstrdup(file), pstrdup(column));
}

ArrowConverter *
arrow_converter_create_child(const ArrowConverter *parent, const ArrowField *field,
							 Oid type, int32 typmod)
{
	MemoryContext caller = MemoryContextSwitchTo(parent->context);
	ArrowConverter *child = converter_create(field, type, typmod, parent->key,
											 parent->file, parent->column);

	MemoryContextSwitchTo(caller);
	return child;
}

bool
arrow_converter_is_copy(const ArrowConverter *converter)
{
	return converter->field->type == ARROW_INT && converter->field->bit_width == 64 &&
		converter->field->is_signed && converter->type == INT8OID &&
		converter->domain == InvalidOid && converter->entries == NULL;
}

bool
arrow_converter_nulls_are_marked(const ArrowConverter *converter)
{
	switch (converter->field->type)
	{
		case ARROW_NULL:
		case ARROW_UNION:
		case ARROW_RUN_END_ENCODED:
			return false;
		default:
			return converter->entries == NULL && !OidIsValid(converter->domain);
	}
}

int64
arrow_converter_dictionary_bytes(const ArrowConverter *converter)
{
	int64		bytes = 0;

	check_stack_depth();
	if (converter->entries != NULL && converter->entries->context != NULL)
		bytes = MemoryContextMemAllocated(converter->entries->context, true) +
			converter->entries->capacity * (int64) (sizeof(Datum) + 1);
	for (int i = 0; i < converter->nchildren; i++)
		bytes += arrow_converter_dictionary_bytes(converter->children[i]);
	return bytes;
}

int64
arrow_converter_least_bytes(const ArrowConverter *converter)
{
	/* an entry is there once for all its rows */
	if (converter->type != BPCHAROID || converter->typmod <= VARHDRSZ || converter->entries != NULL)
		return 0;
	return converter->typmod - VARHDRSZ;
}

bool
arrow_converter_is_lasting(const ArrowConverter *converter)
{
	int			family = field_family(field_behind_runs(converter->field));
	bool		is_text = converter->type == TEXTOID || converter->type == VARCHAROID ||
		converter->type == BPCHAROID;

	/* not what goes through other types' input and output functions */
	if (family & FAMILY_BYTES)
		return is_text || converter->type == BYTEAOID || converter->type == UUIDOID;
	return (family & (FAMILY_BOOL | FAMILY_NUMBER | FAMILY_MOMENT)) && !is_text &&
		converter->type != JSONBOID && converter->type != JSONOID;
}
