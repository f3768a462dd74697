/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_RESOLVE_H
#define LAB_EXPERIMENTS_RESOLVE_H

/*
 * From the words of a definition to what one boot does: pure. Phase options are the
 * workload's defaults, then the phase's own, the preset's and the cell's levels'.
 */

#include "common/err.h"
#include "experiments/definition.h"
#include "experiments/plan.h"
#include "protocol/job.h"
#include "protocol/record.h"
#include "store/sample.h"
#include "workloads/metric.h"

/* What is resolved: one variant in one cell of a preset. */
struct resolve {
	const struct experiment *experiment;
	const struct experiment_preset *preset;
	const struct experiment_variant *variant; /* may be NULL where settings do not matter */
	const struct plan_cell *cell;
};

/* Complete options of one phase; new reference. */
int resolve_options(const struct resolve *r, const struct experiment_phase *phase,
		    json_t **ret_options, struct lab_error *err) LAB_MUST_CHECK;

/* The settings of the variant in the cell; caller releases. */
void resolve_settings(const struct resolve *r, struct experiment_settings *ret_settings);

/*
 * Phases, settings and what to collect. Run name ("plan" until then), seed and
 * disks are the runner's to add. Timeouts are multiplied by `stretch` (1: as written).
 */
int resolve_job(const struct resolve *r, double stretch, struct job *ret_job,
		struct lab_error *err) LAB_MUST_CHECK;

/* The metrics of all these cells, as far as the definition keeps them; caller releases. */
int resolve_metrics(const struct experiment *experiment, const struct experiment_preset *preset,
		    const struct plan *plan, struct metric_list *ret_metrics,
		    struct lab_error *err) LAB_MUST_CHECK;

/*
 * Values from a run that said done. -1: a workload did not do its work, and why. What
 * parsers passed over goes to notes.
 */
int resolve_sample(const struct resolve *r, const struct record *record, struct sample *ret_sample,
		   struct lab_strv *notes, struct lab_error *err) LAB_MUST_CHECK;

/* All of the above that can fail, tried in every cell of a preset. */
int resolve_check(const struct experiment *experiment, const struct experiment_preset *preset,
		  struct lab_error *err) LAB_MUST_CHECK;

#endif
