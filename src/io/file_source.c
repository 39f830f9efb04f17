/*-------------------------------------------------------------------------
 *
 * file_source.c
 *	  A plain file, or a range of one, as a ByteSource, with blocks asked for
 *	  ahead.
 *
 * The kernel is told which blocks come next, so that many files on a slow
 * disk are read side by side while one is being parsed.  Each block is asked
 * for once, and none after a seek until a second read shows that reading goes
 * on there: a search jumps about.
 *
 * Invariant: what lies in [position, advised) has been asked for, unless
 * advised < position.  Both count from the range's beginning.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "io/byte_source.h"

typedef struct FileSource
{
	ByteSource	base;
	SourceFile *file;
	bool		owned;			/* close it, too */
	int64		start;			/* where the range begins in the file */
	int64		ahead;			/* bytes to ask for beyond the current read */
	int64		block_bytes;
	int64		position;
	int64		advised;		/* end of what was asked for */
	bool		sought;			/* the next read may be the only one there */
} FileSource;

/* Ask for whole blocks up to "ahead" bytes beyond "end". */
static void
file_source_read_ahead(FileSource *source, int64 end)
{
	int64		size = source->base.size;
	int64		from = Max(source->advised, end);
	int64		until;

	if (source->ahead <= 0 || from >= size)
		return;
	until = end - end % source->block_bytes;
	until = source->ahead < size - until ? until + source->ahead : size;
	if (until <= from)
		return;
	source_file_prefetch(source->file, source->start + from, until - from);
	source->advised = until;
}

static size_t
file_source_read(ByteSource *base, char *buffer, size_t capacity)
{
	FileSource *source = (FileSource *) base;
	int64		left = base->size - source->position;
	size_t		got;

	if (left <= 0)
		return 0;
	capacity = Min(capacity, (size_t) left);

	/* before the read itself, which may wait for the disk */
	if (!source->sought)
		file_source_read_ahead(source, source->position + (int64) capacity);
	source->sought = false;
	got = source_file_read(source->file, source->start + source->position, buffer, capacity);
	source->position += got;
	base->blocks_read++;
	return got;
}

static void
file_source_seek(ByteSource *base, int64 offset)
{
	FileSource *source = (FileSource *) base;

	Assert(offset >= 0);
	source->position = offset;
	source->advised = offset;
	source->sought = offset > 0;
}

static void
file_source_close(ByteSource *base)
{
	FileSource *source = (FileSource *) base;

	if (source->owned)
		source_file_close(source->file);
	pfree(source);
}

static const ByteSourceMethods file_source_methods = {
	.read = file_source_read,
	.seek = file_source_seek,
	.close = file_source_close
};

static FileSource *
file_source_new(size_t block_bytes, int queue)
{
	FileSource *source = palloc0(sizeof(FileSource));

	Assert(block_bytes > 0);
	source->base.methods = &file_source_methods;
	source->base.seekable = true;
	source->block_bytes = (int64) block_bytes;
	source->ahead = (int64) block_bytes * Max(queue, 0);
	return source;
}

void
file_source_set_range(ByteSource *base, SourceFile *file, int64 from, int64 to)
{
	FileSource *source = (FileSource *) base;

	Assert(base->methods == &file_source_methods && !source->owned);
	Assert(from >= 0 && from <= to && to <= source_file_identity(file)->size);
	base->name = source_file_name(file);
	base->size = to - from;
	source->file = file;
	source->start = from;
	file_source_seek(base, 0);
}

ByteSource *
file_source_create(SourceFile *file, size_t block_bytes, int queue)
{
	FileSource *source = file_source_new(block_bytes, queue);

	file_source_set_range(&source->base, file, 0, source_file_identity(file)->size);
	source->owned = true;
	return &source->base;
}

ByteSource *
file_source_create_range(SourceFile *file, int64 from, int64 to, size_t block_bytes, int queue)
{
	FileSource *source = file_source_new(block_bytes, queue);

	file_source_set_range(&source->base, file, from, to);
	return &source->base;
}
