/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_SCHEMA_H
#define LAB_STORE_SCHEMA_H

#include <stddef.h>

#include "store/db.h"

/* Marks lab.db as ours: "LABC". */
#define SCHEMA_APPLICATION_ID 0x4c414243

/* All steps from nothing to today's schema. A released step is never edited: add one. */
const struct db_migration *schema_migrations(size_t *ret_n);

#endif
