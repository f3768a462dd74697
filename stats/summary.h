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
	double sd;     /* sample standard deviation, n - 1 in the denominator */
};

/*
 * Summarises n finite values. The order of the values does not change any bit of
 * the answer. n = 0: everything is NaN; n = 1: sd is 0, as tables print it (a spread
 * of one value is unknown, so intervals never use it).
 * Mean and SD as R's mean() and sd(): a long double sum, then a second pass over the
 * remainders (R 4.2, src/main/summary.c and cov.c).
 */
void stats_summarise(const double *values, size_t n, struct stats_summary *ret);

/* Sorts ascending, in place. */
void stats_sort(double *values, size_t n);

#endif
