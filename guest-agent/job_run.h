/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_JOB_RUN_H
#define LAB_GUEST_JOB_RUN_H

#include "guest-agent/agent.h"
#include "protocol/job.h"

/* Whether this agent knows the collectors and snapshots that the job names. */
int job_run_check(const struct job *job, struct lab_error *err) LAB_MUST_CHECK;

/* Carries the job out: disks, settings, phases; ends with a done message. */
void job_run(struct agent *agent, const struct job *job);

#endif
