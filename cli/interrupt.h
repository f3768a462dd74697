/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_INTERRUPT_H
#define LAB_CLI_INTERRUPT_H

#include <stdbool.h>

/*
 * SIGINT and SIGTERM ask for a clean stop the first time and kill the second time;
 * SIGPIPE is ignored, so that a closed pipe is a write error with words.
 */
void cli_interrupt_install(void);
/* True once a stop was asked for. */
bool cli_interrupted(void);

#endif
