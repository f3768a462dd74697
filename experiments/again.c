/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/again.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/boot.h"
#include "experiments/origin.h"
#include "experiments/talk.h"
#include "protocol/frames_diff.h"
#include "store/hash.h"
#include "vmctl/target.h"

void again_result_release(struct again_result *result)
{
	free(result->difference);
	free(result->dir);
	free(result->sha256);
	free(result->fingerprint);
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
	if (run_state_is_fault(boot.verdict.state)) {
		(void)!lab_remove_tree(dir, NULL);
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "the lab failed it (%s: %s): that says nothing about the run",
				     boot.verdict.state, boot.verdict.message);
	}
	ret_result->fingerprint = LAB_TAKE(boot.fingerprint);
	if (compare(run, dir, &boot, ret_result, err) < 0)
		return -1;
	if (ret_result->equal)
		return lab_remove_tree(dir, err);
	ret_result->dir = LAB_TAKE(dir);
	return 0;
}

/* ---- a run of an old campaign --------------------------------------------------- */

static int check(const struct setup *setup, const char *differs, int64_t id, struct lab_error *err)
{
	if (!setup->target->caps.exact)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "campaign %" PRId64
				     " ran on target '%s', where no run is like another",
				     id, setup->target_name);
	if (differs)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "campaign %" PRId64 " cannot be repeated as it was; what has "
				     "changed since: %s",
				     id, differs);
	return 0;
}

static int repeat(struct setup *setup, const struct run *run, struct again_result *result,
		  struct lab_error *err)
{
	struct run_status status = {
		.campaign = run->campaign,
		.run = 1,
		.runs = 1,
		.variant = run->variant,
		.cell = run->cell,
	};

	if (!run->dir || !run->ended)
		return lab_error_set(err, LAB_ERR_INVALID, "run %" PRId64 ".%u has not run",
				     run->campaign, run->number);
	return again_boot(setup, run, &status, result, err);
}

int again_run(struct lab *lab, const struct run_request *request, int64_t campaign, unsigned number,
	      unsigned attempt, const struct run_progress *progress,
	      struct again_result *ret_result, struct lab_error *err)
{
	LAB_CLEANUP(origin) struct origin o = {0};
	LAB_CLEANUP(setup) struct setup setup = {0};
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(free) char *differs = NULL;
	struct run_request full = *request;

	*ret_result = (struct again_result){0};
	if (run_get(lab, campaign, number, attempt, &run, err) < 0 ||
	    origin_of_campaign(lab, campaign, &o, err) < 0 ||
	    lab_lock(lab, "rerun", &lock, err) < 0 ||
	    origin_resolve(&o, lab, &full, progress, &setup, &differs, err) < 0 ||
	    check(&setup, differs, campaign, err) < 0)
		return -1;
	return repeat(&setup, run, ret_result, err);
}
