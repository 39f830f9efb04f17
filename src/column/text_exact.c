/*-------------------------------------------------------------------------
 *
 * text_exact.c
 *	  A key's text that its type cannot hold as it is.
 *
 * Input functions round, cut and drop without a word: to the type modifier
 * (numeric(6,2), timestamp(0), varchar(2)), to microseconds, to a date, to a
 * name's length.  Two keys made equal that way would be joined, so such a key
 * is an error.  Binary floating point is taken as it is: next to no decimal
 * fraction would pass.
 *
 * The loops never round.  So only what went through the input function is
 * looked at here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "column/key.h"
#include "column/text_decoder.h"

/* What compares a value with the same one read without its modifier. */
struct TextExactness
{
	Oid			type;
	int32		typmod;
	Oid			ioparam;
	FmgrInfo	input;
	FmgrInfo	compare;
};

void
text_decoder_refuse_rounding(TextDecoder *decoder, Oid type, MemoryContext context)
{
	TextExactness *exact = MemoryContextAllocZero(context, sizeof(TextExactness));
	TypeCacheEntry *entry = lookup_type_cache(decoder->base_type, TYPECACHE_CMP_PROC);
	Oid			input;

	exact->type = type;
	exact->typmod = decoder->typmod;
	if (type != decoder->base_type)
		(void) getBaseTypeAndTypmod(type, &exact->typmod);
	getTypeInputInfo(decoder->base_type, &input, &exact->ioparam);
	fmgr_info_cxt(input, &exact->input, context);
	fmgr_info_cxt(entry->cmp_proc, &exact->compare, context);
	decoder->exact = exact;
}

/* Is there anything but zeros past the sixth digit behind a decimal point? */
static bool
has_fraction_of_microsecond(const char *string)
{
	const char *point = strchr(string, '.');
	size_t		digits;

	if (point == NULL)
		return false;
	digits = strspn(point + 1, "0123456789");
	return digits > MAX_TIMESTAMP_PRECISION &&
		strspn(point + 1 + MAX_TIMESTAMP_PRECISION, "0") < digits - MAX_TIMESTAMP_PRECISION;
}

/* "2024-01-01 10:00" is more than a date. */
static bool
has_time_of_day(const char *string)
{
	Datum		moment;

	if (strchr(string, ':') == NULL)
		return false;
	moment = DirectFunctionCall3(timestamp_in, CStringGetDatum(string),
								 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return DatumGetTimestamp(moment) % USECS_PER_DAY != 0;
}

static bool
type_drops_something(Oid base_type, const char *string)
{
	switch (base_type)
	{
		case DATEOID:
			return has_time_of_day(string);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case TIMETZOID:
			return has_fraction_of_microsecond(string);
		case INTERVALOID:
			/* "0.0000001 days" is whole microseconds */
			return strchr(string, ':') != NULL && has_fraction_of_microsecond(string);
		case NAMEOID:
			return strlen(string) >= NAMEDATALEN;
		default:
			return false;
	}
}

static bool
modifier_drops_something(TextExactness *exact, char *string, Datum value)
{
	Datum		whole;

	if (exact->typmod < 0)
		return false;
	whole = InputFunctionCall(&exact->input, string, exact->ioparam, -1);
	return DatumGetInt32(FunctionCall2Coll(&exact->compare, C_COLLATION_OID, value, whole)) != 0;
}

void
text_check_exact(TextDecoder *decoder, char *string, Datum value)
{
	TextExactness *exact = decoder->exact;

	if (type_drops_something(decoder->base_type, string) ||
		modifier_drops_something(exact, string, value))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("type %s cannot hold key \"%s\" exactly",
						format_type_with_typemod(exact->type, decoder->typmod), key_text_cut(string)),
				 errdetail("A key is never rounded or cut, since it could then equal another one.")));
}
