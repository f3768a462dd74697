/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_COMPARE_H
#define LAB_REPORT_COMPARE_H

/*
 * Two variants in one cell for one metric, and the word for it. All renderers take
 * their numbers and words from here.
 */

#include "report/model.h"
#include "report/render.h"
#include "stats/summary.h"
#include "stats/welch.h"

/* The fewest boots an arm must have for an interval. */
#define REPORT_FEWEST_BOOTS 3

/* In the order of the rules: the first that applies is the verdict. See docs/statistics.md. */
enum report_verdict {
	REPORT_REFUSED,		/* a time of an emulated machine, not allowed */
	REPORT_NO_DATA,		/* an arm has no boot that is done */
	REPORT_NOT_COMPARABLE,	/* the metric's meaning differs between the kernels */
	REPORT_TOO_FEW,		/* fewer than REPORT_FEWEST_BOOTS boots in an arm */
	REPORT_IDENTICAL,	/* all values of both arms are equal */
	REPORT_NO_SPREAD,	/* each arm is constant, and they differ: nothing to test against */
	REPORT_NOT_SIGNIFICANT, /* the interval includes zero */
	REPORT_BETTER,
	REPORT_WORSE,
	REPORT_MORE, /* the interval excludes zero, the metric has no direction */
	REPORT_LESS,
	REPORT_VERDICTS
};

struct report_comparison {
	struct stats_summary a; /* of one value per boot */
	struct stats_summary b;
	struct stats_welch welch; /* of b - a; intervals only where the verdict allows one */
	enum report_verdict verdict;
	const char *word;
};

/* Variant `b` against variant `a` (indices). `options` must be complete, see below. */
void report_compare(const struct report_model *model, size_t metric, size_t cell, size_t a,
		    size_t b, const struct report_options *options, struct report_comparison *ret);

const char *report_verdict_word(enum report_verdict verdict);
/* True for the verdicts that rest on an interval, which is then printed. */
bool report_verdict_has_interval(enum report_verdict verdict);

/* A copy of `options` (which may be NULL) with the defaults filled in. */
struct report_options report_options_complete(const struct report_options *options);
/* True when the metric is to be shown. */
bool report_options_want(const struct report_options *options, const struct metric *metric);
/* Fails when there are not two variants to compare. */
int report_need_arms(const struct report_model *model, struct lab_error *err) LAB_MUST_CHECK;
/* LAB_ERR_USAGE for a level outside of (0, 1); LAB_ERR_NOT_FOUND for a pattern that no metric of the model matches; names those there are. */
int report_options_check(const struct report_options *options, const struct report_model *model,
			 struct lab_error *err) LAB_MUST_CHECK;
/* True when the metric is a time that was taken on an emulated machine. */
bool report_emulated(const struct report_model *model, const struct metric *metric);

#endif
