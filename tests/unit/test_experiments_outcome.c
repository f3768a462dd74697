/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "experiments/outcome.h"
#include "store/state.h"

/* Every end with every console: rows are ends, columns clean, panic, oops, oom. */
static const char *const want[RUN_ENDS][RUN_CONSOLES] = {
	[RUN_END_DONE] = {"done", "panic", "oops", "oom"},
	[RUN_END_REFUSED] = {"workload", "panic", "oops", "oom"},
	[RUN_END_SHUTDOWN] = {"workload", "panic", "oops", "oom"},
	[RUN_END_REBOOT] = {"panic", "panic", "oops", "oom"},
	[RUN_END_CRASHED] = {"panic", "panic", "oops", "oom"},
	[RUN_END_BOOT] = {"hang", "panic", "oops", "oom"},
	[RUN_END_SILENT] = {"hang", "panic", "oops", "oom"},
	[RUN_END_NO_PROGRESS] = {"stalled", "panic", "oops", "oom"},
	[RUN_END_LOST] = {"lost", "panic", "oops", "oom"},
	[RUN_END_GARBAGE] = {"lost", "panic", "oops", "oom"},
	[RUN_END_IO_ERROR] = {"io-error", "io-error", "io-error", "io-error"},
	[RUN_END_TOTAL] = {"host-timeout", "panic", "oops", "oom"},
	[RUN_END_WRONG_KERNEL] = {"lost", "lost", "lost", "lost"},
	[RUN_END_AGENT] = {"lost", "lost", "lost", "lost"},
	[RUN_END_HOST] = {"lost", "lost", "lost", "lost"},
	[RUN_END_CANCELLED] = {"cancelled", "cancelled", "cancelled", "cancelled"},
};

static void test_table(void **state)
{
	(void)state;
	for (int end = 0; end < RUN_ENDS; end++) {
		for (int console = 0; console < RUN_CONSOLES; console++) {
			struct run_evidence e = {.end = (enum run_end)end,
						 .console = (enum run_console)console,
						 .console_text = "the line"};
			struct run_verdict v;

			run_classify(&e, &v);
			if (strcmp(v.state, want[end][console]) != 0)
				fail_msg("end %d, console %d: '%s'", end, console, v.state);
			assert_true(run_state_is_final(v.state));
			/* Whatever is not done says why. */
			assert_true(strcmp(v.state, RUN_DONE) == 0 || *v.message);
		}
	}
}

/* Only one thing in the world is a pass. */
static void test_pass(void **state)
{
	struct run_evidence e = {.end = RUN_END_DONE};
	struct run_verdict v;

	(void)state;
	run_classify(&e, &v);
	assert_string_equal(v.state, RUN_DONE);
	assert_string_equal(v.message, "");
	e.workload_failed = true;
	e.workload_text = "hackbench: two times";
	run_classify(&e, &v);
	assert_string_equal(v.state, RUN_WORKLOAD);
	assert_string_equal(v.message, "hackbench: two times");
	e.console = RUN_CONSOLE_OOM;
	e.console_text = "Out of memory: Killed process 7 (hackbench)";
	run_classify(&e, &v);
	assert_string_equal(v.state, RUN_OOM);
	assert_string_equal(v.message, e.console_text);
}

static void test_words(void **state)
{
	struct run_evidence e = {.end = RUN_END_SILENT, .end_text = "for 20 s\x1b[2J\n"};
	struct run_verdict v;

	(void)state;
	run_classify(&e, &v);
	assert_string_equal(v.message, "no heartbeat: for 20 s?[2J?");
	e.end = RUN_END_LOST;
	e.end_text = "";
	run_classify(&e, &v);
	assert_string_equal(v.message, "the machine went away");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
