/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "protocol/frame.h"
#include "protocol/record.h"

#define HELLO                                                                                       \
	"{\"type\":\"hello\",\"protocol\":1,\"agent\":\"a\",\"boot_id\":\"b\",\"kernel_build_id\":" \
	"\"c\",\"kernel_release\":\"6.1\",\"t\":1}"

/* Feeds one message and expects `rc`; returns the error's text. */
static const char *feed(struct record *record, const char *text, int rc)
{
	static struct lab_error err;
	json_t *msg = json_loads(text, 0, NULL);

	err = (struct lab_error){0};
	assert_non_null(msg);
	if (record_feed(record, msg, &err) != rc)
		fail_msg("%s: '%s'", text, err.text);
	json_decref(msg);
	return err.text;
}

static const char *const good_run[] = {
	HELLO,
	"{\"type\":\"reply\",\"id\":1,\"ok\":true}",
	"{\"type\":\"phase\",\"phase\":\"run\",\"event\":\"begin\",\"t\":10}",
	"{\"type\":\"names\",\"first\":0,\"names\":[\"m.a\",\"m.b\"]}",
	"{\"type\":\"series\",\"t\":11,\"mark\":\"before\",\"deltas\":[100,200]}",
	"{\"type\":\"step\",\"phase\":\"run\",\"step\":\"x\",\"event\":\"begin\",\"t\":12}",
	"{\"type\":\"data\",\"stream\":\"run/x/stdout\",\"offset\":0,\"t\":12,\"data\":\"aGVsbG8=\"}",
	"{\"type\":\"heartbeat\",\"t\":13,\"progress\":5}",
	"{\"type\":\"names\",\"first\":2,\"names\":[\"m.c\"]}",
	"{\"type\":\"series\",\"t\":13,\"deltas\":[-1,null,7]}",
	"{\"type\":\"data\",\"stream\":\"run/x/stdout\",\"offset\":5,\"t\":13,\"data\":\"IQ==\"}",
	"{\"type\":\"unavailable\",\"what\":\"psi.memory\",\"why\":\"no\"}",
	"{\"type\":\"step\",\"phase\":\"run\",\"step\":\"x\",\"event\":\"end\",\"t\":14,\"exit\":-1,"
	"\"signal\":9,\"timed_out\":true,\"error\":null,\"wall_ns\":2,\"user_ns\":1,"
	"\"system_ns\":0,\"maxrss_kb\":12,\"leftover\":0}",
	"{\"type\":\"series\",\"t\":15,\"mark\":\"after\",\"deltas\":[0,1,0]}",
	"{\"type\":\"data\",\"stream\":\"snapshot/before/cpuinfo\",\"offset\":0,\"t\":1,\"data\":\"\"}",
	"{\"type\":\"phase\",\"phase\":\"run\",\"event\":\"end\",\"t\":16}",
	"{\"type\":\"log\",\"t\":17,\"level\":\"warn\",\"text\":\"slow\"}",
	"{\"type\":\"later\",\"x\":1}",
	"{\"type\":\"done\",\"t\":18,\"ok\":false,\"error\":\"workload\",\"text\":\"x: signal 9\"}",
};

static void check_series(const struct record *record)
{
	int64_t value = 77;

	assert_int_equal(record->n_rows, 3);
	assert_int_equal(record_find_name(record, "m.c"), 2);
	assert_int_equal(record_find_name(record, "m.d"), -1);
	assert_false(record_value(record, 0, 2, &value)); /* not known yet then */
	assert_false(record_value(record, 1, 1, &value)); /* null */
	assert_false(record_value(record, 3, 0, &value));
	assert_int_equal(value, 77);
	assert_true(record_value(record, 1, 0, &value) && value == 99);
	assert_true(record_value(record, 1, 2, &value) && value == 7);
	/* The delta after a gap counts from the last value that was there. */
	assert_true(record_value(record, 2, 1, &value) && value == 201);
	assert_int_equal(record->rows[0].mark, MESSAGE_MARK_BEFORE);
	assert_int_equal(record->rows[1].mark, MESSAGE_MARK_NONE);
	assert_int_equal(record->rows[2].mark, MESSAGE_MARK_AFTER);
}

static void check_good(const struct record *record)
{
	const struct lab_buf *out = record_find_output(record, "run", "x", "stdout");
	const struct record_step *step = record_find_step(record, "run", "x");

	assert_string_equal(record->hello.kernel_release, "6.1");
	assert_non_null(out);
	assert_int_equal(out->len, 6);
	assert_memory_equal(out->data, "hello!", 6);
	assert_non_null(record_find_snapshot(record, "before", "cpuinfo"));
	assert_null(record_find_snapshot(record, "after", "cpuinfo"));
	assert_non_null(step);
	assert_true(step->ended && step->timed_out && step->signal == 9 && step->maxrss_kb == 12);
	assert_null(record_find_step(record, "run", "y"));
	assert_true(record_find_phase(record, "run")->ended);
	assert_int_equal(record_find_phase(record, "run")->end_ns, 16);
	assert_int_equal(record->progress, 5);
	assert_int_equal(record->n_unavailable, 1);
	assert_string_equal(record->logs[0].text, "slow");
	assert_true(record->done && !record->ok);
	assert_string_equal(record->error, "workload");
	check_series(record);
}

static void test_good_run(void **state)
{
	LAB_CLEANUP(record) struct record record = RECORD_INIT;

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(good_run); i++)
		feed(&record, good_run[i], 0);
	check_good(&record);
}

/* Each is refused after the first `after` messages of the good run. */
static const struct {
	size_t after;
	const char *msg, *why;
} lies[] = {
	{0, "{\"type\":\"heartbeat\",\"t\":1,\"progress\":1}", "hello comes first"},
	{1, HELLO, "second hello"},
	{1, "{\"type\":\"request\",\"id\":1,\"op\":\"ping\"}", "request"},
	{2, "{\"type\":\"phase\",\"phase\":\"run\",\"event\":\"end\",\"t\":10}", "fits no begin"},
	{3, "{\"type\":\"phase\",\"phase\":\"two\",\"event\":\"begin\",\"t\":10}", "out of order"},
	{3, "{\"type\":\"series\",\"t\":1,\"deltas\":[1]}", "1 values for 0"},
	{3, "{\"type\":\"names\",\"first\":1,\"names\":[\"a\"]}", "do not follow"},
	{3, "{\"type\":\"step\",\"phase\":\"two\",\"step\":\"x\",\"event\":\"begin\",\"t\":1}",
	 "out of order"},
	{5, "{\"type\":\"series\",\"t\":10,\"deltas\":[0,0]}", "from the past"},
	{5, "{\"type\":\"series\",\"t\":12,\"deltas\":[9223372036854775807,0]}", "out of range"},
	{6, "{\"type\":\"phase\",\"phase\":\"run\",\"event\":\"end\",\"t\":10}", "fits no begin"},
	{6, "{\"type\":\"step\",\"phase\":\"run\",\"step\":\"y\",\"event\":\"begin\",\"t\":1}",
	 "out of order"},
	{7, "{\"type\":\"data\",\"stream\":\"run/x/stdout\",\"offset\":4,\"t\":1,\"data\":\"\"}",
	 "goes on at byte 4 where 5"},
	{7, "{\"type\":\"data\",\"stream\":\"run/x/stdout\",\"offset\":5,\"t\":1,\"data\":\"?\"}",
	 "not base64"},
	{16, "{\"type\":\"phase\",\"phase\":\"run\",\"event\":\"begin\",\"t\":1}", "out of order"},
	{19, "{\"type\":\"done\",\"t\":18,\"ok\":true}", "twice"},
};

static void test_lies(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(lies); i++) {
		LAB_CLEANUP(record) struct record record = RECORD_INIT;
		const char *why;

		for (size_t j = 0; j < lies[i].after; j++)
			feed(&record, good_run[j], 0);
		why = feed(&record, lies[i].msg, -1);
		if (!strstr(why, lies[i].why))
			fail_msg("%zu: '%s'", i, why);
		/* A lie changes nothing: the truth can still be told to the end. */
		for (size_t j = lies[i].after; j < LAB_COUNT(good_run); j++)
			feed(&record, good_run[j], 0);
		check_good(&record);
	}
}

static void test_cap(void **state)
{
	LAB_CLEANUP(record) struct record record = {.max_bytes = 100000};
	const char *why = "";
	int fed = 0;

	(void)state;
	feed(&record, HELLO, 0);
	for (int rc = 0; rc == 0 && fed < 1000; fed++) {
		struct lab_error err = {0};
		json_t *msg = message_make_log(1, "info", "");

		rc = record_feed(&record, msg, &err);
		json_decref(msg);
		why = rc ? lab_strdup(err.text) : why;
	}
	assert_true(fed > 100 && fed < 1000);
	assert_non_null(strstr(why, "larger than 97.7 KiB"));
	free((char *)why);
	feed(&record, "{\"type\":\"data\",\"stream\":\"a\",\"offset\":0,\"t\":1,\"data\":\"\"}",
	     -1);
	assert_true(record.bytes <= 100000);
}

/* Writes the good run's frames; returns the bytes. */
static void frames_of_good_run(struct lab_buf *out)
{
	for (size_t i = 0; i < LAB_COUNT(good_run); i++) {
		json_t *msg = json_loads(good_run[i], 0, NULL);

		assert_int_equal(frame_encode(msg, out, NULL), 0);
		json_decref(msg);
	}
}

static void load_bytes(const char *data, size_t len, struct record *ret, int rc,
		       struct lab_error *err)
{
	char path[] = "/tmp/labctl-test-record-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(lab_write_all(fd, data, len, NULL), 0);
	close(fd);
	assert_int_equal(record_load(path, ret, err), rc);
	unlink(path);
}

static void test_load_torn(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf frames = LAB_BUF_INIT;
	struct lab_error err = {0};

	(void)state;
	frames_of_good_run(&frames);
	for (size_t len = 0; len <= frames.len; len += len > frames.len - 8 ? 1 : 7) {
		LAB_CLEANUP(record) struct record record = RECORD_INIT;

		load_bytes(frames.data, len, &record, 0, &err);
		if (len == frames.len) {
			assert_null(record.torn);
			check_good(&record);
		}
	}
	{
		LAB_CLEANUP(record) struct record record = RECORD_INIT;

		load_bytes(frames.data, frames.len - 3, &record, 0, &err);
		assert_non_null(strstr(record.torn, "cut after"));
		assert_false(record.done);
		assert_int_equal(record.n_logs, 1);
	}
}

/* After a crash a file can end in zeroes that were allocated and never written. */
static void test_load_zero_tail(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf frames = LAB_BUF_INIT;
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	struct lab_error err = {0};
	char zeroes[4096] = {0};

	(void)state;
	frames_of_good_run(&frames);
	lab_buf_add(&frames, zeroes, sizeof(zeroes));
	load_bytes(frames.data, frames.len, &record, 0, &err);
	assert_non_null(strstr(record.torn, "garbage"));
	check_good(&record);
}

static void test_load_lie(void **state)
{
	LAB_CLEANUP(record) struct record record = RECORD_INIT;
	LAB_CLEANUP(buf) struct lab_buf frames = LAB_BUF_INIT;
	struct lab_error err = {0};

	(void)state;
	frames_of_good_run(&frames);
	frames_of_good_run(&frames);
	load_bytes(frames.data, frames.len, &record, -1, &err);
	assert_non_null(strstr(err.text, "second hello"));
	assert_int_equal(record_load("/nonexistent", &record, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_run),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_load_torn),
		cmocka_unit_test(test_load_zero_tail),
		cmocka_unit_test(test_load_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
