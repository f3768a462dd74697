/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/identity.h"

#include <string.h>

#include "common/mem.h"
#include "experiments/resolve.h"
#include "experiments/settings.h"
#include "experiments/setup.h"

static json_t *text(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *kernels_json(const struct setup *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->kernels.n; i++) {
		const struct kernel *k = &s->kernels.items[i];

		json_object_set_new(all, k->name,
				    json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "key", k->key,
					      "content", k->content, "label", k->label, "path",
					      k->bzimage, "build_id", text(k->build_id),
					      "initramfs", k->initramfs->content));
	}
	return all;
}

static json_t *variants_json(const struct setup *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->experiment->n_variants; i++) {
		const struct experiment_variant *v = &s->experiment->variants[i];
		const struct kernel *k = kernel_find(&s->kernels, v->kernel);
		LAB_CLEANUP(free) char *cmdline = setup_cmdline(s, v);

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name",
						      v->name, "kernel", k->key, "arm", v->kernel,
						      "label", k->label, "cmdline", cmdline,
						      "settings", settings_to_json(&v->settings)));
	}
	return list;
}

/* What the first variant does in a cell: the rest of a variant stands in "variants". */
static int cell_json(const struct setup *s, const struct plan_cell *cell, json_t **ret_cell,
		     struct lab_error *err)
{
	const struct resolve r = {s->experiment, s->preset, &s->experiment->variants[0], cell};
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	json_auto_t *options = json_object();
	json_t *json = NULL;

	for (size_t i = 0; i < s->experiment->n_phases; i++) {
		const struct experiment_phase *phase = &s->experiment->phases[i];
		json_t *of_phase = NULL;

		if (resolve_options(&r, phase, &of_phase, err))
			return -1;
		json_object_set_new(options, phase->name, of_phase);
	}
	if (resolve_job(&r, 1, &job, err) || job_to_json(&job, &json, err))
		return -1;
	*ret_cell = json_pack("{s:o, s:O}", "job", json, "options", options);
	return 0;
}

static int cells_json(const struct setup *s, json_t *definition, struct lab_error *err)
{
	json_t *names = json_array(), *does = json_object();

	json_object_set_new(definition, "cells", names);
	json_object_set_new(definition, "does", does);
	for (size_t i = 0; i < s->plan->n_cells; i++) {
		json_t *cell = NULL;

		json_array_append_new(names, json_string(s->plan->cells[i].name));
		if (cell_json(s, &s->plan->cells[i], &cell, err))
			return -1;
		json_object_set_new(does, s->plan->cells[i].name, cell);
	}
	return 0;
}

static json_t *patchset_json(const struct patchset *p)
{
	if (!p)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "source", p->source, "spec", p->spec,
			 "base", p->base, "base_name", p->base_name, "head", p->head, "commits",
			 p->commits);
}

static json_t *deadlines_json(const struct experiment_deadlines *d)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "boot", (json_int_t)d->boot, "heartbeat",
			 (json_int_t)d->heartbeat, "progress", (json_int_t)d->progress, "total",
			 (json_int_t)d->total, "poweroff", (json_int_t)d->poweroff);
}

static json_t *machine_json(const struct setup *s)
{
	return json_pack("{s:I, s:i, s:I, s:I, s:I, s:o, s:o}", "memory",
			 (json_int_t)s->preset->memory, "vcpus", (int)s->preset->vcpus, "root",
			 (json_int_t)s->root_bytes, "data", (json_int_t)s->preset->data, "swap",
			 (json_int_t)s->preset->swap, "cpu_model", text(s->experiment->cpu_model),
			 "mke2fs", text(s->mke2fs));
}

/* Words for people and places in the file system are not what a campaign is. */
static void drop_words(json_t *definition)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_del(definition, "title");
	json_object_del(definition, "method");
	json_object_del(definition, "patchset");
	json_object_del(json_object_get(definition, "image"), "label");
	json_object_foreach(json_object_get(definition, "kernels"), name, value)
	{
		json_object_del(value, "label");
		json_object_del(value, "path");
	}
	json_array_foreach(json_object_get(definition, "variants"), i, value)
		json_object_del(value, "label");
}

json_t *identity_part(const json_t *definition)
{
	json_t *copy = json_deep_copy(definition);

	drop_words(copy);
	return copy;
}

static void identity_hash(const json_t *definition, char identity[HASH_HEX])
{
	json_auto_t *copy = identity_part(definition);
	LAB_CLEANUP(free) char *flat = NULL;

	flat = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
	hash_bytes(flat, strlen(flat), identity);
}

int identity_make(const struct setup *setup, json_t **ret_definition, char identity[HASH_HEX],
		  struct lab_error *err)
{
	const struct setup *s = setup;
	const struct experiment *e = s->experiment;
	json_auto_t *d = json_pack(
		"{s:s, s:s, s:s, s:o, s:s, s:b, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
		"experiment", e->name, "preset", s->preset->name, "title", e->title, "method",
		text(e->method), "target", s->target_name, "emulated", s->emulated, "n", (int)s->n,
		"seed", (json_int_t)s->seed, "patchset", patchset_json(s->kernels.patchset),
		"kernels", kernels_json(s), "variants", variants_json(s), "metrics",
		metric_list_to_json(&s->metrics), "machine", machine_json(s), "deadlines",
		deadlines_json(&s->preset->deadlines));

	json_object_set_new(d, "image",
			    json_pack("{s:s, s:s, s:s}", "label", e->image, "key", s->image->key,
				      "content", s->image->content));
	if (s->target->caps.exact)
		json_object_set_new(d, "storage",
				    json_string(e->sync_storage ? "sync" : "delayed"));
	/* The numbers are the same, but a campaign without one cannot be shown as having it. */
	if (s->request->profile)
		json_object_set_new(d, "profile", json_true());
	if (cells_json(s, d, err))
		return -1;
	identity_hash(d, identity);
	*ret_definition = LAB_TAKE(d);
	return 0;
}
