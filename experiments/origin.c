/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/origin.h"

#include <inttypes.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/identity.h"
#include "store/campaign.h"

void origin_release(struct origin *o)
{
	for (size_t i = 0; i < o->n_kernels; i++) {
		free(o->kernels[i].name);
		free(o->kernels[i].path);
		artifact_free(o->kernels[i].own);
		artifact_free(o->kernels[i].initramfs);
	}
	free(o->kernels);
	free(o->given);
	artifact_free(o->image);
	json_decref(o->definition);
	lab_strv_release(&o->cells);
	free(o->experiment);
	free(o->preset);
	free(o->target);
	free(o->identity);
	*o = (struct origin){0};
}

int origin_init(struct origin *o, const char *experiment, const char *preset, const char *target,
		const char *identity, json_t *definition, struct lab_error *err)
{
	json_t *kernels = json_object_get(definition, "kernels"), *value;
	const char *name;
	size_t i;

	*o = (struct origin){.definition = definition};
	o->experiment = lab_strdup(experiment);
	o->preset = lab_strdup(preset);
	o->target = lab_strdup(target);
	o->identity = lab_strdup(identity);
	o->kernels = LAB_NEW_ARRAY(struct origin_kernel, json_object_size(kernels) + 1);
	json_object_foreach(kernels, name, value)
	{
		struct origin_kernel *k = &o->kernels[o->n_kernels++];
		const char *path = json_string_value(json_object_get(value, "path"));

		k->name = lab_strdup(name);
		k->path = lab_strdup(path ? path : "");
		if (!json_is_string(json_object_get(value, "key")) ||
		    !json_is_string(json_object_get(value, "initramfs")) || !path)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "the campaign does not say what kernel %s is", name);
	}
	json_array_foreach(json_object_get(definition, "cells"), i, value)
	{
		if (json_string_length(value))
			lab_strv_add(&o->cells, json_string_value(value));
	}
	return 0;
}

static const char *text_of(const json_t *object, const char *name, const char *member)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(object, name), member));

	return text ? text : "";
}

/* Of those of a kind the one with this content. */
static int find_content(struct lab *lab, const char *kind, const char *content,
			struct artifact **ret, struct lab_error *err)
{
	struct artifact_list list = {0};

	if (artifact_list(lab, kind, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n && !*ret; i++) {
		if (strcmp(list.items[i]->content, content) == 0)
			*ret = artifact_copy(list.items[i]);
	}
	artifact_list_release(&list);
	if (*ret)
		return 0;
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "the %s %.12s of the campaign is gone", kind,
			     content);
}

static int find_kernel(struct lab *lab, const json_t *kernels, struct origin_kernel *k,
		       struct lab_error *err)
{
	const char *key = text_of(kernels, k->name, "key");

	if (!lab_starts_with(key, "file:")) {
		if (artifact_find(lab, ARTIFACT_KERNEL, key, &k->own, err) < 0)
			return -1;
		if (!k->own)
			return lab_error_set(err, LAB_ERR_NOT_FOUND,
					     "the kernel %.12s (%s) of the campaign is gone", key,
					     k->name);
		if (artifact_verify(k->own, err) < 0)
			return -1;
	}
	if (find_content(lab, ARTIFACT_INITRAMFS, text_of(kernels, k->name, "initramfs"),
			 &k->initramfs, err) < 0)
		return -1;
	return artifact_verify(k->initramfs, err);
}

static int find_parts(struct lab *lab, struct origin *o, struct lab_error *err)
{
	const json_t *kernels = json_object_get(o->definition, "kernels");
	const char *image = text_of(o->definition, "image", "content");

	if (find_content(lab, ARTIFACT_IMAGE, image, &o->image, err) < 0)
		return -1;
	for (size_t i = 0; i < o->n_kernels; i++) {
		if (find_kernel(lab, kernels, &o->kernels[i], err) < 0)
			return -1;
	}
	return 0;
}

int origin_of_campaign(struct lab *lab, int64_t id, struct origin *ret, struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	LAB_CLEANUP(origin) struct origin o = {0};

	if (campaign_get(lab, id, &c, err) < 0)
		return -1;
	if (origin_init(&o, c->experiment, c->preset, c->target, c->identity,
			json_loads(c->definition, 0, NULL), err) < 0 ||
	    find_parts(lab, &o, err) < 0)
		return lab_error_wrap(err, "campaign %" PRId64, id);
	o.seed = c->seed;
	o.n = c->n;
	o.emulated = c->emulated;
	*ret = o;
	o = (struct origin){0};
	return 0;
}

/* The parts of the two definitions that are not the same, by name. */
static char *differing(const json_t *a, const json_t *b)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)a, name, value)
	{
		if (!json_equal(value, json_object_get(b, name)))
			lab_strv_add(&names, name);
	}
	json_object_foreach((json_t *)b, name, value)
	{
		if (!json_object_get(a, name))
			lab_strv_add(&names, name);
	}
	return lab_strv_join(&names, ", ");
}

static char *what_differs(const struct origin *o, const struct setup *setup)
{
	json_t *was, *is;
	char *what;

	if (strcmp(o->identity, setup->identity) == 0)
		return NULL;
	was = identity_part(o->definition);
	is = identity_part(setup->definition);
	what = differing(was, is);
	json_decref(was);
	json_decref(is);
	return what;
}

static void give_kernels(const struct origin *o, struct run_kernel *given)
{
	for (size_t i = 0; i < o->n_kernels; i++)
		given[i] = (struct run_kernel){o->kernels[i].name, o->kernels[i].path,
					       o->kernels[i].own, o->kernels[i].initramfs};
}

int origin_resolve(struct origin *o, struct lab *lab, struct run_request *request,
		   const struct run_progress *progress, struct setup *setup, char **ret_differs,
		   struct lab_error *err)
{
	free(o->given);
	o->given = LAB_NEW_ARRAY(struct run_kernel, o->n_kernels + 1);
	give_kernels(o, o->given);
	if (!request->experiment)
		request->experiment = o->experiment;
	request->preset = o->preset;
	request->target = o->target;
	request->seed = o->seed;
	request->n = o->n;
	request->kernels = o->given;
	request->n_kernels = o->n_kernels;
	request->image = o->image;
	request->only = &o->cells;
	request->aa = true;
	request->allow_emulated = o->emulated;
	request->profile = json_is_true(json_object_get(o->definition, "profile"));
	if (setup_plan(setup, lab, request, progress, err) || setup_resolve(setup, err))
		return -1;
	*ret_differs = what_differs(o, setup);
	return 0;
}
