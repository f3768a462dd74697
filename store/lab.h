/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_LAB_H
#define LAB_STORE_LAB_H

/*
 * A lab: one directory with everything labctl knows.
 *
 *   lab.db            every state, one SQLite database in WAL mode
 *   artifacts/KIND/KEY/   finished artifacts, never changed after their row exists
 *   artifacts/tmp/    drafts of running processes
 *   runs/C/N.A/       what attempt A of run N of campaign C left behind
 *   tmp/              scratch of running commands, emptied by lab_clean_leftovers
 *   lock              who holds the lab now
 *
 * Reading needs no lock and is never blocked. Who builds, runs or cleans holds the
 * lab lock. A lab that this user cannot write is opened read-only; each writing
 * call then fails in words. A lab that was copied gets an id of its own when it is
 * opened for writing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"

struct lab;

/* /var/lib/labctl for root, $XDG_DATA_HOME/labctl (~/.local/share/labctl) for others; caller frees. */
char *lab_default_dir(void);

/*
 * Makes a lab in dir (created with its parents when missing). A lab that is there
 * already is kept as it is and is no failure. A directory with other things in it
 * is refused.
 */
int lab_init(const char *dir, struct lab_error *err) LAB_MUST_CHECK;

/*
 * Opens a lab; its schema is brought forward when an older labctl made it.
 * LAB_ERR_NOT_FOUND when dir is no lab (the message says how to make one),
 * LAB_ERR_UNAVAILABLE when a newer labctl made it.
 */
int lab_open(const char *dir, struct lab **ret_lab, struct lab_error *err) LAB_MUST_CHECK;
void lab_free(struct lab *lab);
LAB_DEFINE_CLEANUP(lab, struct lab, lab_free)

const char *lab_dir(const struct lab *lab); /* absolute, no slash at the end */
/* 32 hex digits made at init; marks what belongs to this lab outside of it (domains). */
const char *lab_id(const struct lab *lab);
bool lab_read_only(const struct lab *lab);

/*
 * Reads every page of the database and follows every reference: what `doctor` asks.
 * LAB_ERR_FAILED says what is damaged.
 */
int lab_check(struct lab *lab, struct lab_error *err) LAB_MUST_CHECK;

/* A path in the lab: "DIR/" + fmt...; caller frees. */
char *lab_path(const struct lab *lab, const char *fmt, ...) LAB_PRINTF(2, 3);

/* The right to change what runs; ends with the process at the latest. */
struct lab_lock;

/*
 * Takes the lab lock for `what` (the command in words: "run slab-nomerge").
 * LAB_ERR_BUSY when another process has it; the message names its process id,
 * command and since when. Never waits. Processes started while it is held do not
 * inherit it.
 */
int lab_lock(struct lab *lab, const char *what, struct lab_lock **ret_lock,
	     struct lab_error *err) LAB_MUST_CHECK;
void lab_lock_free(struct lab_lock *lock);
LAB_DEFINE_CLEANUP(lab_lock, struct lab_lock, lab_lock_free)

/* What lab_clean_leftovers found. */
struct lab_leftovers {
	unsigned drafts;    /* unfinished artifacts of dead processes */
	unsigned artifacts; /* artifact directories without a row */
	unsigned runs;	    /* runs of dead owners, now "lost" */
	unsigned run_dirs;  /* run directories without a row */
	unsigned scratch;   /* entries of tmp/ */
};

/*
 * Removes what dead processes left behind. Only under the lab lock. The numbers
 * count what was removed or closed; all zero for a clean lab.
 */
int lab_clean_leftovers(struct lab *lab, struct lab_leftovers *ret_left,
			struct lab_error *err) LAB_MUST_CHECK;

#endif
