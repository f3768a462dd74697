/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "vmctl/console.h"

static struct console_verdict scan(const char *text)
{
	LAB_CLEANUP(console_scanner) struct console_scanner *s = console_scanner_new();
	struct console_verdict v;

	console_scanner_feed(s, text, strlen(text));
	console_scanner_verdict(s, &v);
	return v;
}

/* The one kind that a line is, or CONSOLE_KINDS for none. */
static enum console_kind kind_of(const char *line)
{
	struct console_verdict v = scan(line);
	enum console_kind found = CONSOLE_KINDS;

	for (int k = 0; k < CONSOLE_KINDS; k++) {
		if (!v.hits[k].count)
			continue;
		assert_int_equal(found, CONSOLE_KINDS);
		found = (enum console_kind)k;
	}
	return found;
}

static void test_kinds(void **state)
{
	static const struct {
		enum console_kind kind;
		const char *line;
	} rows[] = {
		{CONSOLE_PANIC, "Kernel panic - not syncing: sysrq triggered crash"},
		{CONSOLE_PANIC,
		 "[   12.345678] Kernel panic - not syncing: VFS: Unable to mount root fs"},
		{CONSOLE_PANIC,
		 "Kernel panic - not syncing: Out of memory: compulsory panic_on_oom"},
		{CONSOLE_OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000000"},
		{CONSOLE_OOPS, "[    1.0][    T1] BUG: unable to handle page fault for address: f"},
		{CONSOLE_OOPS, "BUG: KASAN: use-after-free in foo+0x1/0x2"},
		{CONSOLE_OOPS, "Oops: 0002 [#1] PREEMPT SMP NOPTI"},
		{CONSOLE_OOPS,
		 "general protection fault, probably for non-canonical address 0xdead"},
		{CONSOLE_OOPS, "kernel BUG at mm/slub.c:4200!"},
		{CONSOLE_OOPS, "divide error: 0000 [#1] SMP"},
		{CONSOLE_OOPS, "invalid opcode: 0000 [#1] PREEMPT SMP"},
		{CONSOLE_OOM,
		 "[  9.1] Out of memory: Killed process 123 (prog) total-vm:1kB, anon-rss:1kB"},
		{CONSOLE_OOM, "Memory cgroup out of memory: Killed process 7 (x) total-vm:1kB"},
		{CONSOLE_OOM, "Out of memory: Kill process 12 (x) score 900 or sacrifice child"},
		{CONSOLE_HUNG, "INFO: task kworker/0:1:17 blocked for more than 120 seconds."},
		{CONSOLE_HUNG, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [prog:99]"},
		{CONSOLE_HUNG, "BUG: soft lockup - CPU#0 stuck for 23s! [x:1]"},
		{CONSOLE_HUNG, "NMI watchdog: Watchdog detected hard LOCKUP on cpu 1"},
		{CONSOLE_HUNG, "rcu: INFO: rcu_preempt self-detected stall on CPU"},
		{CONSOLE_HUNG, "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0"},
		{CONSOLE_IO, "blk_update_request: I/O error, dev nvme0n1, sector 8 op 0x0:(READ)"},
		{CONSOLE_IO, "I/O error, dev vda, sector 0 op 0x1:(WRITE) flags 0x800"},
		{CONSOLE_IO, "Buffer I/O error on dev vda, logical block 0, lost async page write"},
		{CONSOLE_IO, "EXT4-fs error (device vda): ext4_find_entry:1455: inode #2"},
		{CONSOLE_WARNING, "WARNING: CPU: 0 PID: 1 at kernel/foo.c:12 foo+0x1/0x2"},
		/* A program's end is not the kernel's, and words inside a line are not a report. */
		{CONSOLE_KINDS,
		 "traps: prog[7] general protection fault ip:4 sp:7 error:0 in prog"},
		{CONSOLE_KINDS, "prog[7]: segfault at 0 ip 0000 sp 0000 error 4 in prog[400000]"},
		{CONSOLE_KINDS, "the program says Oops: and BUG: things"},
		{CONSOLE_KINDS, "Linux version 6.1.0 (gcc) #1 SMP"},
		{CONSOLE_KINDS, ""},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(rows); i++) {
		if (kind_of(rows[i].line) != rows[i].kind)
			fail_msg("%s: %s", rows[i].line, console_kind_name(kind_of(rows[i].line)));
	}
}

static void test_first_line(void **state)
{
	struct console_verdict v = scan("Linux version 6.1.0\r\n"
					"[    0.1] hello\r\n"
					"[    0.2][  T42] BUG: first\x01\r\n"
					"[    0.3] BUG: second\r\n"
					"\r\n"
					"[    0.4] last words");

	(void)state;
	assert_true(v.booted);
	assert_int_equal(v.hits[CONSOLE_OOPS].count, 2);
	assert_int_equal(v.hits[CONSOLE_OOPS].line, 3);
	assert_string_equal(v.hits[CONSOLE_OOPS].text, "BUG: first?");
	assert_string_equal(v.last, "last words");
	assert_int_equal(v.lines, 6);
}

/* Any cut and any way of feeding gives what is known at that byte, and never a crash. */
static void test_pieces(void **state)
{
	static const char text[] = "Linux version 6\n[ 1.0] WARNING: a\nBUG: b\n"
				   "Kernel panic - not syncing: c\n\xff\x00\x1b[31m]\nOops: d";
	const size_t len = sizeof(text) - 1;

	(void)state;
	for (size_t cut = 0; cut <= len; cut++) {
		LAB_CLEANUP(console_scanner) struct console_scanner *one = console_scanner_new();
		LAB_CLEANUP(console_scanner) struct console_scanner *many = console_scanner_new();
		struct console_verdict a, b;

		console_scanner_feed(one, text, cut);
		for (size_t i = 0; i < cut; i++) {
			console_scanner_feed(many, text + i, 1);
			console_scanner_verdict(many, &b);
		}
		console_scanner_verdict(one, &a);
		console_scanner_verdict(many, &b);
		assert_memory_equal(&a.lines, &b.lines, sizeof(a.lines));
		assert_string_equal(a.last, b.last);
		for (int k = 0; k < CONSOLE_KINDS; k++)
			assert_int_equal(a.hits[k].count, b.hits[k].count);
	}
	{
		struct console_verdict v = scan("Kernel panic - not sync");

		assert_int_equal(v.hits[CONSOLE_PANIC].count, 0);
	}
}

static void test_noise(void **state)
{
	LAB_CLEANUP(console_scanner) struct console_scanner *s = console_scanner_new();
	struct console_verdict v;
	struct lab_rng rng;
	char bytes[4096];

	(void)state;
	lab_rng_seed(&rng, 42);
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (char)lab_rng_next(&rng);
		console_scanner_feed(s, bytes, sizeof(bytes));
	}
	/* A line longer than any buffer does not hide the next one. */
	memset(bytes, '[', sizeof(bytes));
	console_scanner_feed(s, bytes, sizeof(bytes));
	console_scanner_feed(s, "\nKernel panic - not syncing: x\n", 31);
	console_scanner_verdict(s, &v);
	assert_int_equal(v.bytes, 201 * sizeof(bytes) + 31);
	assert_int_equal(v.hits[CONSOLE_PANIC].count, 1);
	for (const char *p = v.last; *p; p++)
		assert_in_range(*p, 0x20, 0x7e);
}

static void test_file(void **state)
{
	struct console_verdict v;
	struct lab_error err = {0};
	char path[] = "/tmp/labctl-console-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(lab_write_all(fd, "a\nKernel panic - not syncing: b\n", 32, &err), 0);
	close(fd);
	assert_int_equal(console_scan(path, &v, &err), 0);
	assert_int_equal(v.hits[CONSOLE_PANIC].line, 2);
	unlink(path);
	assert_int_equal(console_scan(path, &v, &err), 0);
	assert_int_equal(v.bytes, 0);
	assert_int_equal(console_scan("/", &v, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),  cmocka_unit_test(test_first_line),
		cmocka_unit_test(test_pieces), cmocka_unit_test(test_noise),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests_name("vmctl console", tests, NULL, NULL);
}
