/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl help, labctl completion: what the command table says. */
#include <string.h>

#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "common/mem.h"

static int run_help(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf help = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *full_name = NULL;
	const struct command *command;

	(void)options;
	if (!operands[0]) {
		cli_main_help(&help);
		cli_print_buf(cli, &help);
		return CLI_EXIT_OK;
	}
	full_name = lab_strdup(operands[0]);
	command = cli_command_find(cli_commands, operands[0], "labctl command", err);
	if (command && operands[1]) {
		free(full_name);
		full_name = lab_asprintf("%s %s", operands[0], operands[1]);
		if (!command->sub)
			return lab_error_set(err, LAB_ERR_USAGE, "labctl %s has no commands",
					     operands[0]);
		command = cli_command_find(command->sub, operands[1], "command of it", err);
	}
	if (!command)
		return -1;
	cli_command_help(command, full_name, &help);
	cli_print_buf(cli, &help);
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_help = {run_help, NULL, 0};

static int run_completion(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf script = LAB_BUF_INIT;

	(void)options;
	if (strcmp(operands[0], "bash") != 0)
		return lab_error_set(err, LAB_ERR_USAGE, "no completion for '%s', only for bash",
				     operands[0]);
	cli_completion_bash(&script);
	cli_print_buf(cli, &script);
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_completion = {run_completion, NULL, 0};
