/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"

#define SH(script)                       \
	(const char *const[])            \
	{                                \
		"sh", "-c", script, NULL \
	}

static void test_outputs_and_exit_code(void **state)
{
	struct lab_proc proc = {.argv = SH("echo out; echo err >&2; exit 3")};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};

	(void)state;
	assert_int_equal(lab_proc_run(&proc, &result, NULL), 0);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.out.data, "out\n");
	assert_string_equal(result.err.data, "err\n");
}

static void test_missing_program(void **state)
{
	struct lab_proc proc = {.argv = (const char *const[]){"no-such-program", NULL}};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(lab_proc_run(&proc, &result, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_string_equal(err.text, "program 'no-such-program' is not installed");
}

static void test_must_names_program_and_last_line(void **state)
{
	struct lab_proc proc = {.argv = SH("echo first >&2; echo 'disk on fire' >&2; exit 1")};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, &err), -1);
	assert_string_equal(err.text, "sh ended with exit code 1: disk on fire");
}

static void test_input_larger_than_a_pipe(void **state)
{
	size_t len = 1 << 18;
	LAB_CLEANUP(free) char *input = lab_calloc(len, 1);
	struct lab_proc proc = {.argv = SH("wc -c"), .input = input, .input_len = len};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};

	(void)state;
	memset(input, 'x', len);
	assert_int_equal(lab_proc_must(&proc, &result, NULL), 0);
	assert_string_equal(result.out.data, "262144\n");
}

static void test_output_is_capped_and_drained(void **state)
{
	struct lab_proc proc = {.argv = SH("head -c 1000000 /dev/zero | tr '\\0' x"),
				.output_cap = 1000};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, NULL), 0);
	assert_int_equal(result.out.len, 1000);
}

static void test_deadline_kills_the_whole_group(void **state)
{
	struct lab_proc proc = {.argv = SH("sleep 100 & echo $!; trap '' TERM; wait; sleep 100"),
				.timeout_ms = 300};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	uint64_t began = lab_now_ms();
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_TIMEOUT);
	assert_true(result.timed_out);
	assert_true(lab_now_ms() - began < 10000);
	lab_sleep_ms(50);
	assert_int_equal(kill(atoi(result.out.data), 0), -1);
	assert_int_equal(errno, ESRCH);
}

static bool cancel_at_once(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_cancel(void **state)
{
	struct lab_proc proc = {.argv = SH("sleep 100"), .on_tick = cancel_at_once};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_CANCELLED);
}

static void test_background_child_does_not_hold_us(void **state)
{
	struct lab_proc proc = {.argv = SH("sleep 100 & exit 0")};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	uint64_t began = lab_now_ms();

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, NULL), 0);
	assert_true(lab_now_ms() - began < 10000);
}

static void collect_line(void *ctx, bool is_stderr, const char *line)
{
	lab_buf_addf(ctx, "%s:%s|", is_stderr ? "err" : "out", line);
}

static void test_lines(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf lines = LAB_BUF_INIT;
	struct lab_proc proc = {
		.argv = SH("printf 'a\\n\\nlast'"), .on_line = collect_line, .ctx = &lines};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};

	(void)state;
	assert_int_equal(lab_proc_must(&proc, &result, NULL), 0);
	assert_string_equal(lines.data, "out:a|out:|out:last|");
}

/* A child must not outlive a parent that was killed. */
static void test_child_dies_with_parent(void **state)
{
	int fds[2];
	pid_t parent;
	char text[32] = "";
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	parent = fork();
	if (parent == 0) {
		struct lab_proc proc = {.argv = SH("echo $$; exec sleep 100"),
					.log_path = "/dev/stderr"};
		struct lab_proc_result result;

		dup2(fds[1], 2);
		close(fds[1]);
		close(fds[0]);
		_exit(lab_proc_run(&proc, &result, NULL));
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	for (int i = 0; i < 100 && kill(atoi(text), 0) == 0; i++)
		lab_sleep_ms(20);
	close(fds[0]);
	assert_int_equal(kill(atoi(text), 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs_and_exit_code),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_must_names_program_and_last_line),
		cmocka_unit_test(test_input_larger_than_a_pipe),
		cmocka_unit_test(test_output_is_capped_and_drained),
		cmocka_unit_test(test_deadline_kills_the_whole_group),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_background_child_does_not_hold_us),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_child_dies_with_parent),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
