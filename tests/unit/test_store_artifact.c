/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Artifacts: all or nothing, one content for one key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_fixture.h"
#include "store/artifact.h"
#include "store/hash.h"

#define KEY_1 "a1b2c3d4e5f60000000000000000000000000000000000000000000000000001"
#define KEY_2 "a1b2c3d4e5f60000000000000000000000000000000000000000000000000002"
#define KEY_3 "c0ffee00e5f60000000000000000000000000000000000000000000000000003"

static int fill(const struct artifact_draft *draft, const char *text, struct lab_error *err)
{
	LAB_CLEANUP(free) char *sub = lab_path_join(artifact_draft_dir(draft), "modules");
	LAB_CLEANUP(free) char *image = lab_path_join(artifact_draft_dir(draft), "bzImage");
	LAB_CLEANUP(free) char *module = lab_path_join(sub, "ext4.ko");

	if (lab_mkdirs(sub, 0755, err) < 0 ||
	    lab_write_file(image, text, strlen(text), 0644, err) < 0)
		return -1;
	return lab_write_file(module, "module", 6, 0644, err);
}

static int make(struct lab *lab, const char *key, const char *text, const char *label,
		struct artifact **ret, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;

	if (artifact_begin(lab, ARTIFACT_KERNEL, key, &draft, err) < 0 ||
	    fill(draft, text, err) < 0)
		return -1;
	return artifact_commit(draft, label, "{\"commit\":\"abc\"}", ret, err);
}

/* Entries of a directory, hidden ones left out. */
static size_t entries(const struct lab *lab, const char *name)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "%s", name);
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	return n;
}

static void test_commit(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact) struct artifact *made = NULL;
	LAB_CLEANUP(artifact) struct artifact *found = NULL;
	struct artifact *none = (struct artifact *)f;
	char content[HASH_HEX];

	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &none, err));
	assert_null(none);
	assert_ok(make(f->lab, KEY_1, "kernel", "v6.1", &made, err));
	lab_reopen(f);
	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &found, err));
	assert_string_equal(found->kind, "kernel");
	assert_string_equal(found->key, KEY_1);
	assert_string_equal(found->label, "v6.1");
	assert_string_equal(found->manifest, "{\"commit\":\"abc\"}");
	assert_string_equal(found->path, made->path);
	assert_string_equal(found->content, made->content);
	assert_true(found->id == made->id && found->bytes > 0 && found->created > 0);
	assert_ok(hash_tree(found->path, content, err));
	assert_string_equal(content, found->content);
	assert_ok(artifact_find(f->lab, ARTIFACT_IMAGE, KEY_1, &none, err));
	assert_null(none);
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 0);
}

/* The log may say anything; everything else is what was committed. */
static void test_verify(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact) struct artifact *made = NULL;
	LAB_CLEANUP(free) char *log = NULL;
	LAB_CLEANUP(free) char *more = NULL;

	assert_ok(make(f->lab, KEY_1, "kernel", "v6.1", &made, err));
	log = lab_path_join(made->path, ARTIFACT_LOG);
	more = lab_path_join(made->path, "more");
	assert_ok(artifact_verify(made, err));
	assert_ok(lab_write_file(log, "x", 1, 0644, err));
	assert_ok(artifact_verify(made, err));
	assert_ok(lab_write_file(more, "x", 1, 0644, err));
	assert_fails(artifact_verify(made, err), LAB_ERR_INVALID, made->path);
	assert_int_equal(unlink(more), 0);
	assert_ok(artifact_verify(made, err));
}

static void test_abandon(void **state)
{
	struct lab_fixture *f = *state;
	struct artifact_draft *draft;
	struct artifact *none;

	assert_ok(artifact_begin(f->lab, ARTIFACT_KERNEL, KEY_1, &draft, err));
	assert_ok(fill(draft, "x", err));
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 2);
	artifact_draft_free(draft);
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 0);
	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &none, err));
	assert_null(none);
}

static void test_same_key(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact) struct artifact *first = NULL;
	LAB_CLEANUP(artifact) struct artifact *second = NULL;
	LAB_CLEANUP(artifact) struct artifact *kept = NULL;
	struct artifact *other = NULL;

	assert_ok(make(f->lab, KEY_1, "kernel", "v6.1", &first, err));
	assert_ok(make(f->lab, KEY_1, "kernel", "v6.1 again", &second, err));
	assert_true(first->id == second->id);
	assert_string_equal(second->label, "v6.1");
	/* The message has both contents, both places and what is different. */
	assert_fails(make(f->lab, KEY_1, "kernel!", "v6.1", &other, err), LAB_ERR_FAILED,
		     "different: bzImage");
	assert_fails(make(f->lab, KEY_1, "kernel!", "v6.1", &other, err), LAB_ERR_FAILED,
		     first->path);
	assert_null(other);
	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &kept, err));
	assert_string_equal(kept->content, first->content);
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 0);
}

static void test_resolve(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};
	struct artifact *a = NULL;

	assert_ok(make(f->lab, KEY_1, "one", "v6.1", NULL, err));
	assert_ok(make(f->lab, KEY_2, "two", "v6.1 + 2", NULL, err));
	assert_ok(make(f->lab, KEY_3, "three", "v6.1 + 2", NULL, err));
	assert_ok(artifact_resolve(f->lab, ARTIFACT_KERNEL, "c0ffee", &a, err));
	assert_string_equal(a->key, KEY_3);
	artifact_free(a);
	assert_ok(artifact_resolve(f->lab, NULL, "v6.1", &a, err));
	assert_string_equal(a->key, KEY_1);
	artifact_free(a);
	assert_ok(artifact_resolve(f->lab, NULL, KEY_2, &a, err));
	assert_string_equal(a->key, KEY_2);
	artifact_free(a);
	assert_fails(artifact_resolve(f->lab, NULL, "a1b2c3", &a, err), LAB_ERR_INVALID,
		     "one of 2 artifacts: kernel a1b2c3d4e5f6 (v6.1), kernel");
	assert_fails(artifact_resolve(f->lab, NULL, "v6.1 + 2", &a, err), LAB_ERR_INVALID,
		     "c0ffee00e5f6");
	assert_fails(artifact_resolve(f->lab, ARTIFACT_KERNEL, "c0f", &a, err), LAB_ERR_NOT_FOUND,
		     "no kernel 'c0f'");
	assert_fails(artifact_resolve(f->lab, ARTIFACT_IMAGE, "c0ffee", &a, err), LAB_ERR_NOT_FOUND,
		     "no image");
	/* No pattern, only a prefix. */
	assert_fails(artifact_resolve(f->lab, NULL, "c0ff%", &a, err), LAB_ERR_NOT_FOUND, "c0ff%");
	assert_ok(artifact_list(f->lab, ARTIFACT_KERNEL, &list, err));
	assert_int_equal(list.n, 3);
	assert_string_equal(list.items[2]->key, KEY_3);
}

static void test_remove(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	struct artifact *none;

	assert_ok(make(f->lab, KEY_1, "one", NULL, &a, err));
	assert_string_equal(a->label, "");
	assert_ok(artifact_remove(f->lab, a, err));
	assert_false(lab_dir_exists(a->path));
	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &none, err));
	assert_null(none);
	/* After it is gone, another content may take the key. */
	assert_ok(make(f->lab, KEY_1, "other", NULL, NULL, err));
}

/* Somebody deleted the directory by hand: it is made again. */
static void test_directory_gone(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	LAB_CLEANUP(artifact) struct artifact *again = NULL;
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};
	struct artifact *none;

	assert_ok(make(f->lab, KEY_1, "one", NULL, &a, err));
	assert_ok(lab_remove_tree(a->path, err));
	assert_ok(artifact_find(f->lab, ARTIFACT_KERNEL, KEY_1, &none, err));
	assert_null(none);
	assert_ok(artifact_list(f->lab, NULL, &list, err));
	assert_int_equal(list.n, 0);
	assert_ok(make(f->lab, KEY_1, "two", NULL, &again, err));
	assert_string_not_equal(again->content, a->content);
}

static void test_bad_names(void **state)
{
	static const char *const keys[] = {"", "short", "../../../../etc", "ABCDEF0123456789",
					   KEY_1 "0"};
	static const char *const kinds[] = {"", "tmp", "../x", "Kernel"};
	struct lab_fixture *f = *state;
	struct artifact_draft *draft = NULL;

	for (size_t i = 0; i < LAB_COUNT(keys); i++)
		assert_fails(artifact_begin(f->lab, ARTIFACT_KERNEL, keys[i], &draft, err),
			     LAB_ERR_INVALID, "no artifact key");
	for (size_t i = 0; i < LAB_COUNT(kinds); i++)
		assert_fails(artifact_begin(f->lab, kinds[i], KEY_1, &draft, err), LAB_ERR_INVALID,
			     "no artifact kind");
	assert_null(draft);
}

static void test_bad_content(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *fifo = NULL;

	assert_ok(artifact_begin(f->lab, ARTIFACT_KERNEL, KEY_1, &draft, err));
	assert_fails(artifact_commit(draft, NULL, "{", NULL, err), LAB_ERR_INVALID, "manifest");
	fifo = lab_path_join(artifact_draft_dir(draft), "fifo");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_fails(artifact_commit(draft, NULL, NULL, NULL, err), LAB_ERR_INVALID, "fifo");
	/* A failed commit can be mended and tried again. */
	assert_int_equal(unlink(fifo), 0);
	assert_ok(artifact_commit(draft, NULL, NULL, NULL, err));
}

/* Eight processes make the same artifact: the first wins, all get it. */
static void test_two_processes(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};
	pid_t pids[8];

	for (size_t i = 0; i < LAB_COUNT(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			struct artifact *a = NULL;
			struct lab *lab;

			if (lab_open(f->dir, &lab, NULL) < 0 ||
			    make(lab, KEY_1, "same", "same", &a, NULL) < 0 || a->id != 1)
				_exit(1);
			_exit(0);
		}
	}
	for (size_t i = 0; i < LAB_COUNT(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_ok(artifact_list(f->lab, NULL, &list, err));
	assert_int_equal(list.n, 1);
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 0);
}

static void begin_and_die(const char *dir, const char *key)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct artifact_draft *draft;
		struct lab *lab;

		if (lab_open(dir, &lab, NULL) < 0 ||
		    artifact_begin(lab, ARTIFACT_KERNEL, key, &draft, NULL) < 0 ||
		    fill(draft, "half", NULL) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_drafts_of_the_dead(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(artifact_draft) struct artifact_draft *mine = NULL;
	LAB_CLEANUP(free) char *orphan = lab_path(f->lab, "artifacts/kernel/%s/sub", KEY_3);
	LAB_CLEANUP(free) char *scratch = lab_path(f->lab, "tmp/work/deep");
	struct lab_leftovers left;

	begin_and_die(f->dir, KEY_1);
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 2);
	/* The next begin sweeps, and leaves the living alone. */
	assert_ok(artifact_begin(f->lab, ARTIFACT_KERNEL, KEY_1, &mine, err));
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 2);
	assert_ok(make(f->lab, KEY_2, "two", NULL, NULL, err));
	begin_and_die(f->dir, KEY_3);
	/* A rename whose row was never committed. */
	assert_ok(lab_mkdirs(orphan, 0755, err));
	assert_ok(lab_mkdirs(scratch, 0755, err));
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_int_equal(left.drafts, 1);
	assert_int_equal(left.artifacts, 1);
	assert_int_equal(left.scratch, 1);
	assert_true(lab_dir_exists(artifact_draft_dir(mine)));
	assert_int_equal(entries(f->lab, "artifacts/tmp"), 2);
	assert_int_equal(entries(f->lab, "artifacts/kernel"), 1);
	assert_int_equal(entries(f->lab, "tmp"), 0);
	assert_ok(lab_clean_leftovers(f->lab, &left, err));
	assert_int_equal(left.drafts + left.artifacts + left.scratch, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_commit),
		LAB_TEST(test_verify),
		LAB_TEST(test_abandon),
		LAB_TEST(test_same_key),
		LAB_TEST(test_resolve),
		LAB_TEST(test_remove),
		LAB_TEST(test_directory_gone),
		LAB_TEST(test_bad_names),
		LAB_TEST(test_bad_content),
		LAB_TEST(test_two_processes),
		LAB_TEST(test_drafts_of_the_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
