/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command driver and the metrics of the time series, on records fed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "workloads/driver.h"
#include "workloads/series.h"
#include "tests/unit/series_fixture.h"

static void feed(struct record *record, json_t *message)
{
	struct lab_error err;

	if (record_feed(record, message, &err))
		fail_msg("%s", err.text);
	json_decref(message);
}

static void feed_hello(struct record *record)
{
	const struct message_hello hello = {.protocol = MESSAGE_PROTOCOL,
					    .agent = "0",
					    .boot_id = "1",
					    .kernel_build_id = "",
					    .kernel_release = "6.1"};

	feed(record, message_make_hello(&hello));
}

static void feed_phase(struct record *record, int64_t t_ns, bool end)
{
	const struct message_phase phase = {.phase = "run", .t_ns = t_ns, .end = end};

	feed(record, message_make_phase(&phase));
}

static void feed_output(struct record *record, const char *out, size_t len, const char *err_out,
			int exit_code)
{
	struct message_step step = {.phase = "run", .step = "command-1", .t_ns = 2};

	feed(record, message_make_step(&step));
	if (len)
		feed(record, message_make_data("run/command-1/stdout", 0, 3, out, len));
	if (err_out)
		feed(record,
		     message_make_data("run/command-1/stderr", 0, 3, err_out, strlen(err_out)));
	step.end = true;
	step.exit_code = exit_code;
	feed(record, message_make_step(&step));
}

struct outcome {
	int rc;
	double value; /* -1: none */
	char text[300];
};

static struct outcome run(const char *options, const char *out, size_t len, const char *err_out,
			  int exit_code)
{
	json_auto_t *given = json_loads(options, 0, NULL);
	json_auto_t *complete = NULL;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	struct workload_input in = {.record = &record, .phase = "run"};
	struct outcome o = {.value = -1};
	struct lab_error err = {0};

	if (workload_options_complete(workload_find("command"), given, &complete, &err))
		fail_msg("%s", err.text);
	in.options = complete;
	feed_hello(&record);
	feed_phase(&record, 1, false);
	feed_output(&record, out, len, err_out, exit_code);
	o.rc = workload_find("command")->parse(&in, &sample, &notes, &err);
	if (sample.n)
		o.value = sample.items[0].values[0];
	snprintf(o.text, sizeof(o.text), "%.299s", err.text);
	return o;
}

#define RATE "{\"argv\": [\"x\"], \"metric\": \"rate\", \"pattern\": \"^rate: ([0-9.]+) per s$\"}"

static struct outcome rate(const char *out)
{
	return run(RATE, out, strlen(out), NULL, 0);
}

static void test_command(void **state)
{
	static const char nul[] = "rate: 12\0003.5 per s\n";
	struct outcome o = rate("starting\nrate: 12.5 per s\n");

	(void)state;
	assert_int_equal(o.rc, 0);
	assert_true(o.value == 12.5);
	assert_string_equal(rate("nothing\n").text, "command-1: no line matches the pattern");
	assert_string_equal(rate("rate: 1 per s\nrate: 1 per s\n").text,
			    "command-1: two lines match the pattern");
	assert_string_equal(rate("rate: 0.00 per s\n").text,
			    "command-1: the match is zero: '0.00'");
	assert_string_equal(rate("rate: 1.2.3 per s\n").text,
			    "command-1: the match is no number: '1.2.3'");
	assert_int_equal(run(RATE, nul, sizeof(nul) - 1, NULL, 0).rc, -1);
}

static void test_command_cut(void **state)
{
	static const char whole[] = "rate: 12.5 per s\n";

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		struct outcome o = run(RATE, whole, len, NULL, 0);

		assert_int_equal(o.rc, -1);
		assert_true(o.value == -1);
	}
}

static void test_command_failed(void **state)
{
	struct outcome o = run("{\"argv\": [\"x\"]}", "", 0, "warming up\nno such file\n\n", 2);

	(void)state;
	assert_string_equal(o.text, "command-1 ended with exit code 2: no such file");
	assert_int_equal(run("{\"argv\": [\"x\"]}", "", 0, "noise\n", 0).rc, 0);
}

static void refuse_steps(const char *options, const char *words)
{
	json_auto_t *given = json_loads(options, 0, NULL);
	json_auto_t *complete = NULL;
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct lab_error err = {0};

	assert_int_equal(
		workload_options_complete(workload_find("command"), given, &complete, &err), 0);
	assert_int_equal(
		workload_find("command")->steps(complete, job_add_phase(&job, "run"), &err), -1);
	if (!lab_starts_with(err.text, words))
		fail_msg("%s: said '%s'", options, err.text);
}

static void test_command_options(void **state)
{
	(void)state;
	refuse_steps("{\"argv\": [\"x\"], \"metric\": \"m\"}",
		     "options 'pattern' and 'metric' need each other");
	refuse_steps("{\"argv\": [\"x\"], \"metric\": \"m\", \"pattern\": \"a(\"}",
		     "option 'pattern': ");
	refuse_steps("{\"argv\": [\"x\"], \"metric\": \"m\", \"pattern\": \"a\"}",
		     "option 'pattern' needs one group, has 0");
}

static void feed_series(struct record *record, int64_t t_ns, enum message_mark mark,
			int64_t reclaimable, int64_t unreclaim)
{
	static int64_t last[3];
	const int64_t values[3] = {reclaimable, unreclaim, reclaimable + unreclaim};
	int64_t deltas[3];

	for (size_t i = 0; i < 3; i++) {
		deltas[i] = values[i] - (record->n_rows ? last[i] : 0);
		last[i] = values[i];
	}
	feed(record, series_json(t_ns, mark, deltas, 3));
}

static void feed_names(struct record *record)
{
	static const char *const names[] = {"meminfo.SReclaimable", "meminfo.SUnreclaim",
					    "meminfo.Slab"};

	feed(record, message_make_names(0, names, 3));
}

/* Only what was sampled while the phase ran counts; all of it is kept with its time. */
static void test_series(void **state)
{
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	const struct sample_value *v;
	struct lab_error err;

	(void)state;
	feed_hello(&record);
	feed_names(&record);
	feed_phase(&record, 10, false);
	feed_series(&record, 11, MESSAGE_MARK_BEFORE, 1, 2);
	feed_series(&record, 20, MESSAGE_MARK_NONE, 100, 200);
	feed_series(&record, 30, MESSAGE_MARK_NONE, 110, 240);
	feed_series(&record, 40, MESSAGE_MARK_AFTER, 3, 4);
	feed_phase(&record, 41, true);
	feed_series(&record, 50, MESSAGE_MARK_NONE, 7, 8);
	if (series_parse(&record, "run", &sample, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sample.n, 3);
	v = sample_find(&sample, "SUnreclaim");
	assert_int_equal(v->n, 2);
	assert_true(v->values[0] == 200 && v->values[1] == 240);
	assert_true(v->t_ns[0] == 20 && v->t_ns[1] == 30);
	v = sample_find(&sample, "Slab");
	assert_true(v->values[0] == 300 && v->values[1] == 350);
}

static void test_series_missing(void **state)
{
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	struct lab_error err;

	(void)state;
	feed_hello(&record);
	assert_int_equal(series_parse(&record, "run", &sample, &err), -1);
	assert_string_equal(err.text, "phase 'run' did not begin");
	feed_phase(&record, 10, false);
	assert_int_equal(series_parse(&record, "run", &sample, &err), -1);
	assert_string_equal(err.text, "phase 'run' did not end");
	feed_phase(&record, 1000000010, true);
	assert_int_equal(series_parse(&record, "run", &sample, &err), -1);
	assert_string_equal(err.text, "the series have no meminfo.SReclaimable");
	feed_names(&record);
	feed_series(&record, 5, MESSAGE_MARK_NONE, 1, 2);
	assert_int_equal(series_parse(&record, "run", &sample, &err), -1);
	assert_string_equal(err.text, "no sample of meminfo.SReclaimable fell into phase 'run' "
				      "(1.0 s): sample more often");
	assert_int_equal(sample.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),	       cmocka_unit_test(test_command_cut),
		cmocka_unit_test(test_command_failed), cmocka_unit_test(test_command_options),
		cmocka_unit_test(test_series),	       cmocka_unit_test(test_series_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
