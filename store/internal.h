/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_INTERNAL_H
#define LAB_STORE_INTERNAL_H

/* What the files of store/ share; nobody else includes it. */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "store/db.h"
#include "store/lab.h"

struct lab {
	char *dir;
	char *id;
	struct db *db;
	char *why_read_only; /* words, or NULL: we may write */
};

/* Fails in words when the lab was opened read-only. */
int lab_need_write(const struct lab *lab, struct lab_error *err) LAB_MUST_CHECK;
/* lab_need_write, then db_begin. */
int lab_begin(struct lab *lab, struct lab_error *err) LAB_MUST_CHECK;
/* Commits when rc is 0, else undoes; returns -1 when either failed. */
int lab_end(struct lab *lab, int rc, struct lab_error *err) LAB_MUST_CHECK;

/* Undoes what artifact_begin of dead processes left; part of lab_clean_leftovers. */
int artifact_clean_drafts(struct lab *lab, unsigned *ret_n, struct lab_error *err) LAB_MUST_CHECK;
/* Moves directories without a row to where artifact_clean_drafts finds them. */
int artifact_clean_orphans(struct lab *lab, unsigned *ret_n, struct lab_error *err) LAB_MUST_CHECK;
int run_clean_dirs(struct lab *lab, unsigned *ret_n, struct lab_error *err) LAB_MUST_CHECK;
int run_lose_all(struct lab *lab, unsigned *ret_n, struct lab_error *err) LAB_MUST_CHECK;

/* NULL gives "{}"; text that is no JSON object is LAB_ERR_INVALID and named by `what`. */
int json_object_text(const char *text, const char *what, const char **ret,
		     struct lab_error *err) LAB_MUST_CHECK;

#endif
