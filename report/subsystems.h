/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_SUBSYSTEMS_H
#define LAB_REPORT_SUBSYSTEMS_H

/* Which directory of the kernel's source a function comes from: functions.tsv of an artifact. */

#include "common/cleanup.h"
#include "common/err.h"

struct subsystems;

int subsystems_load(const char *path, struct subsystems **ret_subsystems,
		    struct lab_error *err) LAB_MUST_CHECK;
void subsystems_free(struct subsystems *subsystems);
LAB_DEFINE_CLEANUP(subsystems, struct subsystems, subsystems_free)

/* Borrowed; "(several)" for a name that functions of several directories have, else NULL. */
const char *subsystems_of(const struct subsystems *subsystems, const char *function);

#endif
