/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_CAMPAIGN_H
#define LAB_STORE_CAMPAIGN_H

/*
 * Campaigns and their runs. A campaign has one slot per planned run and each slot
 * has attempts. A slot whose newest attempt is an outcome is finished; one without
 * an attempt, or whose newest attempt is a lab fault, is still to be run.
 *
 * The resolved definition is a JSON object. What report/ reads of it:
 *
 *   "title": text, "preset": text,
 *   "variants": [{"name", "kernel" (artifact key or path), "label"}, ...] (the first is A)
 *   "cells": [name, ...]
 *   "metrics": [{"name", "direction": "+"|"-"|"none", "unit",
 *                "reducer": "mean"|"max"|"min"|"last"|"delta",
 *                "kind": "time"|"memory"|"count", "comparable": bool}, ...]
 *   "machine": {...}
 *   "storage": "delayed"|"sync" (only of targets that count instructions)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/lab.h"
#include "store/sample.h"
#include "store/state.h"

#define CAMPAIGN_UNFINISHED "unfinished"
#define CAMPAIGN_COMPLETE "complete"
#define CAMPAIGN_ABANDONED "abandoned" /* `--new` took its place */

struct campaign {
	int64_t id;
	char *experiment;
	char *preset;
	char *target;
	char *identity;	  /* hash of everything resolved, 64 hex digits */
	char *definition; /* JSON object in text, everything resolved */
	char *state;
	uint64_t seed;
	unsigned n;    /* boots of each variant in each cell */
	bool emulated; /* times were not measured on real hardware */
	int64_t created;
};

struct run_slot {
	unsigned number; /* 1-based, in run order */
	char *variant;
	char *cell;	     /* "" when the experiment has no factors */
	unsigned repetition; /* 1-based */
	uint64_t seed;
};

/* One attempt, or a slot that has none yet (id 0, attempt 0, state "planned"). */
struct run {
	int64_t id;
	int64_t campaign;
	unsigned number;
	unsigned attempt; /* 1-based */
	char *variant;
	char *cell;
	unsigned repetition;
	uint64_t seed;
	char *state;
	char *message;	   /* one line on how it ended; "" when there is nothing to say */
	char *dir;	   /* absolute; NULL while planned */
	char *facts;	   /* JSON object in text, "{}" until finished */
	char *fingerprint; /* JSON object in text, "{}" until finished */
	int64_t started;   /* unix time; 0 while planned */
	int64_t ended;	   /* unix time; 0 until finished */
};

void campaign_free(struct campaign *c);
LAB_DEFINE_CLEANUP(campaign, struct campaign, campaign_free)
void run_free(struct run *r);
LAB_DEFINE_CLEANUP(run, struct run, run_free)

struct campaign_list {
	struct campaign **items;
	size_t n;
	size_t cap;
};

struct run_list {
	struct run **items;
	size_t n;
	size_t cap;
};

void campaign_list_release(struct campaign_list *list);
void run_list_release(struct run_list *list);

static inline void lab_cleanup_campaign_list(struct campaign_list *list)
{
	campaign_list_release(list);
}

static inline void lab_cleanup_run_list(struct run_list *list)
{
	run_list_release(list);
}

/*
 * Stores a campaign (state "unfinished") with its whole plan in one transaction.
 * c->id, state and created are not read. Slot numbers must be 1..n, each
 * (variant, cell, repetition) once.
 */
int campaign_create(struct lab *lab, const struct campaign *c, const struct run_slot *slots,
		    size_t n, int64_t *ret_id, struct lab_error *err) LAB_MUST_CHECK;
/* LAB_ERR_NOT_FOUND names the newest there is. */
int campaign_get(struct lab *lab, int64_t id, struct campaign **ret,
		 struct lab_error *err) LAB_MUST_CHECK;
/* Oldest first. */
int campaign_list(struct lab *lab, struct campaign_list *ret_list,
		  struct lab_error *err) LAB_MUST_CHECK;
/* The newest with this identity that is unfinished; *ret is NULL when there is none. */
int campaign_unfinished(struct lab *lab, const char *identity, struct campaign **ret,
			struct lab_error *err) LAB_MUST_CHECK;
/* The newest with this identity (NULL: of all), in any state; *ret is NULL when there is none. */
int campaign_newest(struct lab *lab, const char *identity, struct campaign **ret,
		    struct lab_error *err) LAB_MUST_CHECK;
/* One of the three CAMPAIGN_ states. "complete" is set by run_finish itself. */
int campaign_set_state(struct lab *lab, int64_t id, const char *state,
		       struct lab_error *err) LAB_MUST_CHECK;
/* Sets the mark of a campaign whose runs turned out to be emulated. */
int campaign_set_emulated(struct lab *lab, int64_t id, bool emulated,
			  struct lab_error *err) LAB_MUST_CHECK;

/*
 * The first slot after number `after` (0: from the start) that is still to be run,
 * with its newest attempt; *ret is NULL when none is left. A runner passes the number
 * of the slot it has just tried, so that a lab fault is repeated by the next `run`
 * and not at once for ever. Attempts that a dead process left "running" are closed as
 * "lost" first: only under the lab lock.
 */
int run_next(struct lab *lab, int64_t campaign, unsigned after, struct run **ret,
	     struct lab_error *err) LAB_MUST_CHECK;
/* Begins the next attempt at a slot: an empty directory and a row in state "running". */
int run_begin(struct lab *lab, int64_t campaign, unsigned number, struct run **ret,
	      struct lab_error *err) LAB_MUST_CHECK;
/*
 * Ends an attempt that is "running": state, words, facts, fingerprint (JSON objects in
 * text or NULL) and all values (NULL: none), in one transaction; it also completes
 * the campaign when no slot is left. `state` must be final.
 */
int run_finish(struct lab *lab, int64_t run_id, const char *state, const char *message,
	       const char *facts, const char *fingerprint, const struct sample *sample,
	       struct lab_error *err) LAB_MUST_CHECK;

/*
 * All slots in run order. newest_only: one entry per slot (its newest attempt, or the
 * planned slot); otherwise every attempt, oldest first within a slot, and no planned ones.
 */
int run_list(struct lab *lab, int64_t campaign, bool newest_only, struct run_list *ret_list,
	     struct lab_error *err) LAB_MUST_CHECK;
/* One attempt of a slot; attempt 0 is the newest (or the planned slot). LAB_ERR_NOT_FOUND. */
int run_get(struct lab *lab, int64_t campaign, unsigned number, unsigned attempt, struct run **ret,
	    struct lab_error *err) LAB_MUST_CHECK;
/* The values of an attempt, in the order they were added; caller releases. */
int run_samples(struct lab *lab, int64_t run_id, struct sample *ret_sample,
		struct lab_error *err) LAB_MUST_CHECK;
/* The values of one metric only; n is 0 when it has none. */
int run_sample_metric(struct lab *lab, int64_t run_id, const char *metric,
		      struct sample *ret_sample, struct lab_error *err) LAB_MUST_CHECK;

/* What is done and what is not, for progress and exit codes. */
struct campaign_progress {
	unsigned slots;
	unsigned done;	   /* finished in state "done" */
	unsigned outcomes; /* finished with another outcome */
	unsigned faults;   /* newest attempt is a lab fault */
	unsigned planned;  /* no attempt yet */
	unsigned running;
};

int campaign_progress(struct lab *lab, int64_t campaign, struct campaign_progress *ret,
		      struct lab_error *err) LAB_MUST_CHECK;

#endif
