/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STATS_SUMMARY_H
#define LAB_STATS_SUMMARY_H

#include <stddef.h>

/* What a table says about one arm. */
struct stats_summary {
	size_t n;
	double min;
	double max;
	double mean;   /* arithmetic mean */
	double median; /* middle value, or the mean of the two middle ones */
	double sd;     /* sample standard deviation, n - 1 in the denominator; NaN for n = 1 */
};

/*
 * Summarises n finite values. The order of the values does not change any bit of
 * the answer. n = 0: everything is NaN.
 * Mean and variance the way R 4.2 has them (src/main/summary.c, src/library/stats/src/
 * cov.c): sums in long double and a second pass that corrects the mean.
 */
void stats_summarise(const double *values, size_t n, struct stats_summary *ret);

/* Sorts ascending, in place; the values are finite. */
void stats_sort(double *values, size_t n);

#endif
