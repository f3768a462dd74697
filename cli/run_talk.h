/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_RUN_TALK_H
#define LAB_CLI_RUN_TALK_H

#include "cli/cli.h"
#include "experiments/runner.h"

/* Fills *progress so that a campaign on its way prints what a person wants to see. */
void run_talk_init(struct run_progress *progress, struct cli *cli);

#endif
