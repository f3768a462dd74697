/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_PROFILE_H
#define LAB_REPORT_PROFILE_H

/*
 * What the runs of a campaign with --profile executed in their run phase, by kernel
 * function: numbers of instructions. The raw counts, by address, are in each run's
 * directory (`profile`, written by tcg-plugin/profile.c) and are made sense of here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/err.h"
#include "store/lab.h"

struct profile_row {
	char *name; /* of the function, or "[program]" and the like */
	double count;
};

/* Of one run, or the mean of several. */
struct profile {
	struct profile_row *rows; /* by name */
	size_t n, cap;
	unsigned boots;	 /* how many runs it is the mean of */
	double counted;	 /* sum of the rows */
	double executed; /* by QEMU's own clock; NaN: not known */
	double guest_ns; /* the run phase took, by the guest's clock: what is more than `executed`
			  * was idle time */
};

void profile_release(struct profile *p);

static inline void lab_cleanup_profile(struct profile *p)
{
	profile_release(p);
}

enum profile_by { PROFILE_BY_FUNCTION, PROFILE_BY_SUBSYSTEM /* directory of the source */ };

/*
 * Of run `number` of a campaign. LAB_ERR_NOT_FOUND when it has none, with the way to get one;
 * by subsystem also when the kernel was not built here, so that nobody knows them.
 */
int profile_of_run(struct lab *lab, int64_t campaign, unsigned number, enum profile_by by,
		   struct profile *ret, struct lab_error *err) LAB_MUST_CHECK;
/* The mean of all done runs of one variant in one cell. */
int profile_of_variant(struct lab *lab, int64_t campaign, const char *variant, const char *cell,
		       enum profile_by by, struct profile *ret,
		       struct lab_error *err) LAB_MUST_CHECK;

/* One function in two profiles; one that a profile does not have counts 0 there. */
struct profile_line {
	const char *name; /* borrowed from the profiles */
	double a, b;
};

/* By size of the difference (`b` NULL: by count), then by name; caller frees. */
struct profile_line *profile_lines(const struct profile *a, const struct profile *b, size_t *ret_n);

/*
 * Renders a profile, or the difference of two, 72 columns wide: the `top` functions (0: all),
 * the others in one line, sums, and what is not explained.
 */
void profile_text(const struct profile *a, const char *name_a, const struct profile *b,
		  const char *name_b, enum profile_by by, size_t top, struct lab_buf *out);

#endif
