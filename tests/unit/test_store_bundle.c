/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bundles: whole, and as somebody else may have left them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "archive/reader.h"
#include "archive/writer.h"
#include "common/strv.h"
#include "lab_fixture.h"
#include "store/bundle.h"

static const char *const files[] = {"manifest.json", "tree/deep/file", "tree/one", "SHA256SUMS"};

static void put(const char *dir, const char *name, const char *text)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, name);
	LAB_CLEANUP(free) char *above = lab_strndup(path, (size_t)(lab_path_base(path) - path));

	assert_ok(lab_mkdirs(above, 0755, err));
	assert_ok(lab_write_file(path, text, strlen(text), 0644, err));
}

/* A bundle of three files; caller frees its path. */
static char *make(struct lab_fixture *f)
{
	LAB_CLEANUP(bundle_writer) struct bundle_writer *w = NULL;
	LAB_CLEANUP(free) char *tree = lab_path_join(f->top, "source");
	char *path = lab_path_join(f->top, "b.tar.zst");

	put(tree, "one", "first\n");
	put(tree, "deep/file", "second\n");
	assert_ok(bundle_new(path, &w, err));
	assert_ok(bundle_add_tree(w, "tree", tree, err));
	assert_ok(bundle_add_text(w, "manifest.json", "{}\n", err));
	assert_ok(bundle_close(w, err));
	return path;
}

static void test_whole(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = make(f);
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "open");
	LAB_CLEANUP(free)
	char *check = lab_asprintf("cd %s && sha256sum --quiet -c SHA256SUMS", dir);
	struct bundle_writer *w = NULL;

	assert_ok(bundle_open(path, dir, err));
	for (size_t i = 0; i < LAB_COUNT(files); i++) {
		LAB_CLEANUP(free) char *file = lab_path_join(dir, files[i]);

		assert_true(lab_file_exists(file));
	}
	assert_int_equal(system(check), 0); /* others need no labctl to look */
	assert_fails(bundle_new(path, &w, err), LAB_ERR_INVALID, "there already");
}

/* Packs a directory again, as it is now, and opens that. */
static int reopen(struct lab_fixture *f, const char *dir, struct lab_error *ret_err)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *w = NULL;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "changed.tar.zst");
	LAB_CLEANUP(free) char *out = lab_path_join(f->top, "out");

	assert_ok(lab_remove_tree(out, err));
	assert_ok(archive_writer_new(path, ARCHIVE_TAR_ZSTD, &w, err));
	assert_ok(archive_writer_add_tree(w, "", dir, err));
	assert_ok(archive_writer_close(w, err));
	return bundle_open(path, out, ret_err);
}

static void flip(const char *path, size_t at)
{
	FILE *file = fopen(path, "r+b");
	int c;

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	c = fgetc(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	assert_int_equal(fputc(c ^ 1, file), c ^ 1);
	assert_int_equal(fclose(file), 0);
}

/* Each byte of each file, one at a time. */
static void test_flipped(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = make(f);
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "open");

	assert_ok(archive_extract(path, dir, NULL, err));
	assert_ok(reopen(f, dir, err));
	for (size_t i = 0; i < LAB_COUNT(files); i++) {
		LAB_CLEANUP(free) char *file = lab_path_join(dir, files[i]);
		bool list = strcmp(files[i], "SHA256SUMS") == 0;
		uint64_t bytes;

		assert_ok(lab_file_size(file, &bytes, err));
		for (size_t at = 0; at < bytes; at++) {
			flip(file, at);
			/* A changed list no longer fits one of the files that it has. */
			assert_fails(reopen(f, dir, err), LAB_ERR_INVALID,
				     list ? "the bundle was changed or is damaged" : files[i]);
			flip(file, at);
		}
	}
	assert_ok(reopen(f, dir, err));
}

static void test_more_or_less(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = make(f);
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "open");
	LAB_CLEANUP(free) char *sums = lab_path_join(dir, "SHA256SUMS");
	LAB_CLEANUP(free) char *one = lab_path_join(dir, "tree/one");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	assert_ok(archive_extract(path, dir, NULL, err));
	put(dir, "tree/stowaway", "x");
	assert_fails(reopen(f, dir, err), LAB_ERR_INVALID, "tree/stowaway is not listed");
	assert_ok(lab_remove_tree(one, err));
	assert_fails(reopen(f, dir, err), LAB_ERR_INVALID, "tree/one is listed and not there");
	/* What lies outside is not even looked at. */
	assert_ok(lab_read_file(sums, 4096, &text, err));
	lab_buf_addf(&text, "%064d  ../../etc/passwd\n", 0);
	put(dir, "SHA256SUMS", text.data);
	put(dir, "tree/one", "first\n");
	assert_fails(reopen(f, dir, err), LAB_ERR_INVALID, "passwd is listed and not there");
	assert_ok(lab_remove_tree(sums, err));
	assert_fails(reopen(f, dir, err), LAB_ERR_INVALID, "it has no SHA256SUMS");
}

static void test_no_archive(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = make(f);
	LAB_CLEANUP(free) char *dir = lab_path_join(f->top, "open");

	flip(path, 40);
	assert_fails(bundle_open(path, dir, err), LAB_ERR_INVALID, "b.tar.zst");
	put(f->top, "b.tar.zst", "no archive at all");
	assert_fails(bundle_open(path, dir, err), LAB_ERR_INVALID, "b.tar.zst");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_whole),
		LAB_TEST(test_flipped),
		LAB_TEST(test_more_or_less),
		LAB_TEST(test_no_archive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
