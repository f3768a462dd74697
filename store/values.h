/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_VALUES_H
#define LAB_STORE_VALUES_H

/* Samples in the database; internal to store/. */

#include "store/db.h"
#include "store/sample.h"

/* Inside the caller's transaction. A NULL sample stores nothing. */
int values_put(struct db *db, int64_t run, const struct sample *sample,
	       struct lab_error *err) LAB_MUST_CHECK;
/* Of one metric, or of all when it is NULL; caller releases. */
int values_get(struct db *db, int64_t run, const char *metric, struct sample *ret_sample,
	       struct lab_error *err) LAB_MUST_CHECK;

#endif
