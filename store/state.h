/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_STATE_H
#define LAB_STORE_STATE_H

/*
 * The states of a run. It ends in exactly one: `done`, an outcome of the kernel
 * under test, or a lab fault. The names are part of the stored format.
 */

#include <stdbool.h>

#define RUN_PLANNED "planned"
#define RUN_RUNNING "running"
#define RUN_DONE "done"
/* Outcomes: they count and are never repeated. */
#define RUN_PANIC "panic"
#define RUN_OOPS "oops"
#define RUN_OOM "oom"
#define RUN_HANG "hang"		/* no heartbeat */
#define RUN_STALLED "stalled"	/* heartbeat, no progress */
#define RUN_WORKLOAD "workload" /* the program failed */
/* Lab faults: the next `run` repeats them. */
#define RUN_LOST "lost"
#define RUN_IO_ERROR "io-error"
#define RUN_HOST_TIMEOUT "host-timeout"
#define RUN_CANCELLED "cancelled"

bool run_state_is_outcome(const char *state); /* done or an outcome: final for the slot */
bool run_state_is_fault(const char *state);   /* a lab fault */
bool run_state_is_final(const char *state);   /* the attempt is over: outcome or fault */
/* For tables: "OOM killed", "kernel panic", ...; the state itself when it is unknown. */
const char *run_state_label(const char *state);

#endif
