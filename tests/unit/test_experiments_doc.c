/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The examples of docs/experiments.md are read, and its tables leave nothing out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/definition.h"
#include "images/recipe.h"
#include "workloads/driver.h"

#define PAGE "docs/experiments.md"

static struct lab_buf page;

static int setup(void **state)
{
	(void)state;
	return lab_read_file(PAGE, 1 << 20, &page, NULL);
}

static int teardown(void **state)
{
	(void)state;
	lab_buf_release(&page);
	return 0;
}

/* The one block between ```WORD and ```. */
static char *block(const char *word)
{
	LAB_CLEANUP(free) char *fence = lab_asprintf("```%s\n", word);
	const char *begin = strstr(page.data, fence), *end;

	assert_non_null(begin);
	begin += strlen(fence);
	end = strstr(begin, "```");
	assert_non_null(end);
	return lab_strndup(begin, (size_t)(end - begin));
}

static void test_definition(void **state)
{
	LAB_CLEANUP(experiment) struct experiment *e = NULL;
	LAB_CLEANUP(free) char *text = block("yaml");
	struct lab_error err;

	(void)state;
	if (experiment_parse("example.yaml", text, strlen(text), &e, &err) < 0)
		fail_msg("%s: %s", PAGE, err.text);
	assert_int_equal(e->n_variants, 3);
	assert_int_equal(e->factors[0].n, 2);
	assert_int_equal(e->n_phases, 2);
}

static void test_recipe(void **state)
{
	LAB_CLEANUP(recipe) struct recipe *r = NULL;
	LAB_CLEANUP(free) char *text = block("recipe");
	struct lab_error err;

	(void)state;
	if (recipe_parse("example.yaml", text, strlen(text), &r, &err) < 0)
		fail_msg("%s: %s", PAGE, err.text);
	assert_string_equal(r->suite, "bookworm");
}

static void must_have(const char *word)
{
	LAB_CLEANUP(free) char *code = lab_asprintf("`%s`", word);

	if (!strstr(page.data, code))
		fail_msg("%s does not explain %s", PAGE, code);
}

static void test_workloads(void **state)
{
	const struct workload *w;

	(void)state;
	for (size_t i = 0; (w = workload_at(i)) != NULL; i++) {
		must_have(w->name);
		for (const struct workload_option *o = w->options; o->name; o++)
			must_have(o->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_recipe),
		cmocka_unit_test(test_workloads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
