/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/campaign_arg.h"
#include "cli/kernel_diff.h"
#include "cli/table.h"
#include "common/mem.h"

static void test_run_names(void **state)
{
	static const char *const bad[] = {"",	 "x",	 "7.",	    ".7",	    "7..1",
					  "0",	 "7.0",	 "7.1.2.3", "-7",	    "7 ",
					  "7.x", "07.x", "7.41.",   "4294967297.1", "v6.1"};
	struct run_name name;

	(void)state;
	assert_true(run_name_parse("7", &name));
	assert_int_equal(name.campaign, 7);
	assert_int_equal(name.number, 0);
	assert_true(run_name_parse("7.41", &name));
	assert_int_equal(name.number, 41);
	assert_int_equal(name.attempt, 0);
	assert_true(run_name_parse("12.3.2", &name));
	assert_int_equal(name.campaign, 12);
	assert_int_equal(name.attempt, 2);
	for (size_t i = 0; i < LAB_COUNT(bad); i++)
		assert_false(run_name_parse(bad[i], &name));
}

static void test_table(void **state)
{
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	(void)state;
	table_row(&table);
	table_cell(&table, "NAME");
	table_cell(&table, "N");
	table_row(&table);
	table_cell(&table, "gr\xc3\xb6\xc3\x9f"
			   "er");
	table_cellf(&table, "%d", 12);
	table_row(&table);
	table_cell(&table, NULL);
	table_cell(&table, "");
	table_format(&table, &out);
	assert_string_equal(out.data, "NAME    N\n"
				      "gr\xc3\xb6\xc3\x9f"
				      "er  12\n"
				      "-       -\n");
}

static void test_kernel_diff_line(void **state)
{
	struct config_change changes[] = {
		{(char *)"LRU_GEN", NULL, (char *)"y"},
		{(char *)"OLD", (char *)"4", NULL},
		{(char *)"SLAB_MERGE_DEFAULT", (char *)"y", (char *)"n"},
	};
	struct config_diff diff = {changes, 3, 3};
	struct config_diff none = CONFIG_DIFF_INIT;
	LAB_CLEANUP(buf) struct lab_buf all = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf one = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf equal = LAB_BUF_INIT;

	(void)state;
	kernel_diff_line(&diff, 8, &all);
	assert_string_equal(all.data, "+LRU_GEN=y -OLD=4 SLAB_MERGE_DEFAULT=y->n  "
				      "(1 new, 1 dropped, 1 changed)");
	kernel_diff_line(&diff, 1, &one);
	assert_string_equal(one.data, "+LRU_GEN=y ...  (1 new, 1 dropped, 1 changed)");
	kernel_diff_line(&none, 8, &equal);
	assert_string_equal(equal.data, "equal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_names),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_kernel_diff_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
