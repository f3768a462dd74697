/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_OUTBOX_H
#define LAB_VMCTL_OUTBOX_H

/*
 * For vmctl/ only: the volume through which a machine of the exact target speaks. The
 * agent writes the frames of a channel one after another from its first byte on; where
 * they end there are four zero bytes. It is read after the machine has gone.
 */

#include <stdint.h>

#include <jansson.h>

#include "common/err.h"

struct outbox;

/* Makes an empty one; a file that is there already is replaced. */
int outbox_create(const char *path, uint64_t bytes, struct lab_error *err) LAB_MUST_CHECK;

int outbox_open(const char *path, struct outbox **ret, struct lab_error *err) LAB_MUST_CHECK;
/*
 * 1: *ret_frame is the next message (caller's reference); 0: that was all; -1: what follows
 * was cut or is no frame, and nothing more comes.
 */
int outbox_next(struct outbox *outbox, json_t **ret_frame, struct lab_error *err) LAB_MUST_CHECK;
/* NULL is fine. */
void outbox_free(struct outbox *outbox);
LAB_DEFINE_CLEANUP(outbox, struct outbox, outbox_free)

#endif
