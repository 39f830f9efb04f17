/*-------------------------------------------------------------------------
 *
 * key.h
 *	  How two keys compare.
 *
 * Every key row has an *image*: an int64 that never contradicts the order of
 * the key (image(a) < image(b) implies a sorts before b).  For one column of
 * an integer-like type (int2, int4, int8, date, timestamp, timestamptz) the
 * image is the key itself, complemented where the column is descending; such
 * a key is "exact" and nothing else is looked at.  Elsewhere the image comes
 * from the type's abbreviated keys (0 where it has none usable) and a tie is
 * settled by SortSupport, column by column.
 *
 * All order here is the stream's order: with a descending column, "before"
 * and "lower" mean the greater value.
 *
 * It lives below the streams since the order check, the segments and the sort
 * need it as much as the merge does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_KEY_H
#define OUTERJOIN_KEY_H

#include "column/column_batch.h"
#include "utils/sortsupport.h"

typedef struct KeyColumn
{
	const char *name;			/* column name, for messages */
	Oid			type;
	int32		typmod;
	Oid			collation;
	bool		descending;
	bool		typbyval;
	int16		typlen;
	bool		integer_like;	/* the value, sign extended, is its own image */
	bool		bytewise;		/* values sort as their bytes do: text under "C", uuid */
	Oid			less_operator;	/* of the default btree operator class */
	Oid			greater_operator;
	Oid			sort_operator;	/* "<", or ">" where descending */
	SortSupportData full;		/* compares values */
	bool		abbreviates;	/* abbreviated holds a converter to unsigned order */
	SortSupportData abbreviated;
} KeyColumn;

typedef struct Key
{
	int			ncolumns;
	bool		exact;			/* one integer-like column: the image decides alone */
	KeyColumn  *columns;
} Key;

/* A point in the key space: values of the first ncolumns key columns. */
typedef struct KeyBound
{
	int			ncolumns;
	bool		inclusive;
	int64		image;
	Datum	   *values;
} KeyBound;

/* A range in stream order. A bound of a prefix takes in (or out) all keys with it. */
typedef struct KeyRange
{
	bool		empty;
	bool		has_lower;
	bool		has_upper;
	KeyBound	lower;
	KeyBound	upper;
} KeyRange;

/*
 * Fill in one column's comparison; type, typmod, collation and descending are
 * set already.  Allocates in the current context.  A type without a default
 * btree operator class is an error (42883).
 */
extern void key_column_init(KeyColumn *column);

/* Set "exact" once all columns are initialised. */
extern void key_init(Key *key);

/*
 * The same key the other way: every column descends where it ascended.
 * Allocates in the current context; the rest is shared.
 */
extern Key *key_flipped(const Key *key);

/* The image of a key under the flipped key, from its image under this one. */
extern int64 key_flip_image(const Key *key, int64 image);

/* Is this type carried as an int64? */
extern bool key_type_is_integer_like(Oid type);

/* Is it int2, int4 or int8? */
extern bool key_type_is_integer(Oid type);

/* Image of a leading key value; batches of exact keys hold theirs already. */
extern int64 key_image(const Key *key, Datum leading);

/* Images of n leading values at once. */
extern void key_images(const Key *key, const Datum *leading, int n, int64 *images);

/* <0, 0, >0 as value a of one key column sorts before, with or after b, in stream order. */
extern int	key_compare_column(const KeyColumn *column, Datum a, Datum b);

/* Settles what equal images leave open; the slow half of key_compare. */
extern int	key_compare_values(const Key *key, const ColumnBatch *a, int i,
							   const ColumnBatch *b, int j);

/*
 * <0, 0, >0 as row i of a sorts before, with or after row j of b.
 */
static inline int
key_compare(const Key *key, const ColumnBatch *a, int i, const ColumnBatch *b, int j)
{
	int64		x = a->image[i];
	int64		y = b->image[j];

	if (x != y)
		return x < y ? -1 : 1;
	if (key->exact)
		return 0;
	return key_compare_values(key, a, i, b, j);
}

/*
 * Compare a row with a bound's values (inclusive is not looked at): 0 where
 * the row's leading columns equal the bound's.
 */
extern int	key_compare_bound(const Key *key, const ColumnBatch *a, int i, const KeyBound *bound);

/*
 * Compute the bound's image from values[0].  Its values are of the key
 * columns' types (int2, int4 and date sign-extended to 64 bits) and there is
 * at least one.
 */
extern void key_bound_init(const Key *key, KeyBound *bound);

/*
 * First row in [from, to) that is not before a range's lower bound, or that is
 * past its upper one; "to" if there is none.
 */
extern int	key_first_inside(const Key *key, const ColumnBatch *batch, int from, int to,
							 const KeyBound *lower);
extern int	key_first_beyond(const Key *key, const ColumnBatch *batch, int from, int to,
							 const KeyBound *upper);

/*
 * First row in [from, to) that is not before row "row" of "other"; "to" if
 * there is none.
 */
extern int	key_first_not_before(const Key *key, const ColumnBatch *batch, int from, int to,
								 const ColumnBatch *other, int row);

/* One key column's value of a row, as a Datum of the column's type (borrowed from the batch). */
static inline Datum
key_datum(const Key *key, const ColumnBatch *batch, int row, int column)
{
	if (key->exact)
		return (Datum) (key->columns[0].descending ? ~batch->image[row] : batch->image[row]);
	return batch->key[column][row];
}

/* A key's text as messages show it: at most 100 bytes of it, in whole characters. */
extern char *key_text_cut(const char *text);

/* "(1,abc)" or "1" through the types' output functions, cut, for messages. */
extern char *key_text(const Key *key, const ColumnBatch *batch, int row);

#endif							/* OUTERJOIN_KEY_H */
