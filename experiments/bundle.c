/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making a bundle. */
#include "experiments/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/boot.h"
#include "experiments/definition.h"
#include "experiments/origin.h"
#include "store/bundle.h"
#include "store/campaign.h"
#include "store/hash.h"

static json_t *u64_text(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

static json_t *artifact_json(const struct artifact *a)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "key", a->key, "content", a->content, "label",
			 a->label, "manifest", a->manifest);
}

/* ---- runs --------------------------------------------------------------------------- */

static json_t *sample_json(const struct sample *sample)
{
	json_t *all = json_object();

	for (size_t i = 0; i < sample->n; i++) {
		json_t *values = json_array();

		for (size_t k = 0; k < sample->items[i].n; k++)
			json_array_append_new(values, json_real(sample->items[i].values[k]));
		json_object_set_new(all, sample->items[i].metric, values);
	}
	return all;
}

static int run_json(struct lab *lab, const struct run *run, json_t **ret, struct lab_error *err)
{
	struct sample sample = SAMPLE_INIT;

	if (run_samples(lab, run->id, &sample, err) < 0)
		return -1;
	*ret = json_pack("{s:i, s:i, s:s, s:s, s:i, s:o, s:s, s:s, s:o, s:o, s:o}", "number",
			 (int)run->number, "attempt", (int)run->attempt, "variant", run->variant,
			 "cell", run->cell, "repetition", (int)run->repetition, "seed",
			 u64_text(run->seed), "state", run->state, "message", run->message, "facts",
			 json_loads(run->facts, 0, NULL), "fingerprint",
			 json_loads(run->fingerprint, 0, NULL), "sample", sample_json(&sample));
	sample_release(&sample);
	return *ret ? 0
		    : lab_error_set(err, LAB_ERR_FAILED,
				    "run %" PRId64 ".%u has words that are no "
				    "UTF-8",
				    run->campaign, run->number);
}

/* What is in a run's directory is what its frames were when it ended. */
static int check_frames(const struct run *run, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(run->dir, BOOT_FRAMES);
	json_auto_t *facts = json_loads(run->facts, 0, NULL);
	const char *was =
		json_string_value(json_object_get(json_object_get(facts, "frames"), "sha256"));
	char hash[HASH_HEX];

	if (!was)
		return 0;
	if (hash_file(path, hash, err) < 0)
		return -1;
	if (strcmp(hash, was) == 0)
		return 0;
	return lab_error_set(err, LAB_ERR_INVALID,
			     "run %" PRId64 ".%u: %s is not what it was when the run ended",
			     run->campaign, run->number, path);
}

static int add_runs(struct lab *lab, int64_t campaign, struct bundle_writer *w, json_t *list,
		    struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list runs = {0};

	if (run_list(lab, campaign, true, &runs, err) < 0)
		return -1;
	for (size_t i = 0; i < runs.n; i++) {
		const struct run *run = runs.items[i];
		LAB_CLEANUP(free) char *name = lab_asprintf("runs/%u", run->number);
		json_t *json = NULL;

		if (!run_state_is_outcome(run->state))
			continue;
		if (check_frames(run, err) < 0 || run_json(lab, run, &json, err) < 0)
			return -1;
		json_array_append_new(list, json);
		if (bundle_add_tree(w, name, run->dir, err) < 0)
			return -1;
	}
	if (json_array_size(list))
		return 0;
	return lab_error_set(err, LAB_ERR_INVALID, "campaign %" PRId64 " has no run that has ended",
			     campaign);
}

/* ---- what they ran on ----------------------------------------------------------------- */

/* A kernel that is a file: it and what the host knows of it, under an artifact's names. */
static int add_file_kernel(struct bundle_writer *w, const struct kernel *k, struct lab_error *err)
{
	LAB_CLEANUP(free) char *image = lab_asprintf("kernels/%s/bzImage", k->name);
	LAB_CLEANUP(free) char *config = lab_asprintf("kernels/%s/config", k->name);

	if (bundle_add_file(w, image, k->bzimage, err) < 0)
		return -1;
	return k->config ? bundle_add_file(w, config, k->config, err) : 0;
}

static int add_kernel(struct bundle_writer *w, const struct origin_kernel *o,
		      const struct kernel *k, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = lab_asprintf("kernels/%s", o->name);
	LAB_CLEANUP(free) char *initramfs = lab_asprintf("initramfs/%s", o->name);

	if ((o->own ? bundle_add_tree(w, dir, o->own->path, err) : add_file_kernel(w, k, err)) < 0)
		return -1;
	return bundle_add_tree(w, initramfs, o->initramfs->path, err);
}

static int add_binaries(struct bundle_writer *w, const struct origin *o, const struct setup *setup,
			struct lab_error *err)
{
	for (size_t i = 0; i < o->n_kernels; i++) {
		const struct kernel *k = kernel_find(&setup->kernels, o->kernels[i].name);

		if (add_kernel(w, &o->kernels[i], k, err) < 0)
			return -1;
	}
	return bundle_add_tree(w, "image", o->image->path, err);
}

static json_t *kernels_json(const struct origin *o, const struct setup *setup)
{
	json_t *all = json_object();

	for (size_t i = 0; i < o->n_kernels; i++) {
		const struct origin_kernel *from = &o->kernels[i];
		const struct kernel *k = kernel_find(&setup->kernels, from->name);
		json_t *kernel =
			from->own ? artifact_json(from->own)
				  : json_pack("{s:s, s:s, s:s, s:s}", "key", k->key, "content",
					      k->content, "label", k->label, "manifest", "{}");

		json_object_set_new(all, from->name,
				    json_pack("{s:o, s:o}", "kernel", kernel, "initramfs",
					      artifact_json(from->initramfs)));
	}
	return all;
}

static int add_manifest(struct bundle_writer *w, const struct origin *o, const struct setup *setup,
			bool binaries, json_t *runs, struct lab_error *err)
{
	json_auto_t *json =
		json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:i, s:b, s:O, s:o, s:o, s:b, s:O}",
			  "format", BUNDLE_FORMAT, "experiment", o->experiment, "preset", o->preset,
			  "target", o->target, "identity", o->identity, "seed", u64_text(o->seed),
			  "n", (int)o->n, "emulated", o->emulated, "definition", o->definition,
			  "kernels", kernels_json(o, setup), "image", artifact_json(o->image),
			  "binaries", binaries, "runs", runs);
	LAB_CLEANUP(free) char *text = json_dumps(json, JSON_INDENT(1));

	if (!text)
		return lab_error_set(err, LAB_ERR_FAILED,
				     "the campaign has words that are no UTF-8");
	return bundle_add_text(w, "manifest.json", text, err);
}

static int add_definition(struct bundle_writer *w, const struct experiment *e,
			  struct lab_error *err)
{
	LAB_CLEANUP(free) char *name = lab_asprintf("definition/%s.yaml", e->name);

	for (size_t i = 0; i < e->fragments.n; i++) {
		if (strchr(e->fragments.items[i], '/'))
			return lab_error_set(
				err, LAB_ERR_INVALID,
				"%s names a config fragment by its path, which no other "
				"lab has: write its symbols into `config`",
				e->path);
	}
	return bundle_add_file(w, name, e->path, err);
}

int bundle_make(struct lab *lab, const struct run_request *request, int64_t id, const char *path,
		bool binaries, struct lab_error *err)
{
	LAB_CLEANUP(origin) struct origin o = {0};
	LAB_CLEANUP(setup) struct setup setup = {0};
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	LAB_CLEANUP(bundle_writer) struct bundle_writer *w = NULL;
	LAB_CLEANUP(free) char *differs = NULL;
	json_auto_t *runs = json_array();
	struct run_request full = *request;

	if (bundle_new(path, &w, err) < 0 || origin_of_campaign(lab, id, &o, err) < 0 ||
	    lab_lock(lab, "bundle", &lock, err) < 0 ||
	    origin_resolve(&o, lab, &full, NULL, &setup, &differs, err) < 0)
		return -1;
	if (differs)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "campaign %" PRId64 " cannot be repeated as it was, not even "
				     "here; what has changed since: %s",
				     id, differs);
	if ((binaries && artifact_verify(o.image, err) < 0) ||
	    add_definition(w, setup.experiment, err) < 0 || add_runs(lab, id, w, runs, err) < 0 ||
	    (binaries && add_binaries(w, &o, &setup, err) < 0) ||
	    add_manifest(w, &o, &setup, binaries, runs, err) < 0)
		return -1;
	return bundle_close(w, err);
}
