/*-------------------------------------------------------------------------
 *
 * arrow_columns.c
 *	  The fields of an Arrow file that a stream takes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arrow/arrow_columns.h"

/* Sort the columns that are there by their fields; the schema's order is the buffers'. */
static void
sort_by_field(ArrowColumns *columns)
{
	int			n = 0;

	for (int i = 0; i < columns->n; i++)
	{
		int			place = n;

		if (columns->columns[i].vector == NULL)
			continue;
		while (place > 0 &&
			   columns->columns[columns->by_field[place - 1]].field > columns->columns[i].field)
		{
			columns->by_field[place] = columns->by_field[place - 1];
			place--;
		}
		columns->by_field[place] = i;
		n++;
	}
	for (int i = n; i < columns->n; i++)
		columns->by_field[i] = -1;
}

void
arrow_columns_init(ArrowColumns *columns, ArrowFile *file, SourceFile *source,
				   int n, const FieldSpec *specs, const int *fields,
				   const bool *wanted, bool keys, size_t block_bytes, int64 *blocks_read)
{
	const ArrowSchema *schema = arrow_file_schema(file);

	memset(columns, 0, sizeof(*columns));
	columns->file = file;
	columns->source = source;
	columns->n = n;
	columns->columns = palloc0(sizeof(ArrowColumn) * Max(n, 1));
	columns->by_field = palloc(sizeof(int) * Max(n, 1));
	columns->batch = -1;
	for (int i = 0; i < n; i++)
	{
		ArrowColumn *column = &columns->columns[i];
		const ArrowField *field = &schema->fields[fields[i]];

		if (wanted != NULL && !wanted[i])
			continue;
		column->name = specs[i].column;
		column->field = fields[i];
		column->vector = arrow_vector_create(field, arrow_file_version(file), block_bytes, blocks_read);
		column->converter = arrow_converter_create(field, specs[i].type, specs[i].typmod, keys,
												   arrow_file_name(file), specs[i].column);
		column->nulls_only = specs[i].nulls_only &&
			arrow_converter_nulls_are_marked(column->converter);
	}
	sort_by_field(columns);
}

/*
 * Columns share the dictionaries with others of the file, which may have set
 * them to another record batch since.
 */
static void
set_dictionaries(ArrowColumns *columns, int64 number)
{
	for (int i = 0; i < columns->n && columns->by_field[i] >= 0; i++)
		arrow_file_set_dictionaries(columns->file, number,
									columns->columns[columns->by_field[i]].vector);
	columns->generation = arrow_file_generation(columns->file);
}

void
arrow_columns_set(ArrowColumns *columns, int64 number)
{
	const ArrowBatch *batch;
	const ArrowSchema *schema = arrow_file_schema(columns->file);
	ArrowPosition position = {0};
	int			field = 0;

	if (columns->batch == number)
	{
		if (columns->generation != arrow_file_generation(columns->file))
			set_dictionaries(columns, number);
		return;
	}
	columns->batch = -1;
	batch = arrow_file_batch(columns->file, number);
	for (int i = 0; i < columns->n && columns->by_field[i] >= 0; i++)
	{
		ArrowColumn *column = &columns->columns[columns->by_field[i]];

		for (; field < column->field; field++)
		{
			if (!arrow_position_skip(&position, &batch->spec, &schema->fields[field], false))
				elog(ERROR, "a checked record batch ends before its fields");
		}
		arrow_vector_set(column->vector, columns->source, &batch->spec, batch->body_offset,
						 position.node, position.buffer, position.variadic);
	}
	/* reads other messages, but leaves the batch's description alone */
	set_dictionaries(columns, number);
	columns->batch = number;
}

void
arrow_columns_begin_small(ArrowColumns *columns, size_t bytes)
{
	for (int i = 0; i < columns->n; i++)
	{
		if (columns->columns[i].vector != NULL)
			arrow_vector_begin_small(columns->columns[i].vector, bytes);
	}
}

void
arrow_columns_set_backward(ArrowColumns *columns, bool backward)
{
	for (int i = 0; i < columns->n; i++)
	{
		if (columns->columns[i].vector != NULL)
			arrow_vector_set_backward(columns->columns[i].vector, backward);
	}
}
