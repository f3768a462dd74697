/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may do what to a lab, and who holds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_fixture.h"
#include "store/artifact.h"
#include "store/campaign.h"
#include "store/facts.h"
#include "store/internal.h"

#define NOBODY 65534

/* Runs fn as another user in a process of its own; its answer is the exit code. */
static int as_nobody(int (*fn)(const char *dir), const char *dir)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(99);
		_exit(fn(dir));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool failed(int rc, const struct lab_error *err, const char *words)
{
	if (rc < 0 && err->kind == LAB_ERR_UNAVAILABLE && strstr(err->text, words))
		return true;
	fprintf(stderr, "unexpected: %d, %s\n", rc, err->text);
	return false;
}

/* 0: it can be read, and everything that writes is refused in words. */
static int reads_only(const char *dir)
{
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(lab) struct lab *lab = NULL;
	LAB_CLEANUP(free) char *json = NULL;
	struct lab_leftovers left;
	struct lab_error err = {0};

	if (lab_open(dir, &lab, &err) < 0 || campaign_list(lab, &list, &err) < 0 ||
	    fact_get(lab, "color", "", &json, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (!lab_read_only(lab) || list.n != 0 || !json || strcmp(json, "{\"is\":\"red\"}") != 0)
		return 2;
	if (!failed(lab_lock(lab, "run x", &lock, &err), &err, "can only be read") ||
	    !failed(fact_put(lab, "color", "", "{}", &err), &err, "can only be read") ||
	    !failed(artifact_begin(lab, "kernel", "0123456789abcdef", &draft, &err), &err,
		    "can only be read") ||
	    !failed(lab_clean_leftovers(lab, &left, &err), &err, "can only be read"))
		return 3;
	return 0;
}

static int cannot_open(const char *dir)
{
	struct lab_error err = {0};
	struct lab *lab = NULL;

	if (lab_open(dir, &lab, &err) == 0)
		return 1;
	return strstr(err.text, "Permission denied") ? 0 : 2;
}

static int put_fact(void **state)
{
	const struct lab_fixture *f;

	assert_int_equal(lab_set_up(state), 0);
	f = *state;
	assert_int_equal(chmod(f->top, 0755), 0);
	assert_ok(fact_put(f->lab, "color", "", "{\"is\":\"red\"}", err));
	return 0;
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: takes another user, which only root can become\n");
	skip();
}

/* While its owner has it open, after he closed it, and without any journal file. */
static void test_other_user(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *wal = lab_path_join(f->dir, "lab.db-wal");
	LAB_CLEANUP(free) char *shm = lab_path_join(f->dir, "lab.db-shm");

	need_root();
	assert_int_equal(as_nobody(reads_only, f->dir), 0);
	lab_free(LAB_TAKE(f->lab));
	assert_int_equal(as_nobody(reads_only, f->dir), 0);
	assert_ok(lab_remove_tree(wal, err));
	assert_ok(lab_remove_tree(shm, err));
	assert_int_equal(as_nobody(reads_only, f->dir), 0);
	assert_false(lab_file_exists(wal));
	lab_reopen(f);
}

static void test_closed_door(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *db = lab_path_join(f->dir, "lab.db");

	need_root();
	assert_int_equal(chmod(db, 0600), 0);
	assert_int_equal(as_nobody(cannot_open, f->dir), 0);
	assert_int_equal(chmod(db, 0644), 0);
	assert_int_equal(chmod(f->dir, 0700), 0);
	assert_int_equal(as_nobody(cannot_open, f->dir), 0);
}

/* Root could write to a user's lab, and would leave files that stop its owner. */
static void test_root_in_a_users_lab(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *db = lab_path_join(f->dir, "lab.db");
	LAB_CLEANUP(lab) struct lab *lab = NULL;

	need_root();
	assert_int_equal(chown(db, NOBODY, NOBODY), 0);
	assert_int_equal(reads_only(f->dir), 0);
	assert_ok(lab_open(f->dir, &lab, err));
	assert_fails(fact_put(lab, "color", "", "{}", err), LAB_ERR_UNAVAILABLE, "belongs to");
}

/* A directory that its own owner made read-only (root writes to it all the same). */
static void test_read_only_directory(void **state)
{
	struct lab_fixture *f = *state;

	lab_free(LAB_TAKE(f->lab));
	assert_int_equal(chmod(f->dir, 0555), 0);
	if (geteuid() != 0)
		assert_int_equal(reads_only(f->dir), 0);
	else
		assert_int_equal(as_nobody(reads_only, f->dir), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
}

static void test_lock_here(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free)
	char *me = lab_asprintf("process %d (run slab-nomerge --n 3) since 2", (int)getpid());
	struct lab_lock *lock, *second = NULL;

	assert_ok(lab_lock(f->lab, "run\nslab-nomerge\n--n 3", &lock, err));
	assert_fails(lab_lock(f->lab, "clean", &second, err), LAB_ERR_BUSY, me);
	assert_null(second);
	lab_lock_free(lock);
	assert_ok(lab_lock(f->lab, "clean", &second, err));
	lab_lock_free(second);
}

/* A process that holds something until it is killed; it says on the pipe that it does. */
static pid_t start_holder(const char *dir, int (*hold)(struct lab *lab))
{
	int pipe_fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct lab *lab;

		if (lab_open(dir, &lab, NULL) < 0 || hold(lab) < 0 ||
		    write(pipe_fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipe_fds[1]);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	return pid;
}

static void kill_holder(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int hold_lock(struct lab *lab)
{
	struct lab_lock *lock;

	return lab_lock(lab, "run in another process", &lock, NULL);
}

static void test_lock_dies_with_its_holder(void **state)
{
	struct lab_fixture *f = *state;
	pid_t pid = start_holder(f->dir, hold_lock);
	LAB_CLEANUP(free) char *who = lab_asprintf("process %d (run in another process)", (int)pid);
	struct lab_lock *lock = NULL;

	assert_fails(lab_lock(f->lab, "clean", &lock, err), LAB_ERR_BUSY, who);
	kill_holder(pid);
	assert_ok(lab_lock(f->lab, "clean", &lock, err));
	lab_lock_free(lock);
}

/* A daemon that labctl started outlives it; the lock must not. */
static void test_lock_is_not_inherited(void **state)
{
	struct lab_fixture *f = *state;
	struct lab_lock *lock;
	pid_t pid;

	assert_ok(lab_lock(f->lab, "run", &lock, err));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	lab_lock_free(lock);
	/* Until the exec the child has it; then nobody. */
	for (int i = 0; i < 500; i++) {
		lock = NULL;
		if (lab_lock(f->lab, "clean", &lock, NULL) == 0)
			break;
		usleep(10000);
	}
	assert_int_equal(kill(pid, 0), 0);
	kill_holder(pid);
	assert_non_null(lock);
	lab_lock_free(lock);
}

static int hold_transaction(struct lab *lab)
{
	return db_begin(lab->db, NULL) < 0 ||
			       db_exec(lab->db, "INSERT INTO meta VALUES ('a', 'b')", NULL) < 0
		       ? -1
		       : 0;
}

static void test_reading_is_never_blocked(void **state)
{
	struct lab_fixture *f = *state;
	pid_t holder = start_holder(f->dir, hold_lock);
	pid_t writer = start_holder(f->dir, hold_transaction);
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};
	LAB_CLEANUP(lab) struct lab *other = NULL;

	/* An alarm ends the test if one of these waits. */
	alarm(10);
	assert_ok(campaign_list(f->lab, &list, err));
	assert_ok(lab_open(f->dir, &other, err));
	campaign_list_release(&list);
	assert_ok(campaign_list(other, &list, err));
	alarm(0);
	kill_holder(writer);
	kill_holder(holder);
	/* What the writer had begun is gone with it. */
	assert_ok(db_exec(f->lab->db, "INSERT INTO meta VALUES ('a', 'c')", err));
}

#define ACCESS_TEST(name) cmocka_unit_test_setup_teardown(name, put_fact, lab_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(test_other_user),
		ACCESS_TEST(test_closed_door),
		ACCESS_TEST(test_root_in_a_users_lab),
		ACCESS_TEST(test_read_only_directory),
		ACCESS_TEST(test_lock_here),
		ACCESS_TEST(test_lock_dies_with_its_holder),
		ACCESS_TEST(test_lock_is_not_inherited),
		ACCESS_TEST(test_reading_is_never_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
