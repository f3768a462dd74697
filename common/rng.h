/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_RNG_H
#define LAB_COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

/*
 * A small seeded generator whose sequence is part of our stored formats (run
 * order, bootstrap): it must never change. SplitMix64, Steele, Lea and Flood,
 * "Fast splittable pseudorandom number generators", OOPSLA 2014.
 */
struct lab_rng {
	uint64_t state;
};

void lab_rng_seed(struct lab_rng *rng, uint64_t seed);
uint64_t lab_rng_next(struct lab_rng *rng);
/* Uniform in [0, bound) without modulo bias; bound must not be 0. */
uint64_t lab_rng_below(struct lab_rng *rng, uint64_t bound);
double lab_rng_unit(struct lab_rng *rng); /* uniform in [0, 1), 53 bits */
/* Fisher-Yates over an array of indices. */
void lab_rng_shuffle(struct lab_rng *rng, size_t *items, size_t n);

#endif
