/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_SETTINGS_H
#define LAB_GUEST_SETTINGS_H

#include "common/err.h"
#include "protocol/job.h"

/* Path that a setting is written to; caller frees. Pure. */
char *setting_path(const char *sysroot, const struct job_setting *setting);

/* Writes the value; the error names the setting. */
int setting_apply(const char *sysroot, const struct job_setting *setting,
		  struct lab_error *err) LAB_MUST_CHECK;

#endif
