/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/db.h"

#include <sqlite3.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"

/* How long a writer waits for another one; our transactions take milliseconds. */
#define BUSY_MS 20000

struct db {
	sqlite3 *handle;
	char *path;
};

struct db_stmt {
	struct db *db;
	sqlite3_stmt *handle;
	int bound;
	int bind_rc; /* first failure of a bind */
};

static int fail(struct db *db, int rc, const char *what, struct lab_error *err)
{
	const char *words = sqlite3_errmsg(db->handle);

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return lab_error_set(err, LAB_ERR_BUSY, "%s: another process keeps it locked",
				     db->path);
	case SQLITE_READONLY:
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "%s is read-only for this user",
				     db->path);
	case SQLITE_FULL:
		return lab_error_set(err, LAB_ERR_FAILED, "%s: no space left on device", db->path);
	case SQLITE_NOTADB:
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no labctl database", db->path);
	case SQLITE_CORRUPT:
		return lab_error_set(err, LAB_ERR_FAILED, "%s is damaged: %s", db->path, words);
	default:
		return lab_error_set(err, LAB_ERR_FAILED, "%s: %s: %s", db->path, what, words);
	}
}

/* Percent-encodes what has a meaning in a URI file name. */
static char *uri_of(const char *path)
{
	struct lab_buf buf = LAB_BUF_INIT;

	lab_buf_adds(&buf, "file:");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			lab_buf_addf(&buf, "%%%02x", (unsigned char)*path);
		else
			lab_buf_addc(&buf, *path);
	}
	lab_buf_adds(&buf, "?immutable=1");
	return lab_buf_take(&buf);
}

static int open_handle(struct db *db, enum db_mode mode)
{
	LAB_CLEANUP(free) char *uri = uri_of(db->path);
	int flags = SQLITE_OPEN_EXRESCODE;

	switch (mode) {
	case DB_READ:
		flags |= SQLITE_OPEN_READONLY;
		break;
	case DB_READ_COLD:
		flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
		break;
	case DB_WRITE:
		flags |= SQLITE_OPEN_READWRITE;
		break;
	case DB_CREATE:
		flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
		break;
	}
	return sqlite3_open_v2(mode == DB_READ_COLD ? uri : db->path, &db->handle, flags, NULL);
}

/*
 * The journal files stay when the last connection closes: who may only read needs
 * them to be there. synchronous=FULL: in WAL mode a commit is then on the disk when
 * it returns, which is what "committed before the next begins" asks for.
 */
static int set_up(struct db *db, enum db_mode mode, struct lab_error *err)
{
	int keep = 1;

	sqlite3_busy_timeout(db->handle, BUSY_MS);
	if (db_exec(db, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;", err) < 0)
		return -1;
	if (mode == DB_READ || mode == DB_READ_COLD)
		return 0;
	sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
	/* The journal mode stays with the file; a file of someone else keeps its own. */
	if (mode == DB_CREATE && db_exec(db, "PRAGMA journal_mode = WAL", err) < 0)
		return -1;
	/* A journal that had to grow gives its space back: the disk may be full. */
	return db_exec(db, "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 1048576", err);
}

int db_open(const char *path, enum db_mode mode, struct db **ret_db, struct lab_error *err)
{
	LAB_CLEANUP(db) struct db *db = LAB_NEW(struct db);
	int rc;

	db->path = lab_strdup(path);
	rc = open_handle(db, mode);
	if (!db->handle)
		return lab_error_set(err, LAB_ERR_FAILED, "%s: %s", path, sqlite3_errstr(rc));
	if (rc != SQLITE_OK)
		return fail(db, rc, "open", err);
	if (set_up(db, mode, err) < 0)
		return -1;
	*ret_db = LAB_TAKE(db);
	return 0;
}

void db_free(struct db *db)
{
	if (!db)
		return;
	sqlite3_close_v2(db->handle);
	free(db->path);
	free(db);
}

int db_exec(struct db *db, const char *sql, struct lab_error *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : fail(db, rc, "execute", err);
}

int db_pragma(struct db *db, const char *name, int64_t *ret, struct lab_error *err)
{
	LAB_CLEANUP(free) char *sql = lab_asprintf("PRAGMA %s", name);
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db->handle, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		(void)fail(db, rc, sql, err);
		sqlite3_finalize(st);
		return -1;
	}
	*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return 0;
}

static int first_text(void *ctx, int n, char **values, char **names)
{
	char **text = ctx;

	(void)names;
	if (!*text)
		*text = lab_strdup(n && values[0] ? values[0] : "?");
	return 0;
}

int db_check(struct db *db, struct lab_error *err)
{
	LAB_CLEANUP(free) char *answer = NULL;
	LAB_CLEANUP(free) char *dangling = NULL;
	int rc = sqlite3_exec(db->handle, "PRAGMA integrity_check", first_text, &answer, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db->handle, "PRAGMA foreign_key_check", first_text, &dangling,
				  NULL);
	if (rc != SQLITE_OK)
		return fail(db, rc, "check", err);
	if (!answer || strcmp(answer, "ok") != 0)
		return lab_error_set(err, LAB_ERR_FAILED, "%s is damaged: %s", db->path,
				     answer ? answer : "no answer");
	if (dangling)
		return lab_error_set(err, LAB_ERR_FAILED,
				     "%s is damaged: table %s points at rows that are not there",
				     db->path, dangling);
	return 0;
}

int db_begin(struct db *db, struct lab_error *err)
{
	return db_exec(db, "BEGIN IMMEDIATE", err);
}

int db_commit(struct db *db, struct lab_error *err)
{
	return db_exec(db, "COMMIT", err);
}

void db_rollback(struct db *db)
{
	if (!sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int db_changes(struct db *db)
{
	return sqlite3_changes(db->handle);
}

int db_prepare(struct db *db, enum sql_id id, struct db_stmt **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = LAB_NEW(struct db_stmt);
	int rc;

	st->db = db;
	rc = sqlite3_prepare_v2(db->handle, sql_text(id), -1, &st->handle, NULL);
	if (rc != SQLITE_OK)
		return fail(db, rc, sql_text(id), err);
	*ret = LAB_TAKE(st);
	return 0;
}

void db_stmt_free(struct db_stmt *st)
{
	if (!st)
		return;
	sqlite3_finalize(st->handle);
	free(st);
}

static void bound(struct db_stmt *st, int rc)
{
	if (st->bind_rc == SQLITE_OK)
		st->bind_rc = rc;
}

void db_int(struct db_stmt *st, int64_t value)
{
	bound(st, sqlite3_bind_int64(st->handle, ++st->bound, value));
}

void db_text(struct db_stmt *st, const char *value)
{
	st->bound++;
	if (value)
		bound(st, sqlite3_bind_text(st->handle, st->bound, value, -1, SQLITE_TRANSIENT));
	else
		bound(st, sqlite3_bind_null(st->handle, st->bound));
}

void db_blob(struct db_stmt *st, const void *data, size_t len)
{
	/* A NULL pointer would store NULL; an empty blob is something else. */
	bound(st,
	      sqlite3_bind_blob64(st->handle, ++st->bound, len ? data : "", len, SQLITE_TRANSIENT));
}

int db_step(struct db_stmt *st, struct lab_error *err)
{
	int rc = st->bind_rc;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st->handle);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return fail(st->db, rc, sqlite3_sql(st->handle), err);
}

int db_run(struct db_stmt *st, struct lab_error *err)
{
	int rc = db_step(st, err);

	sqlite3_reset(st->handle);
	sqlite3_clear_bindings(st->handle);
	st->bound = 0;
	st->bind_rc = SQLITE_OK;
	return rc < 0 ? -1 : 0;
}

int64_t db_col_int(struct db_stmt *st, int column)
{
	return sqlite3_column_int64(st->handle, column);
}

char *db_col_text(struct db_stmt *st, int column)
{
	return lab_strdup((const char *)sqlite3_column_text(st->handle, column));
}

const void *db_col_blob(struct db_stmt *st, int column, size_t *ret_len)
{
	const void *data = sqlite3_column_blob(st->handle, column);

	*ret_len = (size_t)sqlite3_column_bytes(st->handle, column);
	return data;
}

static int migrate_step(struct db *db, const struct db_migration *step, struct lab_error *err)
{
	LAB_CLEANUP(free) char *mark = lab_asprintf("PRAGMA user_version = %d", (int)step->version);
	int64_t now;

	if (db_begin(db, err) < 0)
		return -1;
	/* Another process may have done it while we waited. */
	if (db_pragma(db, "user_version", &now, err) < 0)
		goto undo;
	if (now < step->version && (db_exec(db, step->sql, err) < 0 || db_exec(db, mark, err) < 0))
		goto undo;
	if (db_commit(db, err) < 0)
		goto undo;
	return 0;
undo:
	db_rollback(db);
	return lab_error_wrap(err, "bring the schema to version %d", (int)step->version);
}

int db_migrate(struct db *db, const struct db_migration *list, size_t n, struct lab_error *err)
{
	int64_t have;

	if (db_pragma(db, "user_version", &have, err) < 0)
		return -1;
	if (have > (int64_t)n)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "%s was made by a newer labctl (schema %d, this one knows "
				     "%zu): use that labctl",
				     db->path, (int)have, n);
	for (size_t i = (size_t)have; i < n; i++) {
		if (migrate_step(db, &list[i], err) < 0)
			return -1;
	}
	return 0;
}
