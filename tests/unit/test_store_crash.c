/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that works on a lab is killed at random moments, many times over. Whatever
 * the moment: the next one finds a whole database, whole artifacts or none, and a plan
 * in which nothing is lost or doubled; cleaning finds all that is left over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/rng.h"
#include "lab_fixture.h"
#include "store/artifact.h"
#include "store/campaign.h"
#include "store/hash.h"
#include "store/patchset.h"

#define S(literal) ((char *)(literal))
#define SLOTS 12
#define FILES 4
#define VALUES 50

static void key_of(unsigned i, char key[HASH_HEX])
{
	hash_bytes(&i, sizeof(i), key);
}

/* What artifact `i` holds depends on i alone, so that its content can be checked. */
static int fill(const char *dir, unsigned i)
{
	for (unsigned j = 0; j < FILES; j++) {
		LAB_CLEANUP(free) char *path = lab_asprintf("%s/file%u", dir, j);
		LAB_CLEANUP(free) char *text = lab_asprintf("artifact %u, file %u\n", i, j);

		FILE *file = fopen(path, "we");

		if (!file || fputs(text, file) < 0 || fclose(file) != 0)
			return -1;
	}
	return 0;
}

static int make_artifact(struct lab *lab, unsigned i)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	char key[HASH_HEX];

	key_of(i, key);
	if (artifact_begin(lab, ARTIFACT_KERNEL, key, &draft, NULL) < 0 ||
	    fill(artifact_draft_dir(draft), i) < 0)
		return -1;
	return artifact_commit(draft, "label", NULL, NULL, NULL);
}

static int record_patchset(struct lab *lab, unsigned i)
{
	LAB_CLEANUP(free) char *spec = lab_asprintf("refs/%u", i);
	struct patchset p = {0,	     S("s"), spec, S("b"),  S("v"),  S("how"),
			     S("h"), 1,	     NULL, S("ka"), S("kb"), 0};

	return patchset_put(lab, &p, NULL, NULL);
}

/* One slot: begin, values, finish; sometimes as a fault of the lab. */
static int work_slot(struct lab *lab, int64_t campaign, unsigned after, struct lab_rng *rng,
		     unsigned *ret_number)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(run) struct run *next = NULL;
	LAB_CLEANUP(run) struct run *run = NULL;
	bool fault = lab_rng_below(rng, 6) == 0;

	if (run_next(lab, campaign, after, &next, NULL) < 0)
		return -1;
	*ret_number = next ? next->number : 0;
	if (!next)
		return 0;
	if (run_begin(lab, campaign, next->number, &run, NULL) < 0 || fill(run->dir, 0) < 0)
		return -1;
	for (unsigned i = 0; i < VALUES; i++) {
		if (sample_add(&sample, "time", run->number) < 0 ||
		    sample_add_at(&sample, "Slab", i, i) < 0)
			return -1;
	}
	return run_finish(lab, run->id, fault ? RUN_CANCELLED : RUN_DONE, NULL, NULL, NULL,
			  fault ? NULL : &sample, NULL);
}

/* The victim: works until the plan is complete. */
static void work(const char *dir, int64_t campaign, uint64_t seed)
{
	struct lab_lock *lock;
	struct lab_rng rng;
	struct lab *lab;
	unsigned after = 0;

	lab_rng_seed(&rng, seed);
	if (lab_open(dir, &lab, NULL) < 0 || lab_lock(lab, "work", &lock, NULL) < 0)
		_exit(1);
	do {
		unsigned i = (unsigned)lab_rng_below(&rng, 40);

		if (work_slot(lab, campaign, after, &rng, &after) < 0 ||
		    make_artifact(lab, i) < 0 || record_patchset(lab, i) < 0)
			_exit(1);
	} while (after);
	_exit(0);
}

static void check_artifacts(struct lab_fixture *f)
{
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};

	assert_ok(artifact_list(f->lab, NULL, &list, err));
	for (size_t i = 0; i < list.n; i++) {
		char content[HASH_HEX];

		assert_ok(hash_tree(list.items[i]->path, content, err));
		assert_string_equal(content, list.items[i]->content);
	}
}

/* At most one attempt is open, every one that is done has all its values. */
static void check_runs(struct lab_fixture *f, int64_t campaign)
{
	LAB_CLEANUP(run_list) struct run_list list = {0};
	unsigned running = 0;

	assert_ok(run_list(f->lab, campaign, false, &list, err));
	for (size_t i = 0; i < list.n; i++) {
		const struct run *run = list.items[i];
		LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
		bool done = strcmp(run->state, RUN_DONE) == 0;

		assert_true(lab_dir_exists(run->dir));
		running += strcmp(run->state, RUN_RUNNING) == 0;
		/* Once done, a slot is not tried again. */
		if (i && list.items[i - 1]->number == run->number)
			assert_false(run_state_is_outcome(list.items[i - 1]->state));
		assert_ok(run_samples(f->lab, run->id, &sample, err));
		assert_int_equal(sample.n, done ? 2 : 0);
		for (size_t j = 0; j < sample.n; j++)
			assert_int_equal(sample.items[j].n, VALUES);
		if (done)
			assert_true(sample.items[0].values[VALUES - 1] == run->number);
	}
	assert_true(running <= 1);
}

static bool complete(struct lab_fixture *f, int64_t campaign)
{
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	struct campaign_progress p;

	assert_ok(campaign_get(f->lab, campaign, &c, err));
	assert_ok(campaign_progress(f->lab, campaign, &p, err));
	assert_int_equal(p.slots, SLOTS);
	/* The state says complete if and only if no slot is left. */
	assert_int_equal(strcmp(c->state, CAMPAIGN_COMPLETE) == 0, p.done == SLOTS);
	return p.done == SLOTS;
}

/* Returns true when the victim came to its end before it was killed. */
static bool kill_at_random(struct lab_fixture *f, int64_t campaign, struct lab_rng *rng,
			   uint64_t limit_us)
{
	uint64_t delay_us = lab_rng_below(rng, limit_us);
	uint64_t seed = lab_rng_next(rng);
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		work(f->dir, campaign, seed);
	usleep((useconds_t)delay_us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return false;
	/* It does not fail on what an earlier victim left. */
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

static int64_t create(struct lab *lab)
{
	struct campaign c = {.experiment = S("e"),
			     .preset = S("p"),
			     .target = S("t"),
			     .identity = S("i"),
			     .definition = S("{}"),
			     .n = SLOTS};
	struct run_slot slots[SLOTS];
	int64_t id;

	for (unsigned i = 0; i < SLOTS; i++)
		slots[i] = (struct run_slot){i + 1, S("A"), S(""), i + 1, i};
	assert_ok(campaign_create(lab, &c, slots, SLOTS, &id, err));
	return id;
}

static void test_kill(void **state)
{
	struct lab_fixture *f = *state;
	const char *chosen = getenv("CRASH_SEED");
	struct lab_leftovers left;
	struct lab_rng rng;
	int64_t campaign;
	unsigned kills = 0;
	/* Victims live longer and longer, so that on a slow disk, too, one gets to the end. */
	uint64_t limit_us = 10000;
	uint64_t seed = lab_now_ns();

	/* Moments differ from run to run on purpose; the seed makes a failure likely again. */
	if (chosen)
		seed = strtoull(chosen, NULL, 10);
	print_message("CRASH_SEED=%llu\n", (unsigned long long)seed);
	lab_rng_seed(&rng, seed);
	campaign = create(f->lab);
	lab_free(LAB_TAKE(f->lab));
	do {
		kills += !kill_at_random(f, campaign, &rng, limit_us);
		limit_us += limit_us / 12;
		assert_ok(lab_open(f->dir, &f->lab, err));
		assert_ok(lab_check(f->lab, err));
		check_artifacts(f);
		check_runs(f, campaign);
		if (kills % 4 == 0)
			assert_ok(lab_clean_leftovers(f->lab, &left, err));
		if (complete(f, campaign))
			break;
		lab_free(LAB_TAKE(f->lab));
	} while (kills < 200);
	assert_non_null(f->lab);
	print_message("killed %u times\n", kills);
	assert_true(kills >= 3);
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_int_equal(left.drafts + left.artifacts + left.runs + left.run_dirs + left.scratch,
			 0);
	check_artifacts(f);
	check_runs(f, campaign);
}

/* lab_init itself, killed at random and repeated. */
static void test_kill_init(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "fresh");
	struct lab_rng rng;

	lab_rng_seed(&rng, lab_now_ns());
	for (int i = 0; i < 15; i++) {
		LAB_CLEANUP(lab) struct lab *lab = NULL;
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(lab_init(dir, NULL) < 0);
		usleep((useconds_t)lab_rng_below(&rng, 20000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
		assert_ok(lab_init(dir, err));
		assert_ok(lab_open(dir, &lab, err));
		assert_ok(lab_check(lab, err));
		lab_free(LAB_TAKE(lab));
		assert_ok(lab_remove_tree(dir, err));
	}
}

/* In the child: a lab on a file system of its own that runs full. */
static int fill_the_disk(const char *dir)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(lab) struct lab *lab = NULL;
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(run) struct run *after = NULL;
	LAB_CLEANUP(artifact) struct artifact *made = NULL;
	struct lab_error err = {0};
	char key[HASH_HEX];

	key_of(1, key);
	if (lab_init(dir, &err) < 0 || lab_open(dir, &lab, &err) < 0 ||
	    run_begin(lab, create(lab), 1, &run, &err) < 0)
		return 1;
	for (unsigned i = 0; i < 2 << 20; i++) {
		if (sample_add(&sample, "time", i) < 0)
			return 2;
	}
	if (run_finish(lab, run->id, RUN_DONE, NULL, NULL, NULL, &sample, &err) == 0 ||
	    !strstr(err.text, "no space left"))
		return 3;
	/* Nothing of it is there, the run can still be ended, and the lab is whole. */
	if (run_get(lab, run->campaign, 1, 0, &after, &err) < 0 ||
	    strcmp(after->state, RUN_RUNNING) != 0 ||
	    run_finish(lab, run->id, RUN_IO_ERROR, "disk full", NULL, NULL, NULL, &err) < 0)
		return 4;
	/* The journal took the space; the next labctl has it again. */
	lab_free(LAB_TAKE(lab));
	if (lab_open(dir, &lab, &err) < 0 || make_artifact(lab, 1) < 0 ||
	    artifact_find(lab, ARTIFACT_KERNEL, key, &made, &err) < 0 || !made)
		return 5;
	return lab_check(lab, &err) < 0 ? 6 : 0;
}

static void test_disk_full(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "small");
	LAB_CLEANUP(free) char *lab = lab_path_join(dir, "lab");
	pid_t pid;
	int status;

	assert_ok(lab_mkdirs(dir, 0755, err));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", dir, "tmpfs", 0, "size=4m") < 0)
			_exit(77);
		_exit(fill_the_disk(lab));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message(
			"skipped: takes a file system of its own, which only root can mount\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_kill),
		LAB_TEST(test_kill_init),
		LAB_TEST(test_disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
