/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_PLUGIN_H
#define LAB_VMCTL_PLUGIN_H

/* Whether this host's QEMU takes plugins. */

#include "common/err.h"
#include "vmctl/hypervisor.h"

/*
 * Lets a QEMU load our plugin and leave again. LAB_ERR_UNAVAILABLE with its own words when it
 * does not, LAB_ERR_NOT_FOUND when there is no plugin at that path.
 */
int plugin_loads(const char *emulator, const char *plugin, struct lab_error *err) LAB_MUST_CHECK;
/* The same with the QEMU of `hv`. */
int plugin_check(struct hypervisor *hv, const char *plugin, struct lab_error *err) LAB_MUST_CHECK;

#endif
