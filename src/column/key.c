/*-------------------------------------------------------------------------
 *
 * key.c
 *	  How two keys compare, where the image does not tell.
 *
 * Images come from four sources, best first: the value itself (integer-like
 * types), its first eight bytes (types that sort bytewise), the type's
 * abbreviated key where that is a plain unsigned number, and nothing (0).
 * All but the first may be equal for different keys; none may differ for
 * keys that compare equal.  Abbreviated keys promise that, being decisive
 * wherever they differ.  A nondeterministic collation is not asked to keep
 * that promise.
 *
 * Comparators may leave garbage in the current memory context, as they may
 * anywhere in the server; callers run them in a context that is reset once a
 * batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "column/key.h"

#define KEY_TEXT_LIMIT	100

bool
key_type_is_integer_like(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

bool
key_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* ------------------------------------------------------------ preparation */

static void
sort_support_prepare(SortSupport support, Oid less_operator, Oid collation, bool abbreviate)
{
	memset(support, 0, sizeof(SortSupportData));
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = collation;
	support->abbreviate = abbreviate;
	PrepareSortSupportFromOrderingOp(less_operator, support);
}

/*
 * Does the column sort as bytes do?  uuid always.  text where the server
 * chose the same comparator that it chooses for the collation "C": that is
 * true of every spelling of "C" and needs no knowledge of the release.
 */
static bool
column_is_bytewise(const KeyColumn *column, Oid base_type)
{
	SortSupportData c_support;

	if (base_type == UUIDOID)
		return true;
	if (base_type != TEXTOID && base_type != VARCHAROID)
		return false;
	sort_support_prepare(&c_support, column->less_operator, C_COLLATION_OID, false);
	return column->full.comparator == c_support.comparator;
}

/* May images come from the type's abbreviated keys? */
static bool
column_prepare_abbreviated(KeyColumn *column)
{
	if (OidIsValid(column->collation) && !get_collation_isdeterministic(column->collation))
		return false;
	sort_support_prepare(&column->abbreviated, column->less_operator, column->collation, true);
	return column->abbreviated.abbrev_converter != NULL &&
		column->abbreviated.comparator == ssup_datum_unsigned_cmp;
}

void
key_column_init(KeyColumn *column)
{
	Oid			base_type = getBaseType(column->type);
	TypeCacheEntry *entry = lookup_type_cache(base_type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	if (!OidIsValid(entry->lt_opr) || !OidIsValid(entry->gt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" cannot be a key: type %s has no default btree operator class",
						column->name, format_type_be(column->type)),
				 errhint("The files are sorted by the key, so its type needs an order.")));

	column->typlen = entry->typlen;
	column->typbyval = entry->typbyval;
	column->less_operator = entry->lt_opr;
	column->greater_operator = entry->gt_opr;
	column->sort_operator = column->descending ? entry->gt_opr : entry->lt_opr;
	column->integer_like = key_type_is_integer_like(base_type);

	sort_support_prepare(&column->full, entry->lt_opr, column->collation, false);
	column->bytewise = column_is_bytewise(column, base_type);
	column->abbreviates = !column->integer_like && !column->bytewise &&
		column_prepare_abbreviated(column);

	/* last, since preparing sets it: "<" makes it false */
	column->full.ssup_reverse = column->descending;
}

void
key_init(Key *key)
{
	key->exact = key->ncolumns == 1 && key->columns[0].integer_like;
}

Key *
key_flipped(const Key *key)
{
	Key		   *flipped = palloc(sizeof(Key));

	*flipped = *key;
	flipped->columns = palloc(sizeof(KeyColumn) * key->ncolumns);
	for (int i = 0; i < key->ncolumns; i++)
	{
		KeyColumn  *column = &flipped->columns[i];

		*column = key->columns[i];
		column->descending = !column->descending;
		column->sort_operator = column->descending ? column->greater_operator : column->less_operator;
		column->full.ssup_reverse = column->descending;
	}
	return flipped;
}

/* ------------------------------------------------------------ bytes */

/* A compressed or out-of-line value can come from a query, never from a file. */
static inline bool
value_is_plain(const KeyColumn *column, Datum value)
{
	return column->typlen > 0 || !VARATT_IS_EXTENDED(DatumGetPointer(value)) ||
		VARATT_IS_SHORT(DatumGetPointer(value));
}

static inline const char *
value_bytes(const KeyColumn *column, Datum value, size_t *length)
{
	const char *pointer = DatumGetPointer(value);

	if (column->typlen > 0)
	{
		*length = column->typlen;
		return pointer;
	}
	*length = VARSIZE_ANY_EXHDR(pointer);
	return VARDATA_ANY(pointer);
}

static inline int
compare_bytes(const KeyColumn *column, Datum a, Datum b)
{
	size_t		a_length;
	size_t		b_length;
	const char *a_bytes = value_bytes(column, a, &a_length);
	const char *b_bytes = value_bytes(column, b, &b_length);
	int			result = memcmp(a_bytes, b_bytes, Min(a_length, b_length));

	if (result == 0)
		result = (a_length > b_length) - (a_length < b_length);
	else
		result = result < 0 ? -1 : 1;
	return column->descending ? -result : result;
}

/* The first eight bytes as a big-endian number, zeros behind a shorter value. */
static inline uint64
leading_bytes(const KeyColumn *column, Datum value)
{
	size_t		length;
	const char *bytes = value_bytes(column, value, &length);
	uint64		image = 0;

	memcpy(&image, bytes, Min(length, sizeof(image)));
#ifndef WORDS_BIGENDIAN
	image = pg_bswap64(image);
#endif
	return image;
}

/* ------------------------------------------------------------ images */

/* An image from a number whose unsigned order is the values' ascending order. */
static inline int64
image_from_unsigned(const KeyColumn *column, uint64 number)
{
	int64		image = (int64) (number ^ (UINT64CONST(1) << 63));

	return column->descending ? ~image : image;
}

static int64
bytewise_image(const KeyColumn *column, Datum value)
{
	Datum		plain = value;

	if (unlikely(!value_is_plain(column, value)))
		plain = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	return image_from_unsigned(column, leading_bytes(column, plain));
}

/* The converter fills caches in its SortSupport, nothing that shows. */
static int64
abbreviated_image(const KeyColumn *column, Datum value)
{
	SortSupport support = unconstify(SortSupportData *, &column->abbreviated);

	return image_from_unsigned(column, support->abbrev_converter(value, support));
}

int64
key_image(const Key *key, Datum leading)
{
	const KeyColumn *column = &key->columns[0];

	if (column->integer_like)
		return column->descending ? ~(int64) leading : (int64) leading;
	if (column->bytewise)
		return bytewise_image(column, leading);
	if (column->abbreviates)
		return abbreviated_image(column, leading);
	return 0;
}

int64
key_flip_image(const Key *key, int64 image)
{
	const KeyColumn *column = &key->columns[0];

	return column->integer_like || column->bytewise || column->abbreviates ? ~image : image;
}

void
key_images(const Key *key, const Datum *leading, int n, int64 *images)
{
	const KeyColumn *column = &key->columns[0];

	if (column->integer_like)
	{
		const int64 flip = column->descending ? -1 : 0;

		for (int i = 0; i < n; i++)
			images[i] = (int64) leading[i] ^ flip;
	}
	else if (column->bytewise)
	{
		for (int i = 0; i < n; i++)
			images[i] = bytewise_image(column, leading[i]);
	}
	else if (column->abbreviates)
	{
		for (int i = 0; i < n; i++)
			images[i] = abbreviated_image(column, leading[i]);
	}
	else
		memset(images, 0, sizeof(int64) * n);
}

/* ------------------------------------------------------------ comparison */

static inline int
compare_integers(const KeyColumn *column, Datum a, Datum b)
{
	int64		x = (int64) a;
	int64		y = (int64) b;
	int			result = (x > y) - (x < y);

	return column->descending ? -result : result;
}

/* One column of two keys, in stream order. */
static inline int
compare_column(const KeyColumn *column, Datum a, Datum b)
{
	if (column->integer_like)
		return compare_integers(column, a, b);
	if (column->bytewise && likely(value_is_plain(column, a) && value_is_plain(column, b)))
		return compare_bytes(column, a, b);
	return ApplySortComparator(a, false, b, false,
							   unconstify(SortSupportData *, &column->full));
}

/* The first column that images have not settled. */
static inline int
first_open_column(const Key *key)
{
	return key->columns[0].integer_like ? 1 : 0;
}

int
key_compare_column(const KeyColumn *column, Datum a, Datum b)
{
	return compare_column(column, a, b);
}

int
key_compare_values(const Key *key, const ColumnBatch *a, int i, const ColumnBatch *b, int j)
{
	for (int c = first_open_column(key); c < key->ncolumns; c++)
	{
		int			result = compare_column(&key->columns[c], a->key[c][i], b->key[c][j]);

		if (result != 0)
			return result;
	}
	return 0;
}

int
key_compare_bound(const Key *key, const ColumnBatch *a, int i, const KeyBound *bound)
{
	if (a->image[i] != bound->image)
		return a->image[i] < bound->image ? -1 : 1;
	for (int c = first_open_column(key); c < bound->ncolumns; c++)
	{
		int			result = compare_column(&key->columns[c], a->key[c][i], bound->values[c]);

		if (result != 0)
			return result;
	}
	return 0;
}

/* ------------------------------------------------------------ bounds */

void
key_bound_init(const Key *key, KeyBound *bound)
{
	Assert(bound->ncolumns >= 1 && bound->ncolumns <= key->ncolumns);
	bound->image = key_image(key, bound->values[0]);
}

/* First row in [from, to) with an image >= "image". */
static int
first_image_from(const int64 *images, int from, int to, int64 image)
{
	while (from < to)
	{
		int			middle = from + (to - from) / 2;

		if (images[middle] < image)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* First row in [from, to) with an image > "image". */
static int
first_image_past(const int64 *images, int from, int to, int64 image)
{
	return image == PG_INT64_MAX ? to : first_image_from(images, from, to, image + 1);
}

/*
 * First row in [from, to) that compares >= the bound, or > where "past".
 * Images narrow the search to the rows that share the bound's; those need
 * their values compared.
 */
static int
first_row_at_bound(const Key *key, const ColumnBatch *batch, int from, int to,
				   const KeyBound *bound, bool past)
{
	int			low = first_image_from(batch->image, from, to, bound->image);
	int			high;

	if (key->exact && !past)
		return low;
	high = first_image_past(batch->image, low, to, bound->image);
	if (key->exact)
		return high;
	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		int			order = key_compare_bound(key, batch, middle, bound);

		if (order < 0 || (order == 0 && past))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
key_first_inside(const Key *key, const ColumnBatch *batch, int from, int to, const KeyBound *lower)
{
	return first_row_at_bound(key, batch, from, to, lower, !lower->inclusive);
}

int
key_first_beyond(const Key *key, const ColumnBatch *batch, int from, int to, const KeyBound *upper)
{
	return first_row_at_bound(key, batch, from, to, upper, upper->inclusive);
}

int
key_first_not_before(const Key *key, const ColumnBatch *batch, int from, int to,
					 const ColumnBatch *other, int row)
{
	while (from < to)
	{
		int			middle = from + (to - from) / 2;

		if (key_compare(key, batch, middle, other, row) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ------------------------------------------------------------ messages */

char *
key_text_cut(const char *text)
{
	int			length = strlen(text);

	if (length <= KEY_TEXT_LIMIT)
		return pstrdup(text);
	return psprintf("%.*s...", pg_mbcliplen(text, length, KEY_TEXT_LIMIT), text);
}

char *
key_text(const Key *key, const ColumnBatch *batch, int row)
{
	StringInfoData text;

	initStringInfo(&text);
	if (key->ncolumns > 1)
		appendStringInfoChar(&text, '(');
	for (int c = 0; c < key->ncolumns && text.len <= KEY_TEXT_LIMIT; c++)
	{
		Oid			output;
		bool		is_varlena;
		char	   *value;

		getTypeOutputInfo(key->columns[c].type, &output, &is_varlena);
		value = OidOutputFunctionCall(output, key_datum(key, batch, row, c));
		if (c > 0)
			appendStringInfoChar(&text, ',');
		appendStringInfoString(&text, value);
		pfree(value);
	}
	if (key->ncolumns > 1)
		appendStringInfoChar(&text, ')');
	return key_text_cut(text.data);
}
