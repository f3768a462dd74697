/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making and opening labs, and what is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_fixture.h"
#include "store/db.h"
#include "store/schema.h"

static void test_init_again(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *id = lab_strdup(lab_id(f->lab));
	LAB_CLEANUP(free) char *path = lab_path(f->lab, "a/%d", 7);
	LAB_CLEANUP(free) char *want = lab_path_join(f->dir, "a/7");

	assert_int_equal(strlen(id), 32);
	assert_string_equal(lab_dir(f->lab), f->dir);
	assert_string_equal(path, want);
	assert_false(lab_read_only(f->lab));
	assert_ok(lab_init(f->dir, err));
	lab_reopen(f);
	assert_string_equal(lab_id(f->lab), id);
}

static void test_two_labs_differ(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "deep/in/other");
	LAB_CLEANUP(lab) struct lab *other = NULL;

	assert_ok(lab_init(dir, err));
	assert_ok(lab_open(dir, &other, err));
	assert_string_not_equal(lab_id(f->lab), lab_id(other));
}

/* Renamed, a lab is the same; copied, it is another, for good. */
static void test_copy_differs(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *moved = lab_path_join(f->top, "moved");
	LAB_CLEANUP(free) char *id = lab_strdup(lab_id(f->lab));
	LAB_CLEANUP(free) char *command = lab_asprintf("cp -a %s %s", moved, f->dir);
	LAB_CLEANUP(free) char *copied = NULL;
	LAB_CLEANUP(lab) struct lab *lab = NULL;

	lab_free(f->lab);
	f->lab = NULL;
	assert_int_equal(rename(f->dir, moved), 0);
	assert_ok(lab_open(moved, &lab, err));
	assert_string_equal(lab_id(lab), id);
	lab_free(lab);
	lab = NULL;
	assert_int_equal(system(command), 0);
	lab_reopen(f);
	copied = lab_strdup(lab_id(f->lab));
	assert_int_equal(strlen(copied), 32);
	assert_string_not_equal(copied, id);
	lab_reopen(f);
	assert_string_equal(lab_id(f->lab), copied);
	assert_ok(lab_open(moved, &lab, err));
	assert_string_equal(lab_id(lab), id);
}

/* A relative name is one directory, wherever the process goes afterwards. */
static void test_relative(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *cwd = getcwd(NULL, 0);
	LAB_CLEANUP(lab) struct lab *lab = NULL;

	assert_int_equal(chdir(f->top), 0);
	assert_ok(lab_open("lab/../lab/", &lab, err));
	assert_int_equal(chdir(cwd), 0);
	assert_string_equal(lab_dir(lab), f->dir);
}

static void test_not_a_lab(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *empty = lab_path_join(f->top, "empty");
	LAB_CLEANUP(free) char *file = lab_path_join(f->top, "file");
	struct lab *lab = NULL;

	assert_ok(lab_mkdirs(empty, 0755, err));
	assert_ok(lab_write_file(file, "x", 1, 0644, err));
	assert_fails(lab_open(empty, &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	assert_fails(lab_open(file, &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	assert_fails(lab_open("/nonexistent/lab", &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	assert_null(lab);
	/* Looking does not make one. */
	assert_ok(lab_remove_tree(file, err));
	assert_int_equal(rmdir(empty), 0);
}

static void test_occupied(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "home");
	LAB_CLEANUP(free) char *file = lab_path_join(dir, "thesis.tex");
	LAB_CLEANUP(free) char *made = lab_path_join(dir, "artifacts");

	assert_ok(lab_mkdirs(dir, 0755, err));
	assert_ok(lab_write_file(file, "x", 1, 0644, err));
	assert_fails(lab_init(dir, err), LAB_ERR_INVALID, "thesis.tex");
	assert_false(lab_dir_exists(made));
}

/* A file of another program under our name is neither read as ours nor touched. */
static void test_foreign_database(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "other");
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "lab.db");
	LAB_CLEANUP(buf) struct lab_buf before = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf after = LAB_BUF_INIT;
	struct lab *lab = NULL;
	struct db *db;

	assert_ok(lab_mkdirs(dir, 0755, err));
	assert_ok(db_open(path, DB_CREATE, &db, err));
	assert_ok(
		db_exec(db, "PRAGMA journal_mode = DELETE; CREATE TABLE songs (title TEXT)", err));
	db_free(db);
	assert_ok(lab_read_file(path, 1 << 20, &before, err));
	assert_fails(lab_open(dir, &lab, err), LAB_ERR_INVALID, "not made by labctl");
	assert_fails(lab_init(dir, err), LAB_ERR_INVALID, "not made by labctl");
	assert_ok(lab_read_file(path, 1 << 20, &after, err));
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.data, after.data, after.len);
}

static void test_no_database(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "other");
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "lab.db");
	struct lab *lab = NULL;

	assert_ok(lab_mkdirs(dir, 0755, err));
	assert_ok(lab_write_file(path, "This is no database, but long enough.", 37, 0644, err));
	assert_fails(lab_open(dir, &lab, err), LAB_ERR_INVALID, "no labctl database");
	assert_fails(lab_init(dir, err), LAB_ERR_INVALID, "no labctl database");
}

static void set_version(const struct lab_fixture *f, const char *sql)
{
	LAB_CLEANUP(free) char *path = lab_path_join(f->dir, "lab.db");
	LAB_CLEANUP(db) struct db *db = NULL;

	assert_ok(db_open(path, DB_WRITE, &db, err));
	assert_ok(db_exec(db, sql, err));
}

static void test_newer_schema(void **state)
{
	struct lab_fixture *f = *state;
	struct lab *lab = NULL;

	set_version(f, "PRAGMA user_version = 99");
	assert_fails(lab_open(f->dir, &lab, err), LAB_ERR_UNAVAILABLE, "newer labctl");
	assert_fails(lab_init(f->dir, err), LAB_ERR_UNAVAILABLE, "newer labctl");
	set_version(f, "PRAGMA user_version = 1");
	assert_ok(lab_open(f->dir, &lab, err));
	lab_free(lab);
}

/* Each point at which lab_init can be killed: the next one finishes the work. */
static void test_interrupted_init(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "half");
	LAB_CLEANUP(free) char *sub = lab_path_join(dir, "artifacts");
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "lab.db");
	const struct db_migration *list;
	struct lab *lab = NULL;
	struct db *db;
	size_t n;

	assert_ok(lab_mkdirs(sub, 0755, err));
	assert_fails(lab_open(dir, &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	assert_ok(lab_write_file(path, "", 0, 0644, err));
	assert_fails(lab_open(dir, &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	list = schema_migrations(&n);
	assert_ok(db_open(path, DB_CREATE, &db, err));
	assert_ok(db_migrate(db, list, n, err));
	db_free(db);
	assert_fails(lab_open(dir, &lab, err), LAB_ERR_NOT_FOUND, "labctl init");
	assert_ok(lab_init(dir, err));
	assert_ok(lab_open(dir, &lab, err));
	assert_int_equal(strlen(lab_id(lab)), 32);
	lab_free(lab);
}

static const struct db_migration steps[] = {
	{1, "CREATE TABLE one (a INTEGER)"},
	{2, "CREATE TABLE two (a INTEGER); INSERT INTO two VALUES (2)"},
	{3, "CREATE TABLE three (a INTEGER); INSERT INTO nowhere VALUES (3)"},
};

static int64_t version_of(struct db *db)
{
	int64_t version;

	assert_ok(db_pragma(db, "user_version", &version, err));
	return version;
}

static void test_migrate(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "test.db");
	LAB_CLEANUP(db) struct db *db = NULL;

	assert_ok(db_open(path, DB_CREATE, &db, err));
	assert_ok(db_migrate(db, steps, 1, err));
	assert_int_equal(version_of(db), 1);
	assert_ok(db_migrate(db, steps, 2, err));
	assert_ok(db_migrate(db, steps, 2, err));
	assert_int_equal(version_of(db), 2);
	/* A step that fails leaves nothing of itself behind. */
	assert_fails(db_migrate(db, steps, 3, err), LAB_ERR_FAILED, "version 3");
	assert_int_equal(version_of(db), 2);
	assert_ok(db_exec(db, "CREATE TABLE three (a INTEGER)", err));
	assert_fails(db_migrate(db, steps, 1, err), LAB_ERR_UNAVAILABLE, "newer labctl");
}

/* Two processes that open an old lab at the same time: each step is done once. */
static void test_migrate_twice(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "test.db");
	pid_t pids[4];
	struct db *db;

	assert_ok(db_open(path, DB_CREATE, &db, err));
	db_free(db);
	for (size_t i = 0; i < LAB_COUNT(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			if (db_open(path, DB_WRITE, &db, NULL) < 0 ||
			    db_migrate(db, steps, 2, NULL) < 0)
				_exit(1);
			_exit(0);
		}
	}
	for (size_t i = 0; i < LAB_COUNT(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_ok(db_open(path, DB_WRITE, &db, err));
	assert_int_equal(version_of(db), 2);
	db_free(db);
}

static void test_default_dir(void **state)
{
	LAB_CLEANUP(free) char *data = NULL;
	LAB_CLEANUP(free) char *home = NULL;

	(void)state;
	setenv("HOME", "/home/kim", 1);
	setenv("XDG_DATA_HOME", "/data/kim", 1);
	data = lab_default_dir();
	unsetenv("XDG_DATA_HOME");
	home = lab_default_dir();
	if (geteuid() == 0) {
		assert_string_equal(data, "/var/lib/labctl");
		assert_string_equal(home, "/var/lib/labctl");
	} else {
		assert_string_equal(data, "/data/kim/labctl");
		assert_string_equal(home, "/home/kim/.local/share/labctl");
	}
}

static void test_damaged(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->dir, "lab.db");
	LAB_CLEANUP(free) char *wal = lab_path_join(f->dir, "lab.db-wal");
	struct lab *lab = NULL;
	uint64_t size;
	FILE *file;

	lab_free(f->lab);
	f->lab = NULL;
	/* The last one to close it has put everything into the file; its copy may not help. */
	assert_ok(lab_remove_tree(wal, err));
	assert_ok(lab_file_size(path, &size, err));
	file = fopen(path, "r+e");
	assert_non_null(file);
	/* The pages after the first one: the schema is readable, the tables are not. */
	for (uint64_t at = 4096; at < size; at += 16) {
		assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
		assert_int_equal(fwrite("garbage garbage ", 1, 16, file), 16);
	}
	assert_int_equal(fclose(file), 0);
	if (lab_open(f->dir, &lab, NULL) == 0)
		assert_fails(lab_check(lab, err), LAB_ERR_FAILED, "damaged");
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_init_again),
		LAB_TEST(test_two_labs_differ),
		LAB_TEST(test_copy_differs),
		LAB_TEST(test_relative),
		LAB_TEST(test_not_a_lab),
		LAB_TEST(test_occupied),
		LAB_TEST(test_foreign_database),
		LAB_TEST(test_no_database),
		LAB_TEST(test_newer_schema),
		LAB_TEST(test_interrupted_init),
		LAB_TEST(test_migrate),
		LAB_TEST(test_migrate_twice),
		cmocka_unit_test(test_default_dir),
		LAB_TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
