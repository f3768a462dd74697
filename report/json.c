/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include <jansson.h>

#include "common/mem.h"
#include "report/compare.h"
#include "report/render.h"

/* docs/json.md describes every member; raise the version when one changes its meaning. */
#define SCHEMA_NAME "labctl.report"
#define SCHEMA_VERSION 1

static void lab_cleanup_json(json_t **json)
{
	json_decref(*json);
}

/* JSON has no NaN: what is not defined is null. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Seeds use all 64 bits, more than many readers of JSON keep: they travel as text. */
static json_t *seed_text(uint64_t seed)
{
	LAB_CLEANUP(free) char *text = lab_asprintf("%llu", (unsigned long long)seed);

	return json_string(text);
}

/* Text from a guest or a git tree may be no UTF-8. */
static json_t *text_of(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_null();
}

static json_t *campaign_of(const struct report_model *m)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b, s:I, s:o}", "id",
			 (json_int_t)m->campaign, "experiment", text_of(m->experiment), "preset",
			 text_of(m->preset), "title", text_of(m->title), "target",
			 text_of(m->target), "state", text_of(m->state), "identity",
			 text_of(m->identity), "seed", seed_text(m->seed), "n", (int)m->n,
			 "emulated", m->emulated, "created", (json_int_t)m->created, "machine",
			 json_loads(m->machine, 0, NULL));
}

static json_t *variants_of(const struct report_model *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_variants; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name",
						      text_of(m->variants[i].name), "kernel",
						      text_of(m->variants[i].kernel), "label",
						      text_of(m->variants[i].label)));
	return list;
}

static json_t *cells_of(const struct report_model *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_cells; i++)
		json_array_append_new(list, text_of(m->cells[i]));
	return list;
}

static json_t *runs_of(const struct report_model *m, const struct report_run *runs, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct report_run *r = &runs[i];

		json_array_append_new(
			list, json_pack("{s:i, s:i, s:o, s:o, s:i, s:o, s:o, s:o}", "run",
					(int)r->number, "attempt", (int)r->attempt, "variant",
					text_of(m->variants[r->variant].name), "cell",
					text_of(m->cells[r->cell]), "repetition",
					(int)r->repetition, "seed", seed_text(r->seed), "state",
					text_of(r->state), "message", text_of(r->message)));
	}
	return list;
}

static json_t *summary_json(const struct stats_summary *s)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)s->n, "min",
			 number(s->min), "max", number(s->max), "mean", number(s->mean), "median",
			 number(s->median), "sd", number(s->sd));
}

static json_t *boots_of(const struct report_model *m, const struct report_arm *arm)
{
	json_t *list = json_array();

	for (size_t i = 0; i < arm->n_boots; i++) {
		const struct report_boot *boot = &arm->boots[i];
		json_t *values = json_array();

		for (size_t j = 0; j < boot->n; j++)
			json_array_append_new(values, number(boot->values[j]));
		json_array_append_new(list, json_pack("{s:i, s:o, s:o}", "run",
						      (int)m->runs[boot->run].number, "value",
						      number(boot->reduced), "values", values));
	}
	return list;
}

static json_t *arm_of(const struct report_model *m, size_t metric, size_t cell, size_t variant)
{
	const struct report_arm *arm = report_arm(m, metric, cell, variant);
	struct stats_summary boots;
	struct stats_summary pooled;
	size_t n_boots;
	size_t n_pooled;
	LAB_CLEANUP(free) double *by_boot = report_arm_boots(arm, &n_boots);
	LAB_CLEANUP(free) double *all = report_arm_pooled(arm, &n_pooled);

	stats_summarise(by_boot, n_boots, &boots);
	stats_summarise(all, n_pooled, &pooled);
	return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "variant",
			 text_of(m->variants[variant].name), "failed", (json_int_t)arm->failed,
			 "missing", (json_int_t)arm->missing, "boots", boots_of(m, arm), "summary",
			 summary_json(&boots), "pooled", summary_json(&pooled));
}

static json_t *comparison_of(const struct report_model *m, size_t metric, size_t cell, size_t b,
			     const struct report_options *options)
{
	struct report_comparison c;
	const struct stats_welch *w = &c.welch;
	json_t *json;

	report_compare(m, metric, cell, 0, b, options, &c);
	json = json_pack("{s:o, s:o, s:s}", "a", text_of(m->variants[0].name), "b",
			 text_of(m->variants[b].name), "verdict", c.word);
	/* A refused comparison is not given either. */
	if (c.verdict == REPORT_REFUSED)
		return json;
	json_object_set_new(json, "difference", number(w->diff));
	json_object_set_new(json, "percent", number(w->percent));
	if (!report_verdict_has_interval(c.verdict))
		return json;
	json_object_set_new(json, "test", json_string("welch"));
	json_object_set_new(json, "t", number(w->t));
	json_object_set_new(json, "df", number(w->df));
	json_object_set_new(json, "p", number(w->p));
	json_object_set_new(json, "level", number(w->level));
	json_object_set_new(json, "interval", json_pack("[o, o]", number(w->low), number(w->high)));
	json_object_set_new(json, "percent_interval",
			    json_pack("[o, o]", number(w->percent_low), number(w->percent_high)));
	return json;
}

static json_t *metric_cells_of(const struct report_model *m, size_t metric,
			       const struct report_options *options)
{
	json_t *list = json_array();

	for (size_t cell = 0; cell < m->n_cells; cell++) {
		json_t *arms = json_array();
		json_t *comparisons = json_array();

		for (size_t v = 0; v < m->n_variants; v++)
			json_array_append_new(arms, arm_of(m, metric, cell, v));
		for (size_t v = 1; v < m->n_variants; v++)
			json_array_append_new(comparisons,
					      comparison_of(m, metric, cell, v, options));
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "cell", text_of(m->cells[cell]),
						"arms", arms, "comparisons", comparisons));
	}
	return list;
}

static json_t *metrics_of(const struct report_model *m, const struct report_options *options)
{
	LAB_CLEANUP(json) json_t *described = metric_list_to_json(&m->metrics);
	json_t *list = json_array();

	for (size_t i = 0; i < m->metrics.n; i++) {
		json_t *metric = json_array_get(described, i);

		if (!report_options_want(options, &m->metrics.items[i]))
			continue;
		json_object_set_new(metric, "emulated",
				    json_boolean(report_emulated(m, &m->metrics.items[i])));
		json_object_set_new(metric, "cells", metric_cells_of(m, i, options));
		json_array_append(list, metric);
	}
	return list;
}

int report_json(const struct report_model *model, const struct report_options *options,
		struct lab_buf *out, struct lab_error *err)
{
	struct report_options complete = report_options_complete(options);
	LAB_CLEANUP(json) json_t *root = NULL;
	LAB_CLEANUP(free) char *text = NULL;

	if (report_options_check(&complete, model, err) < 0)
		return -1;
	root = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA_NAME,
			 "version", SCHEMA_VERSION, "campaign", campaign_of(model), "variants",
			 variants_of(model), "cells", cells_of(model), "runs",
			 runs_of(model, model->runs, model->n_runs), "repeated",
			 runs_of(model, model->repeated, model->n_repeated), "metrics",
			 metrics_of(model, &complete));
	text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
	if (!text)
		return lab_error_set(err, LAB_ERR_FAILED, "campaign %lld cannot be put into JSON",
				     (long long)model->campaign);
	lab_buf_adds(out, text);
	lab_buf_addc(out, '\n');
	return 0;
}
