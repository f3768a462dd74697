/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_DB_H
#define LAB_STORE_DB_H

/*
 * The one place that talks to SQLite; internal to store/. Statements are named in
 * sql.h, parameters are bound in order, and every failure becomes a lab_error on the
 * spot.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "store/sql.h"

struct db;
struct db_stmt;

enum db_mode {
	DB_READ,      /* for readers; the file must exist */
	DB_READ_COLD, /* the same, where nobody can write: no shared memory file is needed */
	DB_WRITE,
	DB_CREATE,
};

int db_open(const char *path, enum db_mode mode, struct db **ret_db,
	    struct lab_error *err) LAB_MUST_CHECK;
void db_free(struct db *db);
LAB_DEFINE_CLEANUP(db, struct db, db_free)

/* Runs statements that yield nothing: pragmas, schema. */
int db_exec(struct db *db, const char *sql, struct lab_error *err) LAB_MUST_CHECK;
/* A pragma that yields one integer. */
int db_pragma(struct db *db, const char *name, int64_t *ret, struct lab_error *err) LAB_MUST_CHECK;
/* Every page and every reference is as it should be. */
int db_check(struct db *db, struct lab_error *err) LAB_MUST_CHECK;

/* Takes the write lock at once, so that what is read inside stays true until the commit. */
int db_begin(struct db *db, struct lab_error *err) LAB_MUST_CHECK;
int db_commit(struct db *db, struct lab_error *err) LAB_MUST_CHECK;
/* Undoes an open transaction; nothing without one. */
void db_rollback(struct db *db);
int64_t db_last_id(struct db *db);
/* Rows that the last statement changed. */
int db_changes(struct db *db);

int db_prepare(struct db *db, enum sql_id id, struct db_stmt **ret,
	       struct lab_error *err) LAB_MUST_CHECK;
void db_stmt_free(struct db_stmt *st);
LAB_DEFINE_CLEANUP(db_stmt, struct db_stmt, db_stmt_free)

/* Bind the next parameter. Failures are kept and reported by db_step. */
void db_int(struct db_stmt *st, int64_t value);
void db_text(struct db_stmt *st, const char *value); /* NULL is stored as NULL */
void db_blob(struct db_stmt *st, const void *data, size_t len);
/* 1: a row, 0: no more, -1: failed. */
int db_step(struct db_stmt *st, struct lab_error *err) LAB_MUST_CHECK;
/* For a statement that yields no rows: step, then ready to be bound again. */
int db_run(struct db_stmt *st, struct lab_error *err) LAB_MUST_CHECK;

int64_t db_col_int(struct db_stmt *st, int column);
char *db_col_text(struct db_stmt *st, int column); /* a copy; NULL for NULL */
/* Borrowed until the next step. */
const void *db_col_blob(struct db_stmt *st, int column, size_t *ret_len);

/* One forward step of the schema; version n brings n - 1 to n. */
struct db_migration {
	int64_t version;
	const char *sql;
};

/*
 * Brings the schema from user_version to the last of `list` (versions 1, 2, ... n),
 * each step in a transaction of its own. A newer schema is LAB_ERR_UNAVAILABLE.
 */
int db_migrate(struct db *db, const struct db_migration *list, size_t n,
	       struct lab_error *err) LAB_MUST_CHECK;

#endif
