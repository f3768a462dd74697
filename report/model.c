/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/model.h"

#include <string.h>

#include <jansson.h>

#include "common/mem.h"
#include "store/campaign.h"

static void lab_cleanup_json(json_t **json)
{
	json_decref(*json);
}

static void run_release(struct report_run *r)
{
	free(r->state);
	free(r->message);
}

static void arm_release(struct report_arm *arm)
{
	for (size_t i = 0; i < arm->n_boots; i++)
		free(arm->boots[i].values);
	free(arm->boots);
}

void report_model_free(struct report_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->arms && i < m->metrics.n * m->n_cells * m->n_variants; i++)
		arm_release(&m->arms[i]);
	for (size_t i = 0; i < m->n_variants; i++) {
		free(m->variants[i].name);
		free(m->variants[i].kernel);
		free(m->variants[i].label);
	}
	for (size_t i = 0; i < m->n_cells; i++)
		free(m->cells[i]);
	for (size_t i = 0; i < m->n_runs; i++)
		run_release(&m->runs[i]);
	for (size_t i = 0; i < m->n_repeated; i++)
		run_release(&m->repeated[i]);
	metric_list_release(&m->metrics);
	free(m->experiment);
	free(m->preset);
	free(m->target);
	free(m->title);
	free(m->state);
	free(m->identity);
	free(m->machine);
	free(m->variants);
	free(m->cells);
	free(m->runs);
	free(m->repeated);
	free(m->arms);
	free(m);
}

struct report_arm *report_arm(const struct report_model *m, size_t metric, size_t cell,
			      size_t variant)
{
	return &m->arms[(metric * m->n_cells + cell) * m->n_variants + variant];
}

double *report_arm_boots(const struct report_arm *arm, size_t *ret_n)
{
	double *values = arm->n_boots ? LAB_NEW_ARRAY(double, arm->n_boots) : NULL;

	for (size_t i = 0; i < arm->n_boots; i++)
		values[i] = arm->boots[i].reduced;
	*ret_n = arm->n_boots;
	return values;
}

double *report_arm_pooled(const struct report_arm *arm, size_t *ret_n)
{
	double *values;
	size_t n = 0;

	*ret_n = 0;
	if (!arm->pooled)
		return NULL;
	values = LAB_NEW_ARRAY(double, arm->pooled);
	for (size_t i = 0; i < arm->n_boots; i++) {
		memcpy(values + n, arm->boots[i].values, arm->boots[i].n * sizeof(*values));
		n += arm->boots[i].n;
	}
	*ret_n = n;
	return values;
}

/* ---- the definition ---------------------------------------------------------- */

static char *member(const json_t *object, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, name));

	return lab_strdup(text ? text : otherwise);
}

static int load_variants(struct report_model *m, const json_t *root, struct lab_error *err)
{
	const json_t *list = json_object_get(root, "variants");
	size_t n = json_array_size(list);

	if (!n)
		return lab_error_set(err, LAB_ERR_INVALID, "its definition has no variants");
	m->variants = LAB_NEW_ARRAY(struct report_variant, n);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_string(json_object_get(v, "name")))
			return lab_error_set(err, LAB_ERR_INVALID, "variant %zu has no name",
					     i + 1);
		m->variants[i].name = member(v, "name", "");
		m->variants[i].kernel = member(v, "kernel", "");
		m->variants[i].label = member(v, "label", "");
		m->n_variants++;
	}
	return 0;
}

static int load_cells(struct report_model *m, const json_t *root, struct lab_error *err)
{
	const json_t *list = json_object_get(root, "cells");
	size_t n = json_array_size(list);

	m->cells = LAB_NEW_ARRAY(char *, n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (!name)
			return lab_error_set(err, LAB_ERR_INVALID, "cell %zu has no name", i + 1);
		m->cells[m->n_cells++] = lab_strdup(name);
	}
	if (!n)
		m->cells[m->n_cells++] = lab_strdup("");
	return 0;
}

static char *machine_text(const json_t *root)
{
	const json_t *machine = json_object_get(root, "machine");

	return json_is_object(machine) ? json_dumps(machine, JSON_COMPACT) : lab_strdup("{}");
}

static int load_definition(struct report_model *m, const char *text, struct lab_error *err)
{
	json_error_t why;
	LAB_CLEANUP(json) json_t *root = json_loads(text, 0, &why);
	const char *storage;

	if (!root)
		return lab_error_set(err, LAB_ERR_INVALID, "its definition is no JSON: %s",
				     why.text);
	m->title = member(root, "title", m->experiment);
	storage = json_string_value(json_object_get(root, "storage"));
	m->counted = storage != NULL;
	m->sync_storage = storage && strcmp(storage, "sync") == 0;
	m->machine = machine_text(root);
	if (load_variants(m, root, err) < 0 || load_cells(m, root, err) < 0)
		return -1;
	return metric_list_from_json(json_object_get(root, "metrics"), &m->metrics, err);
}

/* ---- the runs ---------------------------------------------------------------- */

static int find_variant(const struct report_model *m, const char *name, size_t *ret,
			struct lab_error *err)
{
	for (size_t i = 0; i < m->n_variants; i++) {
		if (strcmp(m->variants[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return lab_error_set(err, LAB_ERR_INVALID, "its definition has no variant '%s'", name);
}

static int find_cell(const struct report_model *m, const char *name, size_t *ret,
		     struct lab_error *err)
{
	for (size_t i = 0; i < m->n_cells; i++) {
		if (strcmp(m->cells[i], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return lab_error_set(err, LAB_ERR_INVALID, "its definition has no cell '%s'", name);
}

static int describe_run(const struct report_model *m, const struct run *run, struct report_run *ret,
			struct lab_error *err)
{
	struct report_run r = {
		.number = run->number,
		.attempt = run->attempt,
		.repetition = run->repetition,
		.seed = run->seed,
	};

	if (find_variant(m, run->variant, &r.variant, err) < 0 ||
	    find_cell(m, run->cell, &r.cell, err) < 0)
		return -1;
	r.state = lab_strdup(run->state);
	r.message = lab_strdup(run->message);
	*ret = r;
	return 0;
}

/* A run says of itself whether its machine was emulated. */
static bool run_emulated(const struct run *run)
{
	LAB_CLEANUP(json) json_t *facts = json_loads(run->facts, 0, NULL);

	return json_is_true(json_object_get(facts, "emulated"));
}

static int add_boot(struct report_arm *arm, const struct metric *metric,
		    const struct sample_value *value, size_t run, struct lab_error *err)
{
	struct report_boot boot = {.run = run, .n = value->n};

	if (metric_reduce(metric, value->values, value->n, &boot.reduced, err) < 0)
		return -1;
	boot.values = lab_memdup(value->values, value->n * sizeof(*value->values));
	LAB_GROW(arm->boots, arm->n_boots, arm->cap);
	arm->boots[arm->n_boots++] = boot;
	arm->pooled += value->n;
	return 0;
}

static int add_run_values(struct lab *lab, struct report_model *m, const struct run *run,
			  size_t index, struct lab_error *err)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	const struct report_run *r = &m->runs[index];
	bool done = strcmp(run->state, RUN_DONE) == 0;

	if (done && run_samples(lab, run->id, &sample, err) < 0)
		return -1;
	for (size_t i = 0; i < m->metrics.n; i++) {
		struct report_arm *arm = report_arm(m, i, r->cell, r->variant);
		const struct sample_value *value = sample_find(&sample, m->metrics.items[i].name);

		if (value && value->n) {
			if (add_boot(arm, &m->metrics.items[i], value, index, err) < 0)
				return -1;
		} else if (!done && run_state_is_outcome(run->state)) {
			arm->failed++;
		} else {
			arm->missing++;
		}
	}
	return 0;
}

static int load_runs(struct lab *lab, struct report_model *m, struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list list = {0};

	if (run_list(lab, m->campaign, true, &list, err) < 0)
		return -1;
	m->runs = LAB_NEW_ARRAY(struct report_run, list.n ? list.n : 1);
	m->arms = LAB_NEW_ARRAY(struct report_arm, m->metrics.n * m->n_cells * m->n_variants + 1);
	for (size_t i = 0; i < list.n; i++) {
		if (describe_run(m, list.items[i], &m->runs[i], err) < 0)
			return -1;
		m->n_runs++;
		m->emulated = m->emulated || run_emulated(list.items[i]);
		if (add_run_values(lab, m, list.items[i], i, err) < 0)
			return lab_error_wrap(err, "run %u", list.items[i]->number);
	}
	return 0;
}

static unsigned newest_attempt(const struct report_model *m, unsigned number)
{
	for (size_t i = 0; i < m->n_runs; i++) {
		if (m->runs[i].number == number)
			return m->runs[i].attempt;
	}
	return 0;
}

static int load_repeated(struct lab *lab, struct report_model *m, struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list list = {0};

	if (run_list(lab, m->campaign, false, &list, err) < 0)
		return -1;
	m->repeated = LAB_NEW_ARRAY(struct report_run, list.n ? list.n : 1);
	for (size_t i = 0; i < list.n; i++) {
		if (list.items[i]->attempt >= newest_attempt(m, list.items[i]->number))
			continue;
		if (describe_run(m, list.items[i], &m->repeated[m->n_repeated], err) < 0)
			return -1;
		m->n_repeated++;
	}
	return 0;
}

int report_model_load(struct lab *lab, int64_t id, struct report_model **ret_model,
		      struct lab_error *err)
{
	LAB_CLEANUP(report_model) struct report_model *m = LAB_NEW(struct report_model);
	LAB_CLEANUP(campaign) struct campaign *c = NULL;

	if (campaign_get(lab, id, &c, err) < 0)
		return -1;
	m->campaign = id;
	m->seed = c->seed;
	m->n = c->n;
	m->emulated = c->emulated;
	m->created = c->created;
	m->experiment = LAB_TAKE(c->experiment);
	m->preset = LAB_TAKE(c->preset);
	m->target = LAB_TAKE(c->target);
	m->state = LAB_TAKE(c->state);
	m->identity = LAB_TAKE(c->identity);
	if (load_definition(m, c->definition, err) < 0 || load_runs(lab, m, err) < 0 ||
	    load_repeated(lab, m, err) < 0)
		return lab_error_wrap(err, "campaign %lld", (long long)id);
	*ret_model = LAB_TAKE(m);
	return 0;
}
