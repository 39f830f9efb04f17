/*-------------------------------------------------------------------------
 *
 * arrow_facts.c
 *	  What an Arrow file says of itself.
 *
 * Every record batch's description says how many rows it has; the first and
 * the last row's keys are looked at where they are plain numbers.  Those of a
 * compressed batch are decompressed up to there, unless they are very many; for
 * an estimate, the last key is guessed from the first ones of batches.
 * Errors are those that every scan would meet at the file's
 * ends and in its descriptions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "arrow/arrow_facts.h"
#include "arrow/arrow_file.h"
#include "arrow/arrow_name.h"

#define PROBE_BYTES			1024

/* Compressed keys of so many bytes are worth looking through for the last one, in such pieces. */
#define MOST_DECOMPRESSED	(64 * 1024 * 1024)
#define FEW_DECOMPRESSED	(128 * 1024)	/* for an estimate, */
#define SOME_DECOMPRESSED	(1024 * 1024)	/* which a single batch has nothing else for */
#define DECOMPRESSED_BYTES	(64 * 1024)

/* Counting stops here, and is an estimate from then on. */
#define MAX_COUNTED_BATCHES	10000

#define UNIX_EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* Do a field's numbers become such a key without anything that could fail? */
static bool
is_plain_key(const ArrowField *field, Oid type)
{
	if (field->has_dictionary)
		return false;
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return field->type == ARROW_INT && (field->is_signed || field->bit_width < 64);
		case DATEOID:
			return field->type == ARROW_DATE && field->unit == ARROW_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return field->type == ARROW_TIMESTAMP && field->unit == ARROW_MICROSECOND;
		default:
			return false;
	}
}

static int64
load_integer(const char *bytes, int width, bool is_signed)
{
	uint64		value = 0;

	memcpy(&value, bytes, width);
#ifdef WORDS_BIGENDIAN
	value >>= 8 * (8 - width);
#endif
	if (is_signed && width < 8 && (value >> (8 * width - 1)) != 0)
		value |= PG_UINT64_MAX << (8 * width);
	return (int64) value;
}

/* The key's image in one row; false where it is null or behind "most" bytes of compressed keys. */
static bool
row_image(ArrowFile *file, SourceFile *source, int field, const Key *key,
		  int64 number, int64 row, int64 most, int64 *blocks_read, int64 *image)
{
	const ArrowSchema *schema = arrow_file_schema(file);
	const ArrowBatch *batch = arrow_file_batch(file, number);
	bool		compressed = batch->spec.compression != ARROW_UNCOMPRESSED;
	ArrowVector *vector = arrow_vector_create(&schema->fields[field], arrow_file_version(file),
											  compressed ? DECOMPRESSED_BYTES : PROBE_BYTES,
											  blocks_read);
	ArrowPosition position = {0};
	int64		value;

	if (compressed && row > most / Max(vector->width, 1))
		return false;
	for (int i = 0; i < field; i++)
	{
		if (!arrow_position_skip(&position, &batch->spec, &schema->fields[i], false))
			return false;
	}
	arrow_vector_set(vector, source, &batch->spec, batch->body_offset,
					 position.node, position.buffer, position.variadic);
	arrow_vector_load(vector, row, row + 1);
	if (arrow_is_null(vector, row))
		return false;
	value = load_integer(arrow_fixed(vector, row), vector->width,
						 vector->field->type != ARROW_INT || vector->field->is_signed);
	if (vector->field->type == ARROW_DATE)
		value -= UNIX_EPOCH_DAYS;
	else if (vector->field->type == ARROW_TIMESTAMP &&
			 pg_sub_s64_overflow(value, UNIX_EPOCH_DAYS * USECS_PER_DAY, &value))
		return false;
	*image = key_image(key, (Datum) value);
	return true;
}

/* The last key, if they go on in the last batch as they do before it. */
static bool
guess_last(ArrowFile *file, SourceFile *source, int field, const Key *key, int64 first_batch,
		   int64 last_batch, int64 first, int64 *blocks_read, int64 *last)
{
	double		before = (double) arrow_file_rows_before(file, last_batch);
	double		rows = (double) arrow_file_batch_rows(file, last_batch);
	double		step;
	int64		begin;

	if (first_batch == last_batch ||
		!row_image(file, source, field, key, last_batch, 0, 0, blocks_read, &begin))
		return false;
	step = ((double) begin - (double) first) / Max(before, 1);
	*last = begin;
	if (step > 0 && step * rows < (double) (PG_INT64_MAX / 2) - Max((double) begin, 0))
		*last += (int64) (step * rows);
	return true;
}

static void
find_range(ArrowFile *file, SourceFile *source, const StreamSpec *spec, const Key *key,
		   bool estimate, int field, int64 nbatches, int64 *blocks_read, StreamFacts *facts)
{
	int64		most = MOST_DECOMPRESSED;
	const ArrowField *leading = &arrow_file_schema(file)->fields[field];
	int64		first = 0;
	int64		last = nbatches - 1;

	if (!is_plain_key(leading, spec->keys[0].type))
		return;
	while (first < nbatches && arrow_file_batch_rows(file, first) == 0)
		first++;
	while (last > first && arrow_file_batch_rows(file, last) == 0)
		last--;
	if (first >= nbatches)
		return;
	if (estimate)
		most = first < last ? FEW_DECOMPRESSED : SOME_DECOMPRESSED;
	if (!row_image(file, source, field, key, first, 0, most, blocks_read, &facts->first))
		return;
	facts->range_certain = row_image(file, source, field, key, last,
									 arrow_file_batch_rows(file, last) - 1, most, blocks_read,
									 &facts->last);
	facts->has_range = facts->range_certain ||
		(estimate && guess_last(file, source, field, key, first, last, facts->first, blocks_read,
								&facts->last));
}

static void
look_at_file(const StreamSpec *spec, const SegmentFile *segment, const Key *key, StreamFacts *facts)
{
	SourceFile *source = segment->source ? source_file_duplicate(segment->source) :
		source_file_open(&spec->folder, segment->name);
	int64		blocks_read = 0;
	ArrowFile  *file = arrow_file_open(source, PROBE_BYTES, &blocks_read);
	const ArrowSchema *schema = arrow_file_schema(file);
	const char **names = arrow_schema_names(schema);
	int		   *key_fields = palloc(sizeof(int) * spec->nkeys);
	int		   *value_fields = palloc(sizeof(int) * Max(spec->nfields, 1));
	int64		nbatches = arrow_file_nbatches(file);
	int64		counted = Min(nbatches, MAX_COUNTED_BATCHES);

	field_resolve(spec, source_file_name(source), schema->nfields, names, schema->nfields,
				  key_fields, value_fields);
	facts->bytes = (double) source_file_identity(source)->size;
	facts->blocks = (double) nbatches;
	/* in a single compressed batch there is nowhere to begin but at its top */
	facts->can_seek = nbatches != 1 ||
		arrow_file_batch(file, 0)->spec.compression == ARROW_UNCOMPRESSED;
	facts->rows = (double) arrow_file_rows_before(file, counted);
	facts->rows_exact = counted == nbatches;
	/* compressed keys and values are gone through to the row that is sought */
	if (nbatches > 0 && arrow_file_batch(file, 0)->spec.compression != ARROW_UNCOMPRESSED)
		facts->seek_rows = facts->rows / (double) counted;
	facts->can_go_back = arrow_file_can_go_back(file, counted);
	if (!facts->rows_exact)
		facts->rows *= (double) nbatches / (double) counted;
	find_range(file, source, spec, key, segment->alone, key_fields[0], nbatches, &blocks_read, facts);
	source_file_close(source);
}

void
arrow_facts(const StreamSpec *spec, const SegmentFile *file, const Key *key, StreamFacts *facts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "facts of an arrow file",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	memset(facts, 0, sizeof(*facts));
	look_at_file(spec, file, key, facts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
