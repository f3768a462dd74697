/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What list and show say about a lab with one campaign in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/show.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/campaign.h"

struct fixture {
	char dir[64];
	struct cli cli;
	FILE *out_file, *talk_file;
	char *out, *talk;
	size_t out_len, talk_len;
};

/* Ends one run in a state with one value of metric "time" (none when it is 0). */
static void finish_run(struct lab *lab, int64_t campaign, unsigned number, const char *state,
		       const char *message, double value)
{
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;

	assert_int_equal(run_begin(lab, campaign, number, &run, NULL), 0);
	if (value != 0)
		assert_int_equal(sample_add(&sample, "time", value), 0);
	assert_int_equal(run_finish(lab, run->id, state, message, "{\"emulated\": true}", NULL,
				    &sample, NULL),
			 0);
}

static void make_campaign(struct lab *lab)
{
	char identity[65];
	const struct run_slot slots[] = {
		{1, (char *)"B", (char *)"", 1, 1},
		{2, (char *)"A", (char *)"", 1, UINT64_MAX},
		{3, (char *)"A", (char *)"", 2, 2},
	};
	struct campaign c = {
		.experiment = (char *)"slab-nomerge",
		.preset = (char *)"demo",
		.target = (char *)"live",
		.identity = identity,
		.definition = (char *)"{\"title\": \"t\", \"variants\": [{\"name\": \"A\", "
				      "\"kernel\": \"0123456789abcdef\", \"label\": \"v6.1\"}]}",
		.seed = UINT64_MAX,
		.n = 2,
		.emulated = true,
	};
	int64_t id;

	memset(identity, 'a', 64);
	identity[64] = '\0';
	assert_int_equal(campaign_create(lab, &c, slots, LAB_COUNT(slots), &id, NULL), 0);
	assert_int_equal(id, 1);
	finish_run(lab, id, 1, RUN_DONE, "", 2.5);
	finish_run(lab, id, 2, RUN_LOST, "QEMU is gone", 0);
	finish_run(lab, id, 2, RUN_OOM, "Out of memory: Killed process 7", 0);
}

static int setup(void **state)
{
	struct fixture *f = LAB_NEW(struct fixture);
	struct lab_error err = {0};

	snprintf(f->dir, sizeof(f->dir), "/tmp/labctl-show.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	if (lab_init(f->dir, &err) < 0 || lab_open(f->dir, &f->cli.lab, &err) < 0)
		fail_msg("%s", err.text);
	make_campaign(f->cli.lab);
	f->out_file = open_memstream(&f->out, &f->out_len);
	f->talk_file = open_memstream(&f->talk, &f->talk_len);
	f->cli.term = term_new(f->out_file, f->talk_file, false, 80);
	f->cli.common.lab = f->dir;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int ret;

	term_free(f->cli.term);
	fclose(f->out_file);
	fclose(f->talk_file);
	free(f->out);
	free(f->talk);
	lab_free(f->cli.lab);
	ret = lab_remove_tree(f->dir, NULL);
	free(f);
	return ret;
}

static void expect(const struct fixture *f, const char *text)
{
	if (!strstr(f->out, text))
		fail_msg("not in the output: '%s'\n%s", text, f->out);
}

static json_t *parsed(const struct fixture *f)
{
	json_t *json = json_loads(f->out, 0, NULL);

	assert_non_null(json);
	return json;
}

static void test_campaign(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(show_campaign(&f->cli, "1", NULL), CLI_EXIT_OK);
	expect(f, "campaign 1  slab-nomerge/demo  target live (emulated)  "
		  "seed 18446744073709551615  n 2\nstate    unfinished, made ");
	expect(f, "\nA        v6.1  0123456789ab\n");
	expect(f, "\n1.1  B        -     1     done     ");
	expect(f, "\n1.2  A        -     1     oom      ");
	expect(f, "  Out of memory: Killed process 7\n");
	expect(f, "\n1.3  A        -     2     planned  -");
}

static void test_campaign_json(void **state)
{
	struct fixture *f = *state;
	json_t *json, *run;

	f->cli.common.json = true;
	assert_int_equal(show_campaign(&f->cli, "1", NULL), CLI_EXIT_OK);
	json = parsed(f);
	assert_string_equal(json_string_value(json_object_get(json, "seed")),
			    "18446744073709551615");
	assert_int_equal(json_array_size(json_object_get(json, "runs")), 3);
	run = json_array_get(json_object_get(json, "runs"), 1);
	assert_string_equal(json_string_value(json_object_get(run, "state")), "oom");
	assert_int_equal(json_integer_value(json_object_get(run, "attempt")), 2);
	json_decref(json);
}

static void test_run(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(show_run(&f->cli, "1.1", NULL), CLI_EXIT_OK);
	expect(f, "run      1.1  variant B  cell -  boot 1  seed 1\nstate    done\n");
	expect(f, "METRIC  VALUES  MEAN\ntime    1       2.5\n");
}

static void test_attempts(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(show_run(&f->cli, "1.2.1", NULL), CLI_EXIT_OK);
	expect(f, "state    lost\nreason   QEMU is gone\n");
	assert_int_equal(show_run(&f->cli, "1.2", NULL), CLI_EXIT_OK);
	expect(f, "state    oom (attempt 2)\n");
	assert_int_equal(show_run(&f->cli, "1.3", NULL), CLI_EXIT_OK);
	expect(f, "state    planned\n");
}

static void test_run_json(void **state)
{
	struct fixture *f = *state;
	json_t *json;

	f->cli.common.json = true;
	assert_int_equal(show_run(&f->cli, "1.1", NULL), CLI_EXIT_OK);
	json = parsed(f);
	assert_true(json_is_true(json_object_get(json_object_get(json, "facts"), "emulated")));
	assert_int_equal(json_array_size(json_object_get(json_object_get(json, "sample"), "time")),
			 1);
	json_decref(json);
}

static void test_no_such_run(void **state)
{
	struct fixture *f = *state;
	struct lab_error err = {0};

	assert_int_equal(show_run(&f->cli, "1.4", &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_int_equal(show_run(&f->cli, "1", &err), -1);
	assert_int_equal(err.kind, LAB_ERR_USAGE);
	assert_int_equal(show_campaign(&f->cli, "2", &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_string_equal(f->out ? f->out : "", "");
}

static void test_list(void **state)
{
	struct fixture *f = *state;
	char *operands[] = {(char *)"campaigns", NULL};

	assert_int_equal(cmd_list.run(&f->cli, NULL, operands, NULL), CLI_EXIT_OK);
	expect(f, "ID  EXPERIMENT         TARGET          STATE       RUNS  FAILED  MADE\n"
		  "1   slab-nomerge/demo  live, emulated  unfinished  2/3   1       ");
}

int main(void)
{
#define SHOW_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		SHOW_TEST(test_campaign), SHOW_TEST(test_campaign_json),
		SHOW_TEST(test_run),	  SHOW_TEST(test_attempts),
		SHOW_TEST(test_run_json), SHOW_TEST(test_no_such_run),
		SHOW_TEST(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
