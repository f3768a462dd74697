/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes: known digests, framing, and what counts in a directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "lab_fixture.h"
#include "store/hash.h"

/* FIPS 180-2, appendix B. */
static void test_known(void **state)
{
	LAB_CLEANUP(hash) struct hash *h = hash_new();
	char hex[HASH_HEX];

	(void)state;
	hash_bytes("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hash_bytes(NULL, 0, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	for (int i = 0; i < 1000; i++) {
		char block[1000];

		memset(block, 'a', sizeof(block));
		hash_add(h, block, sizeof(block));
	}
	hash_hex(h, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	/* It starts over after each digest. */
	hash_add(h, "abc", 3);
	hash_hex(h, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void fields(char out[HASH_HEX], const char *a, const char *a_value, const char *b,
		   const char *b_value)
{
	LAB_CLEANUP(hash) struct hash *h = hash_new();

	hash_add_field(h, a, a_value);
	if (b)
		hash_add_field(h, b, b_value);
	hash_hex(h, out);
}

static void test_framing(void **state)
{
	char hex[6][HASH_HEX];

	(void)state;
	fields(hex[0], "ab", "c", "d", "e");
	fields(hex[1], "a", "bc", "d", "e");
	fields(hex[2], "ab", "cd", "", "e");
	fields(hex[3], "ab", NULL, "d", "e");
	fields(hex[4], "ab", "", "d", "e");
	fields(hex[5], "ab", "c", NULL, NULL);
	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hex[i], hex[j]);
	}
	/* The framing is part of every key in every lab: it must never change. */
	assert_string_equal(hex[0],
			    "8f42fed0ac66d8d37138a8fc3f7c1f046161b4f268b2770f9edee68422398981");
}

static char *make_tree(const char *top, const char *name)
{
	char *dir = lab_path_join(top, name);
	LAB_CLEANUP(free) char *sub = lab_path_join(dir, "sub");
	LAB_CLEANUP(free) char *file = lab_path_join(dir, "sub/file");
	LAB_CLEANUP(free) char *program = lab_path_join(dir, "a.program");
	LAB_CLEANUP(free) char *link = lab_path_join(dir, "link");

	assert_ok(lab_mkdirs(sub, 0755, err));
	assert_ok(lab_write_file(file, "text", 4, 0644, err));
	assert_ok(lab_write_file(program, "run", 3, 0755, err));
	assert_int_equal(symlink("sub/file", link), 0);
	return dir;
}

static void test_tree(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *one = make_tree(f->top, "one");
	LAB_CLEANUP(free) char *two = make_tree(f->top, "two");
	LAB_CLEANUP(free) char *file = lab_path_join(two, "sub/file");
	LAB_CLEANUP(free) char *link = lab_path_join(two, "link");
	LAB_CLEANUP(free) char *pipe_path = lab_path_join(two, "pipe");
	char a[HASH_HEX], b[HASH_HEX], c[HASH_HEX], d[HASH_HEX];

	assert_ok(hash_tree(one, a, err));
	/* Mode bits but x, times and the directory's own name do not count. */
	assert_int_equal(chmod(file, 0600), 0);
	assert_ok(hash_tree(two, b, err));
	assert_string_equal(a, b);
	assert_int_equal(chmod(file, 0755), 0);
	assert_ok(hash_tree(two, b, err));
	assert_string_not_equal(a, b);
	assert_int_equal(chmod(file, 0644), 0);
	assert_ok(lab_write_file(file, "texT", 4, 0644, err));
	assert_ok(hash_tree(two, c, err));
	assert_string_not_equal(a, c);
	assert_ok(lab_write_file(file, "text", 4, 0644, err));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("sub/filE", link), 0);
	assert_ok(hash_tree(two, d, err));
	assert_string_not_equal(a, d);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_fails(hash_tree(two, d, err), LAB_ERR_INVALID, "pipe");
	assert_fails(hash_tree("/nonexistent", d, err), LAB_ERR_NOT_FOUND, "/nonexistent");
}

static void test_file(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "file");
	LAB_CLEANUP(hash) struct hash *h = hash_new();
	char a[HASH_HEX], b[HASH_HEX];

	assert_ok(lab_write_file(path, "abc", 3, 0644, err));
	assert_ok(hash_file(path, a, err));
	hash_bytes("abc", 3, b);
	assert_string_equal(a, b);
	assert_ok(hash_add_field_file(h, "name", path, err));
	hash_hex(h, a);
	fields(b, "name", "abc", NULL, NULL);
	assert_string_equal(a, b);
	assert_fails(hash_file("/nonexistent", a, err), LAB_ERR_NOT_FOUND, "/nonexistent");
	assert_fails(hash_add_field_file(h, "name", f->top, err), LAB_ERR_INVALID, "no file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_framing),
		cmocka_unit_test_setup_teardown(test_tree, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_file, lab_set_up, lab_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
