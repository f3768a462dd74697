/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/num.h"

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"4096", 4096},
		{"64 KiB", 65536},
		{"512M", 512ULL << 20},
		{"4 GiB", 4ULL << 30},
		{"1 GB", 1000000000},
	};
	static const char *const bad[] = {"",
					  " 1",
					  "-1",
					  "1.5G",
					  "4 XB",
					  "4G ",
					  "0x10",
					  "99999999999999999999",
					  "20000000 TiB"};
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(good); i++) {
		assert_int_equal(lab_parse_size(good[i].text, &bytes, NULL), 0);
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < LAB_COUNT(bad); i++)
		assert_int_equal(lab_parse_size(bad[i], &bytes, NULL), -1);
}

static void test_durations(void **state)
{
	static const char *const bad[] = {"10", "s", "5 days", "-1s", "1.5s"};
	uint64_t ms;

	(void)state;
	assert_int_equal(lab_parse_duration("5m", &ms, NULL), 0);
	assert_true(ms == 300000);
	assert_int_equal(lab_parse_duration("250ms", &ms, NULL), 0);
	assert_true(ms == 250);
	assert_int_equal(lab_parse_duration("0", &ms, NULL), 0);
	assert_true(ms == 0);
	for (size_t i = 0; i < LAB_COUNT(bad); i++)
		assert_int_equal(lab_parse_duration(bad[i], &ms, NULL), -1);
}

static void test_doubles(void **state)
{
	static const char *const bad[] = {"nan", "inf", "1,5", "0x1p3", "", "1e999", "1.0 ", "-"};
	double value;

	(void)state;
	assert_int_equal(lab_parse_double("1.0E7", &value, NULL), 0);
	assert_true(value == 1e7);
	assert_int_equal(lab_parse_double("-.5", &value, NULL), 0);
	assert_true(value == -0.5);
	for (size_t i = 0; i < LAB_COUNT(bad); i++)
		assert_int_equal(lab_parse_double(bad[i], &value, NULL), -1);
}

static void test_integers(void **state)
{
	int64_t value;
	uint64_t u;

	(void)state;
	assert_int_equal(lab_parse_i64("-9223372036854775808", &value, NULL), 0);
	assert_true(value == INT64_MIN);
	assert_int_equal(lab_parse_i64("9223372036854775808", &value, NULL), -1);
	assert_int_equal(lab_parse_u64("18446744073709551615", &u, NULL), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(lab_parse_u64("+1", &u, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
