/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "protocol/frame.h"
#include "protocol/job.h"
#include "protocol/message.h"
#include "tests/unit/golden.h"
#include "tests/unit/series_fixture.h"

/* One frame as a line: its four length bytes in hex, then the JSON. Takes the reference. */
static void add(struct lab_buf *lines, json_t *msg)
{
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;
	struct message m;
	struct lab_error err = {0};

	if (message_read(msg, &m, &err) < 0) /* what we make, we can read */
		fail_msg("%s", err.text);
	assert_int_equal(frame_encode(msg, &frame, NULL), 0);
	for (int i = 0; i < FRAME_HEAD; i++)
		lab_buf_addf(lines, "%02x", (unsigned char)frame.data[i]);
	lab_buf_addf(lines, " %s\n", frame.data + FRAME_HEAD);
	json_decref(msg);
}

static void add_requests(struct lab_buf *lines)
{
	LAB_CLEANUP(job) struct job job = JOB_INIT;
	json_t *json;

	job.run = lab_strdup("7.41");
	job.seed = 1;
	assert_int_equal(job_to_json(&job, &json, NULL), 0);
	add(lines, message_make_request(1, "ping", NULL));
	add(lines, message_make_request(2, "job", json));
	add(lines, message_make_request(3, "poweroff", NULL));
	json_decref(json);
}

static void add_steps(struct lab_buf *lines)
{
	struct message_step step = {.phase = "run", .step = "hackbench", .t_ns = 11};

	add(lines, message_make_step(&step));
	step.end = true;
	step.t_ns = 12;
	step.wall_ns = 1000;
	step.user_ns = 300;
	step.system_ns = 400;
	step.maxrss_kb = 2048;
	step.leftover = 2;
	add(lines, message_make_step(&step));
	step.exit_code = -1;
	step.signal = 9;
	step.timed_out = true;
	step.error = "execve: No such file or directory";
	add(lines, message_make_step(&step));
}

/* A change of any byte here is a change of the protocol. */
static void test_golden(void **state)
{
	static const char *const names[] = {"meminfo.MemFree", "slabinfo.dentry.active_objs"};
	static const int64_t deltas[] = {-5, MESSAGE_ABSENT, INT64_MAX};
	LAB_CLEANUP(buf) struct lab_buf lines = LAB_BUF_INIT;
	struct message_phase phase = {.phase = "run", .t_ns = 10};

	(void)state;
	add(&lines, message_make_hello(&(struct message_hello){MESSAGE_PROTOCOL, "0.1.0+00ff",
							       "a-b-c", "1234abcd", "6.1.0", 5}));
	add_requests(&lines);
	add(&lines, message_make_reply(1, NULL, NULL));
	add(&lines, message_make_reply(2, MESSAGE_ERR_JOB, "job: field \"run\" is missing"));
	add(&lines, message_make_phase(&phase));
	phase.end = true;
	add(&lines, message_make_phase(&phase));
	add_steps(&lines);
	add(&lines, message_make_data("run/hackbench/stdout", 7, 13, "Time: 1.0\n\0\xff", 12));
	add(&lines, message_make_data("run/hackbench/stderr", 0, 13, "", 0));
	add(&lines, message_make_names(0, names, 2));
	add(&lines, series_json(14, MESSAGE_MARK_NONE, deltas, 3));
	add(&lines, series_json(14, MESSAGE_MARK_BEFORE, deltas, 0));
	add(&lines, series_json(15, MESSAGE_MARK_AFTER, deltas, 1));
	add(&lines, message_make_unavailable("psi.memory", "Operation not supported"));
	add(&lines, message_make_heartbeat(16, 17));
	add(&lines, message_make_log(18, "warn", "caf\xc3\xa9 and \xff bytes"));
	add(&lines, message_make_done(19, NULL, NULL));
	add(&lines, message_make_done(20, MESSAGE_ERR_DISK, "no disk 'data'"));
	golden_check("protocol/messages.txt", lines.data, lines.len);
}

static void test_data_round_trip(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf frame = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *bytes = lab_calloc(MESSAGE_DATA_MAX, 1);
	struct message m;
	json_t *msg;

	(void)state;
	for (size_t i = 0; i < MESSAGE_DATA_MAX; i++)
		bytes[i] = (char)(i * 7 >> 3);
	msg = message_make_data("run/x/stdout", 1, 2, bytes, MESSAGE_DATA_MAX);
	assert_int_equal(frame_encode(msg, &frame, NULL), 0);
	assert_int_equal(message_read(msg, &m, NULL), 0);
	lab_buf_addc(&out, '!');
	assert_int_equal(message_data_bytes(&m.u.data, &out, NULL), 0);
	assert_int_equal(out.len, MESSAGE_DATA_MAX + 1);
	assert_memory_equal(out.data + 1, bytes, MESSAGE_DATA_MAX);
	json_decref(msg);
}

static const struct {
	const char *json, *why;
} bad[] = {
	{"{}", "\"type\" is missing"},
	{"{\"type\":1}", "not a string"},
	{"{\"type\":\"hello\"}", "hello: field \"protocol\" is missing"},
	{"{\"type\":\"hello\",\"protocol\":0}", "out of range"},
	{"{\"type\":\"hello\",\"protocol\":1,\"agent\":\"\"}", "is empty"},
	{"{\"type\":\"hello\",\"protocol\":1,\"agent\":\"a\",\"boot_id\":[]}", "not a string"},
	{"{\"type\":\"request\",\"id\":0,\"op\":\"ping\"}", "out of range"},
	{"{\"type\":\"request\",\"id\":1,\"op\":\"job\"}", "\"job\" is missing"},
	{"{\"type\":\"request\",\"id\":1,\"op\":\"job\",\"job\":[]}", "not an object"},
	{"{\"type\":\"reply\",\"id\":1}", "\"ok\" is missing"},
	{"{\"type\":\"reply\",\"id\":1,\"ok\":1}", "neither true nor false"},
	{"{\"type\":\"reply\",\"id\":1,\"ok\":false}", "\"error\" is missing"},
	{"{\"type\":\"reply\",\"id\":1,\"ok\":false,\"error\":\"a b\",\"text\":\"\"}",
	 "plain name"},
	{"{\"type\":\"phase\",\"phase\":\"a/b\",\"event\":\"begin\",\"t\":1}", "plain name"},
	{"{\"type\":\"phase\",\"phase\":\"a\",\"event\":\"middle\",\"t\":1}", "neither begin"},
	{"{\"type\":\"phase\",\"phase\":\"a\",\"event\":\"end\",\"t\":-1}", "out of range"},
	{"{\"type\":\"step\",\"phase\":\"a\",\"step\":\"b\",\"event\":\"end\",\"t\":1}",
	 "\"exit\""},
	{"{\"type\":\"step\",\"phase\":\"a\",\"step\":\"b\",\"event\":\"end\",\"t\":1,\"exit\":256}",
	 "out of range"},
	{"{\"type\":\"data\",\"stream\":\"a//b\",\"offset\":0,\"t\":0,\"data\":\"\"}",
	 "plain path"},
	{"{\"type\":\"data\",\"stream\":\"../b\",\"offset\":0,\"t\":0,\"data\":\"\"}",
	 "plain path"},
	{"{\"type\":\"data\",\"stream\":\"b/\",\"offset\":0,\"t\":0,\"data\":\"\"}", "plain path"},
	{"{\"type\":\"data\",\"stream\":\"a\",\"offset\":1e3,\"t\":0,\"data\":\"\"}",
	 "not an integer"},
	{"{\"type\":\"names\",\"first\":0,\"names\":[1]}", "not a name"},
	{"{\"type\":\"names\",\"first\":0,\"names\":[\"\"]}", "not a name"},
	{"{\"type\":\"series\",\"t\":0,\"deltas\":[1.5]}", "not an integer"},
	{"{\"type\":\"series\",\"t\":0,\"mark\":\"now\",\"deltas\":[]}",
	 "neither before nor after"},
	{"{\"type\":\"heartbeat\",\"t\":0,\"progress\":-1}", "out of range"},
	{"{\"type\":\"log\",\"t\":0,\"level\":\"\",\"text\":\"\"}", "is empty"},
	{"{\"type\":\"done\",\"t\":0,\"ok\":null}", "neither true nor false"},
	{"{\"type\":\"unavailable\",\"what\":\"a\"}", "\"why\" is missing"},
};

static void test_strict(void **state)
{
	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		struct message m = {.type = MESSAGE_DONE};
		struct lab_error err = {0};
		json_t *msg = json_loads(bad[i].json, 0, NULL);

		assert_non_null(msg);
		if (message_read(msg, &m, &err) != -1 || !strstr(err.text, bad[i].why))
			fail_msg("%s: '%s'", bad[i].json, err.text);
		assert_int_equal(m.type, MESSAGE_DONE);
		json_decref(msg);
	}
}

static void test_long_array_is_refused(void **state)
{
	json_t *msg = json_pack("{s:s,s:i,s:[]}", "type", "series", "t", 0, "deltas");
	struct message m;

	(void)state;
	for (int i = 0; i < MESSAGE_NAMES_MAX; i++)
		json_array_append_new(json_object_get(msg, "deltas"), json_integer(0));
	assert_int_equal(message_read(msg, &m, NULL), 0);
	json_array_append_new(json_object_get(msg, "deltas"), json_integer(0));
	assert_int_equal(message_read(msg, &m, NULL), -1);
	json_decref(msg);
}

static void test_newer_peer(void **state)
{
	json_t *msg = json_loads("{\"type\":\"dance\",\"step\":3}", 0, NULL);
	struct message m;

	(void)state;
	assert_int_equal(message_read(msg, &m, NULL), 0);
	assert_int_equal(m.type, MESSAGE_UNKNOWN);
	json_decref(msg);
	msg = json_loads("{\"type\":\"heartbeat\",\"t\":1,\"progress\":2,\"mood\":[]}", 0, NULL);
	assert_int_equal(message_read(msg, &m, NULL), 0);
	assert_int_equal(m.u.heartbeat.progress, 2);
	json_decref(msg);
}

static void test_bad_base64(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	struct message_data data = {"a", 0, 0, "ab=c", 4};

	(void)state;
	assert_int_equal(message_data_bytes(&data, &out, NULL), -1);
	assert_int_equal(out.len, 0);
}

static void test_long_text_is_cut(void **state)
{
	LAB_CLEANUP(free) char *text = lab_calloc(MESSAGE_TEXT_MAX * 2, 1);
	struct message m;
	json_t *msg;

	(void)state;
	memset(text, 'x', MESSAGE_TEXT_MAX * 2 - 1);
	msg = message_make_log(1, "info", text);
	assert_int_equal(message_read(msg, &m, NULL), 0);
	assert_int_equal(strlen(m.u.log.text), MESSAGE_TEXT_MAX);
	json_decref(msg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_data_round_trip),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_long_array_is_refused),
		cmocka_unit_test(test_newer_peer),
		cmocka_unit_test(test_bad_base64),
		cmocka_unit_test(test_long_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
