/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_EXIT_H
#define LAB_CLI_EXIT_H

/* The exit codes of labctl; labctl(1) lists them. */
enum cli_exit {
	CLI_EXIT_OK = 0,
	CLI_EXIT_FAILED = 1,
	CLI_EXIT_USAGE = 2,
	CLI_EXIT_NOT_REPRODUCED = 4, /* the same run gave other bytes */
	CLI_EXIT_FAILED_RUNS = 5,    /* went through the plan, with failed or missing runs */
};

#endif
