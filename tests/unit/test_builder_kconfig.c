/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "builder/config_diff.h"
#include "builder/dotconfig.h"
#include "builder/kconfig.h"
#include "common/file.h"
#include "common/mem.h"

static struct lab_error err;

static const char sample[] = "# a comment\n"		    /* 1 */
			     "config FIRST\n"		    /* 2 */
			     "\tbool \"first\"\n"	    /* 3 */
			     "\tdefault y\n"		    /* 4 */
			     "\thelp\n"			    /* 5 */
			     "\t  Some text,\n"		    /* 6 */
			     "\n"			    /* 7 */
			     "\t  config NOT_ME is text.\n" /* 8 */
			     "\n"			    /* 9 */
			     "menuconfig SECOND\n"	    /* 10 */
			     "\tbool\n"			    /* 11 */
			     "\tdepends on FIRST && \\\n"   /* 12 */
			     "\t\tTHIRD\n"		    /* 13 */
			     "\n"			    /* 14 */
			     "if FIRST\n"		    /* 15 */
			     "choice\n"			    /* 16 */
			     "\tprompt \"which\"\n"	    /* 17 */
			     "\tdefault ONE\n"		    /* 18 */
			     "config ONE\n"		    /* 19 */
			     "\tbool \"one\"\n"		    /* 20 */
			     "config TWO\n"		    /* 21 */
			     "\tbool \"two\"\n"		    /* 22 */
			     "endchoice\n"		    /* 23 */
			     "endif\n"			    /* 24 */
			     "config LAST\n"		    /* 25 */
			     "\tint \"last\"\n";	    /* 26 */

static void assert_touched(unsigned line, const char *want)
{
	LAB_CLEANUP(strv) struct lab_strv symbols = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *got = NULL;

	kconfig_touched(sample, &line, 1, &symbols);
	got = lab_strv_join(&symbols, " ");
	if (strcmp(got, want) != 0)
		fail_msg("line %u touches '%s', not '%s'", line, got, want);
}

static void test_lines_belong_to_symbols(void **state)
{
	(void)state;
	assert_touched(2, "FIRST");
	assert_touched(4, "FIRST");
	assert_touched(10, "SECOND");
	assert_touched(13, "SECOND"); /* a continued line */
	assert_touched(20, "ONE");
	assert_touched(26, "LAST");
}

static void test_lines_that_decide_nothing(void **state)
{
	(void)state;
	assert_touched(1, "");
	assert_touched(5, "");
	assert_touched(6, "");
	assert_touched(8, "");
	assert_touched(9, "");
	assert_touched(15, "");
	assert_touched(99, "");
}

static void test_choice_head_touches_its_members(void **state)
{
	(void)state;
	assert_touched(16, "ONE TWO");
	assert_touched(18, "ONE TWO");
	assert_touched(23, "");
}

static struct dotconfig parse(const char *text)
{
	struct dotconfig config = DOTCONFIG_INIT;

	if (dotconfig_parse("f.config", text, &config, &err) < 0)
		fail_msg("%s", err.text);
	return config;
}

static void test_fragment(void **state)
{
	LAB_CLEANUP(dotconfig)
	struct dotconfig c =
		parse("CONFIG_A=y\n# CONFIG_B is not set\n\n# free text\n"
		      "CONFIG_C=\"a b?\"\nCONFIG_D=0x10?\n  CONFIG_E=m? \nCONFIG_A=m\n");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	(void)state;
	dotconfig_sort(&c);
	assert_int_equal(c.n, 5);
	assert_string_equal(dotconfig_find(&c, "A")->value, "m"); /* the last one counts */
	assert_string_equal(dotconfig_find(&c, "A")->origin, "f.config:8");
	assert_string_equal(dotconfig_find(&c, "C")->value, "\"a b?\"");
	assert_false(dotconfig_find(&c, "C")->optional);
	assert_true(dotconfig_find(&c, "D")->optional);
	assert_string_equal(dotconfig_find(&c, "E")->value, "m");
	assert_null(dotconfig_find(&c, "F"));
	dotconfig_format(&c, &text);
	assert_string_equal(text.data, "CONFIG_A=m\n# CONFIG_B is not set\nCONFIG_C=\"a b?\"\n"
				       "CONFIG_D=0x10\nCONFIG_E=m\n");
}

static void test_broken_fragments(void **state)
{
	static const char *const bad[] = {"CONFIG_A\n",	    "CONFIG_A=\n",    "CONFIG_A=?\n",
					  "=y\n",	    "CONFIG_A-B=y\n", "hello\n",
					  "CONFIG_A=\"x\n", "CONFIG_A=y z\n"};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		struct dotconfig c = DOTCONFIG_INIT;
		LAB_CLEANUP(free) char *text = lab_asprintf("CONFIG_OK=y\n%s", bad[i]);

		err = (struct lab_error){0};
		assert_int_equal(dotconfig_parse("f.config", text, &c, &err), -1);
		assert_non_null(strstr(err.text, "f.config:2"));
		assert_int_equal(c.n, 0);
	}
}

static void test_option_assignments(void **state)
{
	LAB_CLEANUP(dotconfig) struct dotconfig c = DOTCONFIG_INIT;

	(void)state;
	assert_int_equal(dotconfig_add(&c, "X=y", "--config", &err), 0);
	assert_int_equal(dotconfig_add(&c, "CONFIG_Y=n?", "--config", &err), 0);
	assert_string_equal(c.items[0].symbol, "X");
	assert_string_equal(c.items[1].symbol, "Y");
	assert_true(c.items[1].optional);
	assert_int_equal(dotconfig_add(&c, "Y", "--config", &err), -1);
}

static void test_satisfied(void **state)
{
	(void)state;
	assert_true(dotconfig_satisfied("y", "y"));
	assert_true(dotconfig_satisfied("n", NULL));
	assert_true(dotconfig_satisfied("n", "n"));
	assert_true(dotconfig_satisfied("m", "y"));
	assert_false(dotconfig_satisfied("y", "m"));
	assert_false(dotconfig_satisfied("y", NULL));
	assert_false(dotconfig_satisfied("n", "y"));
	assert_false(dotconfig_satisfied("4", "5"));
}

static void assert_why(const char *symbol, const char *want)
{
	LAB_CLEANUP(dotconfig)
	struct dotconfig c = parse("CONFIG_64BIT=y\n# CONFIG_BUS is not set\n");
	LAB_CLEANUP(free) char *why = NULL;

	dotconfig_sort(&c);
	why = kconfig_why("tests/data/fake-kernel", symbol, &c);
	assert_string_equal(why, want);
}

static void test_why(void **state)
{
	(void)state;
	assert_why("DISK", "depends on BUS (Kconfig:11), where BUS is not set");
	assert_why("DISC", "this tree has no such symbol (the nearest is DISK)");
	assert_why("BUS", "something else decides it (Kconfig:6)");
	assert_why("NOT_A_SYMBOL_AT_ALL", "this tree has no such symbol");
}

static void test_difference(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";
	LAB_CLEANUP(free) char *dir = lab_strdup(mkdtemp(name));
	LAB_CLEANUP(free) char *a = lab_path_join(dir, "a");
	LAB_CLEANUP(free) char *b = lab_path_join(dir, "b");
	LAB_CLEANUP(config_diff) struct config_diff diff = CONFIG_DIFF_INIT;
	static const char text_a[] = "CONFIG_SAME=y\nCONFIG_GONE=y\nCONFIG_OFF=y\nCONFIG_N=4\n";
	static const char text_b[] =
		"CONFIG_N=8\nCONFIG_SAME=y\n# CONFIG_OFF is not set\nCONFIG_A_NEW=m\n";

	(void)state;
	assert_int_equal(lab_write_file(a, text_a, strlen(text_a), 0644, &err), 0);
	assert_int_equal(lab_write_file(b, text_b, strlen(text_b), 0644, &err), 0);
	assert_int_equal(config_diff(a, b, &diff, &err), 0);
	assert_int_equal(diff.n, 4);
	assert_string_equal(diff.items[0].symbol, "A_NEW");
	assert_null(diff.items[0].a);
	assert_string_equal(diff.items[1].symbol, "GONE");
	assert_null(diff.items[1].b);
	assert_string_equal(diff.items[2].a, "4");
	assert_string_equal(diff.items[2].b, "8");
	assert_string_equal(diff.items[3].symbol, "OFF");
	assert_string_equal(diff.items[3].b, "n");
	assert_int_equal(lab_remove_tree(dir, &err), 0);
	assert_int_equal(config_diff(a, b, &diff, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_belong_to_symbols),
		cmocka_unit_test(test_lines_that_decide_nothing),
		cmocka_unit_test(test_choice_head_touches_its_members),
		cmocka_unit_test(test_fragment),
		cmocka_unit_test(test_broken_fragments),
		cmocka_unit_test(test_option_assignments),
		cmocka_unit_test(test_satisfied),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
