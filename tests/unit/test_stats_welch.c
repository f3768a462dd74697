/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries and intervals: R's answers, and the answers where R has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/mem.h"
#include "common/rng.h"
#include "stats/welch.h"

#define LEVEL 0.95

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

/* From R 4.2.2: mean, median, sd of the values. */
static void test_summary(void **state)
{
	static const double values[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3.5};
	struct stats_summary s;

	(void)state;
	stats_summarise(values, LAB_COUNT(values), &s);
	assert_int_equal(s.n, 10);
	assert_near(s.min, 1);
	assert_near(s.max, 9);
	assert_near(s.mean, 3.95);
	assert_near(s.median, 3.75);
	assert_near(s.sd, 2.4545875417267156);
	stats_summarise(values, 9, &s);
	assert_near(s.median, 4);
}

static void test_summary_small(void **state)
{
	static const double one = -2.5;
	struct stats_summary s;

	(void)state;
	stats_summarise(NULL, 0, &s);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.min) && isnan(s.max) && isnan(s.mean) && isnan(s.median) &&
		    isnan(s.sd));
	stats_summarise(&one, 1, &s);
	assert_int_equal(s.n, 1);
	assert_true(s.min == one && s.max == one && s.mean == one && s.median == one);
	assert_true(isnan(s.sd));
}

/* Values whose sum depends on the order when it is taken as it comes. */
static void test_order_independent(void **state)
{
	static double values[1000], shuffled[1000];
	struct stats_summary first, again;
	struct lab_rng rng;
	size_t order[1000];

	(void)state;
	lab_rng_seed(&rng, 7);
	for (size_t i = 0; i < 1000; i++) {
		values[i] = pow(10, 16 * lab_rng_unit(&rng)) * (i % 2 ? 1 : -1);
		order[i] = i;
	}
	stats_summarise(values, 1000, &first);
	for (int round = 0; round < 20; round++) {
		lab_rng_shuffle(&rng, order, 1000);
		for (size_t i = 0; i < 1000; i++)
			shuffled[i] = values[order[i]];
		stats_summarise(shuffled, 1000, &again);
		assert_memory_equal(&again, &first, sizeof(first));
	}
}

/* A large offset must not eat the spread. */
static void test_offset(void **state)
{
	static const double values[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
	struct stats_summary s;

	(void)state;
	stats_summarise(values, 3, &s);
	assert_near(s.mean, 1e9 + 2);
	assert_near(s.sd, 1);
}

struct referee {
	double x[4], y[4];
	size_t nx, ny;
	double level, t, df, p, low, high, se;
};

/* t.test(y, x) of R 4.2.2, printed with 17 digits. */
static const struct referee referees[] = {
	{.x = {12.1, 13.4, 11.9, 12.7},
	 .nx = 4,
	 .y = {14.0, 13.1, 15.2},
	 .ny = 3,
	 .level = 0.95,
	 .t = 2.26400077881488,
	 .df = 3.21818385666716,
	 .p = 0.102511604668113,
	 .low = -0.556397432310997,
	 .high = 3.70639743231099,
	 .se = 0.695671138781345},
	/* One arm is constant: the other alone has the degrees of freedom. */
	{.x = {1, 1, 1},
	 .nx = 3,
	 .y = {1.5, 2.5, 2.25, 1.75},
	 .ny = 4,
	 .level = 0.9,
	 .t = 4.381780460041328595,
	 .df = 3,
	 .p = 0.022006046490798351,
	 .low = 0.462920733646334293,
	 .high = 1.537079266353665652,
	 .se = 0.228217732293819225},
	{.x = {-5.5, -4.25, -6},
	 .nx = 3,
	 .y = {-4, -3.5, -4.75, -3.9},
	 .ny = 4,
	 .level = 0.95,
	 .t = 2.08277309202935390,
	 .df = 3.00516699899255268,
	 .p = 0.12850508371759600,
	 .low = -0.63838119247506375,
	 .high = 3.06338119247506491,
	 .se = 0.58215655110975084},
};

static void test_welch(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(referees); i++) {
		const struct referee *r = &referees[i];
		struct stats_welch w;

		stats_welch(r->x, r->nx, r->y, r->ny, r->level, &w);
		assert_int_equal(w.status, STATS_WELCH_OK);
		assert_near(w.t, r->t);
		assert_near(w.df, r->df);
		assert_near(w.p, r->p);
		assert_near(w.low, r->low);
		assert_near(w.high, r->high);
		assert_near(w.se, r->se);
	}
}

/* Percent is of the size of x's mean: plus means "y is more", also below zero. */
static void test_percent(void **state)
{
	const struct referee *r = &referees[2];
	struct stats_welch w;

	(void)state;
	stats_welch(r->x, r->nx, r->y, r->ny, LEVEL, &w);
	assert_near(w.percent, 100 * w.diff / 5.25);
	assert_true(w.percent > 0);
	assert_true(w.percent_low < w.percent && w.percent < w.percent_high);
}

/* Changing the roles turns every sign and nothing else. */
static void test_symmetry(void **state)
{
	const struct referee *r = &referees[0];
	struct stats_welch w, back;

	(void)state;
	stats_welch(r->x, r->nx, r->y, r->ny, LEVEL, &w);
	stats_welch(r->y, r->ny, r->x, r->nx, LEVEL, &back);
	assert_true(back.diff == -w.diff && back.t == -w.t && back.p == w.p);
	assert_near(back.df, w.df);
	assert_near(back.low, -w.high);
	assert_near(back.high, -w.low);
}

static void test_scale(void **state)
{
	static const double scales[] = {1e-200, 1e-30, 1e30, 1e150};
	const struct referee *r = &referees[0];

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(scales); i++) {
		double x[4], y[4];
		struct stats_welch w;

		for (size_t j = 0; j < 4; j++) {
			x[j] = r->x[j] * scales[i];
			y[j] = r->y[j] * scales[i];
		}
		stats_welch(x, r->nx, y, r->ny, LEVEL, &w);
		assert_int_equal(w.status, STATS_WELCH_OK);
		assert_true(fabs(w.df - r->df) < 1e-9);
		assert_true(fabs(w.p - r->p) < 1e-9);
	}
}

static bool no_test(const struct stats_welch *w)
{
	return isnan(w->t) && isnan(w->df) && isnan(w->p) && isnan(w->low) && isnan(w->high) &&
	       isnan(w->percent_low) && isnan(w->percent_high);
}

static void test_too_few(void **state)
{
	static const double x[] = {4, 5, 6};
	struct stats_welch w;

	(void)state;
	stats_welch(x, 3, x, 1, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_TOO_FEW);
	assert_true(w.diff == -1 && w.percent == -20 && no_test(&w));
	stats_welch(x, 1, x, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_TOO_FEW);
	assert_true(w.diff == 1 && w.percent == 25 && no_test(&w));
	stats_welch(NULL, 0, x, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_TOO_FEW);
	assert_true(isnan(w.diff) && isnan(w.percent) && no_test(&w));
	stats_welch(x, 3, NULL, 0, LEVEL, &w);
	assert_true(isnan(w.diff) && isnan(w.percent) && no_test(&w));
}

static void test_constant(void **state)
{
	static const double x[] = {0.1, 0.1, 0.1}, y[] = {0.3, 0.3, 0.3}, zero[] = {0, 0};
	struct stats_welch w;

	(void)state;
	stats_welch(x, 3, x, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_CONSTANT);
	assert_true(w.diff == 0 && w.percent == 0 && no_test(&w));
	stats_welch(x, 3, y, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_CONSTANT);
	assert_near(w.diff, 0.3 - 0.1);
	assert_true(no_test(&w));
	stats_welch(zero, 2, zero, 2, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_CONSTANT);
	assert_true(w.diff == 0 && isnan(w.percent) && no_test(&w));
}

/* Identical samples with a spread are an ordinary case: no difference, p is 1. */
static void test_identical(void **state)
{
	static const double x[] = {1, 2, 4};
	struct stats_welch w;

	(void)state;
	stats_welch(x, 3, x, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_OK);
	assert_true(w.diff == 0 && w.t == 0 && w.p == 1);
	assert_true(w.low < 0 && w.high == -w.low);
}

/* A mean of zero leaves the interval in the unit and takes the one in percent. */
static void test_zero_mean(void **state)
{
	static const double x[] = {-1, 1, 0}, y[] = {1, 2, 3};
	struct stats_welch w;

	(void)state;
	stats_welch(x, 3, y, 3, LEVEL, &w);
	assert_int_equal(w.status, STATS_WELCH_OK);
	assert_true(isfinite(w.low) && isfinite(w.high));
	assert_true(isnan(w.percent) && isnan(w.percent_low) && isnan(w.percent_high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_summary_small),
		cmocka_unit_test(test_order_independent),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_welch),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_symmetry),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_zero_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
