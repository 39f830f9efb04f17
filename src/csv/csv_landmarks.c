/*-------------------------------------------------------------------------
 *
 * csv_landmarks.c
 *	  What searches have learnt of where keys are in a text file.
 *
 * A search bisects cells instead of bytes, so that every search asks the same
 * questions, and those that have been asked before need no reading.
 *
 * Refuses to know: how keys compare.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "csv/csv_landmarks.h"

/* Smaller cells are as soon read as searched. */
#define LEAST_CELL	(16 * 1024)

CsvLandmarks *
csv_landmarks_create(int64 size, size_t memory)
{
	CsvLandmarks *landmarks = palloc0(sizeof(CsvLandmarks));
	int64		most = Max((int64) (memory / (2 * sizeof(int64))), 1);

	landmarks->cell_bytes = Max(LEAST_CELL, size / most + 1);
	landmarks->ncells = (int) (size / landmarks->cell_bytes);
	landmarks->row = palloc0(sizeof(int64) * Max(landmarks->ncells, 1));
	landmarks->image = palloc(sizeof(int64) * Max(landmarks->ncells, 1));
	return landmarks;
}

/* Learn where a cell's first row is, and what its key; false where no row begins there or later. */
static bool
read_cell(CsvLandmarks *landmarks, SourceFile *file, char line_byte, int cell,
		  CsvReadImage read_image, void *state)
{
	int64		size = source_file_identity(file)->size;
	int64		start = (cell + 1) * landmarks->cell_bytes;
	int64		row = csv_next_line(file, line_byte, start - 1, size);

	if (row < size && !read_image(state, row, &landmarks->image[cell]))
		row = size;
	landmarks->row[cell] = row;
	return row < size;
}

void
csv_landmarks_search(CsvLandmarks *landmarks, SourceFile *file, char line_byte,
					 int64 first, CsvReadImage read_image,
					 CsvImageIsBefore image_is_before, void *state,
					 int64 *low, int64 *high)
{
	int64		size = source_file_identity(file)->size;
	int			from = -1;		/* a cell whose first row comes before the bound */
	int			to = landmarks->ncells; /* one whose first row does not */

	while (to - from > 1)
	{
		int			middle = from + (to - from) / 2;
		int64		row = landmarks->row[middle];
		int			before = 0;

		if (row > 0 && row < size)
			before = image_is_before(state, landmarks->image[middle], false);
		else if (row == size)
			before = -1;
		if (before == 0)
		{
			CHECK_FOR_INTERRUPTS();
			before = read_cell(landmarks, file, line_byte, middle, read_image, state) ?
				image_is_before(state, landmarks->image[middle], true) : -1;
		}
		if (before > 0)
			from = middle;
		else
			to = middle;
	}
	*low = from < 0 ? first : Max(landmarks->row[from], first);
	*high = to == landmarks->ncells ? size : (to + 1) * landmarks->cell_bytes;
}
