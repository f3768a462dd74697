/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runner from a request to the rows in the lab, on machines that are scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "common/rng.h"
#include "protocol/record.h"

#include "tests/unit/fake_lab.h"

static const char definition[] =
	"title: t\nimage: i\ntarget: fake\n"
	"phases:\n- {name: run, workload: hackbench, options: {forms: [process-pipes]}}\n"
	"collect: {interval: 1 s, series: meminfo}\n"
	"presets:\n"
	"  s:\n    memory: 64 MiB\n    n: 3\n    data: 1 MiB\n    swap: 2 MiB\n"
	"    deadlines: {boot: 30ms, heartbeat: 30ms, progress: 60ms, total: 5 s, poweroff: 20ms}\n";

struct fixture {
	char dir[32];
	char *file; /* the definition */
	struct lab *lab;
	unsigned ended, stop_after; /* runs ended in this call; stop the call after so many */
	char *last_state, *last_message, *last_run;
	struct run_request request;
	struct run_progress progress;
	struct run_result result;
	struct lab_error err;
};

static void run_ended(void *ctx, const struct run_status *status, const char *run,
		      const char *state, const char *message)
{
	struct fixture *f = ctx;

	assert_true(status->runs > 0 && status->run <= status->runs);
	free(f->last_state);
	free(f->last_message);
	free(f->last_run);
	f->last_state = lab_strdup(state);
	f->last_message = lab_strdup(message);
	f->last_run = lab_strdup(run);
	f->ended++;
}

static bool cancelled(void *ctx)
{
	struct fixture *f = ctx;

	return f->stop_after && f->ended >= f->stop_after;
}

static void write_definition(struct fixture *f, const char *text)
{
	assert_int_equal(lab_write_file(f->file, text, strlen(text), 0644, NULL), 0);
}

static int setup(void **state)
{
	struct fixture *f = LAB_NEW(struct fixture);
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	LAB_CLEANUP(artifact) struct artifact *b = NULL;
	LAB_CLEANUP(free) char *lab = NULL;

	fake_behave = NULL;
	fake_boots = fake_run_ms = fake_builds = 0;
	fake_kvm = true;
	strcpy(f->dir, "/tmp/labctl-runner-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->file = lab_path_join(f->dir, "exp.yaml");
	lab = lab_path_join(f->dir, "lab");
	write_definition(f, definition);
	if (lab_init(lab, &f->err) || lab_open(lab, &f->lab, &f->err) ||
	    fake_kernel(f->lab, "aaaa00000000", "aaaa", FAKE_CONFIG, &a, &f->err) ||
	    fake_kernel(f->lab, "bbbb00000000", "bbbb", FAKE_CONFIG, &b, &f->err) ||
	    fake_patchset(f->lab, "refs/changes/1", "aaaa00000000", "bbbb00000000", &f->err))
		fail_msg("%s", f->err.text);
	f->request = (struct run_request){.experiment = f->file,
					  .agent = "/agent",
					  .stages = &fake_stages,
					  .recipes_dir = "/r"};
	f->progress =
		(struct run_progress){.ctx = f, .run_ended = run_ended, .cancelled = cancelled};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	lab_free(f->lab);
	if (lab_remove_tree(f->dir, &f->err))
		fail_msg("%s", f->err.text);
	free(f->file);
	free(f->last_state);
	free(f->last_message);
	free(f->last_run);
	free(f);
	assert_int_equal(fake_alive, 0);
	return 0;
}

static int go(struct fixture *f)
{
	int rc;

	f->ended = 0;
	f->err.text[0] = 0;
	rc = campaign_run(f->lab, &f->request, &f->progress, &f->result, &f->err);
	run_result_release(&f->result);
	return rc;
}

static void go_well(struct fixture *f)
{
	if (go(f))
		fail_msg("%s", f->err.text);
}

static void refuse(struct fixture *f, const char *words)
{
	assert_int_equal(go(f), -1);
	if (strcmp(f->err.text, words) != 0)
		fail_msg("said '%s'", f->err.text);
	assert_int_equal(fake_boots, 0);
}

static void test_complete(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	json_auto_t *definition_json = NULL;

	go_well(f);
	assert_int_equal(f->result.done, 6);
	assert_int_equal(f->result.missing, 0);
	assert_int_equal(f->result.n_counts, 1);
	assert_int_equal(campaign_get(f->lab, f->result.campaign, &c, NULL), 0);
	assert_string_equal(c->state, CAMPAIGN_COMPLETE);
	assert_string_equal(c->experiment, "exp");
	assert_int_equal(c->n, 3);
	assert_false(c->emulated);
	definition_json = json_loads(c->definition, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(definition_json, "metrics")), 4);
	assert_int_equal(json_array_size(json_object_get(definition_json, "variants")), 2);
	assert_int_equal(run_list(f->lab, c->id, true, &runs, NULL), 0);
	for (size_t i = 0; i < runs.n; i++) {
		LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
		LAB_CLEANUP(record) struct record record = RECORD_INIT;
		LAB_CLEANUP(free) char *frames = lab_path_join(runs.items[i]->dir, "frames");
		LAB_CLEANUP(free) char *volume = lab_path_join(runs.items[i]->dir, "root.qcow2");
		const struct sample_value *v;

		assert_int_equal(run_samples(f->lab, runs.items[i]->id, &sample, NULL), 0);
		v = sample_find(&sample, "hackbench_process_pipes_10");
		assert_int_equal(v->n, 1);
		/* The seed that the run was planned with came as far as the workload. */
		assert_true(v->values[0] == (100 + (double)runs.items[i]->seed) / 1000);
		assert_int_equal(sample_find(&sample, "SUnreclaim")->n, 2);
		/* What it said is kept, what it ran on is not. */
		assert_int_equal(record_load(frames, &record, NULL), 0);
		assert_null(record.torn);
		assert_true(record.done);
		assert_false(lab_file_exists(volume));
		assert_non_null(
			strstr(runs.items[i]->fingerprint, "\"command_line\":\"fake -m 64\""));
		assert_non_null(strstr(runs.items[i]->facts, "\"sha256\""));
	}
}

static void test_again(void **state)
{
	struct fixture *f = *state;
	int64_t first;

	go_well(f);
	first = f->result.campaign;
	go_well(f);
	assert_true(f->result.already_complete);
	assert_int_equal(f->result.campaign, first);
	assert_int_equal(f->result.done, 6);
	assert_int_equal(fake_boots, 6);
	f->request.new_campaign = true;
	go_well(f);
	assert_int_equal(f->result.campaign, first + 1);
	assert_int_equal(fake_boots, 12);
	/* Another n is another campaign. */
	f->request.new_campaign = false;
	f->request.n = 1;
	go_well(f);
	assert_int_equal(f->result.campaign, first + 2);
	assert_int_equal(f->result.planned, 2);
}

static const char *second_run;
static const char *on_second(const char *run, const char *cmdline, unsigned long boots)
{
	(void)cmdline;
	(void)boots;
	return strcmp(run, "1.2") == 0 ? second_run : NULL;
}

static void check_second(struct fixture *f, const char *want, const char *message)
{
	LAB_CLEANUP(run) struct run *run = NULL;

	assert_int_equal(run_get(f->lab, 1, 2, 0, &run, NULL), 0);
	if (strcmp(run->state, want) != 0 || strcmp(run->message, message) != 0)
		fail_msg("%s: ended as %s: %s", second_run, run->state, run->message);
}

/* Each fault in the second run: it ends in its state, the others are done. */
static void test_outcomes(void **state)
{
	static const struct {
		const char *script, *state, *message;
	} cases[] = {
		{"panic", "panic", "Kernel panic - not syncing: test"},
		{"boot-panic", "panic", "Kernel panic - not syncing: VFS: no root"},
		{"oops", "oops", "BUG: kernel NULL pointer dereference, address: 0000000000000000"},
		{"oom", "oom", "Out of memory: Killed process 70 (hackbench)"},
		{"reset", "panic", "the guest reset itself: reboot"},
		{"shutdown", "workload", "the guest powered off before it was done: shutdown"},
		{"hang", "hang", "no heartbeat: for 0.0 s"},
		{"no-hello", "hang",
		 "no word from the agent: in 0.0 s after the start; the console ends with "
		 "'Unpacking initramfs...'"},
		{"stalled", "stalled", "no progress: for 0.1 s, though the agent lives"},
		{"fails", "workload", "hackbench: process-pipes-1 ended with exit code 1"},
		{"mute", "workload", "hackbench: process-pipes-1: printed no time"},
		{"setting", "workload", "the guest refused: vm.x: no such file"},
	};
	struct fixture *f = *state;

	fake_behave = on_second;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		if (i) {
			teardown(state);
			setup(state);
			f = *state;
			fake_behave = on_second;
		}
		second_run = cases[i].script;
		go_well(f);
		assert_int_equal(f->result.done, 5);
		assert_int_equal(f->result.failed, 1);
		assert_int_equal(f->result.missing, 0);
		check_second(f, cases[i].state, cases[i].message);
		/* It counts and is not repeated. */
		go_well(f);
		assert_true(f->result.already_complete);
	}
}

/* Lab faults: the campaign goes on, and the next call repeats them. */
static void test_faults(void **state)
{
	static const struct {
		const char *script, *state, *message;
	} cases[] = {
		{"lost", "lost", "the machine went away: lost"},
		{"io-error", "io-error", "a volume failed: io-error"},
		{"garbage", "lost", "the guest sent garbage: length 4294967295"},
		{"unstarted", "lost", "the host failed: libvirtd is gone"},
		{"other-kernel", "lost",
		 "another kernel answered: build id 0123 (6.1) instead of aaaa"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(run) struct run *run = NULL;
		LAB_CLEANUP(free) char *message = lab_strdup(cases[i].message);
		char *arm;

		if (i) {
			teardown(state);
			setup(state);
			f = *state;
		}
		fake_behave = on_second;
		second_run = cases[i].script;
		go_well(f);
		assert_int_equal(f->result.done, 5);
		assert_int_equal(f->result.missing, 1);
		assert_int_equal(f->result.failed, 0);
		assert_int_equal(run_get(f->lab, 1, 2, 0, &run, NULL), 0);
		arm = strstr(message, "instead of");
		if (arm && strcmp(run->variant, "B") == 0)
			memcpy(arm, "instead of bbbb", strlen("instead of bbbb"));
		check_second(f, cases[i].state, message);
		fake_behave = NULL;
		go_well(f);
		assert_true(f->result.resumed);
		assert_int_equal(f->result.done, 6);
		assert_int_equal(f->ended, 1);
		assert_string_equal(f->last_run, "1.2");
	}
}

static const char *all_lost(const char *run, const char *cmdline, unsigned long boots)
{
	(void)run;
	(void)cmdline;
	(void)boots;
	return "unstarted";
}

static const char *unprepared(const char *run, const char *cmdline, unsigned long boots)
{
	(void)run;
	(void)cmdline;
	(void)boots;
	return "unprepared";
}

/* When it is the lab and not the run, the plan is not burnt. */
static void test_broken_lab(void **state)
{
	struct fixture *f = *state;

	fake_behave = all_lost;
	assert_int_equal(go(f), -1);
	assert_string_equal(f->err.text, "two lab faults one after the other (see run 1.2): "
					 "stopped; the same command goes on");
	assert_int_equal(fake_boots, 2);
	assert_int_equal(f->result.missing, 6);
	fake_behave = unprepared;
	assert_int_equal(go(f), -1);
	assert_string_equal(f->err.text, "run 1.1: the host failed: no road to the image");
	assert_int_equal(fake_boots, 2);
	fake_behave = NULL;
	go_well(f);
	assert_int_equal(f->result.done, 6);
	assert_int_equal(f->result.campaign, 1);
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;

	f->stop_after = 2;
	go_well(f);
	assert_true(f->result.cancelled);
	assert_int_equal(f->result.done, 2);
	f->stop_after = 0;
	go_well(f);
	assert_true(f->result.resumed);
	assert_int_equal(f->result.done, 6);
	assert_int_equal(f->ended, 4);
}

static bool at_once(void *ctx)
{
	(void)ctx;
	return fake_alive > 0;
}

/* A run in flight ends as cancelled within a blink, and is repeated. */
static void test_cancel_in_flight(void **state)
{
	struct fixture *f = *state;
	uint64_t begun = lab_now_ms();

	f->progress.cancelled = at_once;
	fake_behave = on_second;
	second_run = "hang";
	go_well(f);
	assert_true(f->result.cancelled);
	assert_true(lab_now_ms() - begun < 1000);
	assert_string_equal(f->last_state, "cancelled");
	assert_int_equal(f->result.missing, 6);
	fake_behave = NULL;
	f->progress.cancelled = cancelled;
	go_well(f);
	assert_int_equal(f->result.done, 6);
}

static void test_stubborn(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(run) struct run *run = NULL;

	fake_behave = on_second;
	second_run = "stubborn";
	go_well(f);
	assert_int_equal(f->result.done, 6);
	assert_int_equal(run_get(f->lab, 1, 2, 0, &run, NULL), 0);
	assert_non_null(strstr(run->facts, "it did not power off when it was asked to"));
}

static void test_equal_variants(void **state)
{
	static const struct run_kernel same[] = {{"A", "aaaa0000"}, {"B", "aaaa0000"}};
	struct fixture *f = *state;

	f->request.kernels = same;
	f->request.n_kernels = 2;
	refuse(f, "variants A and B are equal (same kernel, command line and settings): nothing "
		  "to compare; --aa compares them all the same");
	f->request.aa = true;
	go_well(f);
	assert_int_equal(f->result.done, 6);
}

/* Variants may share a kernel and differ in their command line. */
static void test_cmdline(void **state)
{
	static const struct run_kernel one[] = {{"A", "bbbb0000"}};
	struct fixture *f = *state;
	LAB_CLEANUP(free)
	char *text = lab_asprintf("%svariants: {A: {kernel: A}, B: {kernel: A, cmdline: other}}\n",
				  definition);
	LAB_CLEANUP(run_list) struct run_list runs = {0};

	write_definition(f, text);
	f->request.kernels = one;
	f->request.n_kernels = 1;
	go_well(f);
	assert_int_equal(run_list(f->lab, 1, true, &runs, NULL), 0);
	for (size_t i = 0; i < runs.n; i++) {
		LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
		double value;

		assert_int_equal(run_samples(f->lab, runs.items[i]->id, &sample, NULL), 0);
		value = sample_find(&sample, "hackbench_process_pipes_10")->values[0];
		assert_int_equal(value > 1, strcmp(runs.items[i]->variant, "B") == 0);
	}
}

static void test_emulated(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(campaign) struct campaign *c = NULL;

	fake_kvm = false;
	refuse(f, "target 'fake' needs KVM (it spins in the firmware): --allow-emulated runs it "
		  "without and marks every time, --target exact does not need it");
	f->request.check_every = 1;
	refuse(f, "runs on target 'fake' are never equal: nothing to check");
	f->request.check_every = 0;
	f->request.profile = true;
	refuse(f, "--profile counts instructions, which target 'fake' cannot; --target exact can");
	f->request.profile = false;
	f->request.allow_emulated = true;
	go_well(f);
	assert_true(f->result.emulated);
	assert_int_equal(campaign_get(f->lab, 1, &c, NULL), 0);
	assert_true(c->emulated);
	/* With KVM it is not the same campaign: their times do not mix. */
	fake_kvm = true;
	go_well(f);
	assert_int_equal(f->result.campaign, 2);
}

static void test_patchsets(void **state)
{
	struct fixture *f = *state;

	f->request.n = 1;
	f->request.patchset = "refs/changes/1";
	go_well(f);
	assert_int_equal(fake_builds, 0);
	f->request.patchset = "refs/changes/2";
	go_well(f);
	assert_int_equal(fake_builds, 1);
	assert_int_equal(f->result.campaign, 2);
	/* Now it is the newest one, so that nothing needs to be said. */
	f->request.patchset = NULL;
	go_well(f);
	assert_true(f->result.already_complete);
	assert_int_equal(f->result.campaign, 2);
	f->request.patchset = "broken";
	fake_boots = 0;
	refuse(f, "patchset 'broken': mm/slub.c:7: error");
}

/* A stored patchset whose kernels lack what the definition wants is built again. */
static void test_config(void **state)
{
	static const struct run_kernel given[] = {{"A", "aaaa"}, {"B", "bbbb"}};
	struct fixture *f = *state;
	LAB_CLEANUP(free)
	char *text = lab_asprintf("%skernel: {config: [X=y, 'Y=y?']}\n", definition);

	write_definition(f, text);
	f->request.kernels = given;
	f->request.n_kernels = 2;
	refuse(f, "kernel A (aaaa) lacks X=y");
	f->request.n_kernels = 0;
	go_well(f);
	assert_int_equal(fake_builds, 1);
}

static void test_kernel_words(void **state)
{
	static const struct run_kernel a[] = {{"A", "aaaa0000"}};
	static const struct run_kernel c[] = {{"A", "aaaa"}, {"B", "bbbb"}, {"C", "aaaa"}};
	static const struct run_kernel none[] = {{"A", "/nowhere/bzImage"}};
	struct fixture *f = *state;

	f->request.kernels = a;
	f->request.n_kernels = 1;
	refuse(f, "the experiment boots kernel B: give it with --kernel B=...");
	f->request.kernels = c;
	f->request.n_kernels = 3;
	refuse(f, "no variant of the experiment boots a kernel 'C'");
	f->request.kernels = none;
	f->request.n_kernels = 1;
	refuse(f, "kernel A: '/nowhere/bzImage': No such file or directory");
	f->request.patchset = "x";
	refuse(f, "give a patchset or --kernel, not both");
}

static void test_dry_run(void **state)
{
	struct fixture *f = *state;
	struct campaign_list list = {0};

	f->request.dry_run = true;
	f->request.seed = 9;
	assert_int_equal(campaign_run(f->lab, &f->request, &f->progress, &f->result, &f->err), 0);
	assert_int_equal(f->result.planned, 6);
	assert_non_null(strstr(f->result.plan, "seed 11"));
	run_result_release(&f->result);
	assert_int_equal(campaign_list(f->lab, &list, NULL), 0);
	assert_int_equal(list.n, 0);
	campaign_list_release(&list);
}

/* Killed at any moment, called again, killed again: no run lost, none done twice. */
static void test_killed(void **state)
{
	struct fixture *f = *state;
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	unsigned done[25] = {0}, kills = 0;
	struct lab_rng rng;

	f->request.n = 12;
	fake_run_ms = 2;
	lab_rng_seed(&rng, 4711);
	for (;;) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			struct lab *lab = NULL;

			if (lab_open(lab_dir(f->lab), &lab, &f->err))
				_exit(3);
			_exit(campaign_run(lab, &f->request, &f->progress, &f->result, &f->err)
				      ? 2
				      : 0);
		}
		assert_true(pid > 0);
		if (kills < 15) {
			lab_sleep_ms(5 + lab_rng_below(&rng, 40));
			kill(pid, SIGKILL);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			break;
		assert_true(WIFSIGNALED(status));
		kills++;
	}
	assert_true(kills > 0);
	assert_int_equal(run_list(f->lab, 1, false, &runs, NULL), 0);
	for (size_t i = 0; i < runs.n; i++) {
		if (strcmp(runs.items[i]->state, RUN_DONE) == 0)
			done[runs.items[i]->number]++;
		else
			assert_string_equal(runs.items[i]->state, RUN_LOST);
	}
	for (unsigned i = 1; i <= 24; i++)
		assert_int_equal(done[i], 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_complete),	     TEST(test_again),	      TEST(test_outcomes),
		TEST(test_faults),	     TEST(test_broken_lab),   TEST(test_cancel),
		TEST(test_cancel_in_flight), TEST(test_stubborn),     TEST(test_equal_variants),
		TEST(test_cmdline),	     TEST(test_emulated),     TEST(test_patchsets),
		TEST(test_config),	     TEST(test_kernel_words), TEST(test_dry_run),
		TEST(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
