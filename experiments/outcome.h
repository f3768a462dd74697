/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_OUTCOME_H
#define LAB_EXPERIMENTS_OUTCOME_H

/*
 * How a run ended: pure, from what was seen. A run is `done` only when the agent
 * said so, every step succeeded, the parsers agreed and the console is clean; a
 * missing answer is never a pass. What the console says about the kernel under test
 * weighs more than how the host noticed that the guest was gone, and less than
 * what the host knows about its own faults.
 */

#include <stdbool.h>

/* Why the runner stopped listening. */
enum run_end {
	RUN_END_DONE,	      /* the agent said that the job was done */
	RUN_END_REFUSED,      /* the guest refused a setting, a mount or swap */
	RUN_END_SHUTDOWN,     /* the machine powered off before that */
	RUN_END_REBOOT,	      /* it reset */
	RUN_END_CRASHED,      /* the panic device said so */
	RUN_END_BOOT,	      /* no hello before the boot deadline */
	RUN_END_SILENT,	      /* no frame for the heartbeat deadline */
	RUN_END_NO_PROGRESS,  /* heartbeats whose counter stood still */
	RUN_END_LOST,	      /* QEMU or the connection is gone */
	RUN_END_GARBAGE,      /* the channel carried what no honest agent says */
	RUN_END_IO_ERROR,     /* the host could not serve or make a volume */
	RUN_END_TOTAL,	      /* total deadline, though it got on */
	RUN_END_WRONG_KERNEL, /* the hello names another build */
	RUN_END_AGENT,	      /* the agent could not do the job, or speaks another protocol */
	RUN_END_HOST,	      /* our own side failed: libvirt, the store */
	RUN_END_CANCELLED,    /* the user */
	RUN_ENDS
};

/* What the kernel's console shows, worst first. */
enum run_console {
	RUN_CONSOLE_CLEAN,
	RUN_CONSOLE_PANIC,
	RUN_CONSOLE_OOPS,
	RUN_CONSOLE_OOM,
	RUN_CONSOLES
};

struct run_evidence {
	enum run_end end;
	const char *end_text; /* particulars of `end`, or NULL */
	enum run_console console;
	const char *console_text;  /* the line that says so, or NULL */
	bool workload_failed;	   /* a step failed or a parser refused */
	const char *workload_text; /* then why */
};

struct run_verdict {
	const char *state; /* a state of store/state.h; static */
	char message[600]; /* "" for done */
};

void run_classify(const struct run_evidence *evidence, struct run_verdict *ret_verdict);

#endif
