/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/summary.h"

#include <math.h>

#include "common/mem.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), compare);
}

static double mean_of(const double *values, size_t n)
{
	long double sum = 0;
	long double rest = 0;
	long double mean;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	mean = sum / (long double)n;
	for (size_t i = 0; i < n; i++)
		rest += values[i] - mean;
	return (double)(mean + rest / (long double)n);
}

static double sd_of(const double *values, size_t n, double mean)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		long double d = (long double)values[i] - mean;

		sum += d * d;
	}
	/* The square of a tiny spread fits a long double only. */
	return (double)sqrtl(sum / (long double)(n - 1));
}

void stats_summarise(const double *values, size_t n, struct stats_summary *ret)
{
	LAB_CLEANUP(free) double *sorted = NULL;

	*ret = (struct stats_summary){n, NAN, NAN, NAN, NAN, NAN};
	if (!n)
		return;
	/* Summing in ascending order makes the answer independent of the order given. */
	sorted = lab_memdup(values, n * sizeof(*values));
	stats_sort(sorted, n);
	ret->min = sorted[0];
	ret->max = sorted[n - 1];
	ret->median = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
	ret->mean = mean_of(sorted, n);
	if (n > 1)
		ret->sd = sd_of(sorted, n, ret->mean);
}
