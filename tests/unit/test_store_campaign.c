/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaigns: plans, attempts, outcomes and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "lab_fixture.h"
#include "store/campaign.h"

/* The structs own their strings; the store only reads these. */
#define S(literal) ((char *)(literal))

static const struct run_slot plan[] = {
	{1, S("B"), S("exp"), 1, UINT64_MAX},
	{2, S("A"), S("exp"), 1, 2},
	{3, S("A"), S("exp"), 2, 3},
	{4, S("B"), S("exp"), 2, 4},
};

static struct campaign template(const char *identity)
{
	return (struct campaign){
		.experiment = S("slab-nomerge"),
		.preset = S("demo"),
		.target = S("live"),
		.identity = (char *)identity,
		.definition = S("{\"metrics\":[]}"),
		.seed = UINT64_MAX - 1,
		.n = 2,
	};
}

static int64_t create(struct lab *lab, const char *identity)
{
	struct campaign c = template(identity);
	int64_t id;

	assert_ok(campaign_create(lab, &c, plan, LAB_COUNT(plan), &id, err));
	return id;
}

/* Runs slot `number` to its end in `state`; returns the attempt's id. */
static int64_t attempt(struct lab *lab, int64_t campaign, unsigned number, const char *state)
{
	LAB_CLEANUP(run) struct run *run = NULL;

	assert_ok(run_begin(lab, campaign, number, &run, err));
	assert_ok(run_finish(lab, run->id, state, NULL, NULL, NULL, NULL, err));
	return run->id;
}

static unsigned next_number(struct lab *lab, int64_t campaign, unsigned after)
{
	LAB_CLEANUP(run) struct run *run = NULL;

	assert_ok(run_next(lab, campaign, after, &run, err));
	return run ? run->number : 0;
}

static void assert_state(struct lab *lab, int64_t campaign, const char *state)
{
	LAB_CLEANUP(campaign) struct campaign *c = NULL;

	assert_ok(campaign_get(lab, campaign, &c, err));
	assert_string_equal(c->state, state);
}

static void test_create(void **state)
{
	struct lab_fixture *f = *state;
	int64_t id = create(f->lab, "i1");
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	LAB_CLEANUP(run_list) struct run_list runs = {0};

	lab_reopen(f);
	assert_ok(campaign_get(f->lab, id, &c, err));
	assert_string_equal(c->experiment, "slab-nomerge");
	assert_string_equal(c->preset, "demo");
	assert_string_equal(c->target, "live");
	assert_string_equal(c->identity, "i1");
	assert_string_equal(c->definition, "{\"metrics\":[]}");
	assert_string_equal(c->state, CAMPAIGN_UNFINISHED);
	assert_true(c->seed == UINT64_MAX - 1 && c->n == 2 && !c->emulated && c->created > 0);
	assert_ok(run_list(f->lab, id, true, &runs, err));
	assert_int_equal(runs.n, 4);
	assert_true(runs.items[0]->number == 1 && runs.items[0]->seed == UINT64_MAX);
	assert_string_equal(runs.items[0]->variant, "B");
	assert_string_equal(runs.items[0]->cell, "exp");
	assert_string_equal(runs.items[3]->state, RUN_PLANNED);
	assert_true(runs.items[3]->attempt == 0 && runs.items[3]->id == 0 && !runs.items[3]->dir);
	run_list_release(&runs);
	assert_ok(run_list(f->lab, id, false, &runs, err));
	assert_int_equal(runs.n, 0);
}

static void test_bad_plans(void **state)
{
	struct lab_fixture *f = *state;
	struct run_slot bad[] = {{1, S("A"), S(""), 1, 1}, {3, S("B"), S(""), 1, 2}};
	struct campaign c = template("x");
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};
	int64_t id;

	assert_fails(campaign_create(f->lab, &c, bad, 0, &id, err), LAB_ERR_INVALID,
		     "without runs");
	assert_fails(campaign_create(f->lab, &c, bad, 2, &id, err), LAB_ERR_INVALID, "numbered 3");
	bad[1] = (struct run_slot){2, S("A"), NULL, 1, 2};
	/* The same boot twice: the campaign that was half written is gone. */
	assert_fails(campaign_create(f->lab, &c, bad, 2, &id, err), LAB_ERR_FAILED, "run 2");
	c.definition = S("[1]");
	assert_fails(campaign_create(f->lab, &c, plan, 4, &id, err), LAB_ERR_INVALID, "definition");
	assert_ok(campaign_list(f->lab, &list, err));
	assert_int_equal(list.n, 0);
}

static void test_look_ups(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};
	struct campaign *c = NULL;
	int64_t first, second, other;

	assert_fails(campaign_get(f->lab, 1, &c, err), LAB_ERR_NOT_FOUND, "nothing was run");
	assert_ok(campaign_newest(f->lab, NULL, &c, err));
	assert_null(c);
	first = create(f->lab, "same");
	second = create(f->lab, "same");
	other = create(f->lab, "other");
	assert_fails(campaign_get(f->lab, 99, &c, err), LAB_ERR_NOT_FOUND, "newest is 3");
	assert_ok(campaign_unfinished(f->lab, "same", &c, err));
	assert_true(c->id == second);
	campaign_free(c);
	assert_ok(campaign_set_state(f->lab, second, CAMPAIGN_ABANDONED, err));
	assert_ok(campaign_unfinished(f->lab, "same", &c, err));
	assert_true(c->id == first);
	campaign_free(c);
	assert_ok(campaign_newest(f->lab, "same", &c, err));
	assert_true(c->id == second);
	campaign_free(c);
	assert_ok(campaign_newest(f->lab, NULL, &c, err));
	assert_true(c->id == other);
	campaign_free(c);
	assert_ok(campaign_unfinished(f->lab, "unheard of", &c, err));
	assert_null(c);
	assert_ok(campaign_list(f->lab, &list, err));
	assert_int_equal(list.n, 3);
	assert_int_equal(campaign_set_state(f->lab, first, "nonsense", NULL), -1);
	assert_fails(campaign_set_state(f->lab, 99, CAMPAIGN_COMPLETE, err), LAB_ERR_NOT_FOUND,
		     "99");
	assert_ok(campaign_set_emulated(f->lab, first, true, err));
	assert_ok(campaign_get(f->lab, first, &c, err));
	assert_true(c->emulated);
	campaign_free(c);
}

static void test_whole_campaign(void **state)
{
	static const char *const ends[] = {RUN_DONE, RUN_OOM, RUN_DONE, RUN_PANIC};
	struct lab_fixture *f = *state;
	int64_t id = create(f->lab, "i");
	struct campaign_progress p;

	for (unsigned i = 0; i < 4; i++) {
		assert_state(f->lab, id, CAMPAIGN_UNFINISHED);
		assert_int_equal(next_number(f->lab, id, 0), i + 1);
		attempt(f->lab, id, i + 1, ends[i]);
	}
	assert_int_equal(next_number(f->lab, id, 0), 0);
	assert_state(f->lab, id, CAMPAIGN_COMPLETE);
	assert_ok(campaign_progress(f->lab, id, &p, err));
	assert_true(p.slots == 4 && p.done == 2 && p.outcomes == 2 && !p.faults && !p.planned &&
		    !p.running);
	assert_fails(campaign_progress(f->lab, 99, &p, err), LAB_ERR_NOT_FOUND, "99");
}

/* Each fault is repeated, each outcome is not. */
static void test_faults_and_outcomes(void **state)
{
	static const char *const faults[] = {RUN_LOST, RUN_IO_ERROR, RUN_HOST_TIMEOUT,
					     RUN_CANCELLED};
	static const char *const outcomes[] = {RUN_DONE, RUN_PANIC,   RUN_OOPS,	   RUN_OOM,
					       RUN_HANG, RUN_STALLED, RUN_WORKLOAD};
	struct lab_fixture *f = *state;
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	LAB_CLEANUP(run) struct run *run = NULL;
	int64_t id = create(f->lab, "i");

	for (size_t i = 0; i < LAB_COUNT(faults); i++) {
		attempt(f->lab, id, 1, faults[i]);
		assert_int_equal(next_number(f->lab, id, 0), 1);
		/* Within one `run` the next slot comes first. */
		assert_int_equal(next_number(f->lab, id, 1), 2);
	}
	assert_ok(run_next(f->lab, id, 0, &run, err));
	assert_int_equal(run->attempt, 4);
	assert_string_equal(run->state, RUN_CANCELLED);
	attempt(f->lab, id, 1, RUN_DONE);
	assert_ok(run_list(f->lab, id, false, &runs, err));
	assert_int_equal(runs.n, 5);
	assert_true(runs.items[0]->attempt == 1 && runs.items[4]->attempt == 5);
	for (size_t i = 0; i < LAB_COUNT(outcomes); i++) {
		int64_t other = create(f->lab, "j");
		struct run *again = NULL;

		attempt(f->lab, other, 1, outcomes[i]);
		assert_int_equal(next_number(f->lab, other, 0), 2);
		assert_fails(run_begin(f->lab, other, 1, &again, err), LAB_ERR_INVALID, "already");
		assert_null(again);
	}
}

/* A labctl that died while a run was on: the run is lost and comes again. */
static void test_dead_owner(void **state)
{
	struct lab_fixture *f = *state;
	int64_t id = create(f->lab, "i");
	LAB_CLEANUP(run) struct run *dead = NULL;
	LAB_CLEANUP(run) struct run *next = NULL;
	LAB_CLEANUP(run) struct run *again = NULL;
	struct campaign_progress p;
	struct lab_leftovers left;

	assert_ok(run_begin(f->lab, id, 1, &dead, err));
	assert_string_equal(dead->state, RUN_RUNNING);
	assert_ok(campaign_progress(f->lab, id, &p, err));
	assert_true(p.running == 1 && p.planned == 3);
	lab_reopen(f);
	assert_fails(run_begin(f->lab, id, 1, &again, err), LAB_ERR_INVALID, "running already");
	assert_ok(run_next(f->lab, id, 0, &next, err));
	assert_int_equal(next->number, 1);
	assert_string_equal(next->state, RUN_LOST);
	assert_true(next->ended > 0);
	/* Its owner is not dead after all, but too late. */
	assert_fails(run_finish(f->lab, dead->id, RUN_DONE, NULL, NULL, NULL, NULL, err),
		     LAB_ERR_INVALID, "lost");
	assert_ok(run_begin(f->lab, id, 1, &again, err));
	assert_int_equal(again->attempt, 2);
	assert_string_not_equal(again->dir, dead->dir);
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_int_equal(left.runs, 1);
	assert_int_equal(next_number(f->lab, id, 0), 1);
}

static void test_directories(void **state)
{
	struct lab_fixture *f = *state;
	int64_t id = create(f->lab, "i");
	LAB_CLEANUP(free) char *want = lab_path(f->lab, "runs/%d/2.1", (int)id);
	LAB_CLEANUP(free) char *stale = lab_path(f->lab, "runs/%d/2.1/old", (int)id);
	LAB_CLEANUP(free) char *orphan = lab_path(f->lab, "runs/%d/3.1", (int)id);
	LAB_CLEANUP(free) char *nonsense = lab_path(f->lab, "runs/77/x");
	LAB_CLEANUP(run) struct run *run = NULL;
	struct lab_leftovers left;

	/* Left by an attempt whose row was never committed. */
	assert_ok(lab_mkdirs(stale, 0755, err));
	assert_ok(lab_mkdirs(orphan, 0755, err));
	assert_ok(lab_mkdirs(nonsense, 0755, err));
	assert_ok(run_begin(f->lab, id, 2, &run, err));
	assert_string_equal(run->dir, want);
	assert_true(lab_dir_exists(want));
	assert_false(lab_dir_exists(stale));
	assert_ok(run_finish(f->lab, run->id, RUN_DONE, NULL, NULL, NULL, NULL, err));
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_int_equal(left.run_dirs, 2);
	assert_true(lab_dir_exists(want));
	assert_false(lab_dir_exists(orphan));
	assert_false(lab_dir_exists(nonsense));
}

static void test_samples(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(sample) struct sample back = SAMPLE_INIT;
	LAB_CLEANUP(sample) struct sample one = SAMPLE_INIT;
	LAB_CLEANUP(sample) struct sample none = SAMPLE_INIT;
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(run) struct run *done = NULL;
	static const double values[] = {0.1, -1e300, 5e-324, 12345678901234567.0, -0.0};
	int64_t id = create(f->lab, "i");

	for (size_t i = 0; i < LAB_COUNT(values); i++) {
		assert_int_equal(sample_add(&sample, "zeit", values[i]), 0);
		assert_int_equal(sample_add_at(&sample, "Slab", values[i], -1 - (int64_t)i), 0);
	}
	assert_ok(run_begin(f->lab, id, 1, &run, err));
	assert_ok(run_finish(f->lab, run->id, RUN_DONE, "fine", "{\"emulated\":true}",
			     "{\"kernel\":\"x\"}", &sample, err));
	lab_reopen(f);
	assert_ok(run_samples(f->lab, run->id, &back, err));
	assert_int_equal(back.n, 2);
	assert_string_equal(back.items[0].metric, "zeit");
	assert_int_equal(back.items[0].n, 5);
	/* To the last bit. */
	assert_memory_equal(back.items[0].values, values, sizeof(values));
	assert_null(back.items[0].t_ns);
	assert_true(back.items[1].t_ns[4] == -5);
	assert_ok(run_sample_metric(f->lab, run->id, "Slab", &one, err));
	assert_int_equal(one.n, 1);
	assert_int_equal(one.items[0].n, 5);
	assert_ok(run_sample_metric(f->lab, run->id, "other", &none, err));
	assert_int_equal(none.n, 0);
	assert_ok(run_get(f->lab, id, 1, 0, &done, err));
	assert_string_equal(done->message, "fine");
	assert_string_equal(done->facts, "{\"emulated\":true}");
	assert_string_equal(done->fingerprint, "{\"kernel\":\"x\"}");
	assert_true(done->started > 0 && done->ended >= done->started);
}

static void test_bad_endings(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(run) struct run *still = NULL;
	struct run *none = NULL;
	int64_t id = create(f->lab, "i");

	assert_ok(run_begin(f->lab, id, 1, &run, err));
	assert_fails(run_finish(f->lab, run->id, RUN_RUNNING, NULL, NULL, NULL, NULL, err),
		     LAB_ERR_INVALID, "no state");
	assert_fails(run_finish(f->lab, run->id, "passed", NULL, NULL, NULL, NULL, err),
		     LAB_ERR_INVALID, "no state");
	assert_fails(run_finish(f->lab, run->id, RUN_DONE, NULL, "{", NULL, NULL, err),
		     LAB_ERR_INVALID, "facts");
	assert_fails(run_finish(f->lab, 99, RUN_DONE, NULL, NULL, NULL, NULL, err),
		     LAB_ERR_NOT_FOUND, "99");
	assert_ok(run_get(f->lab, id, 1, 1, &still, err));
	assert_string_equal(still->state, RUN_RUNNING);
	assert_ok(run_finish(f->lab, run->id, RUN_DONE, NULL, NULL, NULL, NULL, err));
	assert_fails(run_finish(f->lab, run->id, RUN_OOM, NULL, NULL, NULL, NULL, err),
		     LAB_ERR_INVALID, "ended already");
	assert_fails(run_get(f->lab, id, 9, 0, &none, err), LAB_ERR_NOT_FOUND, "no run 9");
	assert_fails(run_get(f->lab, id, 1, 2, &none, err), LAB_ERR_NOT_FOUND, "no attempt 2");
	assert_fails(run_begin(f->lab, id, 9, &none, err), LAB_ERR_NOT_FOUND, "no run 9");
	assert_null(none);
}

/* An abandoned campaign is not made complete by its last run. */
static void test_abandoned(void **state)
{
	struct lab_fixture *f = *state;
	int64_t id = create(f->lab, "i");

	for (unsigned i = 1; i < 4; i++)
		attempt(f->lab, id, i, RUN_DONE);
	assert_ok(campaign_set_state(f->lab, id, CAMPAIGN_ABANDONED, err));
	attempt(f->lab, id, 4, RUN_DONE);
	assert_state(f->lab, id, CAMPAIGN_ABANDONED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_create),
		LAB_TEST(test_bad_plans),
		LAB_TEST(test_look_ups),
		LAB_TEST(test_whole_campaign),
		LAB_TEST(test_faults_and_outcomes),
		LAB_TEST(test_dead_owner),
		LAB_TEST(test_directories),
		LAB_TEST(test_samples),
		LAB_TEST(test_bad_endings),
		LAB_TEST(test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
