/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "common/mem.h"
#include "common/strv.h"

struct values {
	bool flag;
	bool other;
	const char *word;
	const char *choice;
	uint64_t number;
	struct lab_strv list;
	struct lab_strv pairs;
};

#define AT(member) offsetof(struct values, member)

static const char *const choices[] = {"text", "csv", NULL};

static const struct cli_option options[] = {
	{CLI_OPTION_FLAG, 'f', "flag", NULL, "a flag", AT(flag), NULL},
	{CLI_OPTION_FLAG, 'o', "other", NULL, "another", AT(other), NULL},
	{CLI_OPTION_STR, 'w', "word", "WORD", "a word", AT(word), NULL},
	{CLI_OPTION_STR, 0, "choice", "NAME", "one of two", AT(choice), choices},
	{CLI_OPTION_UINT, 'j', "jobs", "N", "a number", AT(number), NULL},
	{CLI_OPTION_LIST, 0, "list", "WORD", "some words", AT(list), NULL},
	{CLI_OPTION_PAIR, 'k', "kernel", "VARIANT=KERNEL", "some pairs", AT(pairs), NULL},
	CLI_OPTION_END,
};

#define MAX_ARGS 16

struct parsed {
	struct values values;
	char *argv[MAX_ARGS];
	size_t n;
	struct lab_error err;
	int ret;
};

/* Parses the words of a line, which it cuts in place; the caller releases. */
static void parse(struct parsed *p, char *line, bool stop)
{
	const struct cli_option_set set = {options, &p->values};
	size_t n = 0;
	char *save;

	memset(p, 0, sizeof(*p));
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		p->argv[n++] = w;
	p->ret = cli_options_parse(&set, 1, stop, p->argv, &p->n, &p->err);
}

#define PARSE(p, text, stop)                                            \
	char line_##p[] = text;                                         \
	__attribute__((cleanup(release_parsed))) struct parsed p = {0}; \
	parse(&p, line_##p, stop)

static void release_parsed(struct parsed *p)
{
	cli_options_release(options, &p->values);
}

static void test_values(void **state)
{
	(void)state;
	PARSE(p, "a -f --word=x b --jobs 7 --list 1 --list=2 -kA=1 -k B=2=3 c", false);
	assert_int_equal(p.ret, 0);
	assert_true(p.values.flag);
	assert_false(p.values.other);
	assert_string_equal(p.values.word, "x");
	assert_int_equal(p.values.number, 7);
	assert_int_equal(p.values.list.n, 2);
	assert_string_equal(p.values.list.items[1], "2");
	assert_int_equal(p.values.pairs.n, 2);
	assert_string_equal(p.values.pairs.items[1], "B=2=3");
	assert_int_equal(p.n, 3);
	assert_string_equal(p.argv[0], "a");
	assert_string_equal(p.argv[2], "c");
	assert_null(p.argv[3]);
}

static void test_short_forms(void **state)
{
	(void)state;
	PARSE(p, "-foj4 -w - -- -f", false);
	assert_int_equal(p.ret, 0);
	assert_true(p.values.flag && p.values.other);
	assert_int_equal(p.values.number, 4);
	assert_string_equal(p.values.word, "-");
	assert_int_equal(p.n, 1);
	assert_string_equal(p.argv[0], "-f");
}

static void test_empty_value(void **state)
{
	(void)state;
	PARSE(p, "--word= x", false);
	assert_int_equal(p.ret, 0);
	assert_string_equal(p.values.word, "");
	assert_int_equal(p.n, 1);
}

static void test_stop_at_operand(void **state)
{
	(void)state;
	PARSE(p, "-f build --flag -o --unknown", true);
	assert_int_equal(p.ret, 0);
	assert_true(p.values.flag);
	assert_false(p.values.other);
	assert_int_equal(p.n, 4);
	assert_string_equal(p.argv[3], "--unknown");
}

static void test_errors(void **state)
{
	static const struct {
		const char *line;
		const char *text; /* what the message must be */
	} bad[] = {
		{"--wrod x", "unknown option '--wrod', did you mean '--word'?"},
		{"--xyzzy", "unknown option '--xyzzy'"},
		{"-x", "unknown option '-x'"},
		{"--flag=yes", "--flag takes no value"},
		{"--word", "--word needs a value: --word WORD"},
		{"-w", "-w needs a value: -w WORD"},
		{"--choice xml", "--choice 'xml': it can be text, csv"},
		{"-k A", "--kernel 'A': it is written VARIANT=KERNEL"},
		{"-k =x", "--kernel '=x': it is written VARIANT=KERNEL"},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		LAB_CLEANUP(free) char *line = lab_strdup(bad[i].line);
		__attribute__((cleanup(release_parsed))) struct parsed p;

		parse(&p, line, false);
		assert_int_equal(p.ret, -1);
		assert_int_equal(p.err.kind, LAB_ERR_USAGE);
		assert_string_equal(p.err.text, bad[i].text);
	}
}

static void test_bad_numbers(void **state)
{
	static const char *const bad[] = {"-1", "x", "1x", "99999999999999999999999"};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		LAB_CLEANUP(free) char *line = lab_asprintf("--jobs=%s", bad[i]);
		__attribute__((cleanup(release_parsed))) struct parsed p;

		parse(&p, line, false);
		assert_int_equal(p.ret, -1);
		assert_int_equal(p.err.kind, LAB_ERR_USAGE);
		assert_true(lab_starts_with(p.err.text, "--jobs: "));
		assert_int_equal(p.values.number, 0);
	}
}

static void test_two_sets(void **state)
{
	static const struct cli_option more[] = {
		{CLI_OPTION_STR, 0, "lab", "DIR", "the lab", 0, NULL},
		CLI_OPTION_END,
	};
	struct values values = {0};
	const char *lab = NULL;
	const struct cli_option_set sets[] = {{options, &values}, {NULL, NULL}, {more, &lab}};
	char *argv[] = {(char *)"--lab", (char *)"/x", (char *)"-f", NULL};
	size_t n;

	(void)state;
	assert_int_equal(cli_options_parse(sets, 3, false, argv, &n, NULL), 0);
	assert_string_equal(lab, "/x");
	assert_true(values.flag);
	assert_int_equal(n, 0);
}

static void test_help(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	(void)state;
	cli_options_help(options, &out);
	assert_non_null(strstr(out.data, "  -f, --flag              a flag\n"));
	assert_non_null(strstr(out.data, "  --choice NAME           one of two\n"));
	/* Too long for the column: the text goes under it. */
	assert_non_null(strstr(out.data, "  -k, --kernel VARIANT=KERNEL\n"
					 "                          some pairs\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_short_forms),
		cmocka_unit_test(test_empty_value), cmocka_unit_test(test_stop_at_operand),
		cmocka_unit_test(test_errors),	    cmocka_unit_test(test_bad_numbers),
		cmocka_unit_test(test_two_sets),    cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
