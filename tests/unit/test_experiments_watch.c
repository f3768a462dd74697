/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every way in which a boot can end, on a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "experiments/watch.h"

static const struct experiment_deadlines limits = {
	.boot = 1000, .heartbeat = 200, .progress = 500, .total = 3000, .poweroff = 100};

struct fixture {
	struct watch watch;
	struct record record;
};

static void start(struct fixture *f)
{
	*f = (struct fixture){0};
	watch_init(&f->watch, &f->record, &limits, 10000);
}

static void take(struct fixture *f, json_t *message, uint64_t now)
{
	watch_frame(&f->watch, message, now);
	json_decref(message);
}

static void take_hello(struct fixture *f, int64_t protocol, const char *build_id, uint64_t now)
{
	const struct message_hello hello = {.protocol = protocol,
					    .agent = "0",
					    .boot_id = "1",
					    .kernel_build_id = build_id,
					    .kernel_release = "6.1"};

	take(f, message_make_hello(&hello), now);
}

static void expect(struct fixture *f, enum run_end end, const char *text)
{
	assert_true(f->watch.ended);
	if (f->watch.end != end || strcmp(f->watch.text, text) != 0)
		fail_msg("ended %d: '%s'", f->watch.end, f->watch.text);
	record_release(&f->record);
}

static void test_boot(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	assert_int_equal(watch_wait(&f.watch, 10000, 5000), 1000);
	assert_int_equal(watch_wait(&f.watch, 10900, 5000), 100);
	assert_int_equal(watch_wait(&f.watch, 10900, 50), 50);
	assert_int_equal(watch_wait(&f.watch, 11000, 50), 0);
	expect(&f, RUN_END_BOOT, "in 1.0 s after the start");
}

static void test_hang(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10500);
	assert_int_equal(watch_wait(&f.watch, 10500, 5000), 200);
	take(&f, message_make_heartbeat(1, 1), 10600);
	assert_int_equal(watch_wait(&f.watch, 10700, 5000), 100);
	assert_int_equal(watch_wait(&f.watch, 10800, 5000), 0);
	assert_int_equal(f.watch.end, RUN_END_SILENT);
	record_release(&f.record);
}

/* Heartbeats keep it from hanging, only a counter that moves keeps it from stalling. */
static void test_stalled(void **state)
{
	struct fixture f;
	uint64_t now;

	(void)state;
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10500);
	for (now = 10600; now < 11100; now += 100) {
		take(&f, message_make_heartbeat((int64_t)now, 7), now);
		assert_true(watch_wait(&f.watch, now, 5000) > 0);
	}
	take(&f, message_make_heartbeat((int64_t)now, 7), now);
	assert_int_equal(watch_wait(&f.watch, now, 5000), 0);
	assert_int_equal(f.watch.end, RUN_END_NO_PROGRESS);
	record_release(&f.record);
}

static void test_total(void **state)
{
	struct fixture f;
	int64_t progress = 0;
	uint64_t now;

	(void)state;
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10500);
	for (now = 10600; now < 13000; now += 100)
		take(&f, message_make_heartbeat((int64_t)now, ++progress), now);
	assert_int_equal(watch_wait(&f.watch, 12950, 5000), 50);
	assert_int_equal(watch_wait(&f.watch, 13000, 5000), 0);
	expect(&f, RUN_END_TOTAL, "3.0 s are over, though it got on");
}

/* A target that tells nothing before it stops has no boot to wait for, and no heart. */
static void test_silent_target(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.watch.streams = false;
	assert_int_equal(watch_wait(&f.watch, 12900, 5000), 100);
	assert_int_equal(watch_wait(&f.watch, 13000, 5000), 0);
	assert_int_equal(f.watch.end, RUN_END_TOTAL);
}

static void test_wrong_kernel(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.watch.build_id = "aabb";
	take_hello(&f, MESSAGE_PROTOCOL, "aabb", 10100);
	assert_false(f.watch.ended);
	record_release(&f.record);
	start(&f);
	f.watch.build_id = "aabb";
	take_hello(&f, MESSAGE_PROTOCOL, "ccdd", 10100);
	expect(&f, RUN_END_WRONG_KERNEL, "build id ccdd (6.1) instead of aabb");
	start(&f);
	f.watch.build_id = "aabb";
	take_hello(&f, MESSAGE_PROTOCOL, "", 10100);
	expect(&f, RUN_END_WRONG_KERNEL, "build id (none) (6.1) instead of aabb");
}

static void test_wrong_protocol(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL + 1, "", 10100);
	assert_int_equal(f.watch.end, RUN_END_AGENT);
	record_release(&f.record);
}

static void test_done(void **state)
{
	static const struct {
		const char *error;
		enum run_end end;
	} cases[] = {
		{NULL, RUN_END_DONE},
		{MESSAGE_ERR_WORKLOAD, RUN_END_DONE},
		{MESSAGE_ERR_MOUNT, RUN_END_REFUSED},
		{MESSAGE_ERR_SWAP, RUN_END_REFUSED},
		{MESSAGE_ERR_SETTING, RUN_END_REFUSED},
		{MESSAGE_ERR_DISK, RUN_END_AGENT},
		{MESSAGE_ERR_JOB, RUN_END_AGENT},
		{MESSAGE_ERR_AGENT, RUN_END_AGENT},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		struct fixture f;

		start(&f);
		take_hello(&f, MESSAGE_PROTOCOL, "", 10100);
		take(&f, message_make_done(5, cases[i].error, cases[i].error ? "why" : NULL),
		     10200);
		expect(&f, cases[i].end, cases[i].error ? "why" : "");
		/* What comes later changes nothing. */
		watch_stopped(&f.watch, MACHINE_LOST, "gone");
		assert_int_equal(f.watch.end, cases[i].end);
	}
}

static void test_garbage(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	take(&f, json_pack("{s:s}", "type", "hello"), 10100);
	assert_int_equal(f.watch.end, RUN_END_GARBAGE);
	assert_true(*f.watch.text);
	record_release(&f.record);
	/* Two hellos: it was booted again behind our back. */
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10100);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10200);
	assert_int_equal(f.watch.end, RUN_END_GARBAGE);
	record_release(&f.record);
}

static void test_refused_job(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	take_hello(&f, MESSAGE_PROTOCOL, "", 10100);
	take(&f, message_make_reply(1, NULL, NULL), 10110);
	assert_false(f.watch.ended);
	take(&f, message_make_reply(2, MESSAGE_ERR_JOB, "no phases"), 10120);
	expect(&f, RUN_END_AGENT, "no phases");
}

static void test_stopped(void **state)
{
	static const struct {
		enum machine_stop stop;
		enum run_end end;
	} cases[] = {
		{MACHINE_SHUTDOWN, RUN_END_SHUTDOWN}, {MACHINE_REBOOT, RUN_END_REBOOT},
		{MACHINE_CRASHED, RUN_END_CRASHED},   {MACHINE_LOST, RUN_END_LOST},
		{MACHINE_IO_ERROR, RUN_END_IO_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		struct fixture f;

		start(&f);
		watch_stopped(&f.watch, cases[i].stop, "so");
		expect(&f, cases[i].end, "so");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot),	       cmocka_unit_test(test_hang),
		cmocka_unit_test(test_stalled),	       cmocka_unit_test(test_total),
		cmocka_unit_test(test_silent_target),  cmocka_unit_test(test_wrong_kernel),
		cmocka_unit_test(test_wrong_protocol), cmocka_unit_test(test_done),
		cmocka_unit_test(test_garbage),	       cmocka_unit_test(test_refused_job),
		cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
