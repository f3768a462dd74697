/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 12 published t-tests, recomputed from the published raw data to every printed
 * digit. Printed figures come from R, whose rules are: five significant digits for t
 * and df, four for p, the decimals as they stand for means and intervals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "csv_fixture.h"
#include "stats/welch.h"

enum { COMPARISON, DISTRIBUTION, T, DF, RELATION, P, LOW, HIGH, MEAN_X, MEAN_Y, PRINTED, FIELDS };

struct arm {
	double values[16];
	size_t n;
};

static void find_arm(const struct csv *raw, const char *kernel, const char *cache,
		     const char *distribution, struct arm *arm)
{
	arm->n = 0;
	for (size_t i = 0; i < raw->n; i++) {
		if (strcmp(csv_at(raw, i, 0), kernel) || strcmp(csv_at(raw, i, 1), cache) ||
		    strcmp(csv_at(raw, i, 2), distribution))
			continue;
		assert_true(arm->n < LAB_COUNT(arm->values));
		arm->values[arm->n++] = csv_number(csv_at(raw, i, 4));
	}
	assert_int_equal(arm->n, 10);
}

/* mem1, mem2: baseline against patched at 50 or 60 GB; kern1, kern2: 50 against 60 GB. */
static void find_arms(const struct csv *raw, const char *comparison, const char *distribution,
		      struct arm *x, struct arm *y)
{
	static const char *const distributions[] = {"exp", "uni", "zip"};
	static const char *const caches[] = {"50g", "60g"};
	static const char *const kernels[] = {"baseline", "patched"};
	size_t which = (size_t)(comparison[strlen(comparison) - 1] - '1');
	const char *name = distributions[distribution[4] - '1'];

	assert_true(which < 2);
	if (strncmp(comparison, "mem", 3) == 0) {
		find_arm(raw, kernels[0], caches[which], name, x);
		find_arm(raw, kernels[1], caches[which], name, y);
	} else {
		find_arm(raw, kernels[which], caches[0], name, x);
		find_arm(raw, kernels[which], caches[1], name, y);
	}
}

static void check_text(const char *text, const char *printed, const char *what)
{
	if (strcmp(text, printed) != 0)
		fail_msg("%s: printed %s, recomputed %s", what, printed, text);
}

static void check_digits(double value, int digits, const char *printed, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*g", digits, value);
	check_text(text, printed, what);
}

/* With as many decimals as are printed. */
static void check_decimals(double value, const char *printed, const char *what)
{
	const char *point = strchr(printed, '.');
	char text[64];

	snprintf(text, sizeof(text), "%.*f", point ? (int)strlen(point + 1) : 0, value);
	check_text(text, printed, what);
}

static void check_p(double p, const char *relation, const char *printed)
{
	if (strcmp(relation, "<") == 0)
		assert_true(p < csv_number(printed));
	else
		check_digits(p, 4, printed, "p");
}

static void check_row(const struct csv *tests, size_t row, const struct csv *raw)
{
	struct stats_summary sx, sy;
	struct stats_welch w;
	struct arm x, y;
	char percent[64];

	find_arms(raw, csv_at(tests, row, COMPARISON), csv_at(tests, row, DISTRIBUTION), &x, &y);
	stats_summarise(x.values, x.n, &sx);
	stats_summarise(y.values, y.n, &sy);
	stats_welch(x.values, x.n, y.values, y.n, 0.95, &w);
	assert_int_equal(w.status, STATS_WELCH_OK);
	/* Published is x - y; ours is y - x. */
	check_digits(-w.t, 5, csv_at(tests, row, T), "t");
	check_digits(w.df, 5, csv_at(tests, row, DF), "df");
	check_p(w.p, csv_at(tests, row, RELATION), csv_at(tests, row, P));
	check_decimals(-w.high, csv_at(tests, row, LOW), "low");
	check_decimals(-w.low, csv_at(tests, row, HIGH), "high");
	check_decimals(sx.mean, csv_at(tests, row, MEAN_X), "mean of x");
	check_decimals(sy.mean, csv_at(tests, row, MEAN_Y), "mean of y");
	snprintf(percent, sizeof(percent), "[%.2f, %.2f]%%", w.percent_low, w.percent_high);
	assert_string_equal(percent, csv_at(tests, row, PRINTED));
}

static void test_published(void **state)
{
	LAB_CLEANUP(csv) struct csv raw = {0};
	LAB_CLEANUP(csv) struct csv tests = {0};

	(void)state;
	csv_load("mongodb-mglru-raw.csv", &raw);
	csv_load("mongodb-mglru-ttests.csv", &tests);
	assert_int_equal(raw.n, 120);
	assert_int_equal(tests.n, 12);
	for (size_t i = 0; i < tests.n; i++) {
		assert_int_equal(tests.rows[i].n, FIELDS);
		check_row(&tests, i, &raw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
