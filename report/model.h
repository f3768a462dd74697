/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_MODEL_H
#define LAB_REPORT_MODEL_H

/*
 * Everything a report is made from, as plain data: read from the lab once, rendered
 * by any number of renderers. A boot (run) is the unit of replication.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/lab.h"

enum report_direction {
	REPORT_NO_DIRECTION,
	REPORT_MORE_IS_BETTER, /* "+" */
	REPORT_LESS_IS_BETTER, /* "-" */
};

enum report_reducer {
	REPORT_MEAN,
	REPORT_MAX,
	REPORT_MIN,
	REPORT_LAST,
	REPORT_DELTA, /* last - first */
};

enum report_kind {
	REPORT_COUNT,
	REPORT_TIME, /* means nothing on an emulated machine */
	REPORT_MEMORY,
};

struct report_metric {
	char *name;
	char *unit; /* "" when it has none */
	enum report_direction direction;
	enum report_reducer reducer;
	enum report_kind kind;
	bool comparable; /* false: its meaning differs between the kernels; printed, no interval */
};

struct report_variant {
	char *name;   /* "A", "B" */
	char *kernel; /* artifact key or path */
	char *label;  /* "v6.1 + 2" */
};

/* One run, whatever became of it. */
struct report_run {
	unsigned number;
	unsigned attempt;
	size_t variant; /* index */
	size_t cell;	/* index */
	unsigned repetition;
	uint64_t seed;
	char *state; /* store/state.h; "planned" when it has not been tried */
	char *message;
};

/* The values of one metric of one run that is "done". */
struct report_boot {
	size_t run; /* index into model->runs */
	double *values;
	size_t n;
	double reduced; /* one value by the metric's reducer */
};

/* One metric, one cell, one variant. */
struct report_arm {
	struct report_boot *boots; /* in run order */
	size_t n_boots;
	size_t cap;
	size_t pooled;	/* values of all boots together */
	size_t failed;	/* runs with another outcome than "done" */
	size_t missing; /* planned, running or lab fault */
};

struct report_model {
	int64_t campaign;
	char *experiment;
	char *preset;
	char *target;
	char *title;
	char *state; /* of the campaign */
	char *identity;
	char *machine; /* JSON object in text */
	uint64_t seed;
	unsigned n;
	bool emulated;
	int64_t created;
	struct report_variant *variants;
	size_t n_variants;
	char **cells; /* one named "" when the experiment has no factors */
	size_t n_cells;
	struct report_metric *metrics;
	size_t n_metrics;
	struct report_run *runs; /* newest attempts, in run order */
	size_t n_runs;
	struct report_arm *arms; /* see report_arm() */
};

/* Reads campaign `id`. LAB_ERR_INVALID when its definition lacks what a report needs. */
int report_model_load(struct lab *lab, int64_t id, struct report_model **ret_model,
		      struct lab_error *err) LAB_MUST_CHECK;
void report_model_free(struct report_model *model);
LAB_DEFINE_CLEANUP(report_model, struct report_model, report_model_free)

/* Never NULL for indices in range; an arm without boots has n_boots 0. */
struct report_arm *report_arm(const struct report_model *model, size_t metric, size_t cell,
			      size_t variant);
/* The reduced values of an arm's boots, or all its values; caller frees (NULL for none). */
double *report_arm_boots(const struct report_arm *arm, size_t *ret_n);
double *report_arm_pooled(const struct report_arm *arm, size_t *ret_n);

#endif
