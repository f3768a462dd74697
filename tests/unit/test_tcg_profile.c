/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin, in an emulator of our own that does with blocks of instructions what QEMU does:
 * translates each once, runs what was registered before each instruction, leaves one early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/marker.h"
#include "tcg-plugin/qemu_plugin.h"

enum { MAX_INSNS = 16 };

struct qemu_plugin_insn {
	uint64_t address;
	size_t size;
	unsigned char bytes[16];
	uint64_t *count;
	uint64_t add;
	qemu_plugin_vcpu_udata cb;
};

struct qemu_plugin_tb {
	uint64_t address;
	size_t n;
	struct qemu_plugin_insn insns[MAX_INSNS];
	int translated;
};

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

static qemu_plugin_tb_trans translate;
static int64_t executed;

int64_t icount_get_raw(void)
{
	return executed;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans cb)
{
	(void)id;
	translate = cb;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata cb,
					    enum qemu_plugin_cb_flags flags, void *udata)
{
	(void)flags;
	(void)udata;
	insn->cb = cb;
}

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *ptr, uint64_t imm)
{
	assert_int_equal(op, QEMU_PLUGIN_INLINE_ADD_U64);
	insn->count = ptr;
	insn->add = imm;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->n;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
	return tb->address;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	assert_in_range(index, 0, tb->n - 1);
	return (struct qemu_plugin_insn *)&tb->insns[index];
}

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return insn->bytes;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->address;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

/* A block of `n` instructions of 4 bytes; `marker` is the index of one, or -1. */
static struct qemu_plugin_tb block(uint64_t address, size_t n, int marker, const char *bytes)
{
	struct qemu_plugin_tb tb = {.address = address, .n = n};

	for (size_t i = 0; i < n; i++) {
		tb.insns[i].address = address;
		tb.insns[i].size = (int)i == marker ? MARKER_BYTES : 4;
		if ((int)i == marker)
			memcpy(tb.insns[i].bytes, bytes, MARKER_BYTES);
		address += tb.insns[i].size;
	}
	return tb;
}

/* Executes a block's first `n` instructions; with `fault` another one is begun and fails. */
static void execute(struct qemu_plugin_tb *tb, size_t n, int fault)
{
	if (!tb->translated++)
		translate(1, tb);
	for (size_t i = 0; i < n + (size_t)fault; i++) {
		if (tb->insns[i].cb)
			tb->insns[i].cb(0, NULL);
		if (tb->insns[i].count)
			*tb->insns[i].count += tb->insns[i].add;
	}
	executed += (int64_t)n;
}

/* Loads the plugin, in a process of its own, and runs `blocks` in it; what it wrote. */
static void check(void (*blocks)(void), const char *want)
{
	char path[] = "/tmp/labctl-test-XXXXXX", option[64], text[1000];
	int fd = mkstemp(path);
	ssize_t n;

	snprintf(option, sizeof(option), "out=%s", path);
	assert_int_equal(qemu_plugin_install(1, NULL, 1, (char *[]){option}), 0);
	blocks();
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	unlink(path);
	assert_string_equal(text, want);
}

static void everything(void)
{
	struct qemu_plugin_tb before = block(0x1000, 5, -1, NULL);
	struct qemu_plugin_tb begin = block(0x2000, 4, 2, MARKER_BEGIN);
	struct qemu_plugin_tb plain = block(0xffff0000, 6, -1, NULL);
	struct qemu_plugin_tb tail = block(0xffff000c, 3, -1, NULL);
	struct qemu_plugin_tb one = block(0x3000, 1, -1, NULL);
	/* Its last instruction would reach into the next page: listed, never executed. */
	struct qemu_plugin_tb edge = block(0x4ff4, 3, -1, NULL);
	struct qemu_plugin_tb end = block(0x5000, 3, 1, MARKER_END);
	struct qemu_plugin_tb again = block(0x6000, 3, 1, MARKER_BEGIN);

	execute(&before, 5, 0);
	execute(&before, 5, 0);
	execute(&begin, 4, 0);
	execute(&before, 5, 0);
	execute(&plain, 3, 1); /* the fourth faults, and is executed by the next block */
	execute(&tail, 3, 0);
	execute(&plain, 6, 0);
	execute(&one, 1, 0);
	execute(&edge, 2, 0);
	execute(&end, 3, 0);
	execute(&again, 3, 0); /* only the first pair counts */
	execute(&plain, 6, 0);
}

/*
 * The second instruction of the block with the first marker is done when the marker begins,
 * and not counted yet: it belongs to both. The one before the second marker belongs to none.
 */
static void test_counts(void **state)
{
	(void)state;
	check(everything, "executed 23\n"
			  "0000000000001000 5\n"
			  "0000000000002000 3\n"
			  "0000000000003000 1\n"
			  "0000000000004ff4 2\n"
			  "00000000ffff0000 9\n"
			  "00000000ffff000c 3\n"
			  "end\n");
}

static void test_bad_option(void **state)
{
	(void)state;
	assert_int_equal(qemu_plugin_install(1, NULL, 1, (char *[]){(char *)"out=/nonexistent/x"}),
			 -1);
	assert_int_equal(qemu_plugin_install(1, NULL, 0, NULL), -1);
}

int main(void)
{
	/* The plugin has one life in a process: what refuses it comes first. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_option),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
