/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
	/* The next one, whichever of the two it is, ends the process at once. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

void cli_interrupt_install(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

bool cli_interrupted(void)
{
	return interrupted != 0;
}
