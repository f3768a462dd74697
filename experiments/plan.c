/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/plan.h"

#include <inttypes.h>
#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "common/rng.h"

/* A plan that nobody can run is a mistake in n or in the factors. */
#define PLAN_MAX 1000000u

/* Cell number `index`, the last factor changing fastest. */
static void fill_cell(const struct experiment *e, size_t index, struct plan_cell *cell)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	size_t below = 1;

	cell->levels = LAB_NEW_ARRAY(const struct experiment_level *, e->n_factors + 1);
	cell->n_levels = e->n_factors;
	for (size_t f = e->n_factors; f-- > 0; below *= e->factors[f].n)
		cell->levels[f] = &e->factors[f].levels[index / below % e->factors[f].n];
	for (size_t f = 0; f < e->n_factors; f++)
		lab_strv_add(&names, cell->levels[f]->name);
	cell->name = lab_strv_join(&names, "/");
}

static void cell_release(struct plan_cell *cell)
{
	free(cell->name);
	free(cell->levels);
}

static void keep_cells(struct plan *plan, const struct lab_strv *only)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n_cells; i++) {
		if (only && only->n && !lab_strv_has(only, plan->cells[i].name))
			cell_release(&plan->cells[i]);
		else
			plan->cells[kept++] = plan->cells[i];
	}
	plan->n_cells = kept;
}

static int check_only(const struct plan *plan, const struct lab_strv *only, struct lab_error *err)
{
	for (size_t i = 0; only && i < only->n; i++) {
		struct lab_nearest nearest = {.word = only->items[i]};

		if (plan_cell_find(plan, only->items[i]))
			continue;
		for (size_t c = 0; c < plan->n_cells; c++)
			lab_nearest_consider(&nearest, plan->cells[c].name);
		return lab_error_set(err, LAB_ERR_USAGE, "no cell is named '%s'%s%s%s",
				     only->items[i], nearest.best ? "; did you mean '" : "",
				     nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	}
	return 0;
}

/* Adds one block: everything once, in an order of its own. */
static void add_block(const struct experiment *e, struct plan *plan, unsigned repetition,
		      uint64_t seed, struct lab_rng *rng, size_t *order)
{
	size_t n = e->n_variants * plan->n_cells;

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	lab_rng_shuffle(rng, order, n);
	for (size_t i = 0; i < n; i++) {
		struct run_slot *slot = &plan->slots[plan->n_slots++];

		slot->number = (unsigned)plan->n_slots;
		slot->variant = lab_strdup(e->variants[order[i] % e->n_variants].name);
		slot->cell = lab_strdup(plan->cells[order[i] / e->n_variants].name);
		slot->repetition = repetition;
		slot->seed = seed + repetition - 1;
	}
}

int plan_new(const struct experiment *experiment, unsigned n, uint64_t seed,
	     const struct lab_strv *only, struct plan **ret_plan, struct lab_error *err)
{
	LAB_CLEANUP(plan) struct plan *plan = LAB_NEW(struct plan);
	LAB_CLEANUP(free) size_t *order = NULL;
	struct lab_rng rng;
	size_t cells = 1;

	for (size_t f = 0; f < experiment->n_factors; f++)
		if ((cells *= experiment->factors[f].n) > PLAN_MAX)
			break;
	if (!n || cells > PLAN_MAX || cells * experiment->n_variants > PLAN_MAX / n)
		return lab_error_set(err, LAB_ERR_INVALID, "a plan has 1 to %u runs", PLAN_MAX);
	plan->cells = LAB_NEW_ARRAY(struct plan_cell, cells);
	for (; plan->n_cells < cells; plan->n_cells++)
		fill_cell(experiment, plan->n_cells, &plan->cells[plan->n_cells]);
	if (check_only(plan, only, err))
		return -1;
	keep_cells(plan, only);
	plan->slots = LAB_NEW_ARRAY(struct run_slot, n * experiment->n_variants * plan->n_cells);
	order = LAB_NEW_ARRAY(size_t, experiment->n_variants * plan->n_cells);
	lab_rng_seed(&rng, seed);
	for (unsigned r = 1; r <= n; r++)
		add_block(experiment, plan, r, seed, &rng, order);
	*ret_plan = LAB_TAKE(plan);
	return 0;
}

const struct plan_cell *plan_cell_find(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_cells; i++)
		if (strcmp(plan->cells[i].name, name) == 0)
			return &plan->cells[i];
	return NULL;
}

void plan_text(const struct plan *plan, struct lab_buf *out)
{
	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct run_slot *s = &plan->slots[i];

		lab_buf_addf(out, "%4u  %-8s  %-24s  %3u  seed %" PRIu64 "\n", s->number,
			     s->variant, *s->cell ? s->cell : "-", s->repetition, s->seed);
	}
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->n_cells; i++)
		cell_release(&plan->cells[i]);
	free(plan->cells);
	for (size_t i = 0; i < plan->n_slots; i++) {
		free(plan->slots[i].variant);
		free(plan->slots[i].cell);
	}
	free(plan->slots);
	free(plan);
}
