/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include <string.h>

#include "common/nearest.h"

const struct command *cli_command_find(const struct command *table, const char *name,
				       const char *what, struct lab_error *err)
{
	struct lab_nearest nearest = {.word = name};

	for (const struct command *c = table; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
		lab_nearest_consider(&nearest, c->name);
	}
	if (nearest.best)
		lab_error_set(err, LAB_ERR_USAGE, "'%s' is no %s, did you mean '%s'?", name, what,
			      nearest.best);
	else
		lab_error_set(err, LAB_ERR_USAGE, "'%s' is no %s; `labctl -h` lists them", name,
			      what);
	return NULL;
}

static void list_commands(const struct command *table, struct lab_buf *out)
{
	for (const struct command *c = table; c->name; c++)
		lab_buf_addf(out, "  %-12s %s\n", c->name, c->help);
}

void cli_command_help(const struct command *command, const char *full_name, struct lab_buf *out)
{
	if (command->sub) {
		lab_buf_addf(out, "usage: labctl %s COMMAND [OPTIONS] ...\n\n%s\n\ncommands:\n",
			     full_name, command->help);
		list_commands(command->sub, out);
		lab_buf_addf(out, "\n`labctl %s COMMAND -h` explains one of them.\n", full_name);
		return;
	}
	lab_buf_addf(out, "usage: labctl %s [OPTIONS]%s%s\n\n%s\n", full_name,
		     command->operands[0] ? " " : "", command->operands, command->help);
	lab_buf_adds(out, "\noptions:\n");
	cli_options_help(command->handler->options, out);
	if (command->needs & CLI_RESULT)
		cli_options_help(cli_json_option, out);
	cli_options_help(cli_common_options, out);
}

void cli_main_help(struct lab_buf *out)
{
	lab_buf_adds(out, "usage: labctl [OPTIONS] COMMAND ...\n\n"
			  "What does this kernel patchset change? Builds the kernel without and\n"
			  "with it, runs the same workload on both, compares.\n\ncommands:\n");
	list_commands(cli_commands, out);
	lab_buf_adds(out, "\noptions:\n");
	cli_options_help(cli_common_options, out);
	lab_buf_adds(out, "\n`labctl COMMAND -h` explains one command, labctl(1) all of them.\n"
			  "First steps: labctl doctor; labctl build REF; labctl run EXPERIMENT\n");
}

static void add_option_words(const struct cli_option *options, struct lab_buf *out)
{
	for (const struct cli_option *o = options; o && o->name; o++)
		lab_buf_addf(out, " --%s", o->name);
}

static void add_completion(const struct command *c, const char *full_name, struct lab_buf *out)
{
	lab_buf_addf(out, "\t'%s') words='", full_name);
	for (const struct command *sub = c->sub; sub && sub->name; sub++)
		lab_buf_addf(out, "%s%s", sub == c->sub ? "" : " ", sub->name);
	if (!c->sub) {
		add_option_words(c->handler->options, out);
		if (c->needs & CLI_RESULT)
			add_option_words(cli_json_option, out);
		add_option_words(cli_common_options, out);
	}
	lab_buf_adds(out, "' ;;\n");
}

void cli_completion_bash(struct lab_buf *out)
{
	lab_buf_adds(out, "# bash completion of labctl, made by `labctl completion bash`\n"
			  "_labctl()\n{\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} command= words= w i\n"
			  "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			  "\t\tw=${COMP_WORDS[i]}\n"
			  "\t\tcase $w in\n"
			  "\t\t--lab | --connect) ((i++)) ;;\n"
			  "\t\t-*) ;;\n"
			  "\t\t*)\n"
			  "\t\t\tcommand=\"${command:+$command }$w\"\n"
			  "\t\t\tcase $command in ");
	for (const struct command *c = cli_commands; c->name; c++) {
		if (c->sub)
			lab_buf_addf(out, "%s) ;; ", c->name);
	}
	lab_buf_adds(out, "*) break ;; esac ;;\n"
			  "\t\tesac\n"
			  "\tdone\n"
			  "\tcase $command in\n\t'') words='");
	for (const struct command *c = cli_commands; c->name; c++)
		lab_buf_addf(out, "%s%s", c == cli_commands ? "" : " ", c->name);
	add_option_words(cli_common_options, out);
	lab_buf_adds(out, "' ;;\n");
	for (const struct command *c = cli_commands; c->name; c++) {
		add_completion(c, c->name, out);
		for (const struct command *sub = c->sub; sub && sub->name; sub++) {
			LAB_CLEANUP(buf) struct lab_buf full = LAB_BUF_INIT;

			lab_buf_addf(&full, "%s %s", c->name, sub->name);
			add_completion(sub, full.data, out);
		}
	}
	lab_buf_adds(out, "\tesac\n"
			  "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			  "\t[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
			  "}\ncomplete -F _labctl labctl\n");
}
