/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_DELAY_H
#define LAB_GUEST_DELAY_H

#include "common/err.h"

/*
 * Puts the block device `path` under a dm-delay device called `name`, whose reads and
 * writes each take `ms` milliseconds, and yields its device's path; caller frees. It stays
 * until the machine ends.
 */
int delay_create(const char *name, const char *path, unsigned ms, char **ret_path,
		 struct lab_error *err) LAB_MUST_CHECK;

#endif
