/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_OPTIONS_H
#define LAB_CLI_OPTIONS_H

/*
 * Options as data. A command describes its options in a static table and gets the
 * values in a struct of its own, at the offsets that the table names. Help and
 * man-page test walk the same table.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"

enum cli_option_type {
	CLI_OPTION_FLAG, /* bool */
	CLI_OPTION_STR,	 /* const char *, borrowed from argv */
	CLI_OPTION_UINT, /* uint64_t */
	CLI_OPTION_LIST, /* struct lab_strv, one value per use */
	CLI_OPTION_PAIR, /* the same; each value must be KEY=VALUE */
};

struct cli_option {
	enum cli_option_type type;
	char letter;	   /* 0: no short form */
	const char *name;  /* without the dashes; NULL ends a table */
	const char *value; /* name of the value in help: "DIR"; NULL for a flag */
	const char *help;
	size_t offset;		    /* where the value goes */
	const char *const *choices; /* what a STR may be, NULL: anything */
};

#define CLI_OPTION_END       \
	{                    \
		.name = NULL \
	}

/* One table and the struct that its offsets mean. */
struct cli_option_set {
	const struct cli_option *options; /* may be NULL */
	void *values;
};

/*
 * Takes the options of all sets out of argv, wherever they stand up to "--", and
 * leaves the operands in order in argv[0..n), NULL-terminated. With
 * `stop_at_operand` parsing ends at the first operand and that and all after it
 * stay. Errors are of kind LAB_ERR_USAGE.
 */
int cli_options_parse(const struct cli_option_set *sets, size_t n_sets, bool stop_at_operand,
		      char **argv, size_t *ret_operands, struct lab_error *err) LAB_MUST_CHECK;
/* Releases the lists of a struct. */
void cli_options_release(const struct cli_option *options, void *values);

/* Adds one help line per option, sorted as in the table. */
void cli_options_help(const struct cli_option *options, struct lab_buf *out);

#endif
