/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_OUTCOME_H
#define LAB_EXPERIMENTS_OUTCOME_H

/*
 * How a run ended: pure, from what was seen. A run is `done` only when the agent
 * said so, every step succeeded and the parsers agreed; a missing answer is never
 * a pass. What the console says about the kernel under test weighs more than how
 * the host noticed that the guest was gone.
 */

#include <stdbool.h>

/* Why the runner stopped listening. */
enum run_end {
	RUN_END_DONE,	      /* the agent said done */
	RUN_END_SHUTDOWN,     /* the machine powered off before that */
	RUN_END_REBOOT,	      /* it reset */
	RUN_END_CRASHED,      /* the panic device said so */
	RUN_END_LOST,	      /* QEMU or the connection is gone */
	RUN_END_IO_ERROR,     /* the host could not serve a volume */
	RUN_END_GARBAGE,      /* the channel carried what is no frame */
	RUN_END_BOOT,	      /* no hello before the boot deadline */
	RUN_END_SILENT,	      /* no frame for the heartbeat deadline */
	RUN_END_NO_PROGRESS,  /* heartbeats whose counter stood still */
	RUN_END_TOTAL,	      /* total deadline, progressing */
	RUN_END_WRONG_KERNEL, /* the hello names another build */
	RUN_END_WRONG_AGENT,  /* another protocol version */
	RUN_END_AGENT_ERROR,  /* the agent could not do the job (host's or image's fault) */
	RUN_END_CANCELLED,    /* the user */
	RUN_END_HOST,	      /* our own side failed: libvirt, disk, store */
};

/* What the kernel's console shows, worst first. */
enum run_console {
	RUN_CONSOLE_CLEAN,
	RUN_CONSOLE_PANIC,
	RUN_CONSOLE_OOPS,
	RUN_CONSOLE_OOM,
};

struct run_evidence {
	enum run_end end;
	const char *end_text; /* words for `end`, or NULL */
	enum run_console console;
	const char *console_line;    /* the line that says so, or NULL */
	bool hello;		     /* it had said hello */
	bool workload_failed;	     /* a step failed or a parser refused */
	const char *workload_reason; /* then why */
};

struct run_verdict {
	const char *state; /* a state of store/state.h; static */
	char message[600]; /* "" for done */
};

void run_classify(const struct run_evidence *evidence, struct run_verdict *ret_verdict);

#endif
