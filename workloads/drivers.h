/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_DRIVERS_H
#define LAB_WORKLOADS_DRIVERS_H

/* The rows of the table in driver.c, and what drivers share. Not for other folders. */

#include "workloads/driver.h"

extern const struct workload workload_command;
extern const struct workload workload_hackbench;
extern const struct workload workload_true;

json_int_t option_int(const json_t *options, const char *name);
const char *option_text(const json_t *options, const char *name); /* NULL when left out */

/*
 * The standard output of a step that ended well. A step that was not started, was
 * killed, or failed is an error that says how.
 */
int step_output(const struct workload_input *in, const char *step, const struct lab_buf **ret_out,
		struct lab_error *err) LAB_MUST_CHECK;

#endif
