/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_SPAWN_H
#define LAB_GUEST_SPAWN_H

#include <sys/types.h>

#include "common/err.h"
#include "protocol/job.h"

struct spawned {
	pid_t pid;
	int out, err; /* read ends of its outputs */
};

/*
 * Starts the step's program in a session of its own, with standard input from
 * /dev/null, the agent's OOM protection, priority and signal mask taken off.
 * A program that cannot be executed is a failure here.
 */
int spawn_step(const struct job *job, const struct job_step *step, struct spawned *ret,
	       struct lab_error *err) LAB_MUST_CHECK;

/*
 * Sends SIGKILL to every process that a step can have left: as PID 1 to all there
 * are, else to the children of this process (which adopts orphans, see
 * spawn_adopt_orphans) and to the process group `pid`.
 */
void spawn_kill_all(bool init, pid_t pid);

void spawn_adopt_orphans(void);

#endif
