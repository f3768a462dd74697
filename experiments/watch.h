/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_WATCH_H
#define LAB_EXPERIMENTS_WATCH_H

/*
 * Watches one boot: takes what arrives and what the clock says, and tells when the
 * run is over and why. It reads no clock and no machine itself (times are
 * lab_now_ms() values that the caller passes in), so every ending can be tried.
 */

#include <stdbool.h>
#include <stdint.h>

#include "experiments/definition.h"
#include "experiments/outcome.h"
#include "protocol/record.h"
#include "vmctl/target.h"

struct watch {
	struct experiment_deadlines limits; /* as they hold here: stretched */
	const char *build_id;		    /* the kernel's, NULL: any */
	bool streams;			    /* the target talks while it runs */
	struct record *record;
	uint64_t started, hello, heard, progressed, done; /* when; 0: not yet */
	int64_t progress;				  /* of the newest heartbeat that moved */
	bool ended;
	enum run_end end;
	char text[300]; /* particulars of the end */
};

void watch_init(struct watch *watch, struct record *record,
		const struct experiment_deadlines *limits, uint64_t now);
/* One message of the guest. It may end the run; then it is still part of the record. */
void watch_frame(struct watch *watch, const json_t *frame, uint64_t now);
/* The machine stopped; after `done` that is how it should be. */
void watch_stopped(struct watch *watch, enum machine_stop stop, const char *text);
void watch_end(struct watch *watch, enum run_end end, const char *text);
/*
 * Milliseconds from now to the next deadline, 0 when one has passed, which ends the
 * run; at most `most`.
 */
int watch_wait(struct watch *watch, uint64_t now, int most);

#endif
