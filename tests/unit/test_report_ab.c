/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 44 published A/B tables, set again from their own summaries: every printed
 * number through our formatter, every change recomputed, every flag and direction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "csv_fixture.h"
#include "golden.h"
#include "report/ab.h"
#include "report/number.h"

enum { LIST, BENCHMARK, METRIC, ROW, COUNT, MIN, MAX, MEAN, MEDIAN, STDDEV, DIRECTION, FLAG };

#define THRESHOLD 10

/* The three rows of table i. */
static size_t row_of(size_t table, const char *what)
{
	return 3 * table + (strcmp(what, "A") == 0 ? 0 : strcmp(what, "B") == 0 ? 1 : 2);
}

static void load(struct csv *csv)
{
	csv_load("slab-nomerge-tables.csv", csv);
	assert_int_equal(csv->n, 3 * 44);
	for (size_t i = 0; i < csv->n; i += 3) {
		assert_string_equal(csv_at(csv, i, ROW), "A");
		assert_string_equal(csv_at(csv, i + 1, ROW), "B");
		assert_string_equal(csv_at(csv, i + 2, ROW), "change");
	}
}

static void summary_at(const struct csv *csv, size_t row, struct stats_summary *s)
{
	*s = (struct stats_summary){
		.n = (size_t)csv_number(csv_at(csv, row, COUNT)),
		.min = csv_number(csv_at(csv, row, MIN)),
		.max = csv_number(csv_at(csv, row, MAX)),
		.mean = csv_number(csv_at(csv, row, MEAN)),
		.median = csv_number(csv_at(csv, row, MEDIAN)),
		.sd = csv_number(csv_at(csv, row, STDDEV)),
	};
}

static char direction_at(const struct csv *csv, size_t table)
{
	char first = csv_at(csv, row_of(table, "change"), DIRECTION)[0];

	return first == '<' ? '0' : first;
}

static void test_every_number(void **state)
{
	LAB_CLEANUP(csv) struct csv csv = {0};
	size_t numbers = 0;

	(void)state;
	load(&csv);
	for (size_t table = 0; table < 44; table++) {
		for (size_t row = 3 * table; row < 3 * table + 2; row++) {
			for (size_t field = MIN; field <= STDDEV; field++) {
				const char *printed = csv_at(&csv, row, field);
				char text[NUMBER_SIZE];

				number_ab(csv_number(printed), text);
				assert_string_equal(text, printed);
				numbers++;
			}
		}
	}
	assert_int_equal(numbers, 44 * 2 * 5);
}

/* From rounded summaries the last digit can be off by one; the published rows are not. */
static void test_every_change(void **state)
{
	LAB_CLEANUP(csv) struct csv csv = {0};
	size_t undefined = 0;

	(void)state;
	load(&csv);
	for (size_t table = 0; table < 44; table++) {
		for (size_t field = MIN; field <= STDDEV; field++) {
			double a = csv_number(csv_at(&csv, row_of(table, "A"), field));
			double b = csv_number(csv_at(&csv, row_of(table, "B"), field));
			const char *printed = csv_at(&csv, row_of(table, "change"), field);
			char text[NUMBER_SIZE];

			number_ab_change(a, b, text);
			if (strcmp(printed, "---") == 0) {
				assert_string_equal(text, printed);
				undefined++;
				continue;
			}
			assert_true(text[0] == '+' || text[0] == '-');
			assert_int_equal(text[strlen(text) - 1], '%');
			/* In hundredths, so that the bound itself is exact. */
			if (llabs(llround(100 * csv_number(text)) -
				  llround(100 * csv_number(printed))) > 1)
				fail_msg("table %zu: printed %s, recomputed %s", table, printed,
					 text);
		}
	}
	assert_int_equal(undefined, 10);
}

static void test_every_flag(void **state)
{
	LAB_CLEANUP(csv) struct csv csv = {0};
	size_t flags = 0, unfiltered = 0;

	(void)state;
	load(&csv);
	for (size_t table = 0; table < 44; table++) {
		const char *flag = csv_at(&csv, row_of(table, "change"), FLAG);
		struct stats_summary a, b;
		char direction = direction_at(&csv, table);
		bool flagged;

		summary_at(&csv, row_of(table, "A"), &a);
		summary_at(&csv, row_of(table, "B"), &b);
		assert_string_equal(ab_direction(direction),
				    csv_at(&csv, row_of(table, "change"), DIRECTION));
		flagged = ab_regressed(&a, &b, direction, THRESHOLD);
		assert_string_equal(flagged ? AB_REGRESSED : "", flag);
		flags += flagged;
		/* The filtered list has what moved by at least 1 %, and one that did not. */
		if (strcmp(csv_at(&csv, row_of(table, "A"), LIST), "filtered") == 0 &&
		    ab_mean_change(&a, &b) < 1) {
			assert_string_equal(csv_at(&csv, row_of(table, "A"), METRIC),
					    "specjbb2015_single_Critical_JOPS");
			unfiltered++;
		}
	}
	assert_int_equal(flags, 1);
	assert_int_equal(unfiltered, 1);
}

static void test_tables(void **state)
{
	LAB_CLEANUP(csv) struct csv csv = {0};
	LAB_CLEANUP(ab_table) struct ab_table *set = ab_table_new();
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	(void)state;
	load(&csv);
	for (size_t table = 0; table < 44; table++) {
		struct stats_summary a, b;

		summary_at(&csv, row_of(table, "A"), &a);
		summary_at(&csv, row_of(table, "B"), &b);
		ab_table_title(set, csv_at(&csv, row_of(table, "A"), METRIC));
		ab_table_arm(set, "  (A) 6.1.30", &a, "-");
		ab_table_arm(set, "  (B) 6.1.30 slab_nomerge", &b, "-");
		ab_table_change(set, &a, &b, direction_at(&csv, table), THRESHOLD);
	}
	ab_table_render(set, &out);
	golden_check("report/slab-nomerge.txt", out.data, out.len);
}

/* What the published tables do not show. */
static void test_rules(void **state)
{
	static const double one = 0.5;
	struct stats_summary a, b = {2, 0, 0, 110.001, 0, 1};
	char text[NUMBER_SIZE];

	(void)state;
	assert_string_equal(number_ab(0, text), "0");
	assert_string_equal(number_ab(NAN, text), "-");
	assert_string_equal(number_ab(0.1, text), "0.10000");
	assert_string_equal(number_ab(-0.012345678, text), "-0.012346");
	assert_string_equal(number_ab(0.999999, text), "1.0000");
	assert_string_equal(number_ab(1, text), "1.000");
	assert_string_equal(number_ab(-1234.5, text), "-1234.500");
	assert_string_equal(number_ab(0.0000123456789, text), "0.000012346");
	assert_string_equal(number_ab_change(0, 5, text), "---");
	assert_string_equal(number_ab_change(5, NAN, text), "---");
	assert_string_equal(number_ab_change(-10, -5, text), "+50.00%");
	assert_string_equal(number_ab_change(3, 2.9999999, text), "+0.00%");

	stats_summarise(&one, 1, &a);
	assert_true(isnan(a.sd));
	a = (struct stats_summary){2, 0, 0, 100, 0, 1};
	assert_true(ab_regressed(&a, &b, '-', 10));
	assert_false(ab_regressed(&a, &b, '+', 10));
	assert_false(ab_regressed(&a, &b, '0', 10));
	b.mean = 110;
	assert_false(ab_regressed(&a, &b, '-', 10));
	b.mean = 89.99;
	assert_true(ab_regressed(&a, &b, '+', 10));
	/* From nothing to something is a change without end. */
	a.mean = 0;
	assert_true(ab_regressed(&a, &b, '-', 10));
	b.n = 0;
	assert_false(ab_regressed(&a, &b, '-', 10));
}

static void test_reading_numbers(void **state)
{
	char text[NUMBER_SIZE];

	(void)state;
	assert_string_equal(number_short(20113.4, text), "20113");
	assert_string_equal(number_short(1.83112, text), "1.8311");
	assert_string_equal(number_short(0.086291, text), "0.086291");
	assert_string_equal(number_short(-422148.4, text), "-422148");
	assert_string_equal(number_short(9.99996, text), "10.000");
	assert_string_equal(number_short(1.6772e13, text), "1.6772e+13");
	assert_string_equal(number_short(NAN, text), "-");
	assert_string_equal(number_fixed(-0.001, 2, text), "0.00");
	assert_string_equal(number_signed(0.004, 2, text), "+0.00");
	assert_string_equal(number_signed(-3.14159, 2, text), "-3.14");
	assert_int_equal(number_decimals(382.4, 3, 0), 0);
	assert_int_equal(number_decimals(0.0382, 3, 2), 4);
	assert_int_equal(number_decimals(0.503, 2, 2), 2);
	assert_int_equal(number_decimals(0, 2, 2), 2);
	assert_int_equal(number_decimals(1e-30, 2, 2), 12);
	assert_string_equal(number_exact(0.1, text), "0.1");
	assert_string_equal(number_exact(1.0 / 3, text), "0.3333333333333333");
	assert_string_equal(number_exact(189936, text), "189936");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number), cmocka_unit_test(test_every_change),
		cmocka_unit_test(test_every_flag),   cmocka_unit_test(test_tables),
		cmocka_unit_test(test_rules),	     cmocka_unit_test(test_reading_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
