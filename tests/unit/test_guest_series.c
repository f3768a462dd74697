/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "guest-agent/series.h"
#include "protocol/record.h"
#include "tests/unit/series_fixture.h"

/* What the host makes of it is the measure: everything goes through a record. */
struct pair {
	struct series series;
	struct record record;
};

static void feed(struct record *record, json_t *msg)
{
	struct lab_error err = {0};

	if (record_feed(record, msg, &err) < 0)
		fail_msg("%s", err.text);
	json_decref(msg);
}

static int setup(void **state)
{
	struct pair *pair = LAB_NEW(struct pair);

	feed(&pair->record, message_make_hello(&(struct message_hello){1, "a", "b", "", "6.1", 0}));
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	series_release(&pair->series);
	record_release(&pair->record);
	free(pair);
	return 0;
}

static void end_row(struct pair *pair, int64_t t_ns)
{
	LAB_CLEANUP(buf) struct lab_buf row = LAB_BUF_INIT;
	json_t *names = series_take_names(&pair->series);

	if (names)
		feed(&pair->record, names);
	series_take_row(&pair->series, t_ns, MESSAGE_MARK_NONE, &row);
	feed(&pair->record, series_json_of(&row));
}

static int64_t value(struct pair *pair, size_t row, const char *name)
{
	int64_t v = MESSAGE_ABSENT;
	ssize_t column = record_find_name(&pair->record, name);

	assert_true(column >= 0);
	if (!record_value(&pair->record, row, (size_t)column, &v))
		return MESSAGE_ABSENT;
	return v;
}

static void test_rows_come_back(void **state)
{
	struct pair *pair = *state;

	series_begin(&pair->series);
	series_put(&pair->series, "m", "a", 10);
	series_put(&pair->series, "m", "b", INT64_MAX);
	end_row(pair, 1);
	series_begin(&pair->series);
	series_put(&pair->series, "m", "new", 7); /* another order, one more, one gone */
	series_put(&pair->series, "m", "a", 0);
	end_row(pair, 2);
	series_begin(&pair->series);
	series_put(&pair->series, "m", "b", 5);
	end_row(pair, 3);

	assert_int_equal(pair->record.names.n, 3);
	assert_int_equal(value(pair, 0, "m.a"), 10);
	assert_int_equal(value(pair, 0, "m.b"), INT64_MAX);
	assert_int_equal(value(pair, 0, "m.new"), MESSAGE_ABSENT);
	assert_int_equal(value(pair, 1, "m.a"), 0);
	assert_int_equal(value(pair, 1, "m.b"), MESSAGE_ABSENT);
	assert_int_equal(value(pair, 1, "m.new"), 7);
	assert_int_equal(value(pair, 2, "m.a"), MESSAGE_ABSENT);
	assert_int_equal(value(pair, 2, "m.b"), 5);
}

static void test_names_are_sent_once(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 3; i++) {
		series_begin(&pair->series);
		series_put(&pair->series, "m", "a", i);
		end_row(pair, i);
	}
	assert_null(series_take_names(&pair->series));
	assert_int_equal(pair->record.names.n, 1);
	assert_int_equal(value(pair, 2, "m.a"), 2);
}

static void test_one_name_twice_in_a_row(void **state)
{
	struct pair *pair = *state;

	for (int i = 0; i < 2; i++) {
		series_begin(&pair->series);
		series_put(&pair->series, "slab", "x", 1 + i);
		series_put(&pair->series, "slab", "x", 10 + i);
		series_put(&pair->series, "slab", "x", 100 + i);
		end_row(pair, i);
	}
	assert_int_equal(pair->record.names.n, 3);
	assert_int_equal(value(pair, 1, "slab.x"), 2);
	assert_int_equal(value(pair, 1, "slab.x#2"), 11);
	assert_int_equal(value(pair, 1, "slab.x#3"), 101);
}

/* A step from a negative to a huge value does not fit; it is left out, not wrapped. */
static void test_overflow(void **state)
{
	struct pair *pair = *state;

	series_begin(&pair->series);
	series_put(&pair->series, "m", "a", -5);
	end_row(pair, 1);
	series_begin(&pair->series);
	series_put(&pair->series, "m", "a", INT64_MAX);
	end_row(pair, 2);
	series_begin(&pair->series);
	series_put(&pair->series, "m", "a", 6);
	end_row(pair, 3);
	assert_int_equal(value(pair, 1, "m.a"), MESSAGE_ABSENT);
	assert_int_equal(value(pair, 2, "m.a"), 6);
}

static void test_table_is_capped(void **state)
{
	struct pair *pair = *state;
	char name[32];

	series_begin(&pair->series);
	for (int i = 0; i < MESSAGE_NAMES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		series_put(&pair->series, "m", name, i);
	}
	assert_true(pair->series.full);
	end_row(pair, 1);
	assert_int_equal(pair->record.names.n, MESSAGE_NAMES_MAX);
	assert_int_equal(value(pair, 0, "m.n8191"), 8191);
}

static void test_long_name(void **state)
{
	struct pair *pair = *state;
	char name[300];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	series_begin(&pair->series);
	series_put(&pair->series, "m", name, 1);
	series_put(&pair->series, "m", name, 2);
	end_row(pair, 1);
	assert_int_equal(pair->record.names.n, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rows_come_back),	    TEST(test_names_are_sent_once),
		TEST(test_one_name_twice_in_a_row), TEST(test_overflow),
		TEST(test_table_is_capped),	    TEST(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
