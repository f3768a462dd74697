/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_RENDER_H
#define LAB_REPORT_RENDER_H

/*
 * The renderers. Each appends to a buffer and prints nothing. `labctl compare` is the
 * text renderer with a metric filter.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"
#include "report/model.h"

struct report_options {
	/* Compare times of an emulated machine all the same, marked; refused in words otherwise. */
	bool allow_emulated;
	/* Shell patterns of metric names; a metric is shown when one matches. None: all. */
	const char *const *metrics;
	size_t n_metrics;
	double level; /* of intervals; 0: 0.95 */
	/* ab: flags a mean that is worse by more than this many percent; 0: 10. */
	double threshold;
	/* ab: leaves out metrics whose mean moved by less than this many percent; 0: none. */
	double least_change;
};

struct report_format {
	const char *name;
	const char *help; /* one line */
	/* `options` may be NULL. Fails when a metric pattern matches nothing. */
	int (*render)(const struct report_model *model, const struct report_options *options,
		      struct lab_buf *out, struct lab_error *err);
};

/* "text", "ab", "json", "csv"; the list ends with a NULL name. */
const struct report_format *report_formats(void);
/* LAB_ERR_USAGE names the formats there are. */
int report_format_find(const char *name, const struct report_format **ret,
		       struct lab_error *err) LAB_MUST_CHECK;

int report_text(const struct report_model *model, const struct report_options *options,
		struct lab_buf *out, struct lab_error *err) LAB_MUST_CHECK;
int report_ab(const struct report_model *model, const struct report_options *options,
	      struct lab_buf *out, struct lab_error *err) LAB_MUST_CHECK;
/* Schema: docs/json.md. */
int report_json(const struct report_model *model, const struct report_options *options,
		struct lab_buf *out, struct lab_error *err) LAB_MUST_CHECK;
int report_csv(const struct report_model *model, const struct report_options *options,
	       struct lab_buf *out, struct lab_error *err) LAB_MUST_CHECK;

#endif
