/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/resolve.h"

#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "experiments/settings.h"
#include "workloads/driver.h"
#include "workloads/series.h"

int resolve_options(const struct resolve *r, const struct experiment_phase *phase,
		    json_t **ret_options, struct lab_error *err)
{
	json_auto_t *given = json_deep_copy(phase->options);
	json_t *over = json_object_get(r->preset->options, phase->name);

	if (over)
		json_object_update(given, over);
	for (size_t i = 0; i < r->cell->n_levels; i++) {
		over = json_object_get(r->cell->levels[i]->options, phase->name);
		if (over)
			json_object_update(given, over);
	}
	if (workload_options_complete(workload_find(phase->workload), given, ret_options, err))
		return lab_error_wrap(err, "phase '%s'", phase->name);
	return 0;
}

void resolve_settings(const struct resolve *r, struct experiment_settings *ret_settings)
{
	struct experiment_settings settings = {0};

	settings_put_all(&settings, &r->experiment->settings);
	settings_put_all(&settings, &r->variant->settings);
	for (size_t i = 0; i < r->cell->n_levels; i++)
		settings_put_all(&settings, &r->cell->levels[i]->settings);
	*ret_settings = settings;
}

static int add_phase(const struct resolve *r, const struct experiment_phase *phase, double stretch,
		     struct job *job, struct lab_error *err)
{
	json_auto_t *options = NULL;
	struct job_phase *jp;

	if (resolve_options(r, phase, &options, err))
		return -1;
	jp = job_add_phase(job, phase->name);
	if (workload_find(phase->workload)->steps(options, jp, err))
		return lab_error_wrap(err, "phase '%s'", phase->name);
	for (size_t i = 0; i < jp->n_steps; i++)
		jp->steps[i].timeout_ms = (uint64_t)((double)phase->timeout_ms * stretch);
	return 0;
}

int resolve_job(const struct resolve *r, double stretch, struct job *ret_job, struct lab_error *err)
{
	LAB_CLEANUP(settings) struct experiment_settings settings = {0};
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	const struct experiment *e = r->experiment;

	job.run = lab_strdup("plan");
	resolve_settings(r, &settings);
	for (size_t i = 0; i < settings.n; i++)
		job_add_setting(&job,
				strcmp(settings.items[i].kind, "sysctl") == 0 ? JOB_SYSCTL
									      : JOB_WRITE,
				settings.items[i].key, settings.items[i].value);
	job.collect.interval_ms = r->preset->interval_ms;
	lab_strv_add_all(&job.collect.series, (const char *const *)e->collect.series.items);
	lab_strv_add_all(&job.collect.snapshots, (const char *const *)e->collect.snapshots.items);
	for (size_t i = 0; i < e->n_phases; i++)
		if (add_phase(r, &e->phases[i], stretch, &job, err))
			return -1;
	*ret_job = job;
	job = (struct job)JOB_INIT;
	return 0;
}

static bool is_measured(const struct experiment_phase *phase)
{
	return strcmp(phase->name, JOB_PHASE_RUN) == 0;
}

/* Memory is measured wherever it is sampled. */
static bool has_memory(const struct experiment *experiment, const struct experiment_preset *preset)
{
	return preset->interval_ms && lab_strv_has(&experiment->collect.series, "meminfo");
}

static int all_metrics(const struct experiment *experiment, const struct experiment_preset *preset,
		       const struct plan *plan, struct metric_list *list, struct lab_error *err)
{
	for (size_t c = 0; c < plan->n_cells; c++) {
		struct resolve r = {experiment, preset, NULL, &plan->cells[c]};

		for (size_t i = 0; i < experiment->n_phases; i++) {
			const struct experiment_phase *phase = &experiment->phases[i];
			json_auto_t *options = NULL;

			if (!is_measured(phase))
				continue;
			if (resolve_options(&r, phase, &options, err))
				return -1;
			workload_find(phase->workload)->metrics(options, list);
		}
	}
	if (has_memory(experiment, preset))
		series_metrics(list);
	return 0;
}

static int unknown_metric(const struct metric_list *list, const char *name, struct lab_error *err)
{
	struct lab_nearest nearest = {.word = name};

	for (size_t i = 0; i < list->n; i++)
		lab_nearest_consider(&nearest, list->items[i].name);
	return lab_error_set(err, LAB_ERR_INVALID, "nothing here measures '%.60s'%s%s%s", name,
			     nearest.best ? "; did you mean '" : "",
			     nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

int resolve_metrics(const struct experiment *experiment, const struct experiment_preset *preset,
		    const struct plan *plan, struct metric_list *ret_metrics, struct lab_error *err)
{
	LAB_CLEANUP(metric_list) struct metric_list all = {0};
	LAB_CLEANUP(metric_list) struct metric_list kept = {0};

	if (all_metrics(experiment, preset, plan, &all, err))
		return -1;
	for (size_t i = 0; i < experiment->metrics.n; i++) {
		const struct metric *m = metric_find(&all, experiment->metrics.items[i]);
		struct metric *copy;

		if (!m)
			return unknown_metric(&all, experiment->metrics.items[i], err);
		if (metric_find(&kept, m->name))
			continue;
		copy = metric_add(&kept, m->name, m->unit, m->kind);
		copy->direction = m->direction;
		copy->reducer = m->reducer;
		copy->comparable = m->comparable;
		copy->sampled = m->sampled;
	}
	*ret_metrics = experiment->metrics.n ? kept : all;
	if (experiment->metrics.n)
		kept = (struct metric_list){0};
	else
		all = (struct metric_list){0};
	return 0;
}

static int sample_phase(const struct resolve *r, const struct experiment_phase *phase,
			struct workload_input *in, struct sample *sample, struct lab_strv *notes,
			struct lab_error *err)
{
	LAB_CLEANUP(sample) struct sample dropped = SAMPLE_INIT;
	json_auto_t *options = NULL;

	if (resolve_options(r, phase, &options, err))
		return -1;
	in->phase = phase->name;
	in->options = options;
	if (workload_find(phase->workload)
		    ->parse(in, is_measured(phase) ? sample : &dropped, notes, err))
		return lab_error_wrap(err, "%s", phase->workload);
	return 0;
}

int resolve_sample(const struct resolve *r, const struct record *record, struct sample *ret_sample,
		   struct lab_strv *notes, struct lab_error *err)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	struct workload_input in = {.record = record};

	for (size_t i = 0; i < r->experiment->n_phases; i++)
		if (sample_phase(r, &r->experiment->phases[i], &in, &sample, notes, err))
			return -1;
	if (has_memory(r->experiment, r->preset) &&
	    series_parse(record, JOB_PHASE_RUN, &sample, err))
		return -1;
	*ret_sample = sample;
	sample = (struct sample)SAMPLE_INIT;
	return 0;
}

int resolve_check(const struct experiment *experiment, const struct experiment_preset *preset,
		  struct lab_error *err)
{
	LAB_CLEANUP(metric_list) struct metric_list metrics = {0};
	LAB_CLEANUP(plan) struct plan *plan = NULL;

	if (plan_new(experiment, 1, 1, NULL, &plan, err))
		return -1;
	for (size_t c = 0; c < plan->n_cells; c++) {
		struct resolve r = {experiment, preset, &experiment->variants[0], &plan->cells[c]};
		LAB_CLEANUP(job) struct job job = JOB_INIT;
		json_t *json;

		if (resolve_job(&r, 1, &job, err) || job_to_json(&job, &json, err))
			return -1;
		json_decref(json);
	}
	return resolve_metrics(experiment, preset, plan, &metrics, err);
}
