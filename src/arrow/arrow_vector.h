/*-------------------------------------------------------------------------
 *
 * arrow_vector.h
 *	  One array of a record batch, with its children: a slice of it at a time.
 *
 * A tree that follows a field of the schema.  It is made once for a file, told
 * of each record batch (arrow_vector_set), and then loads slices of elements,
 * after which converters look at them.  All numbers from the file have been
 * checked when a slice is loaded: offsets ascend and lie within their data,
 * indexes within their dictionary, type ids are known ones.
 *
 * Refuses to know: Datums, PostgreSQL's types.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_VECTOR_H
#define OUTERJOIN_ARROW_VECTOR_H

#include "arrow/arrow_buffer.h"
#include "arrow/arrow_metadata.h"

typedef struct ArrowVector ArrowVector;
typedef struct ArrowDictionary ArrowDictionary;

/* Bytes of one string or binary value. */
typedef struct ArrowBytes
{
	const char *data;
	int64		length;
} ArrowBytes;

struct ArrowVector
{
	const ArrowField *field;	/* of a dictionary-encoded field: its values' type too */
	ArrowVector *children;		/* [nchildren] */
	int			nchildren;

	/* the record batch's */
	int64		length;			/* elements */
	int64		null_count;
	ArrowDictionary *dictionary;	/* current one, or NULL */

	/*
	 * The slice at hand: elements [from, to).  An element's number, below and
	 * in all functions, counts from the array's beginning.
	 */
	int64		from;
	int64		to;
	const uint8 *validity;		/* bit (i - validity_from) of it is element i's; NULL: no nulls */
	int64		validity_from;	/* a multiple of 8 */
	const char *values;			/* fixed width, offsets, views, indexes, type ids: of element "from";
								 * booleans: bits, the first one element bits_from's */
	int			width;			/* bytes of one of them; 0 for booleans */
	int64		bits_from;		/* a multiple of 8 */
	const char *data;			/* of strings and binaries with offsets: bytes from data_from on */
	int64		data_from;
	const char *union_offsets;	/* of a dense union: int32 of element "from" */
	const char *sizes;			/* of a list view: of element "from", as wide as its offsets */

	/* private */
	const ArrowVector *parent;	/* NULL: a column */
	int			shape;			/* ArrowShape */
	ArrowBuffer *buffers;		/* [nbuffers], by ArrowSlot */
	int			nbuffers;
	SourceFile *file;
	MemoryContext context;
	size_t		block_bytes;
	struct ArrowViews *views;	/* of string and binary views */
	struct ArrowRuns *runs;		/* of a run-end encoded array */
	int64		label_bytes;	/* of a struct: what its fields' long names add to a value */
	bool		whole;			/* a dictionary's, never one row's */
	int8	   *child_of_type;	/* of a union: [ARROW_MAX_TYPE_IDS], -1 where there is none */
};

/*
 * The tree for a field.  Allocates in the current context.  A field with a
 * dictionary has indexes; the vectors of its entries are those of a copy of
 * the field without has_dictionary.
 */
extern ArrowVector *arrow_vector_create(const ArrowField *field, int version, size_t block_bytes,
										int64 *blocks_read);

/* How many nodes, and buffers (without variadic ones), the field takes in a record batch. */
extern void arrow_vector_footprint(const ArrowField *field, int version, int *nnodes, int *nbuffers);

/*
 * Another record batch.  "node", "buffer" and "variadic" are indexes of the
 * field's first ones; body_offset is where the body begins in the file.  The
 * batch was checked against the schema (arrow_batch_check).
 */
extern void arrow_vector_set(ArrowVector *vector, SourceFile *file, const ArrowBatchSpec *batch,
							 int64 body_offset, int node, int buffer, int variadic);

/*
 * How many of the elements [from, to) can be loaded, and be values, without
 * holding much more than "bytes" bytes: at least one.  Looks at offsets and
 * indexes only.  Ends the slice that is loaded.
 */
extern int64 arrow_vector_extent(ArrowVector *vector, int64 from, int64 to, size_t bytes);

/*
 * Load elements [from, to), of children what belongs to them (list views
 * excepted, see arrow_list_range).  Pointers are valid until the next load.
 */
extern void arrow_vector_load(ArrowVector *vector, int64 from, int64 to);

/*
 * Load nothing of elements [from, to) but what arrow_is_null looks at.
 */
extern void arrow_vector_load_nulls(ArrowVector *vector, int64 from, int64 to);

/* Read so little at first: see arrow_buffer_begin_small. */
extern void arrow_vector_begin_small(ArrowVector *vector, size_t bytes);

/* Slices are loaded from the end to the top: see arrow_buffer_set_backward. */
extern void arrow_vector_set_backward(ArrowVector *vector, bool backward);

/* Give back windows and decompressors of the whole tree. */
extern void arrow_vector_release(ArrowVector *vector);

/* ---- elements of a loaded slice ---- */

static inline bool
arrow_is_null(const ArrowVector *vector, int64 i)
{
	int64		bit = i - vector->validity_from;

	return vector->validity != NULL && (vector->validity[bit >> 3] & (1 << (bit & 7))) == 0;
}

static inline bool
arrow_bool(const ArrowVector *vector, int64 i)
{
	int64		bit = i - vector->bits_from;

	return (((const uint8 *) vector->values)[bit >> 3] & (1 << (bit & 7))) != 0;
}

/* Where a fixed-width element's bytes are. */
static inline const char *
arrow_fixed(const ArrowVector *vector, int64 i)
{
	return vector->values + (i - vector->from) * vector->width;
}

/*
 * What follows is for elements that are not null: a null may have any bytes,
 * range, index or type number.
 */

/*
 * A string or binary of any layout: offsets, large offsets, views, fixed size.
 * The bytes are valid until the next load, like everything else.
 */
extern ArrowBytes arrow_bytes(ArrowVector *vector, int64 i);

/* The index of a dictionary-encoded element into its dictionary, within it. */
extern int64 arrow_index(const ArrowVector *vector, int64 i);

/*
 * The elements [*from, *to) of children[0] that make up a list, list view,
 * fixed size list or map.  Those of a list view are loaded by this call, in
 * place of whatever was loaded before.
 */
extern void arrow_list_range(ArrowVector *vector, int64 i, int64 *from, int64 *to);

/* Which child a union's element lies in, and where. */
extern void arrow_union_element(ArrowVector *vector, int64 i, int *child, int64 *element);

/* The element of children[1], the values, that stands for element i of a run-end encoded array. */
extern int64 arrow_run_element(ArrowVector *vector, int64 i);

/* ---- dictionaries ---- */

/*
 * The values of one dictionary id, held whole: one vector for each dictionary
 * batch that made it up.
 */
struct ArrowDictionary
{
	int64		id;
	int64		length;			/* entries in all */
	int			nparts;
	ArrowVector **parts;		/* each loaded from 0 to its length */
	int64	   *part_end;		/* [nparts] running sum of the lengths */
	uint64		generation;		/* differs whenever entries have changed or been added */
	int64		value_bytes;	/* about what all entries come to as values */
	int64		largest;		/* and what the largest one does */
	MemoryContext context;
};

/*
 * How many entries are kept as values, the first ones, and how many bytes of
 * values.  Others are values of a batch only.
 */
#define ARROW_KEPT_ENTRIES		(1024 * 1024)
#define ARROW_KEPT_ENTRY_BYTES	(64 * 1024 * 1024)

/* A part that was loaded, into value_bytes and largest. */
extern void arrow_dictionary_measure(ArrowDictionary *dictionary, ArrowVector *part);

/* Bytes of all buffers of the record batch at hand, as they say that they will be when decompressed. */
extern int64 arrow_vector_bytes(const ArrowVector *vector);

/* The tree holds a dictionary's entries: no bound of a single value applies to what is loaded. */
extern void arrow_vector_set_whole(ArrowVector *vector);

/* The part that holds an entry, and its number there. */
extern ArrowVector *arrow_dictionary_entry(const ArrowDictionary *dictionary, int64 index, int64 *element);

#endif							/* OUTERJOIN_ARROW_VECTOR_H */
