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
#include "workloads/metric.h"

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
	size_t missing; /* planned, running, lab fault, or done without this metric */
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
	bool emulated;	   /* times mean nothing on their own */
	bool counted;	   /* they are numbers of instructions */
	bool sync_storage; /* disks of such a machine answer at once */
	int64_t created;
	struct report_variant *variants;
	size_t n_variants;
	char **cells; /* one named "" when the experiment has no factors */
	size_t n_cells;
	struct metric_list metrics;
	struct report_run *runs; /* the newest attempt of each slot, in run order */
	size_t n_runs;
	struct report_run *repeated; /* earlier attempts that were lab faults */
	size_t n_repeated;
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
