/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "experiments/plan.h"

#include "tests/unit/golden.h"

static const char text[] =
	"title: t\nimage: i\nphases:\n- {name: run, workload: 'true'}\n"
	"factors:\n  cache: {under: {}, over: {}}\n  keys: {flat: {}, skewed: {}, hot: {}}\n"
	"presets:\n  s: {memory: 64 MiB, n: 1}\n";
static const char flat[] = "title: t\nimage: i\nphases:\n- {name: run, workload: 'true'}\n"
			   "presets:\n  s: {memory: 64 MiB, n: 1}\n";

static struct experiment *read_text(const char *yaml)
{
	struct experiment *e = NULL;
	struct lab_error err;

	if (experiment_parse("x.yaml", yaml, strlen(yaml), &e, &err))
		fail_msg("%s", err.text);
	return e;
}

/* The order of runs is part of the stored formats: a seed means the same for ever. */
static void test_golden(void **state)
{
	static const struct {
		const char *yaml, *file;
		unsigned n;
		uint64_t seed;
	} cases[] = {
		{text, "plan-factors-seed1.txt", 3, 1},
		{text, "plan-factors-seed2.txt", 3, 2},
		{flat, "plan-flat-seed1.txt", 10, 1},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(experiment) struct experiment *e = read_text(cases[i].yaml);
		LAB_CLEANUP(plan) struct plan *plan = NULL;
		LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

		assert_int_equal(plan_new(e, cases[i].n, cases[i].seed, NULL, &plan, NULL), 0);
		plan_text(plan, &out);
		golden_check(cases[i].file, out.data, out.len);
	}
}

/* Each block holds everything once, and runs of one repetition share a seed. */
static void test_blocks(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = read_text(text);
	LAB_CLEANUP(plan) struct plan *plan = NULL;
	size_t block = 2 * 6;

	(void)state;
	assert_int_equal(plan_new(e, 4, 100, NULL, &plan, NULL), 0);
	assert_int_equal(plan->n_slots, 4 * block);
	assert_int_equal(plan->n_cells, 6);
	assert_string_equal(plan->cells[1].name, "under/skewed");
	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct run_slot *s = &plan->slots[i];

		assert_int_equal(s->number, i + 1);
		assert_int_equal(s->repetition, i / block + 1);
		assert_int_equal(s->seed, 100 + i / block);
		assert_non_null(plan_cell_find(plan, s->cell));
		for (size_t j = i / block * block; j < i; j++)
			assert_false(strcmp(plan->slots[j].variant, s->variant) == 0 &&
				     strcmp(plan->slots[j].cell, s->cell) == 0);
	}
}

/* More repetitions begin with the same runs. */
static void test_prefix(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = read_text(text);
	LAB_CLEANUP(plan) struct plan *small = NULL;
	LAB_CLEANUP(plan) struct plan *large = NULL;

	(void)state;
	assert_int_equal(plan_new(e, 2, 7, NULL, &small, NULL), 0);
	assert_int_equal(plan_new(e, 5, 7, NULL, &large, NULL), 0);
	for (size_t i = 0; i < small->n_slots; i++) {
		assert_string_equal(small->slots[i].variant, large->slots[i].variant);
		assert_string_equal(small->slots[i].cell, large->slots[i].cell);
	}
}

static void test_only(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = read_text(text);
	LAB_CLEANUP(strv) struct lab_strv only = LAB_STRV_INIT;
	LAB_CLEANUP(plan) struct plan *plan = NULL;
	struct plan *none = NULL;
	struct lab_error err;

	(void)state;
	lab_strv_add(&only, "over/hot");
	assert_int_equal(plan_new(e, 2, 1, &only, &plan, NULL), 0);
	assert_int_equal(plan->n_slots, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(plan->slots[i].cell, "over/hot");
	lab_strv_add(&only, "under/flt");
	assert_int_equal(plan_new(e, 2, 1, &only, &none, &err), -1);
	assert_string_equal(err.text, "no cell is named 'under/flt'; did you mean 'under/flat'?");
	assert_int_equal(err.kind, LAB_ERR_USAGE);
}

static void test_bounds(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = read_text(text);
	struct plan *plan = NULL;

	(void)state;
	assert_int_equal(plan_new(e, 0, 1, NULL, &plan, NULL), -1);
	assert_int_equal(plan_new(e, 4000000000u, 1, NULL, &plan, NULL), -1);
	assert_null(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_prefix), cmocka_unit_test(test_only),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
