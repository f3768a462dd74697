/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_COMMAND_H
#define LAB_CLI_COMMAND_H

/*
 * The command table and what it is made of. Dispatch, help, completion and the test
 * that compares them with the man page walk it; nothing else lists commands.
 */

#include <stddef.h>

#include "cli/options.h"
#include "common/err.h"

struct cli; /* cli/cli.h */

/* What a command needs before it starts. */
enum cli_need {
	CLI_LAB = 1,	  /* an open lab */
	CLI_LAB_MAKE = 2, /* an open lab; the default one is made on first use */
	CLI_LAB_LOCK = 4, /* the lab's lock, with one of the two above */
	CLI_RESULT = 8,	  /* prints a result: takes --json */
};

/* The part of a command that its own file defines. */
struct cli_handler {
	/*
	 * Does the work. `options` is a zeroed struct filled by the option table, operands
	 * a NULL-terminated list. Returns an exit code, or -1 with err set.
	 */
	int (*run)(struct cli *cli, void *options, char **operands, struct lab_error *err);
	const struct cli_option *options; /* NULL: none */
	size_t options_size;
};

struct command {
	const char *name;     /* NULL ends a table */
	const char *operands; /* as in help: "EXPERIMENT [PATCHSET]" */
	const char *help;     /* one line */
	unsigned needs;	      /* enum cli_need */
	size_t min_operands, max_operands;
	const struct cli_handler *handler;
	const struct command *sub; /* instead of a handler: its own table of commands */
};

extern const struct command cli_commands[];
/* The options that every command takes, and --json. Values: struct cli_common. */
extern const struct cli_option cli_common_options[];
extern const struct cli_option cli_json_option[];

/* LAB_ERR_USAGE with the nearest name when the table has no such command. */
const struct command *cli_command_find(const struct command *table, const char *name,
				       const char *what, struct lab_error *err);

/* The whole help text of one command ("build", "source add"), of its table, or of labctl. */
void cli_command_help(const struct command *command, const char *full_name, struct lab_buf *out);
void cli_main_help(struct lab_buf *out);
/* A completion script for bash, made from the table. */
void cli_completion_bash(struct lab_buf *out);

/* Runs labctl: the whole program but signals. Returns the exit code. */
int cli_main(char **argv);

#endif
