/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "protocol/job.h"
#include "tests/unit/golden.h"

static void fill(struct job *job)
{
	static const char *const hackbench[] = {"hackbench", "-l", "100", NULL};
	static const char *const true_[] = {"true", NULL};
	struct job_phase *phase;
	struct job_step *step;

	job->run = lab_strdup("7.41");
	job->seed = UINT64_MAX;
	job->wait_ns = 1234567;
	job_set_root(job, "root", 2147483648, "ext4", "noatime");
	job_add_mount(job, "data", 1073741824, "/srv/data", "ext4", NULL);
	job_add_swap(job, "swap", 268435456);
	job->swaps[0].disk.delay_ms = 1;
	job_add_setting(job, JOB_SYSCTL, "vm.swappiness", "60");
	job_add_setting(job, JOB_WRITE, "/sys/kernel/mm/lru_gen/enabled", "y");
	job->collect.interval_ms = 1000;
	lab_strv_add(&job->collect.series, "meminfo");
	lab_strv_add(&job->collect.snapshots, "cpuinfo");
	phase = job_add_phase(job, "prepare");
	job_phase_add_step(phase, "nothing", true_, 0)->optional = true;
	phase = job_add_phase(job, JOB_PHASE_RUN);
	step = job_phase_add_step(phase, "hackbench", hackbench, 600000);
	lab_strv_add(&step->env, "LC_ALL=C");
	step->cwd = lab_strdup("/tmp");
}

static void test_round_trip(void **state)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	LAB_CLEANUP(job) struct job again = JOB_INIT;
	LAB_CLEANUP(free) char *text = NULL;
	json_t *json, *json2;

	(void)state;
	fill(&job);
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	text = json_dumps(json, JSON_INDENT(1));
	golden_check("protocol/job.json", text, strlen(text));
	assert_int_equal(job_from_json(json, &again, NULL), 0);
	assert_true(again.seed == UINT64_MAX);
	assert_string_equal(again.phases[1].steps[0].argv.items[2], "100");
	assert_true(again.root.disk.bytes == 2147483648);
	assert_true(again.phases[0].steps[0].optional);
	assert_int_equal(job_to_json(&again, &json2, NULL), 0);
	assert_true(json_equal(json, json2));
	json_decref(json);
	json_decref(json2);
}

/* Walks to obj by "a.0.b", whose last part is what is replaced. */
static json_t *parent_of(json_t *obj, const char *path, char *last, size_t size)
{
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		char part[32];

		snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
		obj = json_is_array(obj) ? json_array_get(obj, (size_t)(part[0] - '0'))
					 : json_object_get(obj, part);
		assert_non_null(obj);
		path = dot + 1;
	}
	snprintf(last, size, "%s", path);
	return obj;
}

/* Each row spoils one field of a good job; NULL removes it. */
static const struct {
	const char *path, *value, *why;
} spoilt[] = {
	{"run", NULL, "\"run\" is missing"},
	{"run", "\"../x\"", "not a plain name"},
	{"run", "7", "not a string"},
	{"seed", "7", "not a string"},
	{"seed", "\"-7\"", "not an unsigned number"},
	{"seed", "\"18446744073709551616\"", "not an unsigned number"},
	{"root", NULL, "\"root\" is missing"},
	{"root", "3", "is an object"},
	{"root.serial", "\"a/b\"", "not a plain name"},
	{"root.serial", "\"123456789012345678901\"", "too long"},
	{"root.bytes", "-1", "out of range"},
	{"root.bytes", "1.5", "not an integer"},
	{"root.delay_ms", "10001", "out of range"},
	{"wait_ns", "-1", "out of range"},
	{"wait_ns", NULL, "is missing"},
	{"root.fstype", "\"\"", "is empty"},
	{"mounts.0.path", "\"srv\"", "not absolute"},
	{"mounts.0.path", "\"/srv/../etc\"", "not absolute"},
	{"mounts.0.path", "\"/srv/..\"", "not absolute"},
	{"swaps", "{}", "not an array"},
	{"swaps.0.serial", NULL, "is missing"},
	{"settings.0.kind", "\"exec\"", "not known"},
	{"settings.0.key", "\"/vm\"", "not a sysctl name"},
	{"settings.0.key", "\"vm/../../x\"", "not a sysctl name"},
	{"settings.1.key", "\"sys\"", "not a path"},
	{"settings.1.value", "1", "not a string"},
	{"collect", NULL, "is missing"},
	{"collect.interval_ms", "\"1s\"", "not an integer"},
	{"collect.series.0", "\"a b\"", "not a plain name"},
	{"collect.snapshots", "[1]", "not a string"},
	{"phases.0.name", "\"run\"", "two phases"},
	{"phases.0.steps", "null", "not an array"},
	{"phases.1.steps.0.argv", "[]", "names no program"},
	{"phases.1.steps.0.argv", "[\"\"]", "names no program"},
	{"phases.1.steps.0.argv.1", "null", "not a string"},
	{"phases.1.steps.0.env.0", "\"=x\"", "not KEY=value"},
	{"phases.1.steps.0.cwd", "\"tmp\"", "not absolute"},
	{"phases.1.steps.0.optional", "0", "neither true nor false"},
	{"phases.1.steps.0.timeout_ms", "9223372036854775807", "out of range"},
};

static void spoil(json_t *json, const char *path, const char *value)
{
	char last[32];
	json_t *obj = parent_of(json, path, last, sizeof(last));
	json_t *new = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;

	if (json_is_array(obj))
		json_array_set_new(obj, (size_t)(last[0] - '0'), new);
	else if (new)
		json_object_set_new(obj, last, new);
	else
		json_object_del(obj, last);
}

static void test_strict(void **state)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	json_t *good;

	(void)state;
	fill(&job);
	assert_int_equal(job_to_json(&job, &good, NULL), 0);
	for (size_t i = 0; i < LAB_COUNT(spoilt); i++) {
		struct job got = {.seed = 12345};
		struct lab_error err = {0};
		json_t *json = json_deep_copy(good);

		spoil(json, spoilt[i].path, spoilt[i].value);
		if (job_from_json(json, &got, &err) != -1 || !strstr(err.text, spoilt[i].why))
			fail_msg("%s = %s: '%s'", spoilt[i].path, spoilt[i].value, err.text);
		assert_true(got.seed == 12345); /* outputs are untouched on failure */
		json_decref(json);
	}
	json_decref(good);
}

static void test_unknown_key_is_ignored(void **state)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	LAB_CLEANUP(job) struct job got = JOB_INIT;
	json_t *json;

	(void)state;
	fill(&job);
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	json_object_set_new(json, "later", json_true());
	assert_int_equal(job_from_json(json, &got, NULL), 0);
	json_decref(json);
}

static void test_bad_job_is_not_written(void **state)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct lab_error err = {0};
	json_t *json = NULL;

	(void)state;
	fill(&job);
	job_add_phase(&job, "no good name");
	assert_int_equal(job_to_json(&job, &json, &err), -1);
	assert_null(json);
	assert_non_null(strstr(err.text, "job: phase 2: "));
}

static void test_without_root(void **state)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	LAB_CLEANUP(job) struct job got = JOB_INIT;
	json_t *json;

	(void)state;
	job.run = lab_strdup("1.1");
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	assert_int_equal(job_from_json(json, &got, NULL), 0);
	assert_null(got.root.disk.serial);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_unknown_key_is_ignored),
		cmocka_unit_test(test_bad_job_is_not_written),
		cmocka_unit_test(test_without_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
