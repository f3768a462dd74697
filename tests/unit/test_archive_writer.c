/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/reader.h"
#include "archive/writer.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "common/strv.h"

static struct lab_error err;
static char *top; /* a directory of each test's own */

static int set_up(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";

	(void)state;
	top = lab_strdup(mkdtemp(name));
	return top ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(lab_remove_tree(top, &err), 0);
	free(top);
	return 0;
}

static char *in_top(const char *name)
{
	return lab_path_join(top, name);
}

static void put(const char *name, const char *text, mode_t mode)
{
	LAB_CLEANUP(free) char *path = in_top(name);

	assert_int_equal(lab_write_file(path, text, strlen(text), mode, &err), 0);
}

/* The tree that both formats pack; files are made in the given order, which must not matter. */
static void make_tree(const char *dir, bool backwards)
{
	static const char *const names[] = {"b", "a/z", "a-b", "a/exec"};
	LAB_CLEANUP(free) char *sub = lab_asprintf("%s/%s/a", top, dir);
	LAB_CLEANUP(free) char *link = lab_asprintf("%s/%s/link", top, dir);

	assert_int_equal(lab_mkdirs(sub, 0755, &err), 0);
	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		const char *name = names[backwards ? LAB_COUNT(names) - 1 - i : i];
		LAB_CLEANUP(free) char *path = lab_asprintf("%s/%s", dir, name);

		put(path, name, strstr(name, "exec") ? 0755 : 0644);
	}
	assert_int_equal(symlink("a/z", link), 0);
}

static char *pack(const char *dir, const char *as, enum archive_format format)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;
	LAB_CLEANUP(free) char *src = in_top(dir);
	char *path = in_top(as);

	assert_int_equal(archive_writer_new(path, format, &writer, &err), 0);
	assert_int_equal(archive_writer_add_tree(writer, "", src, &err), 0);
	assert_int_equal(archive_writer_add_data(writer, "/etc/x/conf", 0600, "hello", 5, &err), 0);
	assert_int_equal(archive_writer_close(writer, &err), 0);
	return path;
}

static void assert_same_bytes(const char *a, const char *b)
{
	LAB_CLEANUP(buf) struct lab_buf x = LAB_BUF_INIT, y = LAB_BUF_INIT;

	assert_int_equal(lab_read_file(a, 1 << 20, &x, &err), 0);
	assert_int_equal(lab_read_file(b, 1 << 20, &y, &err), 0);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
}

static void test_same_bytes_whatever_the_order(void **state)
{
	static const enum archive_format formats[] = {ARCHIVE_TAR_ZSTD, ARCHIVE_CPIO_NEWC};
	struct timespec when[2] = {{.tv_sec = 1234567}, {.tv_sec = 1234567}};
	LAB_CLEANUP(free) char *touched = in_top("two/b");

	(void)state;
	make_tree("one", false);
	make_tree("two", true);
	assert_int_equal(utimensat(AT_FDCWD, touched, when, 0), 0);
	for (size_t i = 0; i < LAB_COUNT(formats); i++) {
		LAB_CLEANUP(free) char *a = pack("one", "1.arc", formats[i]);
		LAB_CLEANUP(free) char *b = pack("two", "2.arc", formats[i]);

		assert_same_bytes(a, b);
	}
}

static int list_entry(void *ctx, const struct archive_entry_info *entry, struct archive_data *data,
		      struct lab_error *e)
{
	struct lab_buf *list = ctx;
	char text[64] = "";

	if (entry->type == ARCHIVE_TYPE_FILE && archive_data_read(data, text, 63, e) < 0)
		return -1;
	lab_buf_addf(list, "%s %d %o %lld %s%s\n", entry->path, (int)entry->type,
		     (unsigned)entry->mode, (long long)entry->mtime, entry->link ? entry->link : "",
		     text);
	return 0;
}

static void test_order_modes_and_parents(void **state)
{
	static const char want[] = "a 1 755 0 \n"
				   "a-b 0 644 0 a-b\n"
				   "a/exec 0 755 0 a/exec\n"
				   "a/z 0 644 0 a/z\n"
				   "b 0 644 0 b\n"
				   "etc 1 755 0 \n"
				   "etc/x 1 755 0 \n"
				   "etc/x/conf 0 600 0 hello\n"
				   "link 2 777 0 a/z\n";
	static const enum archive_format formats[] = {ARCHIVE_TAR_ZSTD, ARCHIVE_CPIO_NEWC};

	(void)state;
	make_tree("one", false);
	for (size_t i = 0; i < LAB_COUNT(formats); i++) {
		LAB_CLEANUP(buf) struct lab_buf list = LAB_BUF_INIT;
		LAB_CLEANUP(free) char *path = pack("one", "1.arc", formats[i]);

		assert_int_equal(archive_read(path, NULL, list_entry, &list, &err), 0);
		assert_string_equal(list.data, want);
	}
}

static void test_extract_gives_the_tree_back(void **state)
{
	LAB_CLEANUP(free) char *dest = in_top("out");
	LAB_CLEANUP(free) char *path = NULL;
	LAB_CLEANUP(free) char *exec = in_top("out/a/exec");
	LAB_CLEANUP(free) char *link = in_top("out/link");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct stat st;

	(void)state;
	make_tree("one", false);
	path = pack("one", "1.tar.zst", ARCHIVE_TAR_ZSTD);
	assert_int_equal(archive_extract(path, dest, NULL, &err), 0);
	assert_int_equal(stat(exec, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(lab_read_file(link, 100, &text, &err), 0);
	assert_string_equal(text.data, "a/z");
	/* Into a place that holds these names already: refused, not overwritten. */
	assert_int_equal(archive_extract(path, dest, NULL, &err), -1);
	assert_non_null(strstr(err.text, "comes twice"));
}

/* What the kernel unpacks must be plain newc; the system's own cpio is the judge. */
static void test_cpio_is_read_by_cpio(void **state)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *path = in_top("initramfs");
	const char *const argv[] = {"cpio", "-itvn", "--quiet", NULL};
	struct lab_proc proc = {.argv = argv};

	(void)state;
	assert_int_equal(archive_writer_new(path, ARCHIVE_CPIO_NEWC, &writer, &err), 0);
	assert_int_equal(archive_writer_add_data(writer, "init", 0755, "#!", 2, &err), 0);
	assert_int_equal(archive_writer_add_node(writer, "dev/console", S_IFCHR | 0600, 5, 1, &err),
			 0);
	assert_int_equal(archive_writer_close(writer, &err), 0);
	assert_int_equal(lab_read_file(path, 1 << 16, &bytes, &err), 0);
	assert_memory_equal(bytes.data, "070701", 6);
	proc.input = bytes.data;
	proc.input_len = bytes.len;
	assert_int_equal(lab_proc_must(&proc, &result, &err), 0);
	assert_non_null(strstr(result.out.data, "crw-------"));
	assert_non_null(strstr(result.out.data, "5,   1 Jan  1  1970 dev/console"));
	assert_non_null(strstr(result.out.data, "-rwxr-xr-x   1 0        0               2"));
}

static void test_refused_additions(void **state)
{
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;
	LAB_CLEANUP(free) char *path = in_top("x.tar.zst");
	LAB_CLEANUP(free) char *missing = in_top("missing");

	(void)state;
	put("x.tar.zst", "the former one", 0644);
	assert_int_equal(archive_writer_new(path, ARCHIVE_TAR_ZSTD, &writer, &err), 0);
	assert_int_equal(archive_writer_add_data(writer, "a/../b", 0644, "", 0, &err), -1);
	assert_int_equal(archive_writer_add_file(writer, "a", 0644, missing, &err), -1);
	assert_int_equal(archive_writer_add_file(writer, "a", 0644, top, &err), -1);
	assert_int_equal(archive_writer_add_node(writer, "a", S_IFREG, 0, 0, &err), -1);
	assert_int_equal(archive_writer_add_dir(writer, "d", 0755, &err), 0);
	assert_int_equal(archive_writer_add_dir(writer, "d", 0755, &err), 0);
	assert_int_equal(archive_writer_add_data(writer, "same", 0644, "1", 1, &err), 0);
	assert_int_equal(archive_writer_add_data(writer, "./same", 0644, "2", 1, &err), 0);
	assert_int_equal(archive_writer_close(writer, &err), -1);
	assert_non_null(strstr(err.text, "'same' was added twice"));
}

static void test_failure_leaves_the_former_file(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *path = in_top("x.tar.zst");
	LAB_CLEANUP(free) char *src = in_top("src");
	LAB_CLEANUP(free) char *other = in_top("no/such/dir.cpio");
	struct archive_writer *writer = NULL;

	(void)state;
	put("x.tar.zst", "the former one", 0644);
	put("src", "gone before close", 0644);
	assert_int_equal(archive_writer_new(path, ARCHIVE_TAR_ZSTD, &writer, &err), 0);
	assert_int_equal(archive_writer_add_file(writer, "src", 0644, src, &err), 0);
	assert_int_equal(unlink(src), 0);
	assert_int_equal(archive_writer_close(writer, &err), -1);
	archive_writer_free(writer);
	assert_int_equal(lab_read_file(path, 100, &text, &err), 0);
	assert_string_equal(text.data, "the former one");
	writer = NULL;
	assert_int_equal(archive_writer_new(other, ARCHIVE_CPIO_NEWC, &writer, &err), -1);
	assert_null(writer);
	assert_int_equal(rmdir(top), -1); /* only x.tar.zst is left of all this */
	assert_int_equal(errno, ENOTEMPTY);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_bytes_whatever_the_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_order_modes_and_parents, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_extract_gives_the_tree_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_cpio_is_read_by_cpio, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_additions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failure_leaves_the_former_file, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
