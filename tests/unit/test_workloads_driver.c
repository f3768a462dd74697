/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "workloads/driver.h"
#include "workloads/metric.h"

/* Whatever the table holds: names in order, options whose defaults pass their own checks. */
static void test_table(void **state)
{
	const struct workload *before = NULL;

	(void)state;
	for (size_t i = 0; workload_at(i); i++) {
		const struct workload *w = workload_at(i);

		assert_true(!before || strcmp(before->name, w->name) < 0);
		assert_ptr_equal(workload_find(w->name), w);
		assert_true(w->help && w->steps && w->metrics && w->parse);
		for (const struct workload_option *o = w->options; o->name; o++) {
			json_t *value = NULL;

			assert_non_null(o->help);
			if (!o->value || !*o->value || o->type == WORKLOAD_STRINGS)
				continue;
			assert_int_equal(workload_option_read(o, o->value, &value, NULL), 0);
			json_decref(value);
		}
		before = w;
	}
	assert_non_null(before);
	assert_null(workload_find("hackbenhc"));
	assert_string_equal(workload_nearest("hackbenhc"), "hackbench");
	assert_null(workload_nearest("zzz"));
}

static void refuse(const char *workload, const char *given, const char *words)
{
	json_auto_t *json = json_loads(given, 0, NULL);
	json_t *complete = NULL;
	struct lab_error err = {0};

	assert_non_null(json);
	assert_int_equal(workload_options_complete(workload_find(workload), json, &complete, &err),
			 -1);
	assert_null(complete);
	if (strcmp(err.text, words) != 0)
		fail_msg("%s: said '%s'", given, err.text);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("hackbench", "{\"group\": 1}",
	       "workload 'hackbench' has no option 'group' (did you mean 'groups'?)");
	refuse("hackbench", "{\"groups\": 0}", "option 'groups' is at least 1");
	refuse("hackbench", "{\"groups\": 10001}", "option 'groups' is at most 10000");
	refuse("hackbench", "{\"groups\": -1}", "option 'groups' wants a whole number");
	refuse("hackbench", "{\"groups\": \"2\"}", "option 'groups' wants a whole number");
	refuse("hackbench", "{\"forms\": []}", "option 'forms' wants a list of texts");
	refuse("hackbench", "{\"forms\": [\"process-pipe\"]}",
	       "option 'forms' knows no 'process-pipe' (did you mean 'process-pipes'?)");
	refuse("hackbench", "{\"forms\": [\"thread-pipes\", \"thread-pipes\"]}",
	       "option 'forms' has 'thread-pipes' twice");
	refuse("command", "{}", "workload 'command' needs option 'argv'");
	refuse("true", "{\"x\": 1}", "workload 'true' has no option 'x'");
}

static void test_defaults(void **state)
{
	json_t *complete = NULL;

	(void)state;
	assert_int_equal(
		workload_options_complete(workload_find("hackbench"), NULL, &complete, NULL), 0);
	assert_int_equal(json_integer_value(json_object_get(complete, "groups")), 10);
	assert_int_equal(json_array_size(json_object_get(complete, "forms")), 4);
	json_decref(complete);
}

static void test_read(void **state)
{
	static const struct workload_option size = {"s", WORKLOAD_SIZE};
	static const struct workload_option span = {"d", WORKLOAD_DURATION};
	static const struct workload_option flag = {"b", WORKLOAD_BOOL};
	struct lab_error err;
	json_t *value = NULL;

	(void)state;
	assert_int_equal(workload_option_read(&size, "64 KiB", &value, NULL), 0);
	assert_int_equal(json_integer_value(value), 65536);
	json_decref(value);
	assert_int_equal(workload_option_read(&span, "10 s", &value, NULL), 0);
	assert_int_equal(json_integer_value(value), 10000);
	json_decref(value);
	assert_int_equal(workload_option_read(&flag, "false", &value, NULL), 0);
	assert_true(json_is_false(value));
	assert_int_equal(workload_option_read(&flag, "no", &value, &err), -1);
	assert_string_equal(err.text, "option 'b' wants true or false, not 'no'");
}

static void test_reduce(void **state)
{
	static const double values[] = {3, 1, 5, 2};
	static const struct {
		enum metric_reducer reducer;
		double want;
	} cases[] = {{METRIC_MEAN, 2.75},
		     {METRIC_MAX, 5},
		     {METRIC_MIN, 1},
		     {METRIC_LAST, 2},
		     {METRIC_DELTA, -1}};
	struct metric metric = {.name = (char *)"m"};
	struct lab_error err;
	double got;

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		metric.reducer = cases[i].reducer;
		assert_int_equal(metric_reduce(&metric, values, 4, &got, NULL), 0);
		assert_true(got == cases[i].want);
	}
	assert_int_equal(metric_reduce(&metric, values, 0, &got, &err), -1);
	assert_string_equal(err.text, "metric 'm' has no value");
}

static void test_metric_json(void **state)
{
	LAB_CLEANUP(metric_list) struct metric_list list = {0};
	LAB_CLEANUP(metric_list) struct metric_list back = {0};
	json_auto_t *json = NULL;
	json_auto_t *again = NULL;
	struct metric *m;

	(void)state;
	m = metric_add(&list, "ops", "1/s", "time");
	m->direction = '+';
	m->reducer = METRIC_LAST;
	m = metric_add(&list, "refault", "pages", "count");
	m->comparable = false;
	m->sampled = true;
	json = metric_list_to_json(&list);
	assert_int_equal(metric_list_from_json(json, &back, NULL), 0);
	again = metric_list_to_json(&back);
	assert_true(json_equal(json, again));
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(json, 1), "direction")), "none");
	json_array_append(json, json_array_get(json, 0));
	assert_int_equal(metric_list_from_json(json, &back, NULL), -1);
	json_object_set_new(json_array_get(json, 0), "reducer", json_string("median"));
	assert_int_equal(metric_list_from_json(json, &back, NULL), -1);
}

/* At one instruction a nanosecond. */
static void test_instructions(void **state)
{
	static const struct {
		const char *unit, *kind, *counted;
		double scale;
	} rows[] = {
		{"s", "time", "instructions", 1e9},  {"ms", "time", "instructions", 1e6},
		{"us", "time", "instructions", 1e3}, {"1/s", "time", "1/Ginstr", 1},
		{"kB", "memory", "kB", 1},	     {"s", "count", "s", 1},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(rows); i++) {
		LAB_CLEANUP(metric_list) struct metric_list list = {0};
		struct metric *m = metric_add(&list, "m", rows[i].unit, rows[i].kind);

		assert_true(m->scale == 1);
		metric_count_instructions(m);
		assert_string_equal(m->unit, rows[i].counted);
		assert_true(m->scale == rows[i].scale);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_read),	     cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_metric_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
