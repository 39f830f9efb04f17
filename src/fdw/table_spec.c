/*-------------------------------------------------------------------------
 *
 * table_spec.c
 *	  A foreign table's options, put together: which columns are the key,
 *	  which files are there, which column takes which field of which file.
 *
 * In one pass each over the columns: collect their options, find those that
 * take the same files (by sorting the names), make a stream of each group,
 * fill in its fields.  A table may have 1,600 columns, so nothing here looks
 * at every other column for each column.
 *
 * Of an option the innermost level wins.  For a stream the innermost level is
 * all of its columns taken together: what one of them says holds for the
 * file, and two that say different things are an error.
 *
 * Refuses to know: what a value of an option means (options.c), and files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "foreign/foreign.h"
#include "utils/rel.h"

#include "compat.h"
#include "fdw/options.h"
#include "fdw/table_spec.h"

#define NO_COLUMN	(-1)

/* One column while the table is put together. */
typedef struct ColumnDraft
{
	ColumnKind	kind;
	const char *name;
	Oid			type;
	int32		typmod;
	Oid			collation;
	OptionSet	options;		/* the column's own */
	int			leader;			/* first column with the same files, maybe
								 * itself; NO_COLUMN: it takes no file */
	int			stream;
} ColumnDraft;

/* One stream while the table is put together. */
typedef struct StreamDraft
{
	OptionSet	options;		/* what its columns say, then all levels */
	int			leader;
	int			nfields;
} StreamDraft;

typedef struct TableDraft
{
	TableSpec  *spec;
	OptionSet	outer;			/* the table's and the server's */
	Folder		folder;
	ColumnDraft *columns;
	StreamDraft *streams;
} TableDraft;

/* ------------------------------------------------------------- collecting */

/*
 * What a column is.  A stored generated column is one like any other: a
 * foreign table's are not computed when it is read, so its values come from a
 * file, too.  A virtual one is always computed and never read.
 */
static ColumnKind
column_kind(Form_pg_attribute attribute, const OptionSet *options)
{
	if (attribute->attisdropped ||
		attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
		return COLUMN_DROPPED;
	return option_boolean(options, OPTION_KEY, false) ? COLUMN_KEY : COLUMN_VALUE;
}

static bool
column_takes_file(const ColumnDraft *column)
{
	return column->kind == COLUMN_VALUE ||
		(column->kind == COLUMN_KEY && column->options.value[OPTION_FILENAME] != NULL);
}

static void
collect_column(Oid relid, Form_pg_attribute attribute, int index, ColumnDraft *column)
{
	if (!attribute->attisdropped)
		option_set_collect(GetForeignColumnOptions(relid, attribute->attnum),
						   &column->options);
	column->kind = column_kind(attribute, &column->options);
	column->name = pstrdup(NameStr(attribute->attname));
	column->type = attribute->atttypid;
	column->typmod = attribute->atttypmod;
	column->collation = attribute->attcollation;
	column->leader = column_takes_file(column) ? index : NO_COLUMN;
	column->stream = -1;
}

static void
collect_outer_options(TableDraft *draft)
{
	ForeignTable *table = GetForeignTable(draft->spec->relid);
	ForeignServer *server = GetForeignServer(table->serverid);
	OptionSet	server_options;
	const char *base;
	const char *directory;

	option_set_collect(server->options, &server_options);
	option_set_collect(table->options, &draft->outer);
	base = server_options.value[OPTION_DIRECTORY];
	directory = draft->outer.value[OPTION_DIRECTORY];

	if (directory != NULL && is_absolute_path(directory))
		draft->folder.base = directory;
	else
	{
		draft->folder.base = base;
		draft->folder.below = directory;
	}
	option_set_inherit(&draft->outer, &server_options, NULL);
}

static void
collect_table(TableDraft *draft, Relation rel)
{
	TableSpec  *spec = draft->spec;
	TupleDesc	descriptor = RelationGetDescr(rel);

	if (rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table", RelationGetRelationName(rel))));

	spec->table_name = pstrdup(RelationGetRelationName(rel));
	spec->ncolumns = descriptor->natts;
	collect_outer_options(draft);
	draft->columns = palloc0(sizeof(ColumnDraft) * spec->ncolumns);
	for (int i = 0; i < spec->ncolumns; i++)
		collect_column(spec->relid, TupleDescAttr(descriptor, i), i, &draft->columns[i]);
}

/* ------------------------------------------------------------- the key */

/* As many columns as an index may have are enough, and every stream describes each of them. */
static void
build_key(TableDraft *draft)
{
	TableSpec  *spec = draft->spec;
	Key		   *key = palloc0(sizeof(Key));

	key->columns = palloc0(sizeof(KeyColumn) * INDEX_MAX_KEYS);
	spec->key_attnums = palloc(sizeof(AttrNumber) * INDEX_MAX_KEYS);
	for (int i = 0; i < spec->ncolumns; i++)
	{
		const ColumnDraft *column = &draft->columns[i];
		KeyColumn  *key_column = &key->columns[key->ncolumns];

		if (column->kind != COLUMN_KEY)
			continue;
		if (key->ncolumns == INDEX_MAX_KEYS)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("foreign table \"%s\" has more than %d key columns",
							spec->table_name, INDEX_MAX_KEYS)));
		key_column->name = column->name;
		key_column->type = column->type;
		key_column->typmod = column->typmod;
		key_column->collation = column->collation;
		key_column->descending = option_boolean(&column->options, OPTION_DESCENDING, false);
		key_column_init(key_column);
		spec->key_attnums[key->ncolumns++] = i + 1;
	}
	if (key->ncolumns == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("foreign table \"%s\" has no key column", spec->table_name),
				 errhint("Set the option \"key\" on the column that the files are sorted by.")));
	key_init(key);
	spec->key = key;
}

/* ------------------------------------------------------------- streams */

/*
 * Order columns by what they take: a program or named files.  Those whose
 * file goes by the column's name share it with no other.
 */
static int
compare_sources(const void *a, const void *b, void *context)
{
	const ColumnDraft *columns = context;
	int			i = *(const int *) a;
	int			j = *(const int *) b;
	const OptionSet *x = &columns[i].options;
	const OptionSet *y = &columns[j].options;
	bool		x_is_program = x->value[OPTION_PROGRAM] != NULL;
	bool		y_is_program = y->value[OPTION_PROGRAM] != NULL;
	OptionName	source = x_is_program ? OPTION_PROGRAM : OPTION_FILENAME;
	int			order;

	if (x_is_program != y_is_program)
		return x_is_program ? 1 : -1;
	order = strcmp(x->value[source], y->value[source]);
	return order != 0 ? order : i - j;
}

static bool
same_source(const ColumnDraft *a, const ColumnDraft *b)
{
	OptionName	source = a->options.value[OPTION_PROGRAM] != NULL ?
		OPTION_PROGRAM : OPTION_FILENAME;

	return b->options.value[source] != NULL &&
		strcmp(a->options.value[source], b->options.value[source]) == 0;
}

/* Give each column that takes files the first column that takes the same ones. */
static void
find_leaders(TableDraft *draft)
{
	ColumnDraft *columns = draft->columns;
	int		   *sorted = palloc(sizeof(int) * draft->spec->ncolumns);
	int			n = 0;

	for (int i = 0; i < draft->spec->ncolumns; i++)
	{
		if (columns[i].leader != NO_COLUMN &&
			(columns[i].options.value[OPTION_FILENAME] != NULL ||
			 columns[i].options.value[OPTION_PROGRAM] != NULL))
			sorted[n++] = i;
	}
	qsort_arg(sorted, n, sizeof(int), compare_sources, columns);
	for (int i = 1; i < n; i++)
	{
		ColumnDraft *before = &columns[sorted[i - 1]];
		ColumnDraft *column = &columns[sorted[i]];

		if (same_source(before, column))
			column->leader = before->leader;
	}
	pfree(sorted);
}

static void
report_disagreement(const TableDraft *draft, int index, OptionName option)
{
	const ColumnDraft *column = &draft->columns[index];
	int			other = column->leader;
	const char *filename = column->options.value[OPTION_FILENAME];

	/* the first column of the stream that says something else */
	while (draft->columns[other].leader != column->leader ||
		   draft->columns[other].options.value[option] == NULL)
		other++;
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("columns \"%s\" and \"%s\" of foreign table \"%s\" disagree on option \"%s\"",
					draft->columns[other].name, column->name,
					draft->spec->table_name, option_name(option)),
			 filename != NULL ?
			 errdetail("Both take \"%s\", which is read once.", filename) :
			 errdetail("Both take the output of one program, which is run once."),
			 errhint("Set the option on one of them, or to the same value.")));
}

/* Add what a column says of its stream to what others have said. */
static void
join_stream(TableDraft *draft, int index)
{
	const OptionSet *own = &draft->columns[index].options;
	OptionSet  *options = &draft->streams[draft->columns[index].stream].options;

	for (OptionName option = 0; option < OPTION_COUNT; option++)
	{
		if (own->value[option] == NULL || !option_describes_stream(option))
			continue;
		if (options->value[option] == NULL)
			options->value[option] = own->value[option];
		else if (!option_values_agree(option, options->value[option], own->value[option]))
			report_disagreement(draft, index, option);
	}
}

/* Number the streams in the order of their first columns, and see what these say. */
static void
make_streams(TableDraft *draft)
{
	TableSpec  *spec = draft->spec;

	find_leaders(draft);
	draft->streams = palloc0(sizeof(StreamDraft) * spec->ncolumns);
	for (int i = 0; i < spec->ncolumns; i++)
	{
		ColumnDraft *column = &draft->columns[i];

		if (column->leader == NO_COLUMN)
			continue;
		if (column->leader == i)
		{
			column->stream = spec->nstreams++;
			draft->streams[column->stream].leader = i;
		}
		else
			column->stream = draft->columns[column->leader].stream;
		if (column->kind == COLUMN_VALUE)
			draft->streams[column->stream].nfields++;
		join_stream(draft, i);
	}
	if (spec->nstreams == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("foreign table \"%s\" has no file to read", spec->table_name),
				 errhint("Add a value column, or set the option \"filename\" on a key column.")));
}

/* ------------------------------------------------------------- fields */

/* format: as declared for the stream, or NULL */
static void
describe_field(const TableDraft *draft, int index, const char *format, FieldSpec *field)
{
	const ColumnDraft *column = &draft->columns[index];
	OptionSet	options = column->options;

	option_set_inherit(&options, &draft->outer, format);
	field->column = column->name;
	field->attnum = index + 1;
	field->declared = options.value[OPTION_FIELD];
	field->type = column->type;
	field->typmod = column->typmod;

	/* a key column's own may be meant for other streams than this one */
	field->force_null = option_suits_format(OPTION_FORCE_NULL, format) &&
		option_boolean(&options, OPTION_FORCE_NULL, false);
	field->force_not_null = option_suits_format(OPTION_FORCE_NOT_NULL, format) &&
		option_boolean(&options, OPTION_FORCE_NOT_NULL, false);
}

static void
describe_keys(const TableDraft *draft, const StreamDraft *stream, StreamSpec *result)
{
	const TableSpec *spec = draft->spec;
	const char *key_field = stream->options.value[OPTION_KEY_FIELD];

	if (key_field != NULL && result->nkeys > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" cannot be used in foreign table \"%s\", whose key has %d columns",
						option_name(OPTION_KEY_FIELD), spec->table_name, result->nkeys),
				 errhint("Name the fields with the option \"%s\" of the key columns.",
						 option_name(OPTION_FIELD))));
	for (int i = 0; i < result->nkeys; i++)
		describe_field(draft, spec->key_attnums[i] - 1, result->format, &result->keys[i]);
	if (key_field != NULL)
		result->keys[0].declared = key_field;
}

static void
describe_streams(TableDraft *draft)
{
	TableSpec  *spec = draft->spec;
	int			nkeys = spec->key->ncolumns;
	FieldSpec  *keys = palloc0(sizeof(FieldSpec) * nkeys * spec->nstreams);
	FieldSpec  *fields = palloc0(sizeof(FieldSpec) * spec->ncolumns);

	spec->streams = palloc0(sizeof(StreamSpec) * spec->nstreams);
	for (int i = 0; i < spec->nstreams; i++)
	{
		StreamDraft *stream = &draft->streams[i];
		StreamSpec *result = &spec->streams[i];
		const ColumnDraft *leader = &draft->columns[stream->leader];
		const char *format = stream->options.value[OPTION_FORMAT];

		if (format == NULL)
			format = draft->outer.value[OPTION_FORMAT];
		option_set_check_format(&stream->options, format);
		option_set_inherit(&stream->options, &draft->outer, format);
		stream->options.value[OPTION_FILENAME] = leader->options.value[OPTION_FILENAME];
		stream->options.value[OPTION_PROGRAM] = leader->options.value[OPTION_PROGRAM];

		result->folder = draft->folder;
		result->column = leader->name;
		stream_options_resolve(&stream->options, result);
		result->nkeys = nkeys;
		result->keys = keys + i * nkeys;
		describe_keys(draft, stream, result);
		result->fields = fields;
		fields += stream->nfields;
	}
}

/* Value columns in order, each to the end of its stream's fields. */
static void
describe_columns(TableDraft *draft)
{
	TableSpec  *spec = draft->spec;
	int			nkeys = 0;

	spec->columns = palloc0(sizeof(TableColumn) * spec->ncolumns);
	for (int i = 0; i < spec->ncolumns; i++)
	{
		const ColumnDraft *column = &draft->columns[i];
		TableColumn *result = &spec->columns[i];

		result->kind = column->kind;
		if (column->kind == COLUMN_KEY)
			result->key_column = nkeys++;
		else if (column->kind == COLUMN_VALUE)
		{
			StreamSpec *stream = &spec->streams[column->stream];

			option_set_check_format(&column->options, stream->format);
			result->stream = column->stream;
			result->field = stream->nfields++;
			describe_field(draft, i, stream->format, &stream->fields[result->field]);
		}
	}
}

TableSpec *
table_spec_build(Oid relid)
{
	TableDraft	draft = {0};
	Relation	rel = table_open(relid, AccessShareLock);

	draft.spec = palloc0(sizeof(TableSpec));
	draft.spec->relid = relid;
	collect_table(&draft, rel);
	build_key(&draft);
	make_streams(&draft);
	describe_streams(&draft);
	describe_columns(&draft);

	pfree(draft.columns);
	pfree(draft.streams);
	table_close(rel, AccessShareLock);
	return draft.spec;
}

void
table_spec_reverse(TableSpec *table)
{
	table->file_key = table->key;
	table->key = key_flipped(table->key);
}
