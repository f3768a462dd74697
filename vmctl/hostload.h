/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_HOSTLOAD_H
#define LAB_VMCTL_HOSTLOAD_H

/*
 * For vmctl/ only: how busy this host is. `root` is "" or a directory with a recorded
 * proc/ and sys/. What cannot be read is left out, never 0.
 */

#include <sys/types.h>

#include <jansson.h>

/*
 * load1, load5, load15; cpu: user_s, system_s, idle_s, iowait_s, steal_s since boot (all CPUs);
 * mhz: min, max; governor; pressure_cpu_avg10.
 */
json_t *host_load_read(const char *root);

/* What went on between two of them: steal_percent, busy_percent of all CPU time. */
json_t *host_load_between(const json_t *before, const json_t *after);

/*
 * QEMU processes on this host besides `except`, whoever started them. Asked of the
 * host and not of libvirt, whose list waits for each domain that is being taken down.
 */
unsigned host_count_qemu(const char *root, pid_t except);

#endif
