/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_BUILD_TALK_H
#define LAB_CLI_BUILD_TALK_H

#include "builder/progress.h"
#include "cli/cli.h"

/* How the builder's callbacks become lines and progress. */
struct build_talk {
	struct build_progress progress; /* hand this to the builder; points into the struct */
	struct cli *cli;
	bool facts_are_results; /* facts go to standard output, else they are talk */
	uint64_t began_ms;	/* of the arm being built */
	char arm[4];
};

void build_talk_init(struct build_talk *talk, struct cli *cli, bool facts_are_results);

#endif
