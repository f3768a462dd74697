/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_PLAN_H
#define LAB_EXPERIMENTS_PLAN_H

/*
 * The order of runs: pure, a function of the experiment's names and of the seed,
 * and part of the stored formats (the same seed gives the same plan for ever).
 *
 * A repetition is one block: every variant in every cell once, shuffled. So a drift
 * of the host meets all arms alike. Run `repetition` of every arm uses the seed
 * campaign seed + repetition (0-based), so arms are paired by seed.
 */

#include "common/buf.h"
#include "experiments/definition.h"
#include "store/campaign.h"

/* One combination of levels; `name` is "LEVEL/LEVEL", "" without factors. */
struct plan_cell {
	char *name;
	const struct experiment_level **levels; /* one per factor, borrowed */
	size_t n_levels;
};

struct plan {
	struct plan_cell *cells;
	size_t n_cells;
	struct run_slot *slots; /* in run order, numbers 1..n_slots */
	size_t n_slots;
};

/*
 * `only` (NULL or empty: all) keeps the cells that it names; a name that no cell has
 * is a usage error. n >= 1 boots of each arm in each cell.
 */
int plan_new(const struct experiment *experiment, unsigned n, uint64_t seed,
	     const struct lab_strv *only, struct plan **ret_plan,
	     struct lab_error *err) LAB_MUST_CHECK;
const struct plan_cell *plan_cell_find(const struct plan *plan, const char *name);
/* One line per slot: number, variant, cell ("-" for none), repetition, seed. */
void plan_text(const struct plan *plan, struct lab_buf *out);
void plan_free(struct plan *plan);

LAB_DEFINE_CLEANUP(plan, struct plan, plan_free)

#endif
