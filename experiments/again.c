/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/again.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/boot.h"
#include "experiments/identity.h"
#include "experiments/setup.h"
#include "experiments/talk.h"
#include "protocol/frames_diff.h"
#include "store/hash.h"
#include "vmctl/target.h"

void again_result_release(struct again_result *result)
{
	free(result->difference);
	free(result->dir);
	free(result->sha256);
	*result = (struct again_result){0};
}

/* The profiles of two runs whose frames are equal; without one in both there is nothing to say. */
static int compare_profiles(const char *first, const char *dir, struct again_result *result,
			    struct lab_error *err)
{
	LAB_CLEANUP(free) char *a = lab_path_join(first, TARGET_PROFILE);
	LAB_CLEANUP(free) char *b = lab_path_join(dir, TARGET_PROFILE);
	char hash_a[HASH_HEX], hash_b[HASH_HEX];

	if (!lab_file_exists(a) || !lab_file_exists(b))
		return 0;
	if (hash_file(a, hash_a, err) < 0 || hash_file(b, hash_b, err) < 0)
		return -1;
	if (strcmp(hash_a, hash_b) == 0)
		return 0;
	result->equal = false;
	result->difference =
		lab_asprintf("the frames are equal, the profiles %s and %s are not", a, b);
	return 0;
}

static int compare(const struct run *first, const char *dir, const struct boot_result *boot,
		   struct again_result *result, struct lab_error *err)
{
	LAB_CLEANUP(free) char *a = lab_path_join(first->dir, BOOT_FRAMES);
	LAB_CLEANUP(free) char *b = lab_path_join(dir, BOOT_FRAMES);
	LAB_CLEANUP(buf) struct lab_buf words = LAB_BUF_INIT;
	char hash[HASH_HEX];
	int rc;

	if (strcmp(boot->verdict.state, first->state) != 0) {
		result->difference =
			lab_asprintf("it ended as %s, not as %s (%s)", boot->verdict.state,
				     first->state, boot->verdict.message);
		return 0;
	}
	rc = frames_diff(a, b, &words, err);
	if (rc < 0 || (rc == 1 && hash_file(a, hash, err) < 0))
		return -1;
	result->equal = rc == 1;
	if (rc != 1) {
		result->difference = lab_buf_take(&words);
		return 0;
	}
	result->sha256 = lab_strdup(hash);
	return compare_profiles(first->dir, dir, result, err);
}

int again_boot(const struct setup *setup, const struct run *run, struct run_status *status,
	       struct again_result *ret_result, struct lab_error *err)
{
	LAB_CLEANUP(boot_result) struct boot_result boot = {0};
	LAB_CLEANUP(free) char *dir = lab_asprintf("%s.again", run->dir);
	struct run copy = *run;

	*ret_result = (struct again_result){0};
	copy.dir = dir;
	if (lab_remove_tree(dir, err) < 0)
		return -1;
	if (mkdir(dir, 0755) < 0)
		return lab_error_errno(err, errno, "%s", dir);
	boot_run(setup, &copy, status, &boot);
	if (strcmp(boot.verdict.state, RUN_CANCELLED) == 0) {
		(void)!lab_remove_tree(dir, NULL);
		return lab_error_set(err, LAB_ERR_CANCELLED, "stopped");
	}
	if (compare(run, dir, &boot, ret_result, err) < 0)
		return -1;
	if (ret_result->equal)
		return lab_remove_tree(dir, err);
	ret_result->dir = LAB_TAKE(dir);
	return 0;
}

/* ---- a run of an old campaign --------------------------------------------------- */

/* What made the campaign, as far as its own record says. */
struct origin {
	struct campaign *campaign;
	json_t *definition;
	struct run_kernel *kernels;
	struct lab_strv cells;
};

static void origin_release(struct origin *o)
{
	campaign_free(o->campaign);
	json_decref(o->definition);
	free(o->kernels);
	lab_strv_release(&o->cells);
}

static int read_origin(struct lab *lab, int64_t id, struct origin *o, struct lab_error *err)
{
	const char *name, *cell;
	json_t *kernel;
	size_t n = 0, i;
	json_t *value;

	if (campaign_get(lab, id, &o->campaign, err) < 0)
		return -1;
	o->definition = json_loads(o->campaign->definition, 0, NULL);
	o->kernels = LAB_NEW_ARRAY(struct run_kernel,
				   json_object_size(json_object_get(o->definition, "kernels")) + 1);
	json_object_foreach(json_object_get(o->definition, "kernels"), name, kernel)
	{
		const char *key = json_string_value(json_object_get(kernel, "key"));
		const char *path = json_string_value(json_object_get(kernel, "path"));

		if (!key || !path)
			return lab_error_set(
				err, LAB_ERR_INVALID,
				"campaign %" PRId64 " does not say what its kernels are", id);
		o->kernels[n].name = name;
		o->kernels[n++].value = lab_starts_with(key, "file:") ? path : key;
	}
	json_array_foreach(json_object_get(o->definition, "cells"), i, value)
	{
		cell = json_string_value(value);
		if (cell && *cell)
			lab_strv_add(&o->cells, cell);
	}
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

static int check_identity(const struct origin *o, const struct setup *setup, struct lab_error *err)
{
	LAB_CLEANUP(free) char *what = NULL;
	json_t *was, *is;

	if (strcmp(o->campaign->identity, setup->identity) == 0)
		return 0;
	was = identity_part(o->definition);
	is = identity_part(setup->definition);
	what = differing(was, is);
	json_decref(was);
	json_decref(is);
	return lab_error_set(err, LAB_ERR_INVALID,
			     "campaign %" PRId64 " cannot be repeated as it was; what has changed "
			     "since: %s",
			     o->campaign->id, what);
}

static int resolve(struct setup *setup, struct lab *lab, const struct run_request *request,
		   const struct origin *o, const struct run_progress *progress,
		   struct lab_error *err)
{
	if (setup_plan(setup, lab, request, progress, err) || setup_resolve(setup, err))
		return -1;
	if (!setup->target->caps.exact)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "campaign %" PRId64
				     " ran on target '%s', where no run is like "
				     "another",
				     o->campaign->id, setup->target_name);
	return check_identity(o, setup, err);
}

static int repeat(struct setup *setup, const struct origin *o, const struct run *run,
		  struct again_result *result, struct lab_error *err)
{
	struct run_status status = {
		.campaign = o->campaign->id,
		.run = 1,
		.runs = 1,
		.variant = run->variant,
		.cell = run->cell,
	};

	if (!run->dir || !run->ended)
		return lab_error_set(err, LAB_ERR_INVALID, "run %" PRId64 ".%u has not run",
				     o->campaign->id, run->number);
	return again_boot(setup, run, &status, result, err);
}

int again_run(struct lab *lab, const struct run_request *request, int64_t campaign, unsigned number,
	      unsigned attempt, const struct run_progress *progress,
	      struct again_result *ret_result, struct lab_error *err)
{
	LAB_CLEANUP(setup) struct setup setup = {0};
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	LAB_CLEANUP(run) struct run *run = NULL;
	struct run_request full = *request;
	struct origin o = {0};
	int rc = -1;

	*ret_result = (struct again_result){0};
	if (read_origin(lab, campaign, &o, err) < 0 ||
	    run_get(lab, campaign, number, attempt, &run, err) < 0 ||
	    lab_lock(lab, "rerun", &lock, err) < 0)
		goto out;
	if (!full.experiment)
		full.experiment = o.campaign->experiment;
	full.preset = o.campaign->preset;
	full.target = o.campaign->target;
	full.seed = o.campaign->seed;
	full.n = o.campaign->n;
	full.kernels = o.kernels;
	full.n_kernels = json_object_size(json_object_get(o.definition, "kernels"));
	full.only = &o.cells;
	full.aa = true;
	full.profile = json_is_true(json_object_get(o.definition, "profile"));
	if (resolve(&setup, lab, &full, &o, progress, err) == 0)
		rc = repeat(&setup, &o, run, ret_result, err);
out:
	origin_release(&o);
	return rc;
}
