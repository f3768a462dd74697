/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/exit.h"
#include "common/mem.h"
#include "common/strv.h"

const struct cli_option cli_common_options[] = {
	{CLI_OPTION_STR, 0, "lab", "DIR", "the lab, instead of $LABCTL_LAB or the default one",
	 offsetof(struct cli_common, lab), NULL},
	{CLI_OPTION_STR, 0, "connect", "URI", "libvirt connection, instead of the default one",
	 offsetof(struct cli_common, connect), NULL},
	{CLI_OPTION_FLAG, 'h', "help", NULL, "print this help", offsetof(struct cli_common, help),
	 NULL},
	{CLI_OPTION_FLAG, 0, "version", NULL, "print the version",
	 offsetof(struct cli_common, version), NULL},
	CLI_OPTION_END,
};

const struct cli_option cli_json_option[] = {
	{CLI_OPTION_FLAG, 0, "json", NULL, "print the result as JSON",
	 offsetof(struct cli_common, json), NULL},
	CLI_OPTION_END,
};

/* The command and operands in words, for the lock: "run slab-nomerge". */
static char *words_of(const char *full_name, char **operands)
{
	struct lab_buf words = LAB_BUF_INIT;

	lab_buf_adds(&words, full_name);
	for (char **o = operands; *o; o++)
		lab_buf_addf(&words, " %s", *o);
	return lab_buf_take(&words);
}

static int check_operands(const struct command *command, const char *full_name, char **operands,
			  size_t n, struct lab_error *err)
{
	if (n < command->min_operands)
		return lab_error_set(err, LAB_ERR_USAGE, "usage: labctl %s [OPTIONS] %s", full_name,
				     command->operands);
	if (n > command->max_operands)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "'%s' is one word too many: labctl %s [OPTIONS] %s",
				     operands[command->max_operands], full_name, command->operands);
	return 0;
}

/* Options first, so that -h never depends on a lab. Returns an exit code or -1. */
static int run_with(struct cli *cli, const struct command *command, const char *full_name,
		    void *values, char **argv, struct lab_error *err)
{
	LAB_CLEANUP(free) char *words = NULL;
	LAB_CLEANUP(buf) struct lab_buf help = LAB_BUF_INIT;
	const struct cli_option_set sets[] = {
		{command->handler->options, values},
		{cli_common_options, &cli->common},
		{command->needs & CLI_RESULT ? cli_json_option : NULL, &cli->common},
	};
	size_t n;

	if (cli_options_parse(sets, LAB_COUNT(sets), false, argv, &n, err) < 0)
		return -1;
	if (cli->common.help) {
		cli_command_help(command, full_name, &help);
		cli_print_buf(cli, &help);
		return CLI_EXIT_OK;
	}
	if (cli->common.version) {
		term_print(cli->term, "labctl " LABCTL_VERSION "\n");
		return CLI_EXIT_OK;
	}
	if (check_operands(command, full_name, argv, n, err) < 0)
		return -1;
	words = words_of(full_name, argv);
	if ((command->needs & (CLI_LAB | CLI_LAB_MAKE)) &&
	    cli_open_lab(cli, command->needs, words, err) < 0)
		return -1;
	return command->handler->run(cli, values, argv, err);
}

static int run_command(struct cli *cli, const struct command *command, const char *full_name,
		       char **argv, struct lab_error *err)
{
	const struct cli_handler *handler = command->handler;
	void *values = lab_calloc(1, handler->options_size ? handler->options_size : 1);
	int ret = run_with(cli, command, full_name, values, argv, err);

	cli_options_release(handler->options, values);
	free(values);
	return ret;
}

/* `labctl source`: its own table. */
static int run_sub(struct cli *cli, const struct command *command, char **argv,
		   struct lab_error *err)
{
	LAB_CLEANUP(free) char *full_name = NULL;
	LAB_CLEANUP(buf) struct lab_buf help = LAB_BUF_INIT;
	const struct cli_option_set sets[] = {{cli_common_options, &cli->common}};
	const struct command *sub;
	size_t n;

	if (cli_options_parse(sets, 1, true, argv, &n, err) < 0)
		return -1;
	if (cli->common.help) {
		cli_command_help(command, command->name, &help);
		cli_print_buf(cli, &help);
		return CLI_EXIT_OK;
	}
	if (n == 0)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "labctl %s needs a command; `labctl %s -h` lists them",
				     command->name, command->name);
	full_name = lab_asprintf("%s %s", command->name, argv[0]);
	sub = cli_command_find(command->sub, argv[0], "command of it", err);
	if (!sub)
		return lab_error_wrap(err, "labctl %s", command->name);
	return run_command(cli, sub, full_name, argv + 1, err);
}

static int run_main(struct cli *cli, char **argv, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf help = LAB_BUF_INIT;
	const struct cli_option_set sets[] = {{cli_common_options, &cli->common}};
	const struct command *command;
	size_t n;

	if (cli_options_parse(sets, 1, true, argv, &n, err) < 0)
		return -1;
	if (cli->common.version) {
		term_print(cli->term, "labctl " LABCTL_VERSION "\n");
		return CLI_EXIT_OK;
	}
	if (n == 0 && !cli->common.help)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "it needs a command; `labctl -h` lists them");
	if (n == 0) {
		cli_main_help(&help);
		cli_print_buf(cli, &help);
		return CLI_EXIT_OK;
	}
	if (cli_paths_init(&cli->paths, err) < 0)
		return -1;
	command = cli_command_find(cli_commands, argv[0], "labctl command", err);
	if (!command)
		return -1;
	if (command->sub)
		return run_sub(cli, command, argv + 1, err);
	return run_command(cli, command, command->name, argv + 1, err);
}

static unsigned terminal_columns(void)
{
	struct winsize size = {0};

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int cli_main(char **argv)
{
	struct cli cli = {0};
	struct lab_error err = {0};
	int ret;

	cli.term = term_new(stdout, stderr, isatty(STDERR_FILENO), terminal_columns());
	ret = run_main(&cli, argv + 1, &err);
	term_progress_end(cli.term);
	if (ret < 0) {
		term_error(cli.term, err.text);
		ret = err.kind == LAB_ERR_USAGE ? CLI_EXIT_USAGE : CLI_EXIT_FAILED;
	}
	lab_lock_free(cli.lock);
	lab_free(cli.lab);
	cli_paths_release(&cli.paths);
	if (term_finish(cli.term, &err) < 0) {
		term_error(cli.term, err.text);
		ret = ret == CLI_EXIT_OK ? CLI_EXIT_FAILED : ret;
	}
	term_free(cli.term);
	return ret;
}
