/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/nearest.h"

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(lab_edit_distance("", ""), 0);
	assert_int_equal(lab_edit_distance("", "abc"), 3);
	assert_int_equal(lab_edit_distance("build", "build"), 0);
	assert_int_equal(lab_edit_distance("biuld", "build"), 1);
	assert_int_equal(lab_edit_distance("doctr", "doctor"), 1);
	assert_int_equal(lab_edit_distance("kitten", "sitting"), 3);
	assert_int_equal(lab_edit_distance("abc", "xyz"), 3);
}

static const char *nearest_of(const char *word, const char *const *names)
{
	struct lab_nearest nearest = {.word = word};

	for (; *names; names++)
		lab_nearest_consider(&nearest, *names);
	return nearest.best;
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"build", "run", "compare", "campaigns", "ps", NULL};

	(void)state;
	assert_string_equal(nearest_of("biuld", names), "build");
	assert_string_equal(nearest_of("rnu", names), "run");
	assert_string_equal(nearest_of("comapre", names), "compare");
	assert_string_equal(nearest_of("camp", names), "campaigns");
	assert_null(nearest_of("xyzzy", names));
	assert_null(nearest_of("zz", names)); /* everything short is near everything short */
	assert_null(nearest_of("", names));
}

static void test_long_words_are_cut(void **state)
{
	char a[300], b[300];

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[299] = b[299] = '\0';
	assert_int_equal(lab_edit_distance(a, b), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_long_words_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
