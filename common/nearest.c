/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/nearest.h"

#include <string.h>

#include "common/mem.h"

/* Longer words are cut: nobody mistypes the 65th letter only. */
#define MAX_WORD 64

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned lab_edit_distance(const char *a, const char *b)
{
	size_t la = strnlen(a, MAX_WORD), lb = strnlen(b, MAX_WORD);
	unsigned row[3][MAX_WORD + 1];
	unsigned *before = row[0], *last = row[1], *now = row[2];

	for (size_t j = 0; j <= lb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *spare = before;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

			best = min2(best, min2(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = min2(best, before[j - 2] + 1);
			now[j] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[lb];
}

void lab_nearest_consider(struct lab_nearest *nearest, const char *candidate)
{
	unsigned distance = lab_edit_distance(nearest->word, candidate);
	size_t len = strnlen(nearest->word, MAX_WORD);
	unsigned limit = len < 4 ? 1 : (unsigned)len / 3 + 1;

	/* A word that was only begun ("camp" for "campaign") is near as well. */
	if (distance > limit && len >= 3 && strncmp(candidate, nearest->word, len) == 0)
		distance = limit;
	if (distance > limit || distance >= strlen(candidate))
		return;
	if (nearest->best && distance >= nearest->distance)
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}
