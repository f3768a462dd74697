/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <stdint.h>
#include <string.h>

#include "common/mem.h"
#include "common/nearest.h"
#include "common/num.h"
#include "common/strv.h"

/* Where help texts begin. */
#define HELP_COLUMN 26

struct found {
	const struct cli_option *option;
	void *values;
};

static bool find_long(const struct cli_option_set *sets, size_t n_sets, const char *name,
		      size_t len, struct found *found)
{
	for (size_t i = 0; i < n_sets; i++) {
		for (const struct cli_option *o = sets[i].options; o && o->name; o++) {
			if (strlen(o->name) == len && memcmp(o->name, name, len) == 0) {
				*found = (struct found){o, sets[i].values};
				return true;
			}
		}
	}
	return false;
}

static bool find_letter(const struct cli_option_set *sets, size_t n_sets, char letter,
			struct found *found)
{
	for (size_t i = 0; i < n_sets; i++) {
		for (const struct cli_option *o = sets[i].options; o && o->name; o++) {
			if (o->letter && o->letter == letter) {
				*found = (struct found){o, sets[i].values};
				return true;
			}
		}
	}
	return false;
}

static int check_choice(const struct cli_option *o, const char *value, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf known = LAB_BUF_INIT;

	for (const char *const *c = o->choices; *c; c++) {
		if (strcmp(*c, value) == 0)
			return 0;
		lab_buf_addf(&known, "%s%s", c == o->choices ? "" : ", ", *c);
	}
	return lab_error_set(err, LAB_ERR_USAGE, "--%s '%s': it can be %s", o->name, value,
			     known.data);
}

static int set_value(const struct found *found, const char *value, struct lab_error *err)
{
	const struct cli_option *o = found->option;
	char *where = (char *)found->values + o->offset;

	switch (o->type) {
	case CLI_OPTION_FLAG:
		*(bool *)(void *)where = true;
		return 0;
	case CLI_OPTION_STR:
		if (o->choices && check_choice(o, value, err) < 0)
			return -1;
		*(const char **)(void *)where = value;
		return 0;
	case CLI_OPTION_UINT:
		if (lab_parse_u64(value, (uint64_t *)(void *)where, err) < 0) {
			if (err)
				err->kind = LAB_ERR_USAGE;
			return lab_error_wrap(err, "--%s", o->name);
		}
		return 0;
	case CLI_OPTION_PAIR:
		if (value[0] == '=' || !strchr(value, '='))
			return lab_error_set(err, LAB_ERR_USAGE, "--%s '%s': it is written %s",
					     o->name, value, o->value);
		/* fall through */
	case CLI_OPTION_LIST:
		lab_strv_add((struct lab_strv *)(void *)where, value);
		return 0;
	}
	return lab_error_set(err, LAB_ERR_FAILED, "--%s: option of unknown type", o->name);
}

static int unknown_long(const struct cli_option_set *sets, size_t n_sets, const char *name,
			size_t len, struct lab_error *err)
{
	LAB_CLEANUP(free) char *word = lab_strndup(name, len);
	struct lab_nearest nearest = {.word = word};

	for (size_t i = 0; i < n_sets; i++) {
		for (const struct cli_option *o = sets[i].options; o && o->name; o++)
			lab_nearest_consider(&nearest, o->name);
	}
	if (nearest.best)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "unknown option '--%s', did you mean '--%s'?", word,
				     nearest.best);
	return lab_error_set(err, LAB_ERR_USAGE, "unknown option '--%s'", word);
}

/* "--name", "--name=value", "--name value"; *at is the option's place in argv. */
static int parse_long(const struct cli_option_set *sets, size_t n_sets, char **argv, size_t *at,
		      struct lab_error *err)
{
	const char *name = argv[*at] + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;
	struct found found;

	if (!find_long(sets, n_sets, name, len, &found))
		return unknown_long(sets, n_sets, name, len, err);
	if (found.option->type == CLI_OPTION_FLAG) {
		if (value)
			return lab_error_set(err, LAB_ERR_USAGE, "--%s takes no value",
					     found.option->name);
	} else if (!value) {
		if (!argv[*at + 1])
			return lab_error_set(err, LAB_ERR_USAGE, "--%s needs a value: --%s %s",
					     found.option->name, found.option->name,
					     found.option->value);
		value = argv[++*at];
	}
	return set_value(&found, value, err);
}

/* "-x", "-xy" for flags, "-jN", "-j N". */
static int parse_short(const struct cli_option_set *sets, size_t n_sets, char **argv, size_t *at,
		       struct lab_error *err)
{
	struct found found;

	for (const char *s = argv[*at] + 1; *s; s++) {
		const char *value = NULL;

		if (!find_letter(sets, n_sets, *s, &found))
			return lab_error_set(err, LAB_ERR_USAGE, "unknown option '-%c'", *s);
		if (found.option->type == CLI_OPTION_FLAG) {
			if (set_value(&found, NULL, err) < 0)
				return -1;
			continue;
		}
		if (s[1])
			value = s + 1;
		else if (argv[*at + 1])
			value = argv[++*at];
		if (!value)
			return lab_error_set(err, LAB_ERR_USAGE, "-%c needs a value: -%c %s", *s,
					     *s, found.option->value);
		return set_value(&found, value, err);
	}
	return 0;
}

int cli_options_parse(const struct cli_option_set *sets, size_t n_sets, bool stop_at_operand,
		      char **argv, size_t *ret_operands, struct lab_error *err)
{
	size_t operands = 0;
	bool only_operands = false;

	for (size_t i = 0; argv[i]; i++) {
		const char *arg = argv[i];
		int ret;

		if (only_operands || arg[0] != '-' || arg[1] == '\0') {
			argv[operands++] = argv[i];
			only_operands = only_operands || stop_at_operand;
			continue;
		}
		if (strcmp(arg, "--") == 0) {
			only_operands = true;
			continue;
		}
		if (arg[1] == '-')
			ret = parse_long(sets, n_sets, argv, &i, err);
		else
			ret = parse_short(sets, n_sets, argv, &i, err);
		if (ret < 0)
			return -1;
	}
	argv[operands] = NULL;
	*ret_operands = operands;
	return 0;
}

void cli_options_release(const struct cli_option *options, void *values)
{
	for (const struct cli_option *o = options; o && o->name; o++) {
		if (o->type == CLI_OPTION_LIST || o->type == CLI_OPTION_PAIR)
			lab_strv_release((struct lab_strv *)(void *)((char *)values + o->offset));
	}
}

void cli_options_help(const struct cli_option *options, struct lab_buf *out)
{
	for (const struct cli_option *o = options; o && o->name; o++) {
		size_t start = out->len;

		if (o->letter)
			lab_buf_addf(out, "  -%c, --%s", o->letter, o->name);
		else
			lab_buf_addf(out, "  --%s", o->name);
		if (o->value)
			lab_buf_addf(out, " %s", o->value);
		if (out->len - start + 2 > HELP_COLUMN)
			lab_buf_addf(out, "\n%*s", HELP_COLUMN, "");
		else
			lab_buf_addf(out, "%*s", (int)(HELP_COLUMN - (out->len - start)), "");
		lab_buf_addf(out, "%s\n", o->help);
	}
}
