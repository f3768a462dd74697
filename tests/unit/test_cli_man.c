/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command table, the help texts and labctl(1) say the same: every command and
 * option of the table is in the man page where it belongs, and nothing else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

#define MAN "docs/man/labctl.1.scd"

static char *man; /* the whole page */

static int setup(void **state)
{
	struct lab_buf text = LAB_BUF_INIT;

	(void)state;
	if (lab_read_file(MAN, 1 << 20, &text, NULL) < 0)
		return -1;
	man = lab_buf_take(&text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(man);
	return 0;
}

/* What stands between the heading and the next one of any level; caller frees. */
static char *section(const char *heading)
{
	LAB_CLEANUP(free) char *line = lab_asprintf("\n%s\n", heading);
	const char *begin = strstr(man, line);
	const char *end;

	if (!begin)
		fail_msg("%s has no section '%s'", MAN, heading);
	begin += strlen(line);
	end = strstr(begin, "\n#");
	return lab_strndup(begin, end ? (size_t)(end + 1 - begin) : strlen(begin));
}

static void must_contain(const char *where, const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("the section of '%s' in %s lacks: %s", where, MAN, what);
}

/* "*-m*, *--metric* _PATTERN_" at the beginning of a line. */
static char *option_line(const struct cli_option *o)
{
	struct lab_buf line = LAB_BUF_INIT;

	lab_buf_addc(&line, '\n');
	if (o->letter)
		lab_buf_addf(&line, "*-%c*, ", o->letter);
	lab_buf_addf(&line, "*--%s*", o->name);
	if (o->value)
		lab_buf_addf(&line, " _%s_", o->value);
	lab_buf_adds(&line, "\n\t");
	return lab_buf_take(&line);
}

static void check_options(const char *name, const char *text, const struct cli_option *options)
{
	size_t documented = 0, n = 0;

	for (const struct cli_option *o = options; o && o->name; o++, n++) {
		LAB_CLEANUP(free) char *line = option_line(o);

		must_contain(name, text, line);
	}
	/* An option that the page explains and the program does not have. */
	for (const char *s = text; (s = strstr(s, "\n*-")) != NULL; s++)
		documented++;
	if (documented != n)
		fail_msg("%s explains %zu options of '%s', which has %zu", MAN, documented, name,
			 n);
}

static void check_command(const struct command *c, const char *full_name)
{
	LAB_CLEANUP(free) char *heading = lab_asprintf("## %s", full_name);
	LAB_CLEANUP(free) char *text = section(heading);
	LAB_CLEANUP(free)
	char *synopsis = lab_asprintf("*labctl %s* [_OPTIONS_]%s%s\n", full_name,
				      c->operands[0] ? " " : "", c->operands);

	must_contain(full_name, text, synopsis);
	check_options(full_name, text, c->handler->options);
}

/* Walks every command that does something; returns how many. */
static size_t each_command(void (*fn)(const struct command *c, const char *full_name))
{
	size_t n = 0;

	for (const struct command *c = cli_commands; c->name; c++) {
		if (!c->sub) {
			fn(c, c->name);
			n++;
		}
		for (const struct command *sub = c->sub; sub && sub->name; sub++, n++) {
			LAB_CLEANUP(free) char *full = lab_asprintf("%s %s", c->name, sub->name);

			fn(sub, full);
		}
	}
	return n;
}

static void test_commands_are_documented(void **state)
{
	LAB_CLEANUP(free) char *general = section("# GENERAL OPTIONS");
	size_t n = each_command(check_command);
	size_t sections = 0;

	(void)state;
	for (const char *s = man; (s = strstr(s, "\n## ")) != NULL; s++)
		sections++;
	assert_int_equal(sections, n);
	for (const struct cli_option *o = cli_common_options; o->name; o++) {
		LAB_CLEANUP(free) char *line = option_line(o);

		must_contain("general options", general, line);
	}
	for (const struct cli_option *o = cli_json_option; o->name; o++) {
		LAB_CLEANUP(free) char *line = option_line(o);

		must_contain("general options", general, line);
	}
}

static void check_help(const struct command *c, const char *full_name)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *usage = lab_asprintf("usage: labctl %s [OPTIONS]", full_name);

	cli_command_help(c, full_name, &out);
	assert_true(lab_starts_with(out.data, usage));
	assert_non_null(strstr(out.data, c->help));
	assert_non_null(strstr(out.data, "--help"));
	for (const struct cli_option *o = c->handler->options; o && o->name; o++) {
		LAB_CLEANUP(free) char *name = lab_asprintf("--%s", o->name);

		assert_non_null(strstr(out.data, name));
	}
	assert_int_equal(!!strstr(out.data, "--json"), !!(c->needs & CLI_RESULT));
	for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
		if (strcspn(line, "\n") > 90)
			fail_msg("help of '%s' has a line of %zu columns", full_name,
				 strcspn(line, "\n"));
	}
}

static void test_help_of_every_command(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	(void)state;
	each_command(check_help);
	cli_main_help(&out);
	for (const struct command *c = cli_commands; c->name; c++)
		assert_non_null(strstr(out.data, c->help));
}

static void check_row(const struct command *c, const char *full_name)
{
	const struct cli_option *tables[] = {c->handler->options, cli_common_options,
					     cli_json_option};

	(void)full_name;
	assert_non_null(c->handler->run);
	assert_true(c->min_operands <= c->max_operands);
	assert_int_equal(c->operands[0] == '\0', c->max_operands == 0);
	if (c->needs & CLI_LAB_LOCK)
		assert_true(c->needs & (CLI_LAB | CLI_LAB_MAKE));
	/* An option of a command must not hide a general one. */
	for (const struct cli_option *o = tables[0]; o && o->name; o++) {
		for (size_t t = 1; t < LAB_COUNT(tables); t++) {
			for (const struct cli_option *g = tables[t]; g->name; g++) {
				assert_string_not_equal(o->name, g->name);
				assert_true(!o->letter || o->letter != g->letter);
			}
		}
		for (const struct cli_option *p = tables[0]; p != o; p++) {
			assert_string_not_equal(o->name, p->name);
			assert_true(!o->letter || o->letter != p->letter);
		}
		assert_int_equal(o->value == NULL, o->type == CLI_OPTION_FLAG);
	}
}

static void test_rows_are_sound(void **state)
{
	(void)state;
	each_command(check_row);
}

static void test_unknown_command(void **state)
{
	struct lab_error err = {0};

	(void)state;
	assert_null(cli_command_find(cli_commands, "biuld", "labctl command", &err));
	assert_int_equal(err.kind, LAB_ERR_USAGE);
	assert_string_equal(err.text, "'biuld' is no labctl command, did you mean 'build'?");
	assert_null(cli_command_find(cli_commands, "frobnicate", "labctl command", &err));
	assert_string_equal(err.text, "'frobnicate' is no labctl command; `labctl -h` lists them");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_are_documented),
		cmocka_unit_test(test_help_of_every_command),
		cmocka_unit_test(test_rows_are_sound),
		cmocka_unit_test(test_unknown_command),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
