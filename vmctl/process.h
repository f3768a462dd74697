/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_PROCESS_H
#define LAB_VMCTL_PROCESS_H

/* For vmctl/ only: processes by number and start, so that a number used again is not mistaken. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cleanup.h"

/* When `pid` started, in clock ticks since the host booted; 0 when there is no such process. */
uint64_t process_started(pid_t pid);
/* The same process, not another one that got its number; a zombie is gone. */
bool process_is(pid_t pid, uint64_t started);
/* Effective user of a process; -1 when there is no such process. */
int process_user(pid_t pid, uid_t *ret_uid) LAB_MUST_CHECK;
/* Was it started as `program` (its argv[0])? */
bool process_runs(pid_t pid, const char *program);
/* The QEMU that was started for the domain `name`, 0 when there is none. */
pid_t process_of_guest(const char *name);

#endif
