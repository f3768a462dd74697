/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_SAMPLE_H
#define LAB_STORE_SAMPLE_H

/*
 * What a run yields: per metric one or more values, in the order they were taken.
 * All values are kept; reducing them to one per boot is the report's work.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"

struct sample_value {
	char *metric;
	double *values; /* finite */
	int64_t *t_ns;	/* guest monotonic time of each value, or NULL */
	size_t n;
	size_t cap;
};

struct sample {
	struct sample_value *items;
	size_t n;
	size_t cap;
};

#define SAMPLE_INIT        \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Adds one value to a metric, which is made when it is new. A metric has a time with
 * each value or with none: its first value decides, and mixing returns -1, as does a
 * value that is not finite.
 */
int sample_add(struct sample *s, const char *metric, double value) LAB_MUST_CHECK;
int sample_add_at(struct sample *s, const char *metric, double value, int64_t t_ns) LAB_MUST_CHECK;
/* Borrowed; NULL when the metric is not there. */
const struct sample_value *sample_find(const struct sample *s, const char *metric);
void sample_release(struct sample *s);

static inline void lab_cleanup_sample(struct sample *s)
{
	sample_release(s);
}

#endif
