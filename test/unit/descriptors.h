/*-------------------------------------------------------------------------
 *
 * descriptors.h
 *	  How many descriptors this process has open.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_DESCRIPTORS_H
#define OUTERJOIN_DESCRIPTORS_H

#include <dirent.h>

/* Too many by the one that looks, and by "." and "..": only differences count. */
static inline int
descriptors_open(void)
{
	DIR		   *dir = opendir("/proc/self/fd");
	int			count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

#endif							/* OUTERJOIN_DESCRIPTORS_H */
