/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_INIT_H
#define LAB_GUEST_INIT_H

/*
 * The life of PID 1 in the initramfs. It never returns from main: whatever goes
 * wrong ends in a line on the console and a machine that is off.
 */

#include "guest-agent/agent.h"

/*
 * As little as it takes to speak: /proc, /sys, /dev, and modules in the order of
 * /modules.list (one path a line, then optional parameters) until the virtio port
 * is there. Then opens the channel, which "labctl.channel=" on the kernel's
 * command line may name.
 */
int init_begin(struct agent *agent, struct lab_error *err) LAB_MUST_CHECK;

/* The rest, after hello: other modules, memory locked, OOM protection, lo. */
void init_settle(struct agent *agent);

_Noreturn void init_power_off(struct agent *agent);

/* Value of "labctl.NAME=" in a kernel command line, or NULL; caller frees. Pure. */
char *init_parameter(const char *cmdline, const char *name);

#endif
