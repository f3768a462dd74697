/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_MODULES_H
#define LAB_IMAGES_MODULES_H

/* Private to images/: kernel modules as depmod describes them. */

#include "common/err.h"

/* "virtio_pci" of ".../virtio-pci.ko.xz": as the kernel spells it; caller frees. */
char *module_name(const char *path);

/*
 * The directory with modules.dep in or below `given`: itself, a kernel artifact's
 * modules/lib/modules/RELEASE. *ret_dir is NULL when a directory has none, which is no
 * failure; caller frees.
 */
int modules_dir(const char *given, char **ret_dir, struct lab_error *err) LAB_MUST_CHECK;

#endif
