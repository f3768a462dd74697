/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_OUTBOX_H
#define LAB_GUEST_OUTBOX_H

/*
 * A volume that takes frames one after another and is read when the machine is gone. What
 * was written is in it at once, past every cache, so that it outlives a panic.
 */

#include <stddef.h>

#include "common/err.h"

struct outbox;

/* `path` is a block device or a file of the size it may have, all zeros. */
int outbox_open(const char *path, struct outbox **ret, struct lab_error *err) LAB_MUST_CHECK;
int outbox_write(struct outbox *outbox, const void *data, size_t len,
		 struct lab_error *err) LAB_MUST_CHECK;
/* NULL is fine. */
void outbox_free(struct outbox *outbox);

#endif
