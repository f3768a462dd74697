/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives as somebody with bad intentions writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/path.h"
#include "archive/reader.h"
#include "common/file.h"
#include "common/mem.h"

static struct lab_error err;
static char *top, *evil, *dest, *outside;

static int set_up(void **state)
{
	char name[] = "/tmp/labctl-test-XXXXXX";

	(void)state;
	top = lab_strdup(mkdtemp(name));
	evil = lab_path_join(top, "evil.tar");
	dest = lab_path_join(top, "dest");
	outside = lab_path_join(top, "outside");
	return lab_write_file(outside, "untouched", 9, 0644, &err);
}

static int tear_down(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct stat st;

	(void)state;
	/* Whatever a test unpacked, what lies beside dest is as it was. */
	assert_int_equal(lab_read_file(outside, 100, &text, &err), 0);
	assert_string_equal(text.data, "untouched");
	assert_int_equal(stat(outside, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(lab_remove_tree(top, &err), 0);
	free(top);
	free(evil);
	free(dest);
	free(outside);
	return 0;
}

struct entry {
	const char *path;
	unsigned type; /* AE_IF..., 0: hard link */
	const char *target;
	const char *text;
	unsigned mode;
};

static void write_evil(const struct entry *entries, size_t n)
{
	struct archive *a = archive_write_new();

	assert_int_equal(archive_write_set_format_gnutar(a), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(a, evil), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *e = archive_entry_new();
		size_t len = entries[i].text ? strlen(entries[i].text) : 0;

		archive_entry_set_pathname(e, entries[i].path);
		archive_entry_set_mode(e, (entries[i].type ? entries[i].type : AE_IFREG) |
						  (entries[i].mode ? entries[i].mode : 0644));
		archive_entry_set_size(e, (la_int64_t)len);
		if (entries[i].type == AE_IFLNK)
			archive_entry_set_symlink(e, entries[i].target);
		if (!entries[i].type)
			archive_entry_set_hardlink(e, entries[i].target);
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		if (len)
			assert_int_equal(archive_write_data(a, entries[i].text, len), len);
		archive_entry_free(e);
	}
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

/* The archive is refused with words that name the entry and hold `why`. */
#define assert_refused(why, name, ...)                                         \
	do {                                                                   \
		const struct entry entries_[] = {__VA_ARGS__};                 \
		err = (struct lab_error){0};                                   \
		write_evil(entries_, LAB_COUNT(entries_));                     \
		assert_int_equal(lab_remove_tree(dest, &err), 0);              \
		assert_int_equal(archive_extract(evil, dest, NULL, &err), -1); \
		if (!strstr(err.text, why) || !strstr(err.text, name))         \
			fail_msg("unexpected words: %s", err.text);            \
	} while (0)

static void test_paths_that_lead_out(void **state)
{
	(void)state;
	assert_refused("leads out by '..'", "'../outside'", {"../outside", AE_IFREG, NULL, "bad"});
	assert_refused("leads out by '..'", "'a/../../outside'",
		       {"a/../../outside", AE_IFREG, NULL, "bad"});
	assert_refused("leads out by '..'", "'a/../'", {"a/..", AE_IFDIR, NULL, NULL, 0777});
	assert_refused("absolute", "'/tmp/labctl-no'", {"/tmp/labctl-no", AE_IFREG, NULL, "bad"});
}

static void test_links_that_lead_out(void **state)
{
	(void)state;
	assert_refused("leads out", "'l'", {"l", AE_IFLNK, "../outside"});
	assert_refused("leads out", "'l'", {"l", AE_IFLNK, "/etc/passwd"});
	assert_refused("leads out", "'a/b/l'", {"a/b/l", AE_IFLNK, "../../../outside"});
	/* Each step looks as if it stayed inside: a/b/up is the top, one more is out. */
	assert_refused("leads out", "'m'", {"a/b/up", AE_IFLNK, "../.."},
		       {"m", AE_IFLNK, "a/b/up/../outside"});
}

static void test_writing_through_links(void **state)
{
	(void)state;
	/* Even a link that stays inside is not written through. */
	assert_refused("leads through 'l'", "'l/x'", {"d", AE_IFDIR, NULL, NULL, 0755},
		       {"l", AE_IFLNK, "d"}, {"l/x", AE_IFREG, NULL, "bad"});
	assert_refused("comes twice", "'l'", {"l", AE_IFLNK, "d"}, {"l", AE_IFREG, NULL, "bad"});
	assert_refused("leads through 'l'", "'l'", {"l", AE_IFLNK, "."},
		       {"l", AE_IFDIR, NULL, NULL, 0777});
	assert_refused("comes twice", "'f'", {"f", AE_IFREG, NULL, "1"},
		       {"f", AE_IFREG, NULL, "2"});
}

static void test_hard_links(void **state)
{
	static const struct entry fine[] = {{"f", AE_IFREG, NULL, "1"}, {"g", 0, "f"}};
	LAB_CLEANUP(free) char *linked = lab_path_join(dest, "g");

	(void)state;
	assert_refused("leads out", "'h'", {"h", 0, "../outside"});
	assert_refused("absolute", "'h'", {"h", 0, "/etc/passwd"});
	assert_refused("no file before it", "'h'", {"h", 0, "nothing"});
	assert_refused("no file before it", "'h'", {"l", AE_IFLNK, "x"}, {"h", 0, "l"});
	write_evil(fine, LAB_COUNT(fine));
	assert_int_equal(lab_remove_tree(dest, &err), 0);
	assert_int_equal(archive_extract(evil, dest, NULL, &err), 0);
	assert_true(lab_file_exists(linked));
}

static void test_devices(void **state)
{
	(void)state;
	assert_refused("a device", "'d'", {"d", AE_IFCHR});
	assert_refused("a device", "'d'", {"d", AE_IFBLK});
	assert_refused("a device", "'d'", {"d", AE_IFIFO});
}

static void test_modes_are_tamed(void **state)
{
	static const struct entry entries[] = {{"d", AE_IFDIR, NULL, NULL, 01000},
					       {"d/suid", AE_IFREG, NULL, "1", 06755}};
	LAB_CLEANUP(free) char *suid = lab_path_join(dest, "d/suid");
	struct stat st;

	(void)state;
	write_evil(entries, LAB_COUNT(entries));
	assert_int_equal(archive_extract(evil, dest, NULL, &err), 0);
	assert_int_equal(stat(suid, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

/* 512 MiB of zeroes: two filters' worth of nothing. */
static void write_bomb(void)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	LAB_CLEANUP(free) char *zeroes = lab_calloc(1, 1 << 20);

	assert_int_equal(archive_write_set_format_gnutar(a), ARCHIVE_OK);
	assert_int_equal(archive_write_add_filter_zstd(a), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(a, evil), ARCHIVE_OK);
	archive_entry_set_pathname(e, "bomb");
	archive_entry_set_mode(e, AE_IFREG | 0644);
	archive_entry_set_size(e, 512LL << 20);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	for (int i = 0; i < 512; i++)
		assert_int_equal(archive_write_data(a, zeroes, 1 << 20), 1 << 20);
	archive_entry_free(e);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

static int skip_entry(void *ctx, const struct archive_entry_info *entry, struct archive_data *data,
		      struct lab_error *e)
{
	(void)entry;
	(void)data;
	(void)e;
	++*(int *)ctx;
	return 0;
}

static void test_bombs(void **state)
{
	static const struct entry many[] = {{"a", AE_IFREG, NULL, "12345"},
					    {"b", AE_IFREG, NULL, "12345"},
					    {"c", AE_IFREG, NULL, "12345"}};
	struct archive_limits entries = {.max_entries = 2};
	struct archive_limits bytes = {.max_bytes = 14};
	struct archive_limits file = {.max_file_bytes = 4};
	uint64_t size = 0;
	int seen = 0;
	LAB_CLEANUP(free) char *bomb = lab_path_join(dest, "bomb");

	(void)state;
	write_evil(many, LAB_COUNT(many));
	assert_int_equal(archive_read(evil, &entries, skip_entry, &seen, &err), -1);
	assert_non_null(strstr(err.text, "'c': more than 2 entries (limit max_entries)"));
	assert_int_equal(seen, 2);
	assert_int_equal(archive_read(evil, &bytes, skip_entry, &seen, &err), -1);
	assert_non_null(strstr(err.text, "(limit max_bytes)"));
	assert_int_equal(archive_read(evil, &file, skip_entry, &seen, &err), -1);
	assert_non_null(strstr(err.text, "'a': larger than 4 bytes (limit max_file_bytes)"));
	write_bomb();
	assert_int_equal(archive_extract(evil, dest, NULL, &err), -1);
	assert_non_null(strstr(err.text, "'bomb': more than 200 bytes out of one"));
	assert_int_equal(lab_file_size(bomb, &size, &err), 0);
	assert_true(size < 100 << 20);
}

static void test_torn_and_foreign_files(void **state)
{
	static const struct entry one[] = {{"a", AE_IFREG, NULL, "12345"}};
	int seen = 0;

	(void)state;
	write_evil(one, 1);
	assert_int_equal(truncate(evil, 514), 0);
	assert_int_equal(archive_extract(evil, dest, NULL, &err), -1);
	assert_non_null(strstr(err.text, "evil.tar"));
	assert_int_equal(lab_write_file(evil, "no archive", 10, 0644, &err), 0);
	assert_int_equal(archive_read(evil, NULL, skip_entry, &seen, &err), -1);
	assert_int_equal(archive_read("/nonexistent", NULL, skip_entry, &seen, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_int_equal(seen, 0);
}

static void test_link_rule(void **state)
{
	(void)state;
	assert_true(archive_link_stays_inside("a", "b"));
	assert_true(archive_link_stays_inside("a/b", "../c"));
	assert_true(archive_link_stays_inside("a/b", ".././c"));
	assert_true(archive_link_stays_inside("a", "."));
	assert_false(archive_link_stays_inside("a", ".."));
	assert_false(archive_link_stays_inside("a", ""));
	assert_false(archive_link_stays_inside("a/b", "../../c"));
	assert_false(archive_link_stays_inside("a/b", "c/../../d"));
	assert_false(archive_link_stays_inside("a", "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_paths_that_lead_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links_that_lead_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_writing_through_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hard_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_devices, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_modes_are_tamed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bombs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_torn_and_foreign_files, set_up, tear_down),
		cmocka_unit_test(test_link_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
