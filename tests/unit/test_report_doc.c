/* SPDX-License-Identifier: GPL-2.0-or-later */
/* docs/json.md explains every member of a report, docs/statistics.md every word. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/file.h"
#include "common/mem.h"
#include "report/compare.h"

static char *page_of(const char *path)
{
	struct lab_buf page = LAB_BUF_INIT;

	assert_int_equal(lab_read_file(path, 1 << 20, &page, NULL), 0);
	return lab_buf_take(&page);
}

/* "machine" is the definition's own and open. */
static size_t check_members(const char *page, const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i, n = 0;

	json_object_foreach((json_t *)json, key, value)
	{
		LAB_CLEANUP(free) char *code = lab_asprintf("`%s`", key);

		if (!strstr(page, code))
			fail_msg("docs/json.md does not explain %s", code);
		n++;
		if (strcmp(key, "machine") != 0)
			n += check_members(page, value);
	}
	json_array_foreach(json, i, value) n += check_members(page, value);
	return n;
}

static void test_members(void **state)
{
	LAB_CLEANUP(free) char *page = page_of("docs/json.md");
	glob_t files;

	(void)state;
	assert_int_equal(glob("tests/golden/report/*.json", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		json_t *json = json_load_file(files.gl_pathv[i], 0, NULL);

		assert_non_null(json);
		assert_true(check_members(page, json) > 50);
		json_decref(json);
	}
	globfree(&files);
}

static void test_words(void **state)
{
	LAB_CLEANUP(free) char *page = page_of("docs/statistics.md");

	(void)state;
	for (unsigned v = 0; v < REPORT_VERDICTS; v++) {
		const char *word = report_verdict_word((enum report_verdict)v);

		if (!strstr(page, word))
			fail_msg("docs/statistics.md does not explain '%s'", word);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
