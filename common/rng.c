/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/rng.h"

void lab_rng_seed(struct lab_rng *rng, uint64_t seed)
{
	rng->state = seed;
}

uint64_t lab_rng_next(struct lab_rng *rng)
{
	uint64_t z = (rng->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t lab_rng_below(struct lab_rng *rng, uint64_t bound)
{
	uint64_t threshold = -bound % bound;
	uint64_t value;

	do
		value = lab_rng_next(rng);
	while (value < threshold);
	return value % bound;
}

double lab_rng_unit(struct lab_rng *rng)
{
	return (double)(lab_rng_next(rng) >> 11) * 0x1.0p-53;
}

void lab_rng_shuffle(struct lab_rng *rng, size_t *items, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)lab_rng_below(rng, i);
		size_t swap = items[i - 1];

		items[i - 1] = items[j];
		items[j] = swap;
	}
}
