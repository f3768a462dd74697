/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_BUNDLE_H
#define LAB_EXPERIMENTS_BUNDLE_H

/*
 * A campaign as one file for somebody else, and what somebody else does with it:
 *
 *   manifest.json        what the campaign is, its runs with facts, fingerprints and values
 *   definition/NAME.yaml the experiment
 *   kernels/ARM/         the artifact; of a kernel from a file bzImage, config, System.map
 *   initramfs/ARM/       the artifact: the agent is in it
 *   image/               the artifact: the root image
 *   runs/N/              what the newest attempt of run N left: frames, console, ...
 *   SHA256SUMS           see store/bundle.h
 *
 * Data and swap volumes are made anew for every run: the version of mke2fs and the sizes are
 * part of the campaign.
 */

#include "experiments/runner.h"
#include "store/lab.h"

#define BUNDLE_FORMAT 1

/*
 * Writes campaign `id` into `path`, which must not exist; `binaries`: with kernels, initramfs
 * and image. Of `request` the directories, the plugin and `connect` are read, and `experiment`:
 * the definition, NULL for the campaign's by its name. The campaign must have runs; what of it
 * is gone or has changed is an error that names it. Takes the lab's lock.
 */
int bundle_make(struct lab *lab, const struct run_request *request, int64_t id, const char *path,
		bool binaries, struct lab_error *err) LAB_MUST_CHECK;

enum bundle_verdict { BUNDLE_REPRODUCED, BUNDLE_NOT_REPRODUCED, BUNDLE_INCONCLUSIVE };

struct bundle_result {
	enum bundle_verdict verdict;
	char *experiment;
	char *why;	/* inconclusive, or not expected to be equal: the reason; else NULL */
	unsigned runs;	/* in the bundle, that ended by themselves */
	unsigned tried; /* run again */
	unsigned equal;
	char *difference; /* the first one, with the run's number; or NULL */
	char *files; /* where the bundle lies unpacked then, with what ran now, until `clean` */
};

void bundle_result_release(struct bundle_result *result);
static inline void lab_cleanup_bundle_result(struct bundle_result *result)
{
	bundle_result_release(result);
}

/* "reproduced", "not reproduced", "inconclusive". */
const char *bundle_verdict_name(enum bundle_verdict verdict);

/*
 * Checks a bundle and runs each `every`-th of its runs again (1: all). Of `request` only the
 * directories, the plugin and `connect` are read. Nothing of the bundle stays in the lab
 * but what differs. Takes the lab's lock. LAB_ERR_INVALID when the bundle is damaged, with the file's name.
 */
int bundle_reproduce(struct lab *lab, const struct run_request *request, const char *path,
		     unsigned every, const struct run_progress *progress,
		     struct bundle_result *ret_result, struct lab_error *err) LAB_MUST_CHECK;

#endif
