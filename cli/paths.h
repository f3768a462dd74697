/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_PATHS_H
#define LAB_CLI_PATHS_H

/*
 * Where labctl's own data lies: beside the program (BIN/../share/labctl and
 * BIN/../libexec/labctl), in the build directory as where it is installed.
 * $LABCTL_DATA names another data directory.
 */

#include "common/err.h"

struct cli_paths {
	char *recipes;	   /* image recipes, *.yaml */
	char *definitions; /* experiments, *.yaml */
	char *fragments;   /* config fragments, *.config */
	char *agent;	   /* the guest agent */
	char *plugin;	   /* QEMU's plugin that counts instructions */
};

/* Fills paths; that the files are there is checked by who needs them. */
int cli_paths_init(struct cli_paths *paths, struct lab_error *err) LAB_MUST_CHECK;
void cli_paths_release(struct cli_paths *paths);

#endif
