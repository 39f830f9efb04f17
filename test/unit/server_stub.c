/*-------------------------------------------------------------------------
 *
 * server_stub.c
 *	  A stand-in for the server, so that the extension's own objects, compiled
 *	  against the real headers, run in a plain program: unit tests, fuzzers,
 *	  sanitizers.
 *
 * How to link a test with it (pkglib stands for the folder that holds
 * libpgcommon.a, `dirname $(pg_config --pgxs)`/../../..  on Debian):
 *
 *	  cc -Isrc -Itest/unit -I$(pg_config --includedir-server) \
 *		 my_test.c test/unit/server_stub.c src/csv/csv_scan.c ... \
 *		 -L$(pg_config --pkglibdir) -L<pkglib> -lpgcommon -lpgport -lm
 *
 * (server_stub.c before the libraries: its palloc family must win over the
 * frontend's.)  In main(): server_stub_init(), then calls guarded by
 * server_stub_try(); tap.h prints the results.
 *
 * What it has: memory contexts (every chunk is a malloc of its own, so that
 * a sanitizer sees overruns; reset and delete callbacks run), ereport with
 * PG_TRY, error context callbacks, interrupts, dynahash, the common half of
 * List, external descriptors and pipes, tuplestores that stay in memory,
 * encodings of libpgcommon plus the conversion between LATIN1 and UTF8.
 *
 * What it has not: catalogs.  Functions that would need them are defined
 * weakly and raise an error "not in this test: <name>"; a test that needs
 * one defines it itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "access/tupdesc.h"
#include "catalog/namespace.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "server_stub.h"

StubError	server_stub_error;
int			server_stub_encoding = PG_UTF8;
int			server_stub_external_fds = 1000;
bool		server_stub_verbose = false;

/* ------------------------------------------------------------ globals */

MemoryContext TopMemoryContext = NULL;
MemoryContext CurrentMemoryContext = NULL;
MemoryContext CacheMemoryContext = NULL;
MemoryContext ErrorContext = NULL;
MemoryContext TopTransactionContext = NULL;
MemoryContext CurTransactionContext = NULL;
MemoryContext MessageContext = NULL;
MemoryContext PortalContext = NULL;

sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;

volatile sig_atomic_t InterruptPending = false;
volatile sig_atomic_t QueryCancelPending = false;
volatile sig_atomic_t ProcDiePending = false;
volatile uint32 InterruptHoldoffCount = 0;
volatile uint32 QueryCancelHoldoffCount = 0;
volatile uint32 CritSectionCount = 0;
int			MyProcPid = 1;
int			work_mem = 4096;
char	   *DataDir = NULL;
bool		assert_enabled = false;

/* ------------------------------------------------------------ memory */

typedef struct StubChunk
{
	size_t		size;
	struct StubChunk *prev;
	struct StubChunk *next;
	struct StubContext *context;	/* last: inline code of the server looks here */
} StubChunk;

typedef struct StubContext
{
	MemoryContextData header;	/* code under test may test IsA() */
	StubChunk  *chunks;
	MemoryContextCallback *callbacks;
	struct StubContext *parent;
	struct StubContext *first_child;
	struct StubContext *next_sibling;
} StubContext;

static size_t stub_allocated = 0;
static int	stub_contexts = 0;

size_t
server_stub_allocated(void)
{
	return stub_allocated;
}

int
server_stub_contexts(void)
{
	return stub_contexts;
}

static void *
chunk_allocate(MemoryContext context, size_t size, int flags)
{
	StubContext *owner = (StubContext *) context;
	StubChunk  *chunk;

	if (!(flags & MCXT_ALLOC_HUGE) && !AllocSizeIsValid(size))
		elog(ERROR, "invalid memory alloc request size %zu", size);
	chunk = malloc(sizeof(StubChunk) + size);
	if (chunk == NULL)
	{
		if (flags & MCXT_ALLOC_NO_OOM)
			return NULL;
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	}
	chunk->context = owner;
	chunk->size = size;
	chunk->prev = NULL;
	chunk->next = owner->chunks;
	if (owner->chunks)
		owner->chunks->prev = chunk;
	owner->chunks = chunk;
	stub_allocated += size;
	memset(chunk + 1, (flags & MCXT_ALLOC_ZERO) ? 0 : 0x7E, size);
	return chunk + 1;
}

static void
chunk_free(StubChunk *chunk)
{
	if (chunk->prev)
		chunk->prev->next = chunk->next;
	else
		chunk->context->chunks = chunk->next;
	if (chunk->next)
		chunk->next->prev = chunk->prev;
	stub_allocated -= chunk->size;
	free(chunk);
}

static void *
chunk_resize(void *pointer, size_t size, bool huge)
{
	StubChunk  *chunk = (StubChunk *) pointer - 1;
	void	   *result = chunk_allocate((MemoryContext) chunk->context, size, huge ? MCXT_ALLOC_HUGE : 0);

	memcpy(result, pointer, Min(size, chunk->size));
	chunk_free(chunk);
	return result;
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name,
							  Size minContextSize, Size initBlockSize, Size maxBlockSize)
{
	StubContext *context = calloc(1, sizeof(StubContext));

	(void) minContextSize;
	(void) initBlockSize;
	(void) maxBlockSize;
	context->header.type = T_AllocSetContext;
	context->header.name = name;
	context->parent = (StubContext *) parent;
	if (parent)
	{
		context->next_sibling = context->parent->first_child;
		context->parent->first_child = context;
	}
	stub_contexts++;
	return (MemoryContext) context;
}

void
MemoryContextDelete(MemoryContext context)
{
	StubContext *stub = (StubContext *) context;

	MemoryContextReset(context);
	if (stub->parent)
	{
		StubContext **link = &stub->parent->first_child;

		while (*link != stub)
			link = &(*link)->next_sibling;
		*link = stub->next_sibling;
	}
	stub_contexts--;
	free(stub);
}

void
MemoryContextDeleteChildren(MemoryContext context)
{
	StubContext *stub = (StubContext *) context;

	while (stub->first_child)
		MemoryContextDelete((MemoryContext) stub->first_child);
}

void
MemoryContextResetOnly(MemoryContext context)
{
	StubContext *stub = (StubContext *) context;

	while (stub->callbacks)
	{
		MemoryContextCallback *callback = stub->callbacks;

		stub->callbacks = callback->next;
		callback->func(callback->arg);
	}
	while (stub->chunks)
		chunk_free(stub->chunks);
}

void
MemoryContextReset(MemoryContext context)
{
	MemoryContextDeleteChildren(context);
	MemoryContextResetOnly(context);
}

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *callback)
{
	StubContext *stub = (StubContext *) context;

	callback->next = stub->callbacks;
	stub->callbacks = callback;
}

void
MemoryContextSetParent(MemoryContext context, MemoryContext new_parent)
{
	StubContext *stub = (StubContext *) context;

	if (stub->parent)
	{
		StubContext **link = &stub->parent->first_child;

		while (*link != stub)
			link = &(*link)->next_sibling;
		*link = stub->next_sibling;
	}
	stub->parent = (StubContext *) new_parent;
	stub->next_sibling = NULL;
	if (new_parent)
	{
		stub->next_sibling = stub->parent->first_child;
		stub->parent->first_child = stub;
	}
}

void
MemoryContextSetIdentifier(MemoryContext context, const char *id)
{
	((StubContext *) context)->header.ident = id;
}

MemoryContext
MemoryContextGetParent(MemoryContext context)
{
	return (MemoryContext) ((StubContext *) context)->parent;
}

/* Of the context and, if so asked, of those below it. */
Size
MemoryContextMemAllocated(MemoryContext context, bool recurse)
{
	StubContext *stub = (StubContext *) context;
	Size		total = 0;

	for (StubChunk *chunk = stub->chunks; chunk != NULL; chunk = chunk->next)
		total += chunk->size;
	for (StubContext *child = stub->first_child; recurse && child != NULL; child = child->next_sibling)
		total += MemoryContextMemAllocated((MemoryContext) child, true);
	return total;
}

Size
GetMemoryChunkSpace(void *pointer)
{
	return ((StubChunk *) pointer - 1)->size;
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return chunk_allocate(context, size, 0);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return chunk_allocate(context, size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAllocZeroAligned(MemoryContext context, Size size)
{
	return chunk_allocate(context, size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return chunk_allocate(context, size, flags);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return chunk_allocate(context, size, MCXT_ALLOC_HUGE);
}

char *
MemoryContextStrdup(MemoryContext context, const char *string)
{
	size_t		size = strlen(string) + 1;

	return memcpy(MemoryContextAlloc(context, size), string, size);
}

void *
palloc(Size size)
{
	return chunk_allocate(CurrentMemoryContext, size, 0);
}

void *
palloc0(Size size)
{
	return chunk_allocate(CurrentMemoryContext, size, MCXT_ALLOC_ZERO);
}

void *
palloc_extended(Size size, int flags)
{
	return chunk_allocate(CurrentMemoryContext, size, flags);
}

void *
repalloc(void *pointer, Size size)
{
	return chunk_resize(pointer, size, false);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return chunk_resize(pointer, size, true);
}

void
pfree(void *pointer)
{
	chunk_free((StubChunk *) pointer - 1);
}

char *
pstrdup(const char *in)
{
	return MemoryContextStrdup(CurrentMemoryContext, in);
}

char *
pnstrdup(const char *in, Size len)
{
	char	   *out;

	len = strnlen(in, len);
	out = palloc(len + 1);
	memcpy(out, in, len);
	out[len] = '\0';
	return out;
}

/* ------------------------------------------------------------ errors */

#define STUB_ERROR_DEPTH 8

typedef struct StubReport
{
	StubError	error;
	int			saved_errno;
} StubReport;

static StubReport stub_report[STUB_ERROR_DEPTH];
static int	stub_depth = -1;

bool
errstart(int elevel, const char *domain)
{
	(void) domain;
	if (elevel < ERROR && !server_stub_verbose)
		return false;
	if (stub_depth + 1 >= STUB_ERROR_DEPTH)
	{
		fputs("PANIC: errors nested too deeply\n", stderr);
		abort();
	}
	stub_depth++;
	memset(&stub_report[stub_depth], 0, sizeof(StubReport));
	stub_report[stub_depth].saved_errno = errno;
	stub_report[stub_depth].error.elevel = elevel;
	stub_report[stub_depth].error.sqlerrcode = elevel >= ERROR ? ERRCODE_INTERNAL_ERROR : 0;
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
pg_re_throw(void)
{
	if (PG_exception_stack == NULL)
	{
		fprintf(stderr, "PANIC: error outside server_stub_try: %s\n", server_stub_error.message);
		abort();
	}
	siglongjmp(*PG_exception_stack, 1);
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	StubReport *report = &stub_report[stub_depth];
	ErrorContextCallback *callback;

	(void) filename;
	(void) lineno;
	(void) funcname;
	for (callback = error_context_stack; callback != NULL; callback = callback->previous)
		callback->callback(callback->arg);
	if (report->error.elevel < ERROR)
	{
		fprintf(stderr, "LOG: %s\n", report->error.message);
		stub_depth--;
		return;
	}
	InterruptHoldoffCount = 0;
	QueryCancelHoldoffCount = 0;
	CritSectionCount = 0;
	server_stub_error = report->error;
	stub_depth--;
	pg_re_throw();
}

static void
append_formatted(char *target, const char *format, va_list args)
{
	size_t		used = strlen(target);

	errno = stub_report[stub_depth].saved_errno;
	vsnprintf(target + used, sizeof(server_stub_error.message) - used, format, args);
}

#define STUB_ERROR_TEXT(function, member, newline) \
int \
function(const char *format,...) \
{ \
	va_list		args; \
	char	   *target = stub_report[stub_depth].error.member; \
\
	if (newline && target[0] != '\0' && strlen(target) + 2 < sizeof(server_stub_error.member)) \
		strcat(target, "\n"); \
	va_start(args, format); \
	append_formatted(target, format, args); \
	va_end(args); \
	return 0; \
}

STUB_ERROR_TEXT(errmsg, message, false)
STUB_ERROR_TEXT(errmsg_internal, message, false)
STUB_ERROR_TEXT(errdetail, detail, false)
STUB_ERROR_TEXT(errdetail_internal, detail, false)
STUB_ERROR_TEXT(errhint, hint, false)
STUB_ERROR_TEXT(errcontext_msg, context, true)

#define STUB_ERROR_PLURAL(function, member) \
int \
function(const char *singular, const char *plural, unsigned long n,...) \
{ \
	va_list		args; \
\
	va_start(args, n); \
	append_formatted(stub_report[stub_depth].error.member, n == 1 ? singular : plural, args); \
	va_end(args); \
	return 0; \
}

STUB_ERROR_PLURAL(errmsg_plural, message)
STUB_ERROR_PLURAL(errdetail_plural, detail)
STUB_ERROR_PLURAL(errhint_plural, hint)

int
errdetail_log(const char *format,...)
{
	(void) format;
	return 0;
}

int
set_errcontext_domain(const char *domain)
{
	(void) domain;
	return 0;
}

int
errcode(int sqlerrcode)
{
	stub_report[stub_depth].error.sqlerrcode = sqlerrcode;
	return 0;
}

int
errcode_for_file_access(void)
{
	int			code = ERRCODE_INTERNAL_ERROR;

	switch (stub_report[stub_depth].saved_errno)
	{
		case EPERM:
		case EACCES:
			code = ERRCODE_INSUFFICIENT_PRIVILEGE;
			break;
		case ENOENT:
			code = ERRCODE_UNDEFINED_FILE;
			break;
		case EEXIST:
			code = ERRCODE_DUPLICATE_FILE;
			break;
		case ENOTDIR:
		case EISDIR:
			code = ERRCODE_WRONG_OBJECT_TYPE;
			break;
		case ENOSPC:
			code = ERRCODE_DISK_FULL;
			break;
		case ENFILE:
		case EMFILE:
			code = ERRCODE_INSUFFICIENT_RESOURCES;
			break;
		case EIO:
			code = ERRCODE_IO_ERROR;
			break;
		default:
			break;
	}
	return errcode(code);
}

int
errposition(int cursorpos)
{
	(void) cursorpos;
	return 0;
}

int
errhidestmt(bool hide_stmt)
{
	(void) hide_stmt;
	return 0;
}

int
errhidecontext(bool hide_ctx)
{
	(void) hide_ctx;
	return 0;
}

int
err_generic_string(int field, const char *string)
{
	(void) field;
	(void) string;
	return 0;
}

int
geterrcode(void)
{
	return stub_report[stub_depth].error.sqlerrcode;
}

void
FlushErrorState(void)
{
	stub_depth = -1;
}

/* Only what PG_CATCH blocks look at: code and texts. */
ErrorData *
CopyErrorData(void)
{
	ErrorData  *copy = palloc0(sizeof(ErrorData));

	copy->elevel = server_stub_error.elevel;
	copy->sqlerrcode = server_stub_error.sqlerrcode;
	copy->message = pstrdup(server_stub_error.message);
	copy->detail = server_stub_error.detail[0] ? pstrdup(server_stub_error.detail) : NULL;
	copy->hint = server_stub_error.hint[0] ? pstrdup(server_stub_error.hint) : NULL;
	copy->context = server_stub_error.context[0] ? pstrdup(server_stub_error.context) : NULL;
	return copy;
}

void
FreeErrorData(ErrorData *copy)
{
	pfree(copy);
}

void
ReThrowError(ErrorData *copy)
{
	(void) copy;
	pg_re_throw();
}

void
ExceptionalCondition(COMPAT_FAILED_ASSERTION)
{
	fprintf(stderr, "TRAP: failed Assert(\"%s\"), File: \"%s\", Line: %d\n",
			conditionName, fileName, lineNumber);
	abort();
}

bool
server_stub_try(void (*body) (void *argument), void *argument)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool passed = true;

	memset(&server_stub_error, 0, sizeof(server_stub_error));
	PG_TRY();
	{
		body(argument);
	}
	PG_CATCH();
	{
		passed = false;
	}
	PG_END_TRY();
	CurrentMemoryContext = context;
	stub_depth = -1;
	return passed;
}

const char *
server_stub_sqlstate(int sqlerrcode)
{
	static char text[6];

	for (int i = 0; i < 5; i++)
	{
		text[i] = PGUNSIXBIT(sqlerrcode);
		sqlerrcode >>= 6;
	}
	return text;
}

void
server_stub_init(void)
{
	TopMemoryContext = AllocSetContextCreateInternal(NULL, "TopMemoryContext", 0, 0, 0);
	CurrentMemoryContext = TopMemoryContext;
	CacheMemoryContext = TopMemoryContext;
	ErrorContext = TopMemoryContext;
	TopTransactionContext = TopMemoryContext;
	CurTransactionContext = TopMemoryContext;
	MessageContext = TopMemoryContext;
	PortalContext = TopMemoryContext;
}

/* ------------------------------------------------------------ interrupts */

void
ProcessInterrupts(void)
{
	InterruptPending = false;
	if (QueryCancelPending)
	{
		QueryCancelPending = false;
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceling statement due to user request")));
	}
}

void
check_stack_depth(void)
{
}

bool
stack_is_too_deep(void)
{
	return false;
}

/* ------------------------------------------------------------ dynahash */

#define STUB_HASH_BUCKETS 256

typedef struct StubHashEntry
{
	struct StubHashEntry *next;
} StubHashEntry;

struct HTAB
{
	size_t		keysize;
	size_t		entrysize;
	bool		strings;
	long		entries;
	StubHashEntry *bucket[STUB_HASH_BUCKETS];
};

#define STUB_HASH_DATA(entry) ((void *) ((char *) (entry) + MAXALIGN(sizeof(StubHashEntry))))

HTAB *
hash_create(const char *tabname, long nelem, const HASHCTL *info, int flags)
{
	HTAB	   *table = calloc(1, sizeof(HTAB));

	(void) tabname;
	(void) nelem;
	table->keysize = info->keysize;
	table->entrysize = info->entrysize;
	table->strings = (flags & HASH_STRINGS) != 0;
	return table;
}

static StubHashEntry **
hash_find(HTAB *table, const void *key)
{
	const unsigned char *bytes = key;
	size_t		length = table->strings ? strlen(key) + 1 : table->keysize;
	uint32		hash = 2166136261U;
	StubHashEntry **link;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	link = &table->bucket[hash % STUB_HASH_BUCKETS];
	while (*link != NULL && memcmp(STUB_HASH_DATA(*link), key, length) != 0)
		link = &(*link)->next;
	return link;
}

void *
hash_search(HTAB *table, const void *key, HASHACTION action, bool *found)
{
	StubHashEntry **link = hash_find(table, key);
	StubHashEntry *entry = *link;

	if (found)
		*found = entry != NULL;
	if (action == HASH_REMOVE && entry != NULL)
	{
		/* the server, too, keeps a removed entry readable for the moment */
		*link = entry->next;
		table->entries--;
		return STUB_HASH_DATA(entry);
	}
	if ((action == HASH_ENTER || action == HASH_ENTER_NULL) && entry == NULL)
	{
		entry = calloc(1, MAXALIGN(sizeof(StubHashEntry)) + table->entrysize);
		memcpy(STUB_HASH_DATA(entry), key, table->strings ? strlen(key) + 1 : table->keysize);
		*link = entry;
		table->entries++;
	}
	return entry ? STUB_HASH_DATA(entry) : NULL;
}

long
hash_get_num_entries(HTAB *table)
{
	return table->entries;
}

void
hash_seq_init(HASH_SEQ_STATUS *status, HTAB *table)
{
	status->hashp = table;
	status->curBucket = 0;
	status->curEntry = NULL;
}

void *
hash_seq_search(HASH_SEQ_STATUS *status)
{
	StubHashEntry *entry = (StubHashEntry *) status->curEntry;

	while (entry == NULL)
	{
		if (status->curBucket >= STUB_HASH_BUCKETS)
			return NULL;
		entry = status->hashp->bucket[status->curBucket++];
	}
	status->curEntry = (HASHELEMENT *) entry->next;
	return STUB_HASH_DATA(entry);
}

void
hash_seq_term(HASH_SEQ_STATUS *status)
{
	(void) status;
}

void
hash_destroy(HTAB *table)
{
	for (int i = 0; i < STUB_HASH_BUCKETS; i++)
	{
		while (table->bucket[i])
		{
			StubHashEntry *next = table->bucket[i]->next;

			free(table->bucket[i]);
			table->bucket[i] = next;
		}
	}
	free(table);
}

/* ------------------------------------------------------------ List */

static List *
list_allocate(NodeTag type, int size)
{
	List	   *list = palloc(sizeof(List));

	list->type = type;
	list->length = 0;
	list->max_length = size;
	list->elements = palloc(sizeof(ListCell) * size);
	return list;
}

static ListCell *
list_grow(List *list)
{
	if (list->length == list->max_length)
	{
		list->max_length *= 2;
		list->elements = repalloc(list->elements, sizeof(ListCell) * list->max_length);
	}
	return &list->elements[list->length++];
}

List *
lappend(List *list, void *datum)
{
	if (list == NIL)
		list = list_allocate(T_List, 8);
	list_grow(list)->ptr_value = datum;
	return list;
}

List *
lappend_int(List *list, int datum)
{
	if (list == NIL)
		list = list_allocate(T_IntList, 8);
	list_grow(list)->int_value = datum;
	return list;
}

List *
list_make1_impl(NodeTag type, ListCell datum)
{
	List	   *list = list_allocate(type, 8);

	*list_grow(list) = datum;
	return list;
}

List *
list_concat(List *a, const List *b)
{
	if (b == NIL)
		return a;
	if (a == NIL)
		return list_copy(b);
	for (int i = 0; i < b->length; i++)
	{
		ListCell	cell = b->elements[i];

		*list_grow(a) = cell;
	}
	return a;
}

List *
list_copy(const List *old)
{
	List	   *list;

	if (old == NIL)
		return NIL;
	list = list_allocate(old->type, Max(old->length, 8));
	memcpy(list->elements, old->elements, sizeof(ListCell) * old->length);
	list->length = old->length;
	return list;
}

List *
list_truncate(List *list, int new_size)
{
	if (new_size <= 0)
		return NIL;
	if (list != NIL && list->length > new_size)
		list->length = new_size;
	return list;
}

void
list_sort(List *list, list_sort_comparator cmp)
{
	if (list != NIL && list->length > 1)
		qsort(list->elements, list->length, sizeof(ListCell),
			  (int (*) (const void *, const void *)) cmp);
}

void
list_free(List *list)
{
	if (list != NIL)
	{
		pfree(list->elements);
		pfree(list);
	}
}

void
list_free_deep(List *list)
{
	if (list != NIL)
	{
		for (int i = 0; i < list->length; i++)
			pfree(list->elements[i].ptr_value);
		list_free(list);
	}
}

/* ------------------------------------------------------------ files */

static int	stub_fds = 0;

bool
AcquireExternalFD(void)
{
	if (stub_fds >= server_stub_external_fds)
	{
		errno = EMFILE;
		return false;
	}
	stub_fds++;
	return true;
}

void
ReserveExternalFD(void)
{
	stub_fds++;
}

void
ReleaseExternalFD(void)
{
	stub_fds--;
}

FILE *
AllocateFile(const char *name, const char *mode)
{
	return fopen(name, mode);
}

int
FreeFile(FILE *file)
{
	return fclose(file);
}

DIR *
AllocateDir(const char *dirname)
{
	return opendir(dirname);
}

struct dirent *
ReadDir(DIR *dir, const char *dirname)
{
	struct dirent *entry;

	if (dir == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", dirname)));
	errno = 0;
	entry = readdir(dir);
	if (entry == NULL && errno != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read directory \"%s\": %m", dirname)));
	return entry;
}

int
FreeDir(DIR *dir)
{
	return closedir(dir);
}

int
OpenTransientFile(const char *fileName, int fileFlags)
{
	return open(fileName, fileFlags | O_CLOEXEC, 0600);
}

int
CloseTransientFile(int fd)
{
	return close(fd);
}

void
before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
	(void) function;
	(void) arg;
}

void
on_proc_exit(pg_on_exit_callback function, Datum arg)
{
	(void) function;
	(void) arg;
}

/* ------------------------------------------------------------ encodings */

int
GetDatabaseEncoding(void)
{
	return server_stub_encoding;
}

const char *
GetDatabaseEncodingName(void)
{
	return pg_encoding_to_char(server_stub_encoding);
}

int
pg_get_client_encoding(void)
{
	return server_stub_encoding;
}

int
pg_database_encoding_max_length(void)
{
	return pg_encoding_max_length(server_stub_encoding);
}

int
pg_mblen(const char *mbstr)
{
	return pg_encoding_mblen(server_stub_encoding, mbstr);
}

int
pg_mbstrlen_with_len(const char *mbstr, int limit)
{
	int			count = 0;

	while (limit > 0 && *mbstr)
	{
		int			length = pg_mblen(mbstr);

		limit -= length;
		mbstr += length;
		count++;
	}
	return count;
}

int
pg_encoding_mbcliplen(int encoding, const char *mbstr, int len, int limit)
{
	int			clipped = 0;

	while (len > 0 && *mbstr)
	{
		int			length = pg_encoding_mblen(encoding, mbstr);

		if (clipped + length > limit)
			break;
		clipped += length;
		len -= length;
		mbstr += length;
	}
	return clipped;
}

int
pg_mbcliplen(const char *mbstr, int len, int limit)
{
	return pg_encoding_mbcliplen(server_stub_encoding, mbstr, len, limit);
}

int
pg_mbcharcliplen(const char *mbstr, int len, int limit)
{
	int			clipped = 0;

	for (int n = 0; len > 0 && *mbstr && n < limit; n++)
	{
		int			length = pg_mblen(mbstr);

		clipped += length;
		len -= length;
		mbstr += length;
	}
	return clipped;
}

void
report_invalid_encoding(int encoding, const char *mbstr, int len)
{
	(void) len;
	ereport(ERROR,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("invalid byte sequence for encoding \"%s\": 0x%02x",
					pg_encoding_to_char(encoding), (unsigned char) mbstr[0])));
}

bool
pg_verify_mbstr(int encoding, const char *mbstr, int len, bool noError)
{
	int			good = pg_encoding_verifymbstr(encoding, mbstr, len);

	if (good != len && !noError)
		report_invalid_encoding(encoding, mbstr + good, len - good);
	return good == len;
}

bool
pg_verifymbstr(const char *mbstr, int len, bool noError)
{
	return pg_verify_mbstr(server_stub_encoding, mbstr, len, noError);
}

#define STUB_LATIN1_TO_UTF8	1
#define STUB_UTF8_TO_LATIN1 2

Oid
FindDefaultConversionProc(int32 for_encoding, int32 to_encoding)
{
	if (for_encoding == PG_LATIN1 && to_encoding == PG_UTF8)
		return STUB_LATIN1_TO_UTF8;
	if (for_encoding == PG_UTF8 && to_encoding == PG_LATIN1)
		return STUB_UTF8_TO_LATIN1;
	return InvalidOid;
}

int
pg_do_encoding_conversion_buf(Oid proc, int src_encoding, int dest_encoding,
							  unsigned char *src, int srclen,
							  unsigned char *dest, int destlen, bool noError)
{
	unsigned char *start = src;

	(void) dest_encoding;
	/* as the server does: no more than is sure to fit, whole characters */
	srclen = Min(srclen, (destlen - 1) / MAX_CONVERSION_GROWTH);
	for (; src - start < srclen; src++)
	{
		if (*src == 0)
			break;
		if (*src < 0x80)
			*dest++ = *src;
		else if (proc == STUB_LATIN1_TO_UTF8)
		{
			*dest++ = 0xC0 | (*src >> 6);
			*dest++ = 0x80 | (*src & 0x3F);
		}
		else
		{
			if ((*src & 0xFE) != 0xC2 || src + 1 - start >= srclen || (src[1] & 0xC0) != 0x80)
				break;
			*dest++ = (*src << 6) | (src[1] & 0x3F);
			src++;
		}
	}
	*dest = '\0';
	if (src - start < srclen && !noError)
		report_invalid_encoding(src_encoding, (char *) src, srclen - (src - start));
	return src - start;
}

/* UTF-8 to the "database" alone. */
char *
pg_any_to_server(const char *s, int len, int encoding)
{
	size_t		room = ((size_t) len + 1) * MAX_CONVERSION_GROWTH + 1;
	Oid			proc = FindDefaultConversionProc(encoding, server_stub_encoding);
	char	   *result;

	if (encoding == server_stub_encoding || !OidIsValid(proc))
	{
		(void) pg_verify_mbstr(encoding, s, len, false);
		return (char *) s;
	}
	result = palloc(room);
	(void) pg_do_encoding_conversion_buf(proc, encoding, server_stub_encoding, (unsigned char *) s, len,
										 (unsigned char *) result, (int) room, false);
	return result;
}

/* ------------------------------------------------------------ catalogs */

#define STUB_MISSING(result, function, arguments) \
result __attribute__((weak)) \
function arguments \
{ \
	elog(ERROR, "not in this test: %s", #function); \
	pg_unreachable(); \
}

#pragma GCC diagnostic ignored "-Wunused-parameter"

STUB_MISSING(void, getTypeInputInfo, (Oid type, Oid *typInput, Oid *typIOParam))
STUB_MISSING(void, getTypeOutputInfo, (Oid type, Oid *typOutput, bool *typIsVarlena))
STUB_MISSING(bool, get_typbyval, (Oid typid))
STUB_MISSING(void, get_typlenbyval, (Oid typid, int16 *typlen, bool *typbyval))
STUB_MISSING(void, fmgr_info, (Oid functionId, FmgrInfo *finfo))
STUB_MISSING(void, fmgr_info_cxt, (Oid functionId, FmgrInfo *finfo, MemoryContext mcxt))
STUB_MISSING(Datum, InputFunctionCall, (FmgrInfo *flinfo, char *str, Oid typioparam, int32 typmod))
STUB_MISSING(Datum, OidInputFunctionCall, (Oid functionId, char *str, Oid typioparam, int32 typmod))
STUB_MISSING(char *, OutputFunctionCall, (FmgrInfo *flinfo, Datum val))
STUB_MISSING(char *, OidOutputFunctionCall, (Oid functionId, Datum val))
STUB_MISSING(char *, format_type_be, (Oid type_oid))

/* what a key made from the catalogs would ask for */
extern void PrepareSortSupportFromOrderingOp(Oid orderingOp, SortSupport ssup);
extern bool get_collation_isdeterministic(Oid colloid);

STUB_MISSING(void, PrepareSortSupportFromOrderingOp, (Oid orderingOp, SortSupport ssup))
STUB_MISSING(TypeCacheEntry *, lookup_type_cache, (Oid type_id, int flags))
STUB_MISSING(Oid, getBaseType, (Oid typid))
STUB_MISSING(bool, get_collation_isdeterministic, (Oid colloid))
STUB_MISSING(int, ssup_datum_unsigned_cmp, (Datum x, Datum y, SortSupport ssup))
STUB_MISSING(struct varlena *, pg_detoast_datum_packed, (struct varlena * datum))

/* what text values and names of fields would ask for */
pg_tz	   *session_timezone __attribute__((weak)) = NULL;

STUB_MISSING(int, DetermineTimeZoneOffset, (struct pg_tm *tm, pg_tz *tzp))
STUB_MISSING(bool, pg_get_timezone_offset, (const pg_tz *tz, long int *gmtoff))
STUB_MISSING(Datum, timestamp_in, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, DirectFunctionCall3Coll, (PGFunction func, Oid collation, Datum arg1, Datum arg2, Datum arg3))
STUB_MISSING(Datum, FunctionCall2Coll, (FmgrInfo *flinfo, Oid collation, Datum arg1, Datum arg2))
STUB_MISSING(Oid, getBaseTypeAndTypmod, (Oid typid, int32 *typmod))
STUB_MISSING(char *, format_type_with_typemod, (Oid type_oid, int32 typemod))
STUB_MISSING(int, varstr_levenshtein_less_equal, (const char *source, int slen, const char *target, int tlen,
												  int ins_c, int del_c, int sub_c, int max_d, bool trusted))

/* what values of Arrow files would ask for */
STUB_MISSING(Datum, DirectFunctionCall1Coll, (PGFunction func, Oid collation, Datum arg1))
STUB_MISSING(Datum, DirectFunctionCall2Coll, (PGFunction func, Oid collation, Datum arg1, Datum arg2))
STUB_MISSING(struct varlena *, pg_detoast_datum, (struct varlena * datum))
STUB_MISSING(Datum, numeric, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, numeric_in, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, numeric_out, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, numeric_eq, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, numeric_float4, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, numeric_float8, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, float4_numeric, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, float8_numeric, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, interval_out, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, interval_scale, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, time_scale, (PG_FUNCTION_ARGS))
STUB_MISSING(Datum, timestamp_scale, (PG_FUNCTION_ARGS))
STUB_MISSING(bool, DomainHasConstraints, (Oid type_id))
STUB_MISSING(void, domain_check, (Datum value, bool isnull, Oid domainType, void **extra, MemoryContext mcxt))

/* ------------------------------------------------------------ tuples */

Datum
datumCopy(Datum value, bool typByVal, int typLen)
{
	const char *bytes = DatumGetPointer(value);
	size_t		size;

	if (typByVal)
		return value;
	size = typLen == -1 ? VARSIZE_ANY(bytes) : typLen == -2 ? strlen(bytes) + 1 : (size_t) typLen;
	return PointerGetDatum(memcpy(palloc(size), bytes, size));
}

Size
datumGetSize(Datum value, bool typByVal, int typLen)
{
	const char *bytes = DatumGetPointer(value);

	if (typByVal || typLen >= 0)
		return (Size) typLen;
	return typLen == -1 ? VARSIZE_ANY(bytes) : strlen(bytes) + 1;
}

TupleDesc
CreateTemplateTupleDesc(int natts)
{
	/* enough for every version: 18 keeps a short form of each attribute as well */
	TupleDesc	desc = palloc0(sizeof(struct TupleDescData) +
							   natts * (sizeof(FormData_pg_attribute) + 64));

	desc->natts = natts;
	desc->tdrefcount = -1;
	return desc;
}

void
TupleDescInitEntry(TupleDesc desc, AttrNumber attributeNumber, const char *attributeName,
				   Oid oidtypeid, int32 typmod, int attdim)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, attributeNumber - 1);

	(void) attributeName;
	(void) attdim;
	attribute->atttypid = oidtypeid;
	attribute->atttypmod = typmod;
	attribute->attnum = attributeNumber;
	get_typlenbyval(oidtypeid, &attribute->attlen, &attribute->attbyval);
}

/* Only its address is looked at. */
static void
slot_clear(TupleTableSlot *slot)
{
	MemoryContextReset(slot->tts_mcxt);
	slot->tts_nvalid = 0;
	slot->tts_flags |= TTS_FLAG_EMPTY;
}

const TupleTableSlotOps TTSOpsMinimalTuple = {.clear = slot_clear};

TupleTableSlot *
MakeSingleTupleTableSlot(TupleDesc tupdesc, const TupleTableSlotOps *tts_ops)
{
	TupleTableSlot *slot = palloc0(sizeof(TupleTableSlot));

	*((const TupleTableSlotOps **) &slot->tts_ops) = tts_ops;
	slot->tts_tupleDescriptor = tupdesc;
	slot->tts_flags = TTS_FLAG_EMPTY;
	slot->tts_values = palloc0(sizeof(Datum) * Max(tupdesc->natts, 1));
	slot->tts_isnull = palloc0(sizeof(bool) * Max(tupdesc->natts, 1));
	slot->tts_mcxt = AllocSetContextCreateInternal(CurrentMemoryContext, "slot", 0, 0, 0);
	return slot;
}

void
ExecDropSingleTupleTableSlot(TupleTableSlot *slot)
{
	MemoryContextDelete(slot->tts_mcxt);
	pfree(slot->tts_values);
	pfree(slot->tts_isnull);
	pfree(slot);
}

STUB_MISSING(void, slot_getsomeattrs_int, (TupleTableSlot *slot, int attnum))

/* ------------------------------------------------------------ tuplestores */

int			server_stub_tuplestores = 0;
int			server_stub_spills = 0;

typedef struct StubTuple
{
	Datum	   *values;
	bool	   *isnull;
} StubTuple;

/*
 * Keeps everything in memory, but notes when the server's would go to disk.
 * What a slot holds is gone when the next tuple is read, as is the server's.
 */
struct Tuplestorestate
{
	MemoryContext context;
	int64		bytes;
	int64		allowed;
	int64		ntuples;
	int64		capacity;
	StubTuple  *tuples;
	int64		next;
};

Tuplestorestate *
tuplestore_begin_heap(bool randomAccess, bool interXact, int maxKBytes)
{
	Tuplestorestate *state = palloc0(sizeof(Tuplestorestate));

	(void) randomAccess;
	(void) interXact;
	state->context = AllocSetContextCreateInternal(CurrentMemoryContext, "tuplestore", 0, 0, 0);
	state->allowed = maxKBytes * INT64CONST(1024);
	state->capacity = 16;
	state->tuples = MemoryContextAlloc(state->context, sizeof(StubTuple) * state->capacity);
	server_stub_tuplestores++;
	return state;
}

static void
stub_tuple_copy(TupleDesc desc, const Datum *values, const bool *isnull, StubTuple *tuple, int64 *bytes)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		tuple->isnull[i] = isnull[i];
		/* a server's null leaves no value behind */
		tuple->values[i] = isnull[i] ? (Datum) 0 :
			datumCopy(values[i], attribute->attbyval, attribute->attlen);
		*bytes += attribute->attbyval || isnull[i] ? 8 : VARSIZE_ANY(DatumGetPointer(values[i]));
	}
}

void
tuplestore_putvalues(Tuplestorestate *state, TupleDesc tdesc, COMPAT_TUPLE_VALUES)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	bool		spilled = state->bytes > state->allowed;
	StubTuple  *tuple;

	if (state->ntuples == state->capacity)
	{
		state->capacity *= 2;
		state->tuples = repalloc_huge(state->tuples, sizeof(StubTuple) * state->capacity);
	}
	tuple = &state->tuples[state->ntuples++];
	tuple->values = palloc(sizeof(Datum) * Max(tdesc->natts, 1));
	tuple->isnull = palloc(sizeof(bool) * Max(tdesc->natts, 1));
	state->bytes += 32;
	stub_tuple_copy(tdesc, values, isnull, tuple, &state->bytes);
	if (!spilled && state->bytes > state->allowed)
		server_stub_spills++;
	MemoryContextSwitchTo(old);
}

bool
tuplestore_gettupleslot(Tuplestorestate *state, bool forward, bool copy, TupleTableSlot *slot)
{
	MemoryContext old;
	StubTuple	target = {slot->tts_values, slot->tts_isnull};
	int64		bytes = 0;

	(void) forward;
	(void) copy;
	MemoryContextReset(slot->tts_mcxt);
	slot->tts_flags |= TTS_FLAG_EMPTY;
	slot->tts_nvalid = 0;
	if (state->next >= state->ntuples)
		return false;
	old = MemoryContextSwitchTo(slot->tts_mcxt);
	stub_tuple_copy(slot->tts_tupleDescriptor, state->tuples[state->next].values,
					state->tuples[state->next].isnull, &target, &bytes);
	MemoryContextSwitchTo(old);
	state->next++;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
	return true;
}

void
tuplestore_rescan(Tuplestorestate *state)
{
	state->next = 0;
}

void
tuplestore_end(Tuplestorestate *state)
{
	MemoryContextDelete(state->context);
	pfree(state);
	server_stub_tuplestores--;
}
