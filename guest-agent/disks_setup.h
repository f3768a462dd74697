/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_DISKS_SETUP_H
#define LAB_GUEST_DISKS_SETUP_H

#include "common/err.h"
#include "guest-agent/agent.h"
#include "protocol/job.h"

/*
 * As PID 1 in the initramfs: mounts the job's root and moves into it, turns its
 * swaps on, mounts its other volumes. Every disk is found and its size checked
 * before the first is touched. Returns NULL, or the name of the error
 * (MESSAGE_ERR_DISK, _MOUNT, _SWAP) with err set.
 */
const char *disks_setup(struct agent *agent, const struct job *job, struct lab_error *err);

/* Before power off: what was mounted is unmounted or made read-only, as far as possible. */
void disks_leave(void);

/* mount(2)'s flags and data of options like "ro,noatime,errors=panic"; data is caller's. Pure. */
unsigned long mount_flags(const char *options, char **ret_data);

#endif
