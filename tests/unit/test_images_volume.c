/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "images/volume.h"
#include "store/hash.h"

static char dir[] = "/tmp/labctl-volume-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return lab_remove_tree(dir, NULL);
}

/* What a program says about a file, both streams. */
static char *ask(const char *const *argv)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {.argv = argv, .timeout_ms = 20000};
	struct lab_error err = {0};

	if (lab_proc_run(&proc, &result, &err) < 0)
		fail_msg("%s", err.text);
	return lab_asprintf("%s%s", result.out.data ? result.out.data : "",
			    result.err.data ? result.err.data : "");
}

static void assert_says(const char *const *argv, const char *wanted)
{
	LAB_CLEANUP(free) char *text = ask(argv);

	if (!strstr(text, wanted))
		fail_msg("%s does not say '%s': %s", argv[0], wanted, text);
}

static void assert_same(const char *a, const char *b)
{
	char hash_a[HASH_HEX], hash_b[HASH_HEX];

	assert_int_equal(hash_file(a, hash_a, NULL), 0);
	assert_int_equal(hash_file(b, hash_b, NULL), 0);
	assert_string_equal(hash_a, hash_b);
}

static void test_ext4(void **state)
{
	LAB_CLEANUP(free) char *a = lab_path_join(dir, "a");
	LAB_CLEANUP(free) char *b = lab_path_join(dir, "b");
	LAB_CLEANUP(free) char *text = NULL;
	LAB_CLEANUP(free) char *version = NULL;
	struct lab_error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(volume_ext4(a, 64 << 20, "data", NULL, &err), 0);
	lab_sleep_ms(1100); /* a clock that leaked in would have moved on */
	assert_int_equal(volume_ext4(b, 64 << 20, "data", NULL, &err), 0);
	assert_same(a, b);
	assert_int_equal(stat(a, &st), 0);
	assert_int_equal(st.st_size, 64 << 20);
	assert_true(st.st_blocks * 512 < 2 << 20); /* sparse */
	text = ask((const char *const[]){"dumpe2fs", a, NULL});
	assert_non_null(strstr(text, "Filesystem UUID:          " VOLUME_EXT4_UUID));
	assert_non_null(strstr(text, "Filesystem volume name:   data"));
	assert_non_null(strstr(text, "Filesystem created:       Sun Jan  1 00:00:00 2023"));
	assert_non_null(strstr(text, "has_journal"));
	assert_null(strstr(text, "orphan_file"));
	assert_null(strstr(text, "metadata_csum_seed"));
	/* Each group is done: no thread of the guest has work left. */
	assert_non_null(strstr(text, "ITABLE_ZEROED"));
	for (const char *p = text; (p = strstr(p, "Group ")); p++) {
		if (p[-1] == '\n' && memcmp(p, "Group descr", 11) != 0)
			assert_non_null(memmem(p, strcspn(p, "\n"), "ITABLE_ZEROED", 13));
	}
	assert_says((const char *const[]){"e2fsck", "-fn", a, NULL}, "11/4096 files");
	assert_int_equal(volume_mke2fs_version(&version, &err), 0);
	assert_true(version[0] == '1' && version[1] == '.');
}

static void test_ext4_refusals(void **state)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "refused");
	LAB_CLEANUP(free) char *taken = lab_path_join(dir, "taken");
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(volume_ext4(path, 1000, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "1000 bytes are not a multiple of 4096"));
	assert_int_equal(volume_ext4(path, 16 << 20, "a label of many letters", NULL, &err), -1);
	assert_int_equal(volume_ext4(path, 16 << 20, NULL, "no-uuid", &err), -1);
	assert_non_null(strstr(err.text, "mke2fs ended with exit code 1"));
	assert_false(lab_file_exists(path));
	assert_int_equal(volume_blank(taken, 4096, &err), 0);
	assert_int_equal(volume_ext4(taken, 16 << 20, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "File exists"));
	assert_true(lab_file_exists(taken));
}

static void test_swap(void **state)
{
	LAB_CLEANUP(free) char *a = lab_path_join(dir, "swap-a");
	LAB_CLEANUP(free) char *b = lab_path_join(dir, "swap-b");
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(volume_swap(a, 64 << 20, "01234567-89ab-cdef-0123-456789abcdef", &err), 0);
	assert_says((const char *const[]){"swaplabel", a, NULL},
		    "UUID:  01234567-89ab-cdef-0123-456789abcdef");
	assert_says((const char *const[]){"blkid", "-p", a, NULL}, "TYPE=\"swap\"");
	/* Byte for byte what mkswap writes. */
	assert_int_equal(volume_blank(b, 64 << 20, &err), 0);
	assert_says((const char *const[]){"mkswap", "-p", "4096", "-U",
					  "01234567-89ab-cdef-0123-456789abcdef", b, NULL},
		    "UUID=01234567");
	assert_same(a, b);
	assert_int_equal(volume_swap(a, 64 << 20, NULL, &err), -1);
	assert_non_null(strstr(err.text, "File exists"));
	assert_int_equal(lab_remove_tree(a, NULL), 0);
	assert_int_equal(volume_swap(a, 9 * 4096, NULL, &err), -1);
	assert_int_equal(volume_swap(a, 64 << 20, "0123", &err), -1);
	assert_non_null(strstr(err.text, "'0123' is no UUID"));
	assert_false(lab_file_exists(a));
}

static void test_overlay(void **state)
{
	LAB_CLEANUP(free) char *base = lab_path_join(dir, "base:1.img");
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "overlay.qcow2");
	LAB_CLEANUP(free) char *missing = lab_path_join(dir, "missing");
	LAB_CLEANUP(free) char *file = NULL;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(volume_blank(base, 8 << 20, &err), 0);
	assert_int_equal(volume_overlay(base, path, &err), 0);
	file = lab_asprintf("\"full-backing-filename\": \"%s\"", base);
	assert_says((const char *const[]){"qemu-img", "info", "--output=json", path, NULL}, file);
	assert_says((const char *const[]){"qemu-img", "info", "--output=json", path, NULL},
		    "\"virtual-size\": 8388608");
	assert_says((const char *const[]){"qemu-img", "info", "--output=json", path, NULL},
		    "\"backing-filename-format\": \"raw\"");
	assert_int_equal(volume_overlay(base, path, &err), -1);
	assert_non_null(strstr(err.text, "File exists"));
	assert_int_equal(volume_overlay(missing, path, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
}

/* All disks of one run must cost next to nothing beside the boot of its machine. */
static void test_quick(void **state)
{
	uint64_t began = lab_now_ms();
	struct lab_error err = {0};

	(void)state;
	for (int i = 0; i < 5; i++) {
		LAB_CLEANUP(free) char *data = lab_asprintf("%s/quick-%d", dir, i);
		LAB_CLEANUP(free) char *swap = lab_asprintf("%s/quick-swap-%d", dir, i);

		assert_int_equal(volume_ext4(data, 4ULL << 30, NULL, NULL, &err), 0);
		assert_int_equal(volume_swap(swap, 1ULL << 30, NULL, &err), 0);
	}
	assert_in_range(lab_now_ms() - began, 0, 5 * 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ext4),  cmocka_unit_test(test_ext4_refusals),
		cmocka_unit_test(test_swap),  cmocka_unit_test(test_overlay),
		cmocka_unit_test(test_quick),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
