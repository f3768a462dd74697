/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_MACHINE_H
#define LAB_VMCTL_MACHINE_H

/* For vmctl/ only: what a target's own machine begins with. */

#include "vmctl/target.h"

struct machine {
	const struct target *target;
};

extern const struct target target_live;
extern const struct target target_exact;

#endif
