/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  EXPLAIN: the key range, and each stream with what it is read for.
 *
 * Refuses to know: options.  It shows what they came to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include COMPAT_EXPLAIN_FORMAT_HEADER
#include COMPAT_EXPLAIN_STATE_HEADER
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "fdw/aggregate.h"
#include "fdw/fdw.h"
#include "fdw/plan.h"
#include "fdw/parallel.h"
#include "fdw/scan.h"
#include "stream/stream.h"

static const char *
role_name(StreamRole role)
{
	switch (role)
	{
		case STREAM_OUTER:
			return "outer";
		case STREAM_KEYS_ONLY:
			return "keys only";
		case STREAM_REQUIRED:
			return "required";
		case STREAM_LOOKED_UP:
			return "looked up";
		case STREAM_NOT_READ:
			return "not read";
	}
	return "";
}

/* What a stream is read for, of which more is known than the merge has to. */
static const char *
stream_role_name(const OuterScanState *state, const StreamSpec *spec, StreamRole role)
{
	if (role != STREAM_OUTER)
		return role_name(role);
	for (int f = 0; f < spec->nfields; f++)
	{
		if (bms_is_member(spec->fields[f].attnum, state->needed) && !spec->fields[f].nulls_only)
			return role_name(role);
	}
	return "nulls only";
}

/* "(id >= 2) AND (id <= 4)" */
static char *
explain_range(ForeignScanState *node, OuterScanState *state, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

	/* the plan's ancestors are not ours to know: outer parameters show as $n */
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	ListCell   *value = list_head(plan->fdw_exprs);
	StringInfoData text;

	initStringInfo(&text);
	for (int c = 0; c < state->nconditions; c++)
	{
		const KeyCondition *condition = &state->conditions[c];
		const char *name = state->table->key->columns[condition->column].name;
		const char *operator = key_test_operator(condition->test);

		appendStringInfo(&text, "%s(%s %s", c > 0 ? " AND " : "", quote_identifier(name),
						 operator);
		if (condition->test != KEY_NULL)
		{
			const char *format = condition->test == KEY_ANY ? " (%s)" : " %s";

			appendStringInfo(&text, format,
							 deparse_expression(lfirst(value), context, es->verbose, false));
			value = lnext(plan->fdw_exprs, value);
		}
		appendStringInfoChar(&text, ')');
	}
	return text.data;
}

/* "((colour = 'red'::text) AND (length > 3))" */
static char *
explain_early_clauses(ForeignScanState *node, int nclauses, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	List	   *clauses = list_copy_tail(plan->fdw_recheck_quals,
										 list_length(plan->fdw_recheck_quals) - nclauses);

	return deparse_expression((Node *) make_ands_explicit(clauses), context, es->verbose, false);
}

/* What a stream is made of, as the user wrote it. */
static const char *
stream_title(const StreamSpec *spec, List *files)
{
	if (spec->program)
		return "program";
	if (list_length(files) == 1)
		return ((const SegmentFile *) linitial(files))->name;
	return spec->filename ? spec->filename : spec->column;
}

/* The one of all segments, or the several that there are: "a, b" */
static const char *
segment_format_names(List *files)
{
	List	   *seen = NIL;
	ListCell   *cell;
	StringInfoData text;

	initStringInfo(&text);
	foreach(cell, files)
	{
		const SegmentFile *file = lfirst(cell);

		if (list_member_ptr(seen, file->format))
			continue;
		appendStringInfo(&text, "%s%s", seen ? ", " : "", file->format->name);
		seen = lappend(seen, unconstify(ColumnFormat *, file->format));
	}
	return text.data;
}

static const char *
stream_format_title(List *files)
{
	const SegmentFile *file;

	if (files == NIL)
		return "no file";
	file = linitial(files);
	if (file->compression == COMPRESSION_NONE)
		return segment_format_names(files);
	return psprintf("%s, %s", segment_format_names(files), compression_name(file->compression));
}

/* Can a scan of the stream begin at a key, rather than at its top? */
static bool
stream_can_seek(const StreamSpec *spec, const Key *key)
{
	StreamFacts facts;

	stream_facts(spec, key, &facts);
	return facts.can_seek;
}

static int64
kilobytes(int64 bytes)
{
	return (bytes + 1023) / 1024;
}

static void
explain_stream_text(const StreamSpec *spec, const Key *key, const char *role, List *files,
					const StreamCounters *counters, ExplainState *es)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%s (%s", stream_title(spec, files), stream_format_title(files));
	if (list_length(files) > 1)
		appendStringInfo(&text, ", %d segments", list_length(files));
	if (!spec->sorted)
		appendStringInfoString(&text, ", sorted here");
	else if (spec->program != NULL || (files != NIL && !stream_can_seek(spec, key)))
		appendStringInfoString(&text, ", cannot be sought");
	appendStringInfo(&text, "), %s", role);
	if (counters)
		appendStringInfo(&text, ", rows=" INT64_FORMAT " blocks=" INT64_FORMAT
						 " skipped=" INT64_FORMAT " seeks=" INT64_FORMAT,
						 counters->rows_read, counters->blocks_read,
						 counters->blocks_skipped, counters->seeks);
	if (counters && counters->dictionary_bytes > 0)
		appendStringInfo(&text, " dictionaries=" INT64_FORMAT "kB",
						 kilobytes(counters->dictionary_bytes));
	ExplainPropertyText(psprintf("Stream %s", quote_identifier(spec->column)), text.data, es);
}

static void
explain_stream_group(const StreamSpec *spec, const Key *key, const char *role, List *files,
					 const StreamCounters *counters, ExplainState *es)
{
	ExplainOpenGroup("Stream", NULL, true, es);
	ExplainPropertyText("Column", spec->column, es);
	ExplainPropertyText("File", stream_title(spec, files), es);
	ExplainPropertyInteger("Segments", NULL, list_length(files), es);
	if (files != NIL)
	{
		const SegmentFile *file = linitial(files);

		ExplainPropertyText("Format", segment_format_names(files), es);
		ExplainPropertyText("Compression", compression_name(file->compression), es);
	}
	ExplainPropertyBool("Sorted", spec->sorted, es);
	ExplainPropertyBool("Can Be Sought", stream_can_seek(spec, key), es);
	ExplainPropertyText("Role", role, es);
	if (counters)
	{
		ExplainPropertyInteger("Rows Read", NULL, counters->rows_read, es);
		ExplainPropertyInteger("Blocks Read", NULL, counters->blocks_read, es);
		ExplainPropertyInteger("Blocks Skipped", NULL, counters->blocks_skipped, es);
		ExplainPropertyInteger("Seeks", NULL, counters->seeks, es);
		ExplainPropertyInteger("Dictionary Memory", "kB", kilobytes(counters->dictionary_bytes), es);
	}
	ExplainCloseGroup("Stream", NULL, true, es);
}

void
outerjoinExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	OuterScanState *state = node->fdw_state;
	const TableSpec *table = state->table;
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	int			nearly = list_length(list_nth(plan->fdw_private, SCAN_PRIVATE_EARLY_CLAUSES));

	if (state->aggregates)
		aggregate_explain(node, es);
	if (table->file_key != NULL)
		ExplainPropertyText("Scan Direction", "Backward", es);
	if (state->nconditions > 0)
		ExplainPropertyText("Key Range", explain_range(node, state, es), es);
	if (nearly > 0)
	{
		/* an upper plan's clauses stand elsewhere */
		if (state->aggregates == NULL)
			ExplainPropertyText("Early Filter", explain_early_clauses(node, nearly, es), es);
		if (state->scan && es->analyze)
			ExplainPropertyInteger("Rows Removed by Early Filter", NULL,
								   early_filters_removed(state->filters), es);
	}

	if (state->parallel && es->analyze)
		ExplainPropertyInteger("Ranges", NULL, parallel_scan_ranges(state->parallel), es);

	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainOpenGroup("Streams", "Streams", false, es);
	for (int s = 0; s < table->nstreams; s++)
	{
		const StreamSpec *spec = &table->streams[s];
		const char *role = stream_role_name(state, spec, state->roles[s]);
		List	   *files = stream_files_present(spec);
		StreamCounters counters = {0};

		if (state->scan && es->analyze)
			table_scan_count(state->scan, s, &counters);
		if (state->parallel)
			parallel_scan_count(state->parallel, s, &counters);
		if (es->format == EXPLAIN_FORMAT_TEXT)
			explain_stream_text(spec, table->key, role, files,
								state->scan && es->analyze ? &counters : NULL, es);
		else
			explain_stream_group(spec, table->key, role, files,
								 state->scan && es->analyze ? &counters : NULL, es);
	}
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainCloseGroup("Streams", "Streams", false, es);
}
