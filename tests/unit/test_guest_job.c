/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real agent as a process: what it makes of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/num.h"
#include "common/proc.h"
#include "tests/unit/guest_peer.h"

static void test_job(void **state)
{
	struct peer *peer = *state;
	static const char *const true_[] = {"true", NULL};
	const struct record *record = &peer->record;
	struct job_phase *phase;
	struct job_step *step;
	struct job job;

	new_job(&job);
	phase = job_add_phase(&job, "prepare");
	job_phase_add_step(phase, "nothing", true_, 1000);
	phase = job_add_phase(&job, JOB_PHASE_RUN);
	step = add_sh(phase, "speak",
		      "echo out; echo err >&2; pwd; echo $A $LABCTL_RUN $LABCTL_SEED");
	step->cwd = lab_strdup("/usr");
	lab_strv_add(&step->env, "A=b c");
	add_sh(phase, "fail", "exit 3")->optional = true;
	add_sh(phase, "crash", "kill -SEGV $$")->optional = true;
	step = add_sh(phase, "absent", "");
	step->optional = true;
	lab_strv_release(&step->argv);
	lab_strv_add(&step->argv, "no-such-program");
	run_job(peer, &job);

	assert_true(record->done && record->ok);
	assert_int_equal(record->n_phases, 2);
	assert_int_equal(record->n_steps, 5);
	assert_int_equal(record_find_step(record, "prepare", "nothing")->exit_code, 0);
	assert_true(record_find_step(record, "prepare", "nothing")->wall_ns > 0);
	assert_true(record_find_step(record, "prepare", "nothing")->maxrss_kb > 0);
	assert_string_equal(output(peer, "run", "speak", "stdout"), "out\n/usr\nb c 7.41 99\n");
	assert_string_equal(output(peer, "run", "speak", "stderr"), "err\n");
	assert_int_equal(record_find_step(record, "run", "fail")->exit_code, 3);
	assert_int_equal(record_find_step(record, "run", "crash")->exit_code, -1);
	assert_int_equal(record_find_step(record, "run", "crash")->signal, SIGSEGV);
	assert_string_equal(record_find_step(record, "run", "absent")->error,
			    "start no-such-program: No such file or directory");
}

/* The first failure ends the job; only cleanup still runs. */
static void test_failure_ends_the_job(void **state)
{
	struct peer *peer = *state;
	struct job_phase *phase;
	struct job job;

	new_job(&job);
	phase = job_add_phase(&job, JOB_PHASE_RUN);
	add_sh(phase, "bad", "exit 7");
	add_sh(phase, "skipped", "true");
	add_sh(job_add_phase(&job, "more"), "skipped", "true");
	add_sh(job_add_phase(&job, JOB_PHASE_CLEANUP), "sweep", "exit 8");
	run_job(peer, &job);
	assert_true(peer->record.done && !peer->record.ok);
	assert_string_equal(peer->record.error, MESSAGE_ERR_WORKLOAD);
	assert_string_equal(peer->record.error_text, "phase run: step bad: exit code 7");
	assert_int_equal(peer->record.n_steps, 2);
	assert_non_null(record_find_step(&peer->record, JOB_PHASE_CLEANUP, "sweep"));
}

static void test_timeout(void **state)
{
	struct peer *peer = *state;
	const struct record_step *step;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "slow", "echo begun; sleep 1000; true")
		->timeout_ms = 1000;
	run_job(peer, &job);
	step = record_find_step(&peer->record, "run", "slow");
	assert_true(step->timed_out);
	assert_int_equal(step->signal, SIGKILL);
	assert_in_range(step->wall_ns, 1000000000, 10000000000);
	assert_string_equal(output(peer, "run", "slow", "stdout"), "begun\n");
	assert_non_null(strstr(peer->record.error_text, "timed out after"));
}

/* Background children, also those in sessions of their own, are gone when the step has ended. */
static void test_leftover(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(strv) struct lab_strv pids = LAB_STRV_INIT;
	uint64_t pid;

	run_one(peer, "sleep 1000 & echo $!; setsid sleep 1000 & sleep 0.2; echo $!; "
		      "(setsid sh -c 'echo $$; sleep 1000 & exec sleep 1000' &) ; sleep 1");
	lab_strv_split(&pids, output(peer, "run", "step", "stdout"), "\n");
	assert_int_equal(pids.n, 3);
	for (size_t i = 0; i < pids.n; i++) {
		assert_int_equal(lab_parse_u64(pids.items[i], &pid, NULL), 0);
		assert_false(process_lives(pid));
	}
	assert_int_equal(record_find_step(&peer->record, "run", "step")->leftover, 4);
	assert_true(peer->record.ok);
}

static void test_huge_output(void **state)
{
	struct peer *peer = *state;
	const struct lab_buf *out;

	run_one(peer, "head -c 20000000 /dev/zero; echo; echo end");
	out = record_find_output(&peer->record, "run", "step", "stdout");
	assert_int_equal(out->len, 20000005);
	assert_string_equal(out->data + 20000000, "\nend\n");
}

static void test_binary_output(void **state)
{
	struct peer *peer = *state;
	const struct lab_buf *out;

	run_one(peer, "printf '\\377\\000\\200x'");
	out = record_find_output(&peer->record, "run", "step", "stdout");
	assert_int_equal(out->len, 4);
	assert_memory_equal(out->data, "\377\0\200x", 4);
}

/* What a program finds: its own session, nothing of the agent's, no protection from OOM. */
static void test_surroundings(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	unsigned long long ignored;

	run_one(peer, "cat; ls /proc/self/fd | tr '\\n' ' '; echo; cat /proc/self/oom_score_adj; "
		      "cut -d' ' -f6 /proc/$$/stat; echo $$; grep SigBlk /proc/self/status; "
		      "grep SigIgn /proc/self/status");
	lab_strv_split(&lines, output(peer, "run", "step", "stdout"), "\n");
	assert_int_equal(lines.n, 6);
	assert_string_equal(lines.items[0], "0 1 2 3 ");
	assert_string_equal(lines.items[1], "0");
	assert_string_equal(lines.items[2], lines.items[3]);
	assert_string_equal(lines.items[4], "SigBlk:\t0000000000000000");
	/*
	 * Signals 32 and 33 are the C library's own: whatever is started with posix_spawn(), as
	 * make does, has them ignored, and no program can change that through the library.
	 */
	assert_int_equal(sscanf(lines.items[5], "SigIgn: %llx", &ignored), 1);
	assert_int_equal(ignored & ~0x180000000ULL, 0);
}

static void check_rows(const struct record *record)
{
	ssize_t slab = record_find_name(record, "meminfo.SReclaimable");
	int64_t value = 0;

	assert_true(slab >= 0);
	assert_true(record->n_rows >= 3);
	assert_int_equal(record->rows[0].mark, MESSAGE_MARK_BEFORE);
	assert_int_equal(record->rows[1].mark, MESSAGE_MARK_NONE);
	assert_int_equal(record->rows[record->n_rows - 1].mark, MESSAGE_MARK_AFTER);
	for (size_t i = 0; i < record->n_rows; i++)
		assert_true(record_value(record, i, (size_t)slab, &value) && value == 3772);
	assert_true(record->rows[0].t_ns >= record->phases[1].begin_ns);
	assert_true(record->rows[0].t_ns <= record->steps[1].begin_ns);
	assert_true(record->rows[record->n_rows - 1].t_ns >= record->steps[1].end_ns);
	assert_true(record->rows[record->n_rows - 1].t_ns <= record->phases[1].end_ns);
}

static void test_collect(void **state)
{
	struct peer *peer = *state;
	const struct record *record = &peer->record;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, "prepare"), "idle", "sleep 0.2"); /* not sampled */
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "idle", "sleep 0.6");
	job.collect.interval_ms = 100;
	lab_strv_add(&job.collect.series, "meminfo");
	lab_strv_add(&job.collect.series, "psi");
	lab_strv_add(&job.collect.snapshots, "cpuinfo");
	lab_strv_add(&job.collect.snapshots, "dmesg");
	run_job(peer, &job);
	check_rows(record);
	assert_true(record_find_name(record, "psi.io.some.total") >= 0);
	assert_non_null(
		strstr(record_find_snapshot(record, "before", "cpuinfo")->data, "QEMU TCG"));
	assert_non_null(record_find_snapshot(record, "after", "cpuinfo"));
	assert_null(record_find_snapshot(record, "after", "dmesg"));
	assert_int_equal(record->n_unavailable, 1);
	assert_string_equal(record->unavailable[0].name, "snapshot.dmesg");
}

/* A step shorter than the interval still has its rows before and after. */
static void test_collect_short(void **state)
{
	struct peer *peer = *state;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "short", "exit 5");
	job.collect.interval_ms = 60000;
	lab_strv_add(&job.collect.series, "loadavg");
	run_job(peer, &job);
	assert_int_equal(peer->record.n_rows, 2);
	assert_int_equal(peer->record.rows[0].mark, MESSAGE_MARK_BEFORE);
	assert_int_equal(peer->record.rows[1].mark, MESSAGE_MARK_AFTER);
}

/* A sysroot that may be written to. */
static int start_copy(void **state)
{
	static char dir[] = "/tmp/labctl-test-agent-XXXXXX";
	struct lab_proc_result result = {0};
	struct peer *peer = LAB_NEW(struct peer);
	LAB_CLEANUP(free) char *memory = NULL;
	struct message m;

	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	{
		const char *argv[] = {"cp", "-r", SYSROOT "/proc", SYSROOT "/sys", dir, NULL};

		assert_int_equal(lab_proc_must(&(struct lab_proc){.argv = argv}, &result, NULL), 0);
		lab_proc_result_release(&result);
	}
	/* A pressure file that opens and cannot be read, as with psi=0. */
	memory = lab_path_join(dir, "proc/pressure/memory");
	assert_int_equal(unlink(memory), 0);
	assert_int_equal(lab_mkdirs(memory, 0755, NULL), 0);
	start_in(peer, dir);
	*state = peer;
	json_decref(wait_for(peer, MESSAGE_HELLO, &m));
	setenv("TEST_SYSROOT", dir, 1);
	return 0;
}

static int stop_copy(void **state)
{
	if (lab_remove_tree(getenv("TEST_SYSROOT"), NULL) < 0)
		return -1;
	return stop(state);
}

static void test_settings(void **state)
{
	struct peer *peer = *state;
	LAB_CLEANUP(free)
	char *path = lab_path_join(getenv("TEST_SYSROOT"), "proc/sys/vm/swappiness");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct job job;

	new_job(&job);
	job_add_setting(&job, JOB_SYSCTL, "vm.swappiness", "17");
	job_add_setting(&job, JOB_WRITE, "/sys/kernel/mm/none", "x");
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "true");
	run_job(peer, &job);
	assert_int_equal(lab_read_file(path, 100, &text, NULL), 0);
	assert_memory_equal(text.data, "17", 2);
	assert_false(peer->record.ok);
	assert_string_equal(peer->record.error, MESSAGE_ERR_SETTING);
	assert_string_equal(peer->record.error_text,
			    "/sys/kernel/mm/none = x: this kernel has no such setting");
	assert_int_equal(peer->record.n_steps, 0);
}

static void test_unavailable_once(void **state)
{
	struct peer *peer = *state;
	struct job job;

	new_job(&job);
	add_sh(job_add_phase(&job, JOB_PHASE_RUN), "step", "sleep 0.3");
	job.collect.interval_ms = 50;
	lab_strv_add(&job.collect.series, "psi");
	run_job(peer, &job);
	assert_true(peer->record.n_rows >= 3);
	assert_int_equal(peer->record.n_unavailable, 1);
	assert_string_equal(peer->record.unavailable[0].name, "psi.memory");
	assert_int_equal(record_find_name(&peer->record, "psi.memory.some.total"), -1);
	assert_true(record_find_name(&peer->record, "psi.cpu.some.total") >= 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)
#define TEST_COPY(f) cmocka_unit_test_setup_teardown(f, start_copy, stop_copy)
	const struct CMUnitTest tests[] = {
		TEST(test_job),
		TEST(test_failure_ends_the_job),
		TEST(test_timeout),
		TEST(test_leftover),
		TEST(test_huge_output),
		TEST(test_binary_output),
		TEST(test_surroundings),
		TEST(test_collect),
		TEST(test_collect_short),
		TEST_COPY(test_settings),
		TEST_COPY(test_unavailable_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
