/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_SHOW_H
#define LAB_CLI_SHOW_H

/*
 * One function per kind of thing. Each returns an exit code, or -1: LAB_ERR_USAGE
 * when the name cannot be one of this kind, LAB_ERR_NOT_FOUND when there is none.
 */

#include "cli/cli.h"
#include "common/err.h"

typedef int (*show_fn)(struct cli *cli, const char *name, struct lab_error *err);

int show_campaign(struct cli *cli, const char *name, struct lab_error *err);
int show_run(struct cli *cli, const char *name, struct lab_error *err);
int show_experiment(struct cli *cli, const char *name, struct lab_error *err);
int show_kernel(struct cli *cli, const char *name, struct lab_error *err);
int show_image(struct cli *cli, const char *name, struct lab_error *err);
int show_patchset(struct cli *cli, const char *name, struct lab_error *err);

#endif
