/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/outcome.h"

#include <stdio.h>
#include <string.h>

#include "store/state.h"

/* What each end means when the console has nothing worse to say. */
static const struct {
	const char *state;
	const char *words;
	bool ours; /* the host's fault or its wish: the console cannot change it */
} ends[RUN_ENDS] = {
	[RUN_END_DONE] = {RUN_DONE, ""},
	/* The kernel or the image cannot do what the definition asks: the same next time. */
	[RUN_END_REFUSED] = {RUN_WORKLOAD, "the guest refused"},
	[RUN_END_SHUTDOWN] = {RUN_WORKLOAD, "the guest powered off before it was done"},
	/* Nothing in the guest resets it on purpose: a triple fault or a panic without words. */
	[RUN_END_REBOOT] = {RUN_PANIC, "the guest reset itself"},
	[RUN_END_CRASHED] = {RUN_PANIC, "the guest reported a panic"},
	[RUN_END_BOOT] = {RUN_HANG, "no word from the agent"},
	[RUN_END_SILENT] = {RUN_HANG, "no heartbeat"},
	[RUN_END_NO_PROGRESS] = {RUN_STALLED, "no progress"},
	[RUN_END_LOST] = {RUN_LOST, "the machine went away"},
	[RUN_END_GARBAGE] = {RUN_LOST, "the guest sent garbage"},
	[RUN_END_IO_ERROR] = {RUN_IO_ERROR, "a volume failed", true},
	[RUN_END_TOTAL] = {RUN_HOST_TIMEOUT, "not done in time"},
	[RUN_END_WRONG_KERNEL] = {RUN_LOST, "another kernel answered", true},
	[RUN_END_AGENT] = {RUN_LOST, "the agent could not do the job", true},
	[RUN_END_HOST] = {RUN_LOST, "the host failed", true},
	[RUN_END_CANCELLED] = {RUN_CANCELLED, "stopped by the user", true},
};

static const char *const consoles[RUN_CONSOLES] = {
	[RUN_CONSOLE_PANIC] = RUN_PANIC,
	[RUN_CONSOLE_OOPS] = RUN_OOPS,
	[RUN_CONSOLE_OOM] = RUN_OOM,
};

static void verdict(struct run_verdict *v, const char *state, const char *words, const char *more)
{
	bool both;

	if (more && strcmp(more, words) == 0)
		more = NULL;
	both = *words && more && *more;
	v->state = state;
	snprintf(v->message, sizeof(v->message), "%s%s%s", words, both ? ": " : "",
		 more ? more : "");
	/* Some of it may be the guest's words, and it will be printed on a terminal. */
	for (char *c = v->message; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

void run_classify(const struct run_evidence *evidence, struct run_verdict *ret_verdict)
{
	const struct run_evidence *e = evidence;

	if (!ends[e->end].ours && e->console != RUN_CONSOLE_CLEAN)
		verdict(ret_verdict, consoles[e->console], "", e->console_text);
	else if (e->end == RUN_END_DONE && e->workload_failed)
		verdict(ret_verdict, RUN_WORKLOAD, "", e->workload_text);
	else
		verdict(ret_verdict, ends[e->end].state, ends[e->end].words,
			e->end == RUN_END_DONE ? NULL : e->end_text);
}
