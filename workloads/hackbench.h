/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_HACKBENCH_H
#define LAB_WORKLOADS_HACKBENCH_H

/* hackbench of rt-tests: its output, apart from the driver so that it can be fuzzed. */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/strv.h"

/* What was asked for; the output must say that this is what ran. */
struct hackbench_form {
	bool threads;
	unsigned groups, fds, loops, datasize;
};

/*
 * Seconds from one run's standard output. Exactly one whole "Time: S" line, after
 * the two lines that say what ran; other lines go to notes. -1 says what is wrong.
 */
int hackbench_parse(const char *text, size_t len, const struct hackbench_form *form,
		    double *ret_seconds, struct lab_strv *notes,
		    struct lab_error *err) LAB_MUST_CHECK;

#endif
