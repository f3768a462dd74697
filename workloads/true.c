/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload that does nothing: what is left is the cost of a run. */
#include "workloads/drivers.h"

static const struct workload_option no_options[] = {{NULL}};
static const char *const needs[] = {"true", NULL};

static int true_steps(const json_t *options, struct job_phase *phase, struct lab_error *err)
{
	(void)options;
	(void)err;
	job_phase_add_step(phase, "true", needs, 0);
	return 0;
}

static void true_metrics(const json_t *options, struct metric_list *list)
{
	(void)options;
	(void)list;
}

static int true_parse(const struct workload_input *in, struct sample *sample,
		      struct lab_strv *notes, struct lab_error *err)
{
	const struct lab_buf *out;

	(void)sample;
	(void)notes;
	return step_output(in, "true", &out, err);
}

const struct workload workload_true = {
	.name = "true",
	.help = "nothing: measures what a run costs",
	.options = no_options,
	.needs = needs,
	.steps = true_steps,
	.metrics = true_metrics,
	.parse = true_parse,
};
