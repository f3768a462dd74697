/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_PROGRESS_H
#define LAB_GUEST_PROGRESS_H

/*
 * The number in a heartbeat, by which the host tells a slow run from one that
 * stands still: bytes that the workload wrote, plus microseconds of CPU time that
 * the machine spent beyond the agent's own and a noise allowance of IDLE_PERCENT.
 * One read of /proc/stat, so that looking disturbs nothing: no cgroup, no walk
 * through /proc. A machine that idles does not move it.
 */

#include <stdint.h>

#define PROGRESS_IDLE_PERCENT 2

struct progress {
	int64_t value;
	int64_t busy_us, own_us, t_us; /* at the last read; t_us 0: never */
};

void progress_add_bytes(struct progress *progress, uint64_t bytes);
int64_t progress_read(struct progress *progress, const char *sysroot);

/* Pure: CPU time in use from /proc/stat's first line, in us; -1 when it is not there. */
int64_t progress_busy_us(const char *stat);

#endif
