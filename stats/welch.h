/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STATS_WELCH_H
#define LAB_STATS_WELCH_H

#include <stddef.h>

#include "stats/summary.h"

enum stats_welch_status {
	STATS_WELCH_OK = 0,
	STATS_WELCH_TOO_FEW, /* fewer than two values in an arm: no spread, no test */
	/*
	 * Both arms are constant (R: "data are essentially constant": the standard error
	 * is not above 10 epsilon of the larger mean): the difference is what it is, and
	 * there is nothing to test it against.
	 */
	STATS_WELCH_CONSTANT,
};

/*
 * Welch's two-sample t-test of y - x. diff and percent are set whenever both arms have
 * a value; t, df, p and the intervals are NaN unless status is STATS_WELCH_OK.
 */
struct stats_welch {
	enum stats_welch_status status;
	double diff;  /* mean of y - mean of x, in the unit of the values */
	double se;    /* standard error of diff */
	double t;     /* diff / se */
	double df;    /* Welch-Satterthwaite, fractional */
	double p;     /* two-sided */
	double level; /* of the interval, for instance 0.95 */
	double low;   /* interval of diff */
	double high;
	/* The same divided by |mean of x|, times 100; NaN when that mean is 0. */
	double percent;
	double percent_low;
	double percent_high;
};

/*
 * B. L. Welch, "The generalization of 'Student's' problem when several different
 * population variances are involved", Biometrika 34 (1947); degrees of freedom after
 * Satterthwaite (1946). Same arithmetic as R's t.test(y, x). One arm may be constant.
 * 0 < level < 1.
 */
void stats_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
		 struct stats_welch *ret);
/* The same from n, mean and sd of the arms. */
void stats_welch_summaries(const struct stats_summary *x, const struct stats_summary *y,
			   double level, struct stats_welch *ret);

#endif
