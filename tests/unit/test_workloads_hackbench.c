/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "workloads/driver.h"
#include "workloads/hackbench.h"

#define CORPUS TESTS_DIR "/fuzz/corpus/hackbench/"

static const struct hackbench_form processes = {
	.groups = 2, .fds = 20, .loops = 100, .datasize = 100};
static const struct hackbench_form threads = {
	.threads = true, .groups = 2, .fds = 20, .loops = 100, .datasize = 100};

/* Every file of the corpus and what must come of it. */
static const struct {
	const char *file;
	double seconds;	  /* 0: refused */
	const char *text; /* the first note, or what the refusal says */
} cases[] = {
	{"good", 0.141, NULL},
	{"threads", 0, "ran 'Running in threaded mode"},
	{"noise", 12.031, "sh: warning: setlocale: LC_ALL"},
	{"progress", 3.5, "progress 10%?progress 90%?done"},
	{"crlf", 0.141, NULL},
	{"nan", 0, "time is no number: 'nan'"},
	{"inf", 0, "time is no number: 'inf'"},
	{"zero", 0, "time is zero: '0.000'"},
	{"comma", 0, "time is no number: '0,141'"},
	{"thousands", 0, "time is no number: '1,000.141'"},
	{"negative", 0, "time is no number: '-0.141'"},
	{"exponent", 0, "time is no number: '1e3'"},
	{"empty", 0, "time is no number: ''"},
	{"noblank", 0, "no number after 'Time:'"},
	{"unit", 0, "time is no number: '0.141 s'"},
	{"missing", 0, "printed no time"},
	{"twice", 0, "two times"},
	{"cut", 0, "output is cut inside the time"},
	{"headless", 0, "a time, but not what ran before it"},
	{"othergroups", 0, "ran 'Running in process mode with 1 groups"},
	{"fewer", 0, "ran 'Each sender will pass 99 messages"},
	{"binary", 0, "printed no time"},
};

static void load(const char *file, struct lab_buf *buf)
{
	LAB_CLEANUP(free) char *path = lab_asprintf(CORPUS "%s", file);
	struct lab_error err;

	if (lab_read_file(path, 1 << 20, buf, &err))
		fail_msg("%s", err.text);
}

static void test_corpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
		LAB_CLEANUP(buf) struct lab_buf buf = LAB_BUF_INIT;
		struct lab_error err = {0};
		double seconds = -1;
		int rc;

		load(cases[i].file, &buf);
		rc = hackbench_parse(buf.data, buf.len, &processes, &seconds, &notes, &err);
		if ((rc == 0) != (cases[i].seconds > 0))
			fail_msg("%s: gave %d: %s", cases[i].file, rc, err.text);
		if (rc == 0 && seconds != cases[i].seconds)
			fail_msg("%s: gave %g", cases[i].file, seconds);
		if (rc && (seconds != -1 || !lab_starts_with(err.text, cases[i].text)))
			fail_msg("%s: said '%s'", cases[i].file, err.text);
		if (rc == 0 && cases[i].text)
			assert_string_equal(notes.items[0], cases[i].text);
		if (rc == 0 && !cases[i].text)
			assert_int_equal(notes.n, 0);
	}
}

static void test_threads(void **state)
{
	LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
	LAB_CLEANUP(buf) struct lab_buf buf = LAB_BUF_INIT;
	double seconds;

	(void)state;
	load("threads", &buf);
	assert_int_equal(hackbench_parse(buf.data, buf.len, &threads, &seconds, &notes, NULL), 0);
	assert_true(seconds == 0.141);
}

/* However the output is cut, no number comes out that it does not hold whole. */
static void test_truncation(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(buf) struct lab_buf buf = LAB_BUF_INIT;

		load(cases[i].file, &buf);
		for (size_t len = 0; len < buf.len; len++) {
			LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
			/* Of exactly this size, so that the sanitizer sees a step too far. */
			LAB_CLEANUP(free) char *cut = malloc(len ? len : 1);
			double seconds;

			memcpy(cut, buf.data, len);
			if (hackbench_parse(cut, len, &processes, &seconds, &notes, NULL) == 0 &&
			    !(cases[i].seconds > 0
				      ? seconds == cases[i].seconds
				      : strcmp(cases[i].file, "twice") == 0 && seconds == 0.141))
				fail_msg("%s cut at %zu gave %g", cases[i].file, len, seconds);
		}
	}
}

static json_t *options(const char *text)
{
	json_auto_t *given = json_loads(text, 0, NULL);
	json_t *complete = NULL;
	struct lab_error err;

	assert_non_null(given);
	if (workload_options_complete(workload_find("hackbench"), given, &complete, &err))
		fail_msg("%s", err.text);
	return complete;
}

static void test_steps(void **state)
{
	static const char *const want[] = {
		"process-pipes-1: hackbench -P -p -g 4 -f 20 -l 50 -s 100",
		"thread-sockets-1: hackbench -T -g 4 -f 20 -l 50 -s 100",
		"process-pipes-2: hackbench -P -p -g 4 -f 20 -l 50 -s 100",
		"thread-sockets-2: hackbench -T -g 4 -f 20 -l 50 -s 100",
	};
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	struct job_phase *phase = job_add_phase(&job, "run");
	json_auto_t *o = options("{\"groups\": 4, \"loops\": 50, \"iterations\": 2,"
				 " \"forms\": [\"process-pipes\", \"thread-sockets\"]}");

	(void)state;
	assert_int_equal(workload_find("hackbench")->steps(o, phase, NULL), 0);
	assert_int_equal(phase->n_steps, LAB_COUNT(want));
	for (size_t i = 0; i < LAB_COUNT(want); i++) {
		LAB_CLEANUP(free) char *argv = lab_strv_join(&phase->steps[i].argv, " ");
		LAB_CLEANUP(free)
		char *line = lab_asprintf("%s: %s", phase->steps[i].name, argv);

		assert_string_equal(line, want[i]);
	}
}

/* The names of the published tables. */
static void test_metrics(void **state)
{
	static const char *const want[] = {
		"hackbench_process_pipes_234", "hackbench_process_sockets_234",
		"hackbench_thread_pipes_234", "hackbench_thread_sockets_234"};
	LAB_CLEANUP(metric_list) struct metric_list list = {0};
	json_auto_t *o = options("{\"groups\": 234}");

	(void)state;
	workload_find("hackbench")->metrics(o, &list);
	assert_int_equal(list.n, LAB_COUNT(want));
	for (size_t i = 0; i < list.n; i++) {
		assert_string_equal(list.items[i].name, want[i]);
		assert_int_equal(list.items[i].direction, '-');
		assert_string_equal(list.items[i].unit, "s");
		assert_true(metric_is_timed(&list.items[i]));
	}
}

/* A record whose only step ended as told, with the corpus file as its output. */
static void feed_step(struct record *record, const char *step, const char *output, int exit_code,
		      int signal)
{
	struct message_hello hello = {.protocol = MESSAGE_PROTOCOL,
				      .agent = "0",
				      .boot_id = "1",
				      .kernel_build_id = "",
				      .kernel_release = "6.1"};
	struct message_step begin = {.phase = "run", .step = step, .t_ns = 2};
	struct message_step end = {.phase = "run",
				   .step = step,
				   .end = true,
				   .t_ns = 4,
				   .exit_code = signal ? -1 : exit_code,
				   .signal = signal};
	struct message_phase phase = {.phase = "run", .t_ns = 1};
	LAB_CLEANUP(free) char *stream = lab_asprintf("run/%s/stdout", step);
	LAB_CLEANUP(buf) struct lab_buf buf = LAB_BUF_INIT;
	json_t *messages[5];

	load(output, &buf);
	messages[0] = message_make_hello(&hello);
	messages[1] = message_make_phase(&phase);
	messages[2] = message_make_step(&begin);
	messages[3] = message_make_data(stream, 0, 3, buf.data, buf.len);
	messages[4] = message_make_step(&end);
	for (size_t i = 0; i < LAB_COUNT(messages); i++) {
		struct lab_error err;

		if (record_feed(record, messages[i], &err))
			fail_msg("message %zu: %s", i, err.text);
		json_decref(messages[i]);
	}
}

static int parse_one(const char *output, int exit_code, int signal, struct sample *sample,
		     struct lab_error *err)
{
	json_auto_t *o = options("{\"groups\": 2, \"forms\": [\"process-pipes\"]}");
	LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	struct workload_input in = {.record = &record, .phase = "run", .options = o};

	feed_step(&record, "process-pipes-1", output, exit_code, signal);
	return workload_find("hackbench")->parse(&in, sample, &notes, err);
}

static void test_record(void **state)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	struct lab_error err;

	(void)state;
	assert_int_equal(parse_one("good", 0, 0, &sample, &err), 0);
	assert_int_equal(sample.n, 1);
	assert_string_equal(sample.items[0].metric, "hackbench_process_pipes_2");
	assert_int_equal(sample.items[0].n, 1);
	assert_true(sample.items[0].values[0] == 0.141);
	assert_int_equal(parse_one("nan", 0, 0, &sample, &err), -1);
	assert_string_equal(err.text, "process-pipes-1: time is no number: 'nan'");
}

/* A time that a failed program printed is none. */
static void test_failed_step(void **state)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	struct lab_error err;

	(void)state;
	assert_int_equal(parse_one("good", 1, 0, &sample, &err), -1);
	assert_string_equal(err.text, "process-pipes-1 ended with exit code 1");
	assert_int_equal(parse_one("good", 0, 9, &sample, &err), -1);
	assert_string_equal(err.text, "process-pipes-1 was ended by signal 9 (Killed)");
	assert_int_equal(sample.n, 0);
}

static void test_missing_step(void **state)
{
	json_auto_t *o = options("{\"groups\": 2}");
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(strv) struct lab_strv notes = LAB_STRV_INIT;
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	struct workload_input in = {.record = &record, .phase = "run", .options = o};
	struct lab_error err;

	(void)state;
	feed_step(&record, "process-pipes-1", "good", 0, 0);
	assert_int_equal(workload_find("hackbench")->parse(&in, &sample, &notes, &err), -1);
	assert_string_equal(err.text, "process-sockets-1 did not run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),	    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_truncation),  cmocka_unit_test(test_steps),
		cmocka_unit_test(test_metrics),	    cmocka_unit_test(test_record),
		cmocka_unit_test(test_failed_step), cmocka_unit_test(test_missing_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
