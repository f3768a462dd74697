/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The collectors on files recorded from a real guest (6.1, psi=1, swap on NVMe), and on odd ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "guest-agent/collector.h"

#define SYSROOT TESTS_DIR "/data/sysroot"

struct missing {
	struct lab_strv what, why;
};

static void note(void *ctx, const char *what, const char *why)
{
	struct missing *missing = ctx;

	lab_strv_add(&missing->what, what);
	lab_strv_add(&missing->why, why);
}

static void fail_missing(void *ctx, const char *what, const char *why)
{
	(void)ctx;
	fail_msg("%s: %s", what, why);
}

static int64_t get(const struct series *series, const char *name)
{
	int64_t value;

	if (!series_get(series, name, &value))
		fail_msg("no %s", name);
	return value;
}

static void read_recorded(const char *name, struct series *series)
{
	series_begin(series);
	assert_non_null(collector_find(name));
	collector_read(collector_find(name), SYSROOT, series, fail_missing, NULL);
}

static void test_meminfo(void **state)
{
	struct series series = SERIES_INIT;

	(void)state;
	read_recorded("meminfo", &series);
	assert_int_equal(get(&series, "meminfo.MemTotal"), 498760);
	assert_int_equal(get(&series, "meminfo.SReclaimable"), 3772);
	assert_int_equal(get(&series, "meminfo.SUnreclaim"), 5100);
	assert_int_equal(get(&series, "meminfo.Slab"), 8872);
	assert_int_equal(get(&series, "meminfo.Inactive(file)"), 1976);
	assert_int_equal(get(&series, "meminfo.VmallocTotal"), 34359738367);
	assert_int_equal(series.names.n, 45);
	series_release(&series);
}

static void test_vmstat(void **state)
{
	struct series series = SERIES_INIT;

	(void)state;
	read_recorded("vmstat", &series);
	assert_int_equal(get(&series, "vmstat.nr_free_pages"), 119343);
	assert_true(get(&series, "vmstat.pgfault") > 0);
	assert_int_equal(get(&series, "vmstat.pswpin"), 0);
	series_release(&series);
}

static void test_slabinfo(void **state)
{
	struct series series = SERIES_INIT;

	(void)state;
	read_recorded("slabinfo", &series);
	assert_int_equal(get(&series, "slabinfo.ext4_groupinfo_1k.active_objs"), 46);
	assert_int_equal(get(&series, "slabinfo.ext4_groupinfo_1k.objsize"), 176);
	assert_int_equal(get(&series, "slabinfo.ext4_groupinfo_1k.pages"), 2);
	assert_int_equal(get(&series, "slabinfo.jbd2_1k.pages"), 0);
	assert_true(get(&series, "slabinfo.kmalloc-64.num_objs") > 0);
	assert_int_equal(series.names.n % 4, 0);
	series_release(&series);
}

static void test_psi(void **state)
{
	struct series series = SERIES_INIT;

	(void)state;
	read_recorded("psi", &series);
	assert_int_equal(get(&series, "psi.cpu.some.total"), 294804);
	assert_int_equal(get(&series, "psi.io.full.total"), 12866);
	assert_int_equal(get(&series, "psi.memory.some.avg300_x100"), 0);
	assert_int_equal(series.names.n, 24);
	series_release(&series);
}

static void test_stat_and_loadavg(void **state)
{
	struct series series = SERIES_INIT;

	(void)state;
	read_recorded("stat", &series);
	assert_int_equal(get(&series, "stat.cpu.steal"), 0);
	assert_true(get(&series, "stat.cpu.idle") > 0);
	assert_true(get(&series, "stat.ctxt") > 0);
	assert_false(series_get(&series, "stat.cpu0", &(int64_t){0}));
	read_recorded("loadavg", &series);
	assert_int_equal(get(&series, "loadavg.load1_x100"), 0);
	assert_int_equal(get(&series, "loadavg.tasks"), 43);
	series_release(&series);
}

/* Runs a collector's first parser on a text. */
static void parse(const char *name, const char *text, struct series *series)
{
	const struct collector_file *file = &collector_find(name)->files[0];

	series_begin(series);
	file->parse(text, file->what, series);
}

static void test_odd_texts(void **state)
{
	struct series series = SERIES_INIT;
	int64_t value;

	(void)state;
	parse("meminfo",
	      "MemFree:\nOdd line\nNew Thing:  7 kB\nBig: 99999999999999999999 kB\n"
	      "Neg: -3 kB\nHugePages_Total:      5\nLast:  9 kB",
	      &series);
	assert_int_equal(get(&series, "meminfo.New Thing"), 7);
	assert_int_equal(get(&series, "meminfo.HugePages_Total"), 5);
	assert_int_equal(get(&series, "meminfo.Last"), 9);
	assert_int_equal(series.names.n, 3);
	series_release(&series);

	parse("slabinfo",
	      "slabinfo - version: 2.1\n# name\nshort 1 2\nnoslabs 1 2 3 4 5\n"
	      "twin 1 2 3 4 5 : tunables 0 0 0 : slabdata 6 7 0\n"
	      "twin 8 9 3 4 5 : tunables 0 0 0 : slabdata 1 1 0\n",
	      &series);
	assert_int_equal(get(&series, "slabinfo.noslabs.objsize"), 3);
	assert_false(series_get(&series, "slabinfo.noslabs.pages", &value));
	assert_int_equal(get(&series, "slabinfo.twin.pages"), 35);
	assert_int_equal(get(&series, "slabinfo.twin.active_objs#2"), 8);
	assert_int_equal(series.names.n, 11);
	series_release(&series);

	parse("psi", "some avg10=12.34 avg60=1.2 total=5 later=6 bad= =7\nfull\n", &series);
	assert_int_equal(get(&series, "psi.cpu.some.avg10_x100"), 1234);
	assert_int_equal(get(&series, "psi.cpu.some.total"), 5);
	assert_int_equal(get(&series, "psi.cpu.some.later"), 6);
	assert_false(series_get(&series, "psi.cpu.some.avg60_x100", &value));
	series_release(&series);

	/* A kernel without steal has a shorter line: absent, not 0. */
	parse("stat", "cpu  1 2 3 4 5 6 7\ncpu0 1 1 1 1 1 1 1\nctxt 8\n", &series);
	assert_int_equal(get(&series, "stat.cpu.softirq"), 7);
	assert_false(series_get(&series, "stat.cpu.steal", &value));
	assert_int_equal(series.names.n, 8);
	series_release(&series);

	parse("loadavg", "nonsense", &series);
	assert_int_equal(series.names.n, 0);
	series_release(&series);
}

/* Missing, unreadable and empty files are unavailable, each with its reason, and put nothing. */
static void test_unavailable(void **state)
{
	char dir[] = "/tmp/labctl-test-sysroot-XXXXXX";
	LAB_CLEANUP(free) char *proc = NULL;
	LAB_CLEANUP(free) char *memory = NULL;
	LAB_CLEANUP(free) char *io = NULL;
	struct series series = SERIES_INIT;
	struct missing missing = {{0}};

	(void)state;
	assert_non_null(mkdtemp(dir));
	proc = lab_path_join(dir, "proc/pressure");
	memory = lab_path_join(proc, "memory");
	io = lab_path_join(proc, "io");
	assert_int_equal(lab_mkdirs(memory, 0755, NULL), 0); /* opens, and reading it fails */
	assert_int_equal(lab_write_file(io, "", 0, 0644, NULL), 0);
	series_begin(&series);
	collector_read(collector_find("psi"), dir, &series, note, &missing);
	assert_int_equal(series.names.n, 0);
	assert_int_equal(missing.what.n, 3);
	assert_string_equal(missing.what.items[0], "psi.cpu");
	assert_string_equal(missing.why.items[0], strerror(ENOENT));
	assert_string_equal(missing.what.items[1], "psi.memory");
	assert_string_equal(missing.why.items[1], strerror(EISDIR));
	assert_string_equal(missing.what.items[2], "psi.io");
	assert_string_equal(missing.why.items[2], "empty");
	assert_int_equal(lab_remove_tree(dir, NULL), 0);
	lab_strv_release(&missing.what);
	lab_strv_release(&missing.why);
	series_release(&series);
}

static void test_numbers(void **state)
{
	int64_t value = 0;

	(void)state;
	assert_true(collector_hundredths("0.07", &value) && value == 7);
	assert_true(collector_hundredths("100.00", &value) && value == 10000);
	assert_false(collector_hundredths("1.2", &value));
	assert_false(collector_hundredths("1,23", &value));
	assert_false(collector_hundredths(".50", &value));
	assert_false(collector_hundredths("99999999999999999999.00", &value));
	assert_false(collector_number("9223372036854775808", &value));
	assert_false(collector_number("", &value));
	assert_null(collector_find("nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meminfo),		 cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_slabinfo),	 cmocka_unit_test(test_psi),
		cmocka_unit_test(test_stat_and_loadavg), cmocka_unit_test(test_odd_texts),
		cmocka_unit_test(test_unavailable),	 cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
