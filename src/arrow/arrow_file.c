/*-------------------------------------------------------------------------
 *
 * arrow_file.c
 *	  An Arrow IPC file or stream on disk.
 *
 * Both are sequences of messages; a file adds an index of them at its end.
 * Here both become a list of messages in order: a stream's is found by going
 * from one message to the next, no further than is asked for, and passing
 * over the bodies.
 *
 * A dictionary, as it holds for a record batch, is the last whole one before
 * that batch and the deltas that follow it.  In a file all dictionaries come
 * before all batches, whatever the order on disk.
 *
 * Invariant: a message in the list lies within the file, so that its body's
 * buffers, checked against the body, do as well.
 *
 * Refuses to know: keys, Datums, what vectors are for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "common/int.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "arrow/arrow_file.h"
#include "arrow/arrow_index.h"
#include "arrow/arrow_name.h"
#include "wire/byte_cursor.h"

#define MAGIC			"ARROW1"
#define MAGIC_LENGTH	6
#define FILE_HEAD		8		/* the magic, padded */
#define FILE_TAIL		10		/* length of the footer, and the magic again */
#define FEATHER_MAGIC	"FEA1"
#define CONTINUATION	0xFFFFFFFFU

#define PREFIX_BYTES	8

/* So much is read of a message at once that may be of any length, and that is said to be of one. */
#define USUAL_METADATA	1024
#define MOST_GUESSED	(64 * 1024)

/* Kept descriptions take the memory of so many blocks. */
#define KEPT_BLOCKS		2

/* A message's description is never larger than this. */
#define MAX_METADATA	(256 * 1024 * 1024)

/* A dictionary as it stands, made of entries up to and including "last". */
typedef struct KnownDictionary
{
	ArrowDictionary dictionary;
	const ArrowField *field;	/* one that it is of; the others have the same values */
	int64		first;			/* entry of the whole one */
	int64		last;
} KnownDictionary;

struct ArrowFile
{
	MemoryContext context;
	MemoryContext batch_context;	/* description of the batch at hand */
	SourceFile *source;
	size_t		block_bytes;
	int64	   *blocks_read;
	int64		size;
	ArrowIndex *index;			/* schema and messages, perhaps shared with other scans */

	KnownDictionary **dictionaries;
	int			ndictionaries;
	uint64		generation;

	ArrowBatch	batch;
	int64		batch_number;	/* -1: none */

	/* descriptions that are kept, for those who go back and forth */
	MemoryContext kept_context;
	ArrowBatch **kept;			/* [batches], or NULL */
};

/* ------------------------------------------------------------ errors */

pg_noreturn static void report_damaged(const ArrowFile *file, const char *format,...) __attribute__((format(__printf__, 2, 3)));

static void
report_damaged(const ArrowFile *file, const char *format,...)
{
	char		detail[256];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" is damaged", source_file_name(file->source)),
			 errdetail("%s", detail)));
}

pg_noreturn static void
report_unsupported(const ArrowFile *file, const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("file \"%s\" is %s", source_file_name(file->source), what),
			 hint ? errhint("%s", hint) : 0));
}

/* ------------------------------------------------------------ reading */

/* So many bytes at an offset, in the current context; an error where the file is shorter. */
static ByteView
read_bytes(ArrowFile *file, int64 offset, int64 length, const char *what)
{
	ByteView	view;
	char	   *bytes;

	if (offset < 0 || length < 0 || length > MAX_METADATA || offset > file->size - length)
		report_damaged(file, "The %s would be %lld bytes at byte %lld of %lld.", what,
					   (long long) length, (long long) offset, (long long) file->size);
	bytes = palloc((size_t) length + ARROW_BUFFER_SLACK);
	if (source_file_read(file->source, offset, bytes, (size_t) length) != (size_t) length)
		report_damaged(file, "The file ends within the %s.", what);
	memset(bytes + length, 0, ARROW_BUFFER_SLACK);
	(*file->blocks_read)++;
	view.data = (const uint8 *) bytes;
	view.length = (size_t) length;
	return view;
}

/*
 * The message at an offset: how long its prefix and its description are, and
 * the first "guess" bytes of both, so that one read mostly is enough.  Before
 * version 0.15 of the format there was no continuation marker.  False where
 * the stream ends.
 */
static bool
read_prefix(ArrowFile *file, int64 offset, int64 guess, ByteView *view, int *prefix, int32 *length)
{
	int64		left = file->size - offset;
	ByteCursor	cursor;
	uint32		first;
	uint32		second = 0;

	if (left == 0)
		return false;
	if (left < 4)
		report_damaged(file, "The file ends within the prefix of the message at byte %lld.",
					   (long long) offset);
	*view = read_bytes(file, offset, Min(left, Max(Min(guess, MOST_GUESSED), PREFIX_BYTES)),
					   "prefix of a message");
	cursor = byte_cursor(*view);
	if (!byte_cursor_u32(&cursor, &first))
		return false;
	*prefix = 4;
	if (first == CONTINUATION)
	{
		if (!byte_cursor_u32(&cursor, &second))
			report_damaged(file, "The file ends within the prefix of the message at byte %lld.",
						   (long long) offset);
		*prefix = 8;
		first = second;
	}
	if (first == 0)
		return false;
	if (first > MAX_METADATA)
		report_damaged(file, "The message at byte %lld would have a description of %u bytes.",
					   (long long) offset, first);
	*length = (int32) first;
	return true;
}

/* Parse the description of a message of which read_prefix has read a part, in the current context. */
static void
parse_message(ArrowFile *file, int64 offset, ByteView view, int prefix, int32 length,
			  ArrowMessage *message)
{
	const char *reason = NULL;

	if ((size_t) prefix + length <= view.length)
		view = (ByteView){view.data + prefix, (size_t) length};
	else
		view = read_bytes(file, offset + prefix, length, "description of a message");
	if (!arrow_message_parse(view, message, &reason))
		report_damaged(file, "The message at byte %lld cannot be read: %s",
					   (long long) offset, reason);
	if (message->body_length < 0 ||
		message->body_length > file->size - offset - prefix - length)
		report_damaged(file, "The message at byte %lld would have a body of %lld bytes, which the file does not have.",
					   (long long) offset, (long long) message->body_length);
}

/* The message at an offset, whose description may have "guess" bytes. */
static void
read_message(ArrowFile *file, int64 offset, int64 guess, ArrowMessage *message, int32 *metadata_length)
{
	ByteView	view;
	int			prefix;
	int32		length;

	if (!read_prefix(file, offset, guess, &view, &prefix, &length))
		report_damaged(file, "There is no message at byte %lld.", (long long) offset);
	parse_message(file, offset, view, prefix, length, message);
	*metadata_length = prefix + length;
}

/* ------------------------------------------------------------ the list of messages */

/* An array with room for one element more than n; the old one where that fails. */
static void *
reserved(MemoryContext context, void *array, size_t size, int64 n, int64 *capacity)
{
	int64		larger = Max(*capacity * 2, 64);

	if (n < *capacity)
		return array;
	array = array ? repalloc_huge(array, size * larger) : MemoryContextAlloc(context, size * larger);
	*capacity = larger;
	return array;
}

/* All or nothing: the index outlives an error. */
static void
add_entry(ArrowIndex *index, const ArrowEntry *entry)
{
	EntryList  *list = entry->kind == ARROW_MESSAGE_RECORD_BATCH ?
		&index->batches : &index->dictionary_batches;

	index->entries = reserved(index->context, index->entries, sizeof(ArrowEntry), index->nentries,
							  &index->max_entries);
	list->entry = reserved(index->context, list->entry, sizeof(int64), list->n, &list->capacity);
	list->entry[list->n++] = index->nentries;
	index->entries[index->nentries++] = *entry;
}

/* Find the next message of a stream; false at its end. */
static bool
find_next_message(ArrowFile *file)
{
	MemoryContext scratch = AllocSetContextCreate(file->context, "arrow message", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	ArrowMessage message;
	ArrowEntry	entry = {.offset = file->index->next,.rows = -1};
	ByteView	view;
	int			prefix;
	int32		length;

	CHECK_FOR_INTERRUPTS();
	if (!read_prefix(file, file->index->next, USUAL_METADATA, &view, &prefix, &length))
		file->index->complete = true;
	else
	{
		parse_message(file, file->index->next, view, prefix, length, &message);
		entry.metadata_length = prefix + length;
		entry.kind = message.kind;
		entry.body_length = message.body_length;
		entry.dictionary_id = message.dictionary_id;
		entry.is_delta = message.is_delta;
		if (message.kind == ARROW_MESSAGE_RECORD_BATCH)
			entry.rows = message.batch.length;
		if (message.kind == ARROW_MESSAGE_SCHEMA)
			report_damaged(file, "A second schema stands at byte %lld.", (long long) file->index->next);
		if (message.kind == ARROW_MESSAGE_RECORD_BATCH || message.kind == ARROW_MESSAGE_DICTIONARY_BATCH)
			add_entry(file->index, &entry);
		file->index->next += entry.metadata_length + entry.body_length;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return !file->index->complete;
}

/* The blocks of a footer's index, which was checked against the file's size. */
static void
add_blocks(ArrowFile *file, ArrowMessageKind kind, const ArrowBlock *blocks, int64 nblocks)
{
	for (int64 i = 0; i < nblocks; i++)
	{
		ArrowEntry	entry = {
			.kind = kind,
			.offset = blocks[i].offset,
			.metadata_length = blocks[i].metadata_length,
			.body_length = blocks[i].body_length,
			.rows = -1
		};

		add_entry(file->index, &entry);
	}
}

/* A dictionary block's id stands in its message only. */
static void
identify_dictionaries(ArrowFile *file)
{
	MemoryContext scratch = AllocSetContextCreate(file->context, "arrow message", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (int64 i = 0; i < file->index->dictionary_batches.n; i++)
	{
		ArrowEntry *entry = &file->index->entries[file->index->dictionary_batches.entry[i]];
		ArrowMessage message;
		int32		length;

		CHECK_FOR_INTERRUPTS();
		read_message(file, entry->offset, entry->metadata_length, &message, &length);
		if (message.kind != ARROW_MESSAGE_DICTIONARY_BATCH)
			report_damaged(file, "The message at byte %lld is no dictionary.", (long long) entry->offset);
		entry->dictionary_id = message.dictionary_id;
		entry->is_delta = message.is_delta;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* ------------------------------------------------------------ opening */

static void
check_schema(ArrowFile *file)
{
#ifdef WORDS_BIGENDIAN
	bool		foreign = !file->index->schema.big_endian;
#else
	bool		foreign = file->index->schema.big_endian;
#endif

	if (foreign)
		report_unsupported(file, "an Arrow file of the other byte order",
						   "Write it again on a machine of this byte order.");
}

static void
read_footer(ArrowFile *file)
{
	const char *reason = NULL;
	ByteView	tail = read_bytes(file, file->size - FILE_TAIL, FILE_TAIL, "end of the file");
	ByteCursor	cursor;
	uint32		length = 0;
	ArrowFooter footer;

	cursor = byte_cursor(tail);
	(void) byte_cursor_u32(&cursor, &length);
	if (length == 0 || length > file->size - FILE_HEAD - FILE_TAIL)
		report_damaged(file, "Its footer would have %u bytes.", length);
	if (!arrow_footer_parse(read_bytes(file, file->size - FILE_TAIL - length, length, "footer"),
							file->size - FILE_TAIL - length, &footer, &reason))
		report_damaged(file, "Its footer cannot be read: %s", reason);
	file->index->schema = footer.schema;
	file->index->version = footer.version;
	add_blocks(file, ARROW_MESSAGE_DICTIONARY_BATCH, footer.dictionaries, footer.ndictionaries);
	add_blocks(file, ARROW_MESSAGE_RECORD_BATCH, footer.batches, footer.nbatches);
	identify_dictionaries(file);
	file->index->complete = true;
}

/* The messages from "start" on, of which the first is the schema. */
static void
read_stream_head(ArrowFile *file, int64 start)
{
	ArrowMessage message;
	int32		length;

	read_message(file, start, USUAL_METADATA, &message, &length);
	if (message.kind != ARROW_MESSAGE_SCHEMA || message.schema == NULL)
		report_damaged(file, "It does not begin with a schema.");
	file->index->schema = *message.schema;
	file->index->version = message.version;
	file->index->next = start + length + message.body_length;
}

static bool
has_magic(ByteView view, size_t at, const char *magic)
{
	size_t		length = strlen(magic);

	return view.length >= length && at <= view.length - length &&
		memcmp(view.data + at, magic, length) == 0;
}

static void
read_ends(ArrowFile *file)
{
	ByteView	head = read_bytes(file, 0, Min(file->size, FILE_HEAD), "beginning of the file");
	ByteView	tail;

	if (has_magic(head, 0, FEATHER_MAGIC))
		report_unsupported(file, "a Feather file of version 1",
						   "Write it again as Feather version 2, which is Arrow's IPC file format.");
	if (!has_magic(head, 0, MAGIC))
	{
		uint32		first;

		if (file->size < 8)
			report_damaged(file, "It has %lld bytes, too few for an Arrow file or stream.",
						   (long long) file->size);
		first = byte_load_u32(head.data);
		if (first != CONTINUATION && first > file->size)
			report_damaged(file, "It begins neither as an Arrow file nor as a stream does.");
		read_stream_head(file, 0);
		return;
	}
	if (file->size < FILE_HEAD + FILE_TAIL)
		report_damaged(file, "It is cut off: it has %lld bytes.", (long long) file->size);
	tail = read_bytes(file, file->size - MAGIC_LENGTH, MAGIC_LENGTH, "end of the file");
	if (!has_magic(tail, 0, MAGIC))
		report_damaged(file, "It is cut off: it does not end as an Arrow file does.");
	read_footer(file);
}

ArrowFile *
arrow_file_open(SourceFile *source, size_t block_bytes, int64 *blocks_read)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin arrow file",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ArrowFile  *file = palloc0(sizeof(ArrowFile));

	file->context = context;
	file->batch_context = AllocSetContextCreate(context, "arrow record batch", ALLOCSET_DEFAULT_SIZES);
	file->source = source;
	file->block_bytes = block_bytes;
	file->blocks_read = blocks_read;
	file->size = source_file_identity(source)->size;
	file->batch_number = -1;
	file->index = arrow_index_find(source);
	if (file->index == NULL)
	{
		file->index = arrow_index_create(source);
		MemoryContextSwitchTo(file->index->context);
		read_ends(file);
		check_schema(file);
		arrow_index_keep(file->index);
	}
	MemoryContextSwitchTo(old);
	return file;
}

const ArrowSchema *
arrow_file_schema(const ArrowFile *file)
{
	return &file->index->schema;
}

int
arrow_file_version(const ArrowFile *file)
{
	return file->index->version;
}

ArrowIndex *
arrow_file_index(ArrowFile *file)
{
	return file->index;
}

const char *
arrow_file_name(const ArrowFile *file)
{
	return source_file_name(file->source);
}

void
arrow_file_close(ArrowFile *file)
{
	MemoryContextDelete(file->context);
}

/* ------------------------------------------------------------ batches */

bool
arrow_file_has_batch(ArrowFile *file, int64 number)
{
	while (number >= file->index->batches.n && !file->index->complete)
		(void) find_next_message(file);
	return number < file->index->batches.n;
}

int64
arrow_file_nbatches(ArrowFile *file)
{
	while (!file->index->complete)
		(void) find_next_message(file);
	return file->index->batches.n;
}

/*
 * Parse an entry's description and check its buffers against the schema and
 * its body, which must be where the index says.
 */
static void
read_entry(ArrowFile *file, ArrowEntry *entry, ArrowMessage *message)
{
	int32		length;

	read_message(file, entry->offset, entry->metadata_length, message, &length);
	if (message->kind != entry->kind)
		report_damaged(file, "The message at byte %lld is not of the kind that the footer says.",
					   (long long) entry->offset);
	if (length > entry->metadata_length || message->body_length > entry->body_length)
		report_damaged(file, "The message at byte %lld is longer than the footer says.",
					   (long long) entry->offset);
}

void
arrow_file_keep_batches(ArrowFile *file)
{
	int64		n = file->index->batches.n;

	if (file->kept != NULL || n * (int64) sizeof(ArrowBatch *) > (int64) file->block_bytes)
		return;
	file->kept_context = AllocSetContextCreate(file->context, "outerjoin arrow batches",
											   ALLOCSET_DEFAULT_SIZES);
	file->kept = MemoryContextAllocZero(file->context, Max(n, 1) * sizeof(ArrowBatch *));
}

/* Keep what has been parsed in the context of those that are kept. */
static void
keep_batch(ArrowFile *file)
{
	ArrowBatch *copy = MemoryContextAlloc(file->kept_context, sizeof(ArrowBatch));

	*copy = file->batch;
	file->kept[file->batch_number] = copy;
}

/* Where the next description goes: not to those that are kept, unless there is room. */
static MemoryContext
description_context(ArrowFile *file)
{
	if (file->kept == NULL)
	{
		MemoryContextReset(file->batch_context);
		return file->batch_context;
	}
	if (MemoryContextMemAllocated(file->kept_context, false) > KEPT_BLOCKS * file->block_bytes)
	{
		MemoryContextReset(file->kept_context);
		memset(file->kept, 0, file->index->batches.n * sizeof(ArrowBatch *));
	}
	return file->kept_context;
}

const ArrowBatch *
arrow_file_batch(ArrowFile *file, int64 number)
{
	const char *reason = NULL;
	ArrowEntry *entry;
	ArrowMessage message;
	MemoryContext old;

	if (file->batch_number == number)
		return &file->batch;
	Assert(number >= 0 && number < file->index->batches.n);
	if (file->kept != NULL && file->kept[number] != NULL)
	{
		file->batch = *file->kept[number];
		file->batch_number = number;
		return &file->batch;
	}
	file->batch_number = -1;
	old = MemoryContextSwitchTo(description_context(file));
	entry = &file->index->entries[file->index->batches.entry[number]];
	read_entry(file, entry, &message);
	if (!arrow_batch_check(&file->index->schema, &message.batch, message.body_length, &reason))
		report_damaged(file, "The record batch at byte %lld cannot be right: %s",
					   (long long) entry->offset, reason);
	MemoryContextSwitchTo(old);
	entry->rows = message.batch.length;
	file->batch.spec = message.batch;
	file->batch.body_offset = entry->offset + entry->metadata_length;
	file->batch_number = number;
	if (file->kept != NULL)
		keep_batch(file);
	return &file->batch;
}

int64
arrow_file_batch_bytes(const ArrowFile *file, int64 number)
{
	return file->index->entries[file->index->batches.entry[number]].body_length;
}

int64
arrow_file_batch_rows(ArrowFile *file, int64 number)
{
	ArrowEntry *entry = &file->index->entries[file->index->batches.entry[number]];

	if (entry->rows < 0)
		(void) arrow_file_batch(file, number);
	return entry->rows;
}

int64
arrow_file_rows_before(ArrowFile *file, int64 number)
{
	int64		rows = 0;

	for (int64 i = 0; i < number; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* batches without bytes may claim any number */
		if (pg_add_s64_overflow(rows, arrow_file_batch_rows(file, i), &rows))
			return PG_INT64_MAX;
	}
	return rows;
}

/* More rows than this in a compressed record batch are worth reading forward only ... */
#define MOST_ROWS_BACKWARD			(16 * 1024 * 1024)
/* ... and so are more dictionary batches than this between record batches. */
#define MOST_DICTIONARIES_BACKWARD	64

bool
arrow_file_can_go_back(ArrowFile *file, int64 nbatches)
{
	const EntryList *batches = &file->index->batches;
	const EntryList *dictionaries = &file->index->dictionary_batches;

	if (dictionaries->n > MOST_DICTIONARIES_BACKWARD && batches->n > 0 &&
		dictionaries->entry[dictionaries->n - 1] > batches->entry[0])
		return false;
	for (int64 i = 0; i < Min(nbatches, batches->n); i++)
	{
		if (arrow_file_batch_rows(file, i) > MOST_ROWS_BACKWARD &&
			arrow_file_batch(file, i)->spec.compression != ARROW_UNCOMPRESSED)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------ dictionaries */

/* Are the values of two fields laid out alike, as those of one dictionary have to be? */
static bool
same_values(const ArrowField *a, const ArrowField *b)
{
	check_stack_depth();
	if (a->type != b->type || a->bit_width != b->bit_width || a->byte_width != b->byte_width ||
		a->list_size != b->list_size || a->dense_union != b->dense_union ||
		a->ntype_ids != b->ntype_ids || a->nchildren != b->nchildren)
		return false;
	for (int i = 0; i < a->ntype_ids; i++)
	{
		if (a->type_ids[i] != b->type_ids[i])
			return false;
	}
	for (int i = 0; i < a->nchildren; i++)
	{
		const ArrowField *x = &a->children[i];
		const ArrowField *y = &b->children[i];

		if (x->has_dictionary != y->has_dictionary ||
			(x->has_dictionary && (x->dictionary_id != y->dictionary_id || x->index_bits != y->index_bits ||
								   x->index_signed != y->index_signed)) ||
			!same_values(x, y))
			return false;
	}
	return true;
}

static KnownDictionary *
known_dictionary(ArrowFile *file, const ArrowField *field)
{
	int64		id = field->dictionary_id;
	KnownDictionary *known;
	MemoryContext old;

	for (int i = 0; i < file->ndictionaries; i++)
	{
		known = file->dictionaries[i];
		if (known->dictionary.id != id)
			continue;
		if (known->field != field && !same_values(known->field, field))
			report_damaged(file, "Fields of different types have dictionary %lld.", (long long) id);
		return known;
	}
	old = MemoryContextSwitchTo(file->context);
	if (file->dictionaries == NULL)
		file->dictionaries = palloc(sizeof(KnownDictionary *));
	else
		file->dictionaries = repalloc(file->dictionaries,
									  sizeof(KnownDictionary *) * (file->ndictionaries + 1));
	known = palloc0(sizeof(KnownDictionary));
	known->dictionary.id = id;
	known->field = field;
	known->dictionary.context = AllocSetContextCreate(file->context, "arrow dictionary",
													  ALLOCSET_DEFAULT_SIZES);
	known->first = known->last = -1;
	file->dictionaries[file->ndictionaries++] = known;
	MemoryContextSwitchTo(old);
	return known;
}

/*
 * Dictionaries are held whole, each in no more memory than this; a compressed
 * one can say that it is as large as it likes.
 */
#define MOST_DICTIONARY_BYTES	(INT64CONST(2) * 1024 * 1024 * 1024)

static void
check_dictionary_size(const ArrowFile *file, const ArrowDictionary *dictionary, const ArrowVector *part)
{
	int64		bytes = arrow_vector_bytes(part);

	if (bytes <= MOST_DICTIONARY_BYTES - (int64) MemoryContextMemAllocated(dictionary->context, true))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("a dictionary of file \"%s\" is too large", source_file_name(file->source)),
			 errdetail("Field \"%s\": another %lld bytes of the dictionary are more than can be held.",
					   arrow_name_shown(part->field->name), (long long) bytes)));
}

/* Read one dictionary batch and add its entries. */
static void
add_part(ArrowFile *file, int64 number, int64 place, ArrowDictionary *dictionary, const ArrowField *field)
{
	ArrowEntry *entry = &file->index->entries[place];
	const char *reason = NULL;
	ArrowMessage message;
	ArrowVector *vector;
	int			n = dictionary->nparts;

	read_entry(file, entry, &message);
	if (!arrow_dictionary_check(field, &message.batch, message.body_length, &reason))
		report_damaged(file, "The dictionary at byte %lld cannot be right: %s",
					   (long long) entry->offset, reason);

	vector = arrow_vector_create(field, file->index->version, file->block_bytes, file->blocks_read);
	arrow_vector_set_whole(vector);
	arrow_vector_set(vector, file->source, &message.batch,
					 entry->offset + entry->metadata_length, 0, 0, 0);
	check_dictionary_size(file, dictionary, vector);
	arrow_file_set_dictionaries(file, number, vector);
	arrow_vector_load(vector, 0, message.batch.length);
	arrow_dictionary_measure(dictionary, vector);

	dictionary->parts = dictionary->parts ?
		repalloc(dictionary->parts, sizeof(ArrowVector *) * (n + 1)) : palloc(sizeof(ArrowVector *));
	dictionary->part_end = dictionary->part_end ?
		repalloc(dictionary->part_end, sizeof(int64) * (n + 1)) : palloc(sizeof(int64));
	dictionary->length += message.batch.length;
	dictionary->parts[n] = vector;
	dictionary->part_end[n] = dictionary->length;
	dictionary->nparts = n + 1;
	dictionary->generation = ++file->generation;
}

/* The field of a dictionary's values: the same, not encoded. */
static ArrowField *
value_field(const ArrowField *field)
{
	ArrowField *values = palloc(sizeof(ArrowField));

	*values = *field;
	values->has_dictionary = false;
	return values;
}

static ArrowDictionary *dictionary_at(ArrowFile *file, int64 number, int64 place, const ArrowField *field);

/*
 * Bring the dictionaries beneath a vector up to a record batch.  Have entries
 * of one of them changed since that generation?
 */
static bool
changed_beneath(ArrowFile *file, int64 number, int64 place, const ArrowVector *vector, uint64 generation)
{
	bool		changed = false;

	check_stack_depth();
	for (int i = 0; i < vector->nchildren; i++)
	{
		const ArrowVector *child = &vector->children[i];

		if (child->field->has_dictionary)
			changed |= dictionary_at(file, number, place, child->field)->generation > generation;
		else
			changed |= changed_beneath(file, number, place, child, generation);
	}
	return changed;
}

/* The dictionary of an id as it holds for entries from "place" on. */
static ArrowDictionary *
dictionary_at(ArrowFile *file, int64 number, int64 place, const ArrowField *field)
{
	KnownDictionary *known = known_dictionary(file, field);
	ArrowDictionary *dictionary = &known->dictionary;
	const EntryList *list = &file->index->dictionary_batches;
	MemoryContext old;
	int64		first = -1;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	for (int64 i = 0; i < list->n && list->entry[i] < place; i++)
	{
		const ArrowEntry *entry = &file->index->entries[list->entry[i]];

		if (entry->dictionary_id == field->dictionary_id && !entry->is_delta)
			first = list->entry[i];
	}
	if (first < 0)
	{
		/* a file may have none where every index is null */
		if (dictionary->nparts > 0)
		{
			known->first = known->last = -1;
			dictionary->generation = ++file->generation;
		}
		dictionary->nparts = 0;
		dictionary->length = 0;
		dictionary->value_bytes = 0;
		dictionary->largest = 0;
		return dictionary;
	}
	old = MemoryContextSwitchTo(dictionary->context);
	/* entries were checked against the dictionaries beneath them as those stood then */
	if (known->first != first || known->last >= place ||
		(dictionary->nparts > 0 &&
		 changed_beneath(file, number, place, dictionary->parts[0], dictionary->generation)))
	{
		MemoryContextReset(dictionary->context);
		dictionary->parts = NULL;
		dictionary->part_end = NULL;
		dictionary->nparts = 0;
		dictionary->length = 0;
		dictionary->value_bytes = 0;
		dictionary->largest = 0;
		known->first = first;
		known->last = first - 1;
	}
	for (int64 i = 0; i < list->n && list->entry[i] < place; i++)
	{
		int64		number_of_entry = list->entry[i];

		if (number_of_entry > known->last &&
			file->index->entries[number_of_entry].dictionary_id == field->dictionary_id)
		{
			add_part(file, number, number_of_entry, dictionary, value_field(field));
			known->last = number_of_entry;
		}
	}
	MemoryContextSwitchTo(old);
	return dictionary;
}

uint64
arrow_file_generation(const ArrowFile *file)
{
	return file->generation;
}

void
arrow_file_set_dictionaries(ArrowFile *file, int64 number, ArrowVector *vector)
{
	check_stack_depth();
	if (vector->field->has_dictionary)
		vector->dictionary = dictionary_at(file, number, file->index->batches.entry[number], vector->field);
	for (int i = 0; i < vector->nchildren; i++)
		arrow_file_set_dictionaries(file, number, &vector->children[i]);
}

int64
arrow_file_dictionary_bytes(const ArrowFile *file)
{
	int64		bytes = 0;

	for (int i = 0; i < file->ndictionaries; i++)
	{
		if (file->dictionaries[i]->dictionary.nparts > 0)
			bytes += MemoryContextMemAllocated(file->dictionaries[i]->dictionary.context, true);
	}
	return bytes;
}
