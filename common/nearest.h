/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_NEAREST_H
#define LAB_COMMON_NEAREST_H

/* "Did you mean": which known name a mistyped one most likely stands for. */

#include <stddef.h>

/*
 * Edits (insert, delete, replace, swap two neighbours; Damerau's distance without
 * repeated edits of one place) that turn a into b.
 */
unsigned lab_edit_distance(const char *a, const char *b);

struct lab_nearest {
	const char *word;
	const char *best; /* the answer so far: borrowed, NULL while nothing is near enough */
	unsigned distance;
};

/* Considers one candidate; the first of equally near ones wins. */
void lab_nearest_consider(struct lab_nearest *nearest, const char *candidate);

#endif
