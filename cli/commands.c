/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include "cli/handlers.h"

static const struct command source_commands[] = {
	{"add", "NAME URL|DIRECTORY|TARBALL", "add a git repository or a source tarball",
	 CLI_LAB_MAKE | CLI_LAB_LOCK | CLI_RESULT, 2, 2, &cmd_source_add, NULL},
	{"fetch", "NAME", "fetch the branches and tags of a source", CLI_LAB | CLI_LAB_LOCK, 1, 1,
	 &cmd_source_fetch, NULL},
	{"list", "", "list the sources", CLI_LAB | CLI_RESULT, 0, 0, &cmd_source_list, NULL},
	{"rm", "NAME", "forget a source and remove its repository", CLI_LAB | CLI_LAB_LOCK, 1, 1,
	 &cmd_source_rm, NULL},
	{"show", "NAME", "say where a source comes from", CLI_LAB | CLI_RESULT, 1, 1,
	 &cmd_source_show, NULL},
	{0},
};

static const struct command image_commands[] = {
	{"build", "RECIPE", "make the root image of a recipe",
	 CLI_LAB_MAKE | CLI_LAB_LOCK | CLI_RESULT, 1, 1, &cmd_image_build, NULL},
	{0},
};

const struct command cli_commands[] = {
	{"init", "[DIR]", "make a lab", CLI_RESULT, 0, 1, &cmd_init, NULL},
	{"doctor", "", "check what this machine can do, and name the cure", CLI_RESULT, 0, 0,
	 &cmd_doctor, NULL},
	{"source", "", "where patchsets and base trees come from", 0, 0, 0, NULL, source_commands},
	{"build", "REF|COMMIT|RANGE", "build the kernels without and with a patchset",
	 CLI_LAB_MAKE | CLI_LAB_LOCK | CLI_RESULT, 1, 1, &cmd_build, NULL},
	{"diff", "KERNEL KERNEL | PATCHSET", "compare the configurations of two kernels",
	 CLI_LAB | CLI_RESULT, 1, 2, &cmd_diff, NULL},
	{"image", "", "root images of the machines", 0, 0, 0, NULL, image_commands},
	{"run", "EXPERIMENT [PATCHSET]", "run an experiment, or go on with it",
	 CLI_LAB_MAKE | CLI_RESULT, 1, 2, &cmd_run, NULL},
	{"rerun", "RUN [EXPERIMENT]", "run a run of target exact again: is it equal?",
	 CLI_LAB | CLI_RESULT, 1, 2, &cmd_rerun, NULL},
	{"ps", "", "list the machines that run", CLI_LAB | CLI_RESULT, 0, 0, &cmd_ps, NULL},
	{"clean", "", "remove what killed commands left behind",
	 CLI_LAB | CLI_LAB_LOCK | CLI_RESULT, 0, 0, &cmd_clean, NULL},
	{"list", "experiments|campaigns|kernels|images|patchsets", "list what there is", CLI_RESULT,
	 1, 1, &cmd_list, NULL},
	{"show", "[KIND] NAME", "show a campaign (7), a run (7.41), a kernel, an experiment, ...",
	 CLI_RESULT, 1, 2, &cmd_show, NULL},
	{"compare", "[CAMPAIGN]", "compare the variants of a campaign", CLI_LAB | CLI_RESULT, 0, 1,
	 &cmd_compare, NULL},
	{"report", "[CAMPAIGN]", "print a campaign's report in a format of your choice",
	 CLI_LAB | CLI_RESULT, 0, 1, &cmd_report, NULL},
	{"profile", "[CAMPAIGN] | RUN [RUN]", "compare the instructions of each kernel function",
	 CLI_LAB | CLI_RESULT, 0, 2, &cmd_profile, NULL},
	{"bundle", "CAMPAIGN FILE [EXPERIMENT]", "put a campaign into one file for others",
	 CLI_LAB | CLI_RESULT, 2, 3, &cmd_bundle, NULL},
	{"reproduce", "FILE", "check a bundle and run its runs again: are they equal?",
	 CLI_LAB_MAKE | CLI_RESULT, 1, 1, &cmd_reproduce, NULL},
	{"completion", "bash", "print a completion script for the shell", 0, 1, 1, &cmd_completion,
	 NULL},
	{"help", "[COMMAND]", "explain a command", 0, 0, 2, &cmd_help, NULL},
	{0},
};
