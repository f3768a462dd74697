/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_SNAPSHOT_H
#define LAB_GUEST_SNAPSHOT_H

/* Whole files as text, taken before and after the run phase. */

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"

bool snapshot_known(const char *name);

/* False for what only makes sense at the end (the kernel's log). */
bool snapshot_wanted(const char *name, bool after);

/* Appends the text; a failure says why it is unavailable. */
int snapshot_take(const char *name, const char *sysroot, struct lab_buf *out,
		  struct lab_error *err) LAB_MUST_CHECK;

#endif
