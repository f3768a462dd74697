/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A campaign in a lab, with all that happens to campaigns, and every renderer's answer
 * under tests/golden/report/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "golden.h"
#include "lab_fixture.h"
#include "report/compare.h"
#include "report/model.h"
#include "report/render.h"
#include "store/campaign.h"

#define S(literal) ((char *)(literal))
#define N 4

/* Written as experiments/ writes it. */
static const char definition[] =
	"{\"title\":\"Slab merging on against off, measured with hackbench and the memory that "
	"slabs take\","
	"\"preset\":\"demo\",\"machine\":{\"memory\":536870912,\"vcpus\":2},"
	"\"variants\":[{\"name\":\"A\",\"kernel\":\"a1b2c3d4e5f60000000000000000000000000000000000"
	"000000000000000001\",\"label\":\"v6.1\"},"
	"{\"name\":\"B\",\"kernel\":\"file:f6e5d4c3b2a1000000000000000000000000000000000000000000000"
	"0000002\",\"label\":\"v6.1 + 2\"}],"
	"\"cells\":[\"under exp\",\"over zip\"],\"metrics\":["
	"{\"name\":\"hackbench_process_pipes\",\"direction\":\"-\",\"unit\":\"s\",\"kind\":"
	"\"time\",\"reducer\":\"mean\",\"comparable\":true,\"sampled\":false},"
	"{\"name\":\"SUnreclaim\",\"direction\":\"-\",\"unit\":\"kB\",\"kind\":\"memory\","
	"\"reducer\":\"max\",\"comparable\":true,\"sampled\":true},"
	"{\"name\":\"operations\",\"direction\":\"+\",\"unit\":\"\",\"kind\":\"count\","
	"\"reducer\":\"last\",\"comparable\":true,\"sampled\":false},"
	"{\"name\":\"errors\",\"direction\":\"-\",\"unit\":\"\",\"kind\":\"count\","
	"\"reducer\":\"last\",\"comparable\":true,\"sampled\":false},"
	"{\"name\":\"objects\",\"direction\":\"none\",\"unit\":\"\",\"kind\":\"count\","
	"\"reducer\":\"delta\",\"comparable\":true,\"sampled\":true},"
	"{\"name\":\"workingset_refault_anon\",\"direction\":\"-\",\"unit\":\"pages\",\"kind\":"
	"\"count\",\"reducer\":\"delta\",\"comparable\":false,\"sampled\":true}]}";

/* In run order: interleaved, as a plan has it. */
static void fill_plan(struct run_slot slots[2 * 2 * N])
{
	static const char *const cells[] = {"under exp", "over zip"};

	for (unsigned i = 0; i < 4 * N; i++)
		slots[i] = (struct run_slot){i + 1, S((i + i / 4) % 2 ? "B" : "A"),
					     S(cells[i / 2 % 2]), i / 4 + 1, 1000 + i};
}

static void add_values(struct sample *s, const struct run *run)
{
	bool b = strcmp(run->variant, "B") == 0;
	bool over = strcmp(run->cell, "over zip") == 0;
	unsigned r = run->repetition;
	int rc = 0;

	rc |= sample_add(s, "hackbench_process_pipes",
			 1.8 + 0.01 * r * r + (b ? -0.2 : 0) + (over ? 0.4 : 0));
	for (int i = 0; i < 3; i++) {
		int64_t t = 1000000000LL * i;

		rc |= sample_add_at(s, "SUnreclaim",
				    60000 + 100 * r + 10 * i + (b ? 900 : 0) + (over ? 7 * r : 0),
				    t);
		rc |= sample_add_at(s, "objects", 5000 + i * (40 + r + (b ? (over ? 1 : -20) : 0)),
				    t);
		rc |= sample_add_at(s, "workingset_refault_anon", i * (100 * r + b), t);
	}
	/* An arm without any spread; in the other cell both are, and far apart. */
	rc |= sample_add(s, "operations", over ? (b ? 80 : 100) : (b ? 100 : 99 + r % 2));
	rc |= sample_add(s, "errors", 0);
	assert_int_equal(rc, 0);
}

static const char *end_of(const struct run *run, bool all_done)
{
	if (all_done)
		return RUN_DONE;
	/* All of A ends oom in the second cell; of B one hangs and one panics in the first. */
	if (strcmp(run->cell, "over zip") == 0)
		return strcmp(run->variant, "A") == 0 ? RUN_OOM : RUN_DONE;
	if (strcmp(run->variant, "B") == 0 && run->repetition > 2)
		return run->repetition == 3 ? RUN_HANG : RUN_PANIC;
	return RUN_DONE;
}

static void run_one(struct lab *lab, int64_t campaign, unsigned number, const char *end)
{
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	LAB_CLEANUP(run) struct run *run = NULL;

	assert_ok(run_begin(lab, campaign, number, &run, err));
	add_values(&sample, run);
	/* What a failed run yielded is kept, and must not get into any number. */
	assert_ok(run_finish(lab, run->id, end, run_state_label(end), NULL, NULL, &sample, err));
}

enum kind { FINE, FAILING, UNFINISHED };

static struct report_model *make(struct lab *lab, enum kind kind, bool emulated)
{
	struct campaign c = {.experiment = S("slab-nomerge"),
			     .preset = S("demo"),
			     .target = S("live"),
			     .identity = S("0123456789abcdef"),
			     .definition = S(definition),
			     .seed = 1,
			     .n = N,
			     .emulated = emulated};
	struct run_slot slots[4 * N];
	struct report_model *model;
	int64_t id;

	fill_plan(slots);
	assert_ok(campaign_create(lab, &c, slots, 4 * N, &id, err));
	for (unsigned i = 1; i <= 4 * N; i++) {
		LAB_CLEANUP(run) struct run *slot = NULL;

		assert_ok(run_get(lab, id, i, 0, &slot, err));
		if (kind == UNFINISHED && i > 9)
			break;
		if (kind == UNFINISHED && i == 5)
			run_one(lab, id, i, RUN_LOST);
		if (kind == UNFINISHED && i == 7)
			run_one(lab, id, i, RUN_IO_ERROR);
		else
			run_one(lab, id, i, end_of(slot, kind != FAILING));
	}
	assert_ok(report_model_load(lab, id, &model, err));
	assert_true(model->created > 0);
	model->created = 1764547200;
	return model;
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > longest)
			longest = len;
		text += len + (text[len] == '\n');
	}
	return longest;
}

static void check(const struct report_model *model, const char *format,
		  const struct report_options *options, const char *name)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	const struct report_format *f;

	assert_ok(report_format_find(format, &f, err));
	assert_ok(f->render(model, options, &out, err));
	if (strcmp(format, "text") == 0)
		assert_true(longest_line(out.data) <= 72);
	golden_check(name, out.data, out.len);
}

static void test_fine(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, FINE, false);

	check(m, "text", NULL, "report/fine.txt");
	check(m, "ab", NULL, "report/fine.ab");
	check(m, "json", NULL, "report/fine.json");
	check(m, "csv", NULL, "report/fine.csv");
}

static void test_failing(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, FAILING, false);

	check(m, "text", NULL, "report/failing.txt");
	check(m, "ab", NULL, "report/failing.ab");
	check(m, "json", NULL, "report/failing.json");
	check(m, "csv", NULL, "report/failing.csv");
}

static void test_unfinished(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, UNFINISHED, false);

	check(m, "text", NULL, "report/unfinished.txt");
	check(m, "ab", NULL, "report/unfinished.ab");
	check(m, "csv", NULL, "report/unfinished.csv");
}

/* Times of an emulated machine: refused in words, or marked. */
static void test_emulated(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, FINE, true);
	struct report_options allowed = {.allow_emulated = true};
	static const char *const memory_only[] = {"SU*"};
	struct report_options memory = {.metrics = memory_only, .n_metrics = 1};

	check(m, "text", NULL, "report/emulated.txt");
	check(m, "text", &allowed, "report/emulated-allowed.txt");
	check(m, "ab", NULL, "report/emulated.ab");
	check(m, "ab", &allowed, "report/emulated-allowed.ab");
	check(m, "json", NULL, "report/emulated.json");
	check(m, "csv", NULL, "report/emulated.csv");
	/* Nothing to warn of where no time is shown. */
	check(m, "text", &memory, "report/emulated-memory.txt");
}

static void test_options(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, FINE, false);
	static const char *const some[] = {"hackbench_*", "operations"};
	static const char *const none[] = {"hackbench_*", "nonsense*"};
	struct report_options options = {.metrics = some, .n_metrics = 2, .level = 0.99};
	struct report_options filter = {.least_change = 1, .threshold = 10};
	struct report_options wrong = {.level = 95};
	struct report_options unknown = {.metrics = none, .n_metrics = 2};
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	check(m, "text", &options, "report/options.txt");
	check(m, "ab", &filter, "report/filtered.ab");
	for (const struct report_format *r = report_formats(); r->name; r++) {
		assert_fails(r->render(m, &unknown, &out, err), LAB_ERR_NOT_FOUND,
			     "no metric 'nonsense*'; it has: hackbench_process_pipes, SUnreclaim");
		assert_fails(r->render(m, &wrong, &out, err), LAB_ERR_USAGE, "level");
		assert_int_equal(out.len, 0);
	}
}

static void test_formats(void **state)
{
	const struct report_format *format = NULL;

	(void)state;
	assert_fails(report_format_find("xml", &format, err), LAB_ERR_USAGE, "text, ab, json, csv");
	assert_null(format);
}

/* The whole JSON is the schema of docs/json.md: it parses, and a number is what it was. */
static void test_json(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *m = make(f->lab, FINE, false);
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	json_t *root, *cell, *boot;

	assert_ok(report_json(m, NULL, &out, err));
	root = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "labctl.report");
	cell = json_array_get(
		json_object_get(json_array_get(json_object_get(root, "metrics"), 0), "cells"), 0);
	boot = json_array_get(
		json_object_get(json_array_get(json_object_get(cell, "arms"), 0), "boots"), 3);
	assert_true(json_real_value(json_object_get(boot, "value")) == 1.8 + 0.01 * 16);
	json_decref(root);
}

/* A run that says so makes the campaign emulated, whatever the campaign was told. */
static void test_emulated_run(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(report_model) struct report_model *first = make(f->lab, UNFINISHED, false);
	LAB_CLEANUP(report_model) struct report_model *second = NULL;
	LAB_CLEANUP(run) struct run *run = NULL;

	assert_false(first->emulated);
	assert_ok(run_begin(f->lab, first->campaign, 10, &run, err));
	assert_ok(run_finish(f->lab, run->id, RUN_DONE, NULL, "{\"emulated\":true}", NULL, NULL,
			     err));
	assert_ok(report_model_load(f->lab, first->campaign, &second, err));
	assert_true(second->emulated);
}

static int64_t create_with(struct lab *lab, const char *text)
{
	struct campaign c = {.experiment = S("x"),
			     .preset = S("x"),
			     .target = S("live"),
			     .identity = S("x"),
			     .definition = (char *)text,
			     .n = 1};
	struct run_slot slot = {1, S("A"), S(""), 1, 1};
	int64_t id;

	assert_ok(campaign_create(lab, &c, &slot, 1, &id, err));
	return id;
}

/* Three variants and no factors: each row says what is against what. */
static void test_three_arms(void **state)
{
	static const char text[] =
		"{\"variants\":[{\"name\":\"A\",\"kernel\":\"/boot/vmlinuz-6.1\",\"label\":\"\"},"
		"{\"name\":\"B\",\"kernel\":\"/home/kim/trees/with/a/very/long/name/arch/x86/boot/"
		"bzImage\",\"label\":\"mine\"},{\"name\":\"C\"}],\"metrics\":[{\"name\":"
		"\"bytes_written_by_the_background_writeback_of_everything\",\"direction\":\"-\","
		"\"unit\":\"bytes/operation\",\"kind\":\"count\",\"reducer\":\"mean\","
		"\"comparable\":true,\"sampled\":false}]}";
	struct lab_fixture *f = *state;
	struct campaign c = {.experiment = S("three"),
			     .preset = S("p"),
			     .target = S("live"),
			     .identity = S("x"),
			     .definition = S(text),
			     .seed = UINT64_MAX,
			     .n = 3};
	LAB_CLEANUP(report_model) struct report_model *m = NULL;
	struct run_slot slots[9];
	int64_t id;

	for (unsigned i = 0; i < 9; i++)
		slots[i] = (struct run_slot){i + 1,
					     S(i % 3 == 0   ? "A"
					       : i % 3 == 1 ? "B"
							    : "C"),
					     S(""), i / 3 + 1, i};
	assert_ok(campaign_create(f->lab, &c, slots, 9, &id, err));
	for (unsigned i = 0; i < 9; i++) {
		LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
		LAB_CLEANUP(run) struct run *run = NULL;

		assert_int_equal(sample_add(&sample,
					    "bytes_written_by_the_background_writeback_of_"
					    "everything",
					    1.5e9 + i % 3 * 2.5e8 + i * 1e6),
				 0);
		assert_ok(run_begin(f->lab, id, i + 1, &run, err));
		assert_ok(run_finish(f->lab, run->id, RUN_DONE, NULL, NULL, NULL, &sample, err));
	}
	assert_ok(report_model_load(f->lab, id, &m, err));
	check(m, "text", NULL, "report/three.txt");
	check(m, "ab", NULL, "report/three.ab");
}

static void test_bad_definitions(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{"{}", "no variants"},
		{"{\"variants\":[{}],\"metrics\":[]}", "variant 1 has no name"},
		{"{\"variants\":[{\"name\":\"B\"}],\"metrics\":[]}", "no variant 'A'"},
		{"{\"variants\":[{\"name\":\"A\"}],\"metrics\":[],\"cells\":[\"x\"]}",
		 "no cell ''"},
		{"{\"variants\":[{\"name\":\"A\"}],\"metrics\":[],\"cells\":[1]}", "cell 1"},
		{"{\"variants\":[{\"name\":\"A\"}],\"metrics\":[{}]}", "metric"},
	};
	struct lab_fixture *f = *state;
	struct report_model *m = NULL;
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		int64_t id = create_with(f->lab, bad[i].text);

		assert_fails(report_model_load(f->lab, id, &m, err), LAB_ERR_INVALID, bad[i].words);
	}
	assert_fails(report_model_load(f->lab, 99, &m, err), LAB_ERR_NOT_FOUND, "99");
	assert_null(m);
	assert_ok(report_model_load(
		f->lab, create_with(f->lab, "{\"variants\":[{\"name\":\"A\"}],\"metrics\":[]}"), &m,
		err));
	assert_fails(report_text(m, NULL, &out, err), LAB_ERR_INVALID, "one variant only");
	assert_fails(report_ab(m, NULL, &out, err), LAB_ERR_INVALID, "one variant only");
	assert_ok(report_json(m, NULL, &out, err));
	report_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_fine),
		LAB_TEST(test_failing),
		LAB_TEST(test_unfinished),
		LAB_TEST(test_emulated),
		LAB_TEST(test_options),
		cmocka_unit_test(test_formats),
		LAB_TEST(test_json),
		LAB_TEST(test_emulated_run),
		LAB_TEST(test_bad_definitions),
		LAB_TEST(test_three_arms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
