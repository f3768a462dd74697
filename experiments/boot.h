/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_BOOT_H
#define LAB_EXPERIMENTS_BOOT_H

/*
 * One run: volumes, machine, job, everything it says, how it ended, what it measured.
 * Nothing of it is left running or taking space when boot_run returns, but what is
 * kept in the run's directory: frames, console.log, domain.xml, job.json.
 */

#include "experiments/outcome.h"
#include "experiments/setup.h"
#include "store/campaign.h"
#include "store/sample.h"

#define BOOT_FRAMES "frames"

struct boot_result {
	struct run_verdict verdict;
	struct sample sample; /* empty unless done */
	char *facts;	      /* JSON */
	char *fingerprint;    /* JSON */
	bool emulated;
	/* Nothing was started, and the next run would end the same way: say so and stop. */
	bool hopeless;
	uint64_t ms;
};

/* Always fills *ret_result; release it. `status` is updated and shown on the way. */
void boot_run(const struct setup *setup, const struct run *run, struct run_status *status,
	      struct boot_result *ret_result);
void boot_result_release(struct boot_result *result);

/* Removes the volumes of a run from its directory; what is not there is fine. */
void boot_remove_volumes(const char *dir);
/* The same after a labctl that was killed: what its machine left goes, too. */
void boot_remove_leftovers(const char *dir);

static inline void lab_cleanup_boot_result(struct boot_result *result)
{
	boot_result_release(result);
}

#endif
