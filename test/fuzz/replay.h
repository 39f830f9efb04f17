/*-------------------------------------------------------------------------
 *
 * replay.h
 *	  main() of a fuzz target that stands alone: every file named as an
 *	  argument is an input.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_REPLAY_H
#define OUTERJOIN_REPLAY_H

#ifndef LIBFUZZER

#include <stdio.h>
#include <stdlib.h>

#define MAX_REPLAY_BYTES	(64 * 1024 * 1024)

/* An input in a block of just its length, for a sanitizer to guard; NULL: it could not be read. */
static uint8_t *
replay_load(const char *name, size_t *size)
{
	FILE	   *file = fopen(name, "rb");
	uint8_t    *bytes = malloc(MAX_REPLAY_BYTES);
	uint8_t    *exact = NULL;

	*size = 0;
	if (file == NULL || bytes == NULL)
		perror(name);
	else
	{
		*size = fread(bytes, 1, MAX_REPLAY_BYTES, file);
		exact = malloc(Max(*size, 1));
		memcpy(exact, bytes, *size);
	}
	if (file != NULL)
		fclose(file);
	free(bytes);
	return exact;
}

/* Each file through "input"; what main() returns. */
static int
replay_files(int nfiles, char **names, int (*input) (const uint8_t *data, size_t size))
{
	int			failed = nfiles == 0;

	for (int i = 0; i < nfiles; i++)
	{
		size_t		size;
		uint8_t    *data = replay_load(names[i], &size);

		printf("%s\n", names[i]);
		fflush(stdout);
		if (data == NULL)
			failed = 1;
		else
			(void) input(data, size);
		free(data);
	}
	return failed;
}

#endif							/* LIBFUZZER */

#endif							/* OUTERJOIN_REPLAY_H */
