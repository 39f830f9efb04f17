/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  The bench's column files: CSV, sorted by id, made up from a fixed seed.
 *
 *		generate dense  FOLDER IDS			colour, length, mass; each has 80 % of ids 1 .. IDS
 *		generate wide   FOLDER IDS COLUMNS	c1 .. cN, ints; each has 50 % of ids 1 .. IDS
 *		generate sparse FOLDER ROWS POOL	colour, length, mass; random 64-bit ids
 *		generate uuid   FOLDER ROWS POOL	colour, length, mass; random uuids as text
 *
 * A file's rows depend on the seed, the arguments and the file's name alone,
 * so that two runs give the same bytes.  Every file has the share of ids that
 * it should have exactly, not on average.
 *
 * Sparse and uuid files hold ROWS rows each, drawn from POOL ids that all
 * files share; with a POOL of 0 each file has ids of its own, and nearly no
 * key stands in two of them.
 *
 * A program of its own: knows nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED			UINT64_C(0x6f757465726a6f69)
#define BUFFER_BYTES	(1 << 20)
#define LONGEST_LINE	128

static const char *const colours[] = {
	"red", "green", "blue", "yellow", "black", "white", "orange", "violet"
};

static const char hex_digits[] = "0123456789abcdef";

/* 128 bits in bytewise order; a 64-bit id uses the first half alone */
typedef struct Id
{
	uint64_t	high;
	uint64_t	low;
} Id;

typedef enum ValueKind
{
	VALUE_COLOUR,
	VALUE_LENGTH,
	VALUE_MASS,
	VALUE_NUMBER
} ValueKind;

typedef struct Random
{
	uint64_t	state;
} Random;

typedef struct Output
{
	FILE	   *file;
	const char *path;
	char	   *buffer;
	size_t		used;
} Output;

static void
fail(const char *what)
{
	fprintf(stderr, "generate: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *
allocate(size_t size)
{
	void	   *memory = malloc(size > 0 ? size : 1);

	if (memory == NULL)
		fail("memory");
	return memory;
}

/* splitmix64 */
static uint64_t
random_next(Random *random)
{
	uint64_t	z = (random->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 .. bound - 1, bound below 2^32 */
static uint64_t
random_below(Random *random, uint64_t bound)
{
	return ((random_next(random) >> 32) * bound) >> 32;
}

static Random
random_for(const char *name)
{
	Random		random = {SEED};

	for (; *name; name++)
		random.state = (random.state ^ (unsigned char) *name) * UINT64_C(0x100000001b3);
	(void) random_next(&random);
	return random;
}

static void
output_open(Output *output, const char *folder, const char *column)
{
	size_t		length = strlen(folder) + strlen(column) + sizeof("/.csv");
	char	   *path = allocate(length);

	snprintf(path, length, "%s/%s.csv", folder, column);
	output->path = path;
	output->file = fopen(path, "w");
	if (output->file == NULL)
		fail(path);
	output->buffer = allocate(BUFFER_BYTES);
	output->used = (size_t) snprintf(output->buffer, LONGEST_LINE, "id,%s\n", column);
}

static void
output_flush(Output *output)
{
	if (fwrite(output->buffer, 1, output->used, output->file) != output->used)
		fail(output->path);
	output->used = 0;
}

static void
output_close(Output *output)
{
	output_flush(output);
	if (fclose(output->file) != 0)
		fail(output->path);
	free(output->buffer);
}

static char *
put_number(char *at, uint64_t number)
{
	char		digits[20];
	int			n = 0;

	do
	{
		digits[n++] = (char) ('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

static char *
put_signed(char *at, int64_t number)
{
	if (number < 0)
	{
		*at++ = '-';
		return put_number(at, UINT64_C(0) - (uint64_t) number);
	}
	return put_number(at, (uint64_t) number);
}

static char *
put_uuid(char *at, const Id *id)
{
	for (int nibble = 0; nibble < 32; nibble++)
	{
		uint64_t	half = nibble < 16 ? id->high : id->low;

		if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20)
			*at++ = '-';
		*at++ = hex_digits[(half >> (60 - 4 * (nibble % 16))) & 15];
	}
	return at;
}

static char *
put_value(char *at, ValueKind kind, Random *random)
{
	switch (kind)
	{
		case VALUE_COLOUR:
			{
				const char *colour = colours[random_below(random, 8)];
				size_t		length = strlen(colour);

				memcpy(at, colour, length);
				return at + length;
			}
		case VALUE_LENGTH:
			return put_number(at, random_below(random, 10000));
		case VALUE_MASS:
			at = put_number(at, random_below(random, 1000));
			*at++ = '.';
			return put_number(at, random_below(random, 10));
		case VALUE_NUMBER:
			return put_number(at, random_below(random, 1000000));
	}
	return at;
}

static void
output_row(Output *output, const Id *id, bool uuid, ValueKind kind, Random *random)
{
	char	   *at;

	if (output->used > BUFFER_BYTES - LONGEST_LINE)
		output_flush(output);
	at = output->buffer + output->used;
	if (uuid)
		at = put_uuid(at, id);
	else
		at = put_signed(at, (int64_t) id->high);
	*at++ = ',';
	at = put_value(at, kind, random);
	*at++ = '\n';
	output->used = (size_t) (at - output->buffer);
}

/*
 * Write one file of exactly "rows" rows, chosen at random among ids 1 ..
 * "pool", or among those in "ids" where it is not NULL.  Selection sampling:
 * each id is taken with the chance that makes the numbers come out.
 */
static void
write_sample(const char *folder, const char *column, ValueKind kind,
			 const Id *ids, bool uuid, uint64_t pool, uint64_t rows)
{
	Random		random = random_for(column);
	Output		output;

	output_open(&output, folder, column);
	for (uint64_t i = 0; i < pool && rows > 0; i++)
	{
		Id			dense = {i + 1, 0};

		if (random_below(&random, pool - i) >= rows)
			continue;
		output_row(&output, ids ? &ids[i] : &dense, uuid, kind, &random);
		rows--;
	}
	output_close(&output);
}

/* Signed order for bigints, bytewise order for uuids */
static int
compare_signed(const void *a, const void *b)
{
	int64_t		x = (int64_t) ((const Id *) a)->high;
	int64_t		y = (int64_t) ((const Id *) b)->high;

	return (x > y) - (x < y);
}

static int
compare_bytes(const void *a, const void *b)
{
	const Id   *x = a;
	const Id   *y = b;

	if (x->high != y->high)
		return x->high > y->high ? 1 : -1;
	return (x->low > y->low) - (x->low < y->low);
}

/* Random ids, ascending, none twice; *n may shrink by the few doubles. */
static Id *
random_ids(const char *name, bool uuid, uint64_t *n)
{
	Random		random = random_for(name);
	Id		   *ids = allocate(*n * sizeof(Id));
	uint64_t	kept = 0;

	for (uint64_t i = 0; i < *n; i++)
	{
		ids[i].high = random_next(&random);
		ids[i].low = 0;
		if (uuid)
		{
			/* version 4, variant 1 */
			ids[i].high = (ids[i].high & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
			ids[i].low = (random_next(&random) >> 2) | UINT64_C(0x8000000000000000);
		}
	}
	qsort(ids, *n, sizeof(Id), uuid ? compare_bytes : compare_signed);
	for (uint64_t i = 0; i < *n; i++)
	{
		if (kept == 0 || compare_bytes(&ids[kept - 1], &ids[i]) != 0)
			ids[kept++] = ids[i];
	}
	*n = kept;
	return ids;
}

static void
write_dense(const char *folder, uint64_t ids)
{
	uint64_t	rows = ids / 10 * 8;

	write_sample(folder, "colour", VALUE_COLOUR, NULL, false, ids, rows);
	write_sample(folder, "length", VALUE_LENGTH, NULL, false, ids, rows);
	write_sample(folder, "mass", VALUE_MASS, NULL, false, ids, rows);
}

static void
write_wide(const char *folder, uint64_t ids, uint64_t columns)
{
	for (uint64_t c = 1; c <= columns; c++)
	{
		char		name[32];

		snprintf(name, sizeof(name), "c%" PRIu64, c);
		write_sample(folder, name, VALUE_NUMBER, NULL, false, ids, ids / 2);
	}
}

static void
write_random_keys(const char *folder, bool uuid, uint64_t rows, uint64_t pool)
{
	static const char *const names[] = {"colour", "length", "mass"};
	static const ValueKind kinds[] = {VALUE_COLOUR, VALUE_LENGTH, VALUE_MASS};
	Id		   *shared = pool > 0 ? random_ids("pool", uuid, &pool) : NULL;

	for (int i = 0; i < 3; i++)
	{
		uint64_t	n = rows;
		Id		   *own;

		if (shared != NULL)
		{
			write_sample(folder, names[i], kinds[i], shared, uuid, pool, rows);
			continue;
		}
		own = random_ids(names[i], uuid, &n);
		write_sample(folder, names[i], kinds[i], own, uuid, n, n);
		free(own);
	}
	free(shared);
}

static uint64_t
number_argument(int argc, char **argv, int i)
{
	char	   *end;
	uint64_t	number;

	if (i >= argc)
		return 0;
	number = strtoull(argv[i], &end, 10);
	if (*argv[i] == '\0' || *end != '\0' || number >= UINT64_C(0xffffffff))
	{
		fprintf(stderr, "generate: not a number that will do: %s\n", argv[i]);
		exit(1);
	}
	return number;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";
	uint64_t	first = number_argument(argc, argv, 3);
	uint64_t	second = number_argument(argc, argv, 4);

	if (strcmp(what, "dense") == 0)
		write_dense(argv[2], first);
	else if (strcmp(what, "wide") == 0)
		write_wide(argv[2], first, second);
	else if (strcmp(what, "sparse") == 0)
		write_random_keys(argv[2], false, first, second);
	else if (strcmp(what, "uuid") == 0)
		write_random_keys(argv[2], true, first, second);
	else
	{
		fprintf(stderr, "usage: generate dense|wide|sparse|uuid FOLDER ROWS [COLUMNS|POOL]\n");
		return 1;
	}
	return 0;
}
