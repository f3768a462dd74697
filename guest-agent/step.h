/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_STEP_H
#define LAB_GUEST_STEP_H

#include <stdbool.h>

#include "guest-agent/agent.h"
#include "protocol/job.h"

/*
 * Runs one step to its end: messages for begin, output and end are sent; when it
 * returns, no process that it started is left. True when it exited with 0.
 * `why` is filled with a few words otherwise.
 */
bool step_run(struct agent *agent, const char *phase, const struct job_step *step, char *why,
	      size_t why_size);

#endif
