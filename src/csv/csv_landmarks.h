/*-------------------------------------------------------------------------
 *
 * csv_landmarks.h
 *	  What searches have learnt of where keys are in a text file.
 *
 * The file is divided into cells of equal length; of each it is remembered
 * where its first row begins, and the image of that row's key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_LANDMARKS_H
#define OUTERJOIN_CSV_LANDMARKS_H

#include "csv/csv_seek.h"

typedef struct CsvLandmarks
{
	int64		cell_bytes;
	int			ncells;
	int64	   *row;			/* [ncells]; 0: not known, the file's size: no row begins there or later */
	int64	   *image;
} CsvLandmarks;

/* For a file of so many bytes, in so much memory at most, in the current context. */
extern CsvLandmarks *csv_landmarks_create(int64 size, size_t memory);

/*
 * The cells between which a bound lies: all rows before *low (a row's start)
 * come before it, and none that starts at *high or later does.  Rows begin at
 * "first".  read_image reads the key of the row at an offset, false where there
 * is none; image_is_before says whether that key, or one that was read by an
 * earlier search, comes before the bound; 0 is "cannot say", and then the row
 * is read.
 */
typedef bool (*CsvReadImage) (void *state, int64 offset, int64 *image);
typedef int (*CsvImageIsBefore) (void *state, int64 image, bool at_hand);

extern void csv_landmarks_search(CsvLandmarks *landmarks, SourceFile *file, char line_byte,
								 int64 first, CsvReadImage read_image,
								 CsvImageIsBefore image_is_before, void *state,
								 int64 *low, int64 *high);

#endif							/* OUTERJOIN_CSV_LANDMARKS_H */
