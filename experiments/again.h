/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_AGAIN_H
#define LAB_EXPERIMENTS_AGAIN_H

/*
 * The same run once more, on a target whose equal inputs give equal frames: are they
 * equal? What it yields is compared and thrown away; where it differs its files stay.
 */

#include "experiments/runner.h"
#include "store/campaign.h"

struct setup;

struct again_result {
	bool equal;
	char *difference;  /* words for the first one, or NULL */
	char *dir;	   /* where the other run's files are kept, when they differ */
	char *sha256;	   /* of the frames, when they are equal */
	char *fingerprint; /* JSON, of the run that was run now */
};

void again_result_release(struct again_result *result);

/*
 * For the runner: `run` has just been committed. LAB_ERR_CANCELLED when the user stopped it;
 * release *ret_result in every case.
 */
int again_boot(const struct setup *setup, const struct run *run, struct run_status *status,
	       struct again_result *ret_result, struct lab_error *err) LAB_MUST_CHECK;

/*
 * Repeats one run of an old campaign (attempt 0: its newest). Of `request` only the
 * directories, the agent and `connect` are read, and `experiment`: the definition, NULL for
 * the campaign's by its name. The lab, the definition and labctl must still be what they
 * were: what would run otherwise is an error. Takes the lab's lock.
 */
int again_run(struct lab *lab, const struct run_request *request, int64_t campaign, unsigned number,
	      unsigned attempt, const struct run_progress *progress,
	      struct again_result *ret_result, struct lab_error *err) LAB_MUST_CHECK;

static inline void lab_cleanup_again_result(struct again_result *result)
{
	again_result_release(result);
}

#endif
