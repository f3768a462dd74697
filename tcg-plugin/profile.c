/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin for QEMU that counts what the guest executes between the two markers of
 * protocol/marker.h, by the address of each translated block:
 *
 *   -plugin file=labctl-profile.so,out=FILE
 *
 * FILE is written when the second marker is executed:
 *
 *   executed N      instructions between the markers by QEMU's own clock, or "executed -"
 *   ADDRESS COUNT   of each block, in hex and decimal, by address
 *
 * An instruction is counted when the next one of its block begins: one that faults is begun
 * twice and done once. Only the last of a block has to be counted at its own beginning, and
 * all of a block at whose end it is not known which one is the last.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/marker.h"
#include "tcg-plugin/qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv);

/* Translated code holds pointers to counters, so they never move: chunks of an arena. */
enum { CHUNK = 4096, TABLE_FIRST = 1 << 14 };

/* Bytes: of a page, of the longest instruction. */
enum { PAGE = 4096, LONGEST = 15 };

struct block {
	uint64_t address;
	uint64_t count;
};

struct chunk {
	struct chunk *next;
	size_t n;
	struct block blocks[CHUNK];
};

static struct {
	FILE *out;
	struct chunk *chunks;
	size_t n_blocks;
	struct block **table; /* by address, open addressing */
	size_t table_size;    /* a power of two */
	enum { BEFORE, BETWEEN, AFTER } where;
	int64_t begin; /* QEMU's count at the first marker, -1: not known */
	int64_t at;    /* at the marker translated last, -1: none since it was executed */
} profile = {.begin = -1, .at = -1};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static size_t slot_of(uint64_t address)
{
	size_t mask = profile.table_size - 1;
	size_t i = (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & mask;

	while (profile.table[i] && profile.table[i]->address != address)
		i = (i + 1) & mask;
	return i;
}

static void grow(void)
{
	struct block **old = profile.table;
	size_t n = profile.table_size;

	profile.table_size = n ? n * 2 : TABLE_FIRST;
	profile.table = must(calloc(profile.table_size, sizeof(struct block *)));
	for (size_t i = 0; i < n; i++) {
		if (old[i])
			profile.table[slot_of(old[i]->address)] = old[i];
	}
	free(old);
}

static struct block *block_at(uint64_t address)
{
	struct chunk *chunk = profile.chunks;
	size_t slot;

	if (profile.n_blocks * 2 >= profile.table_size)
		grow();
	slot = slot_of(address);
	if (profile.table[slot])
		return profile.table[slot];
	if (!chunk || chunk->n == CHUNK) {
		chunk = must(calloc(1, sizeof(*chunk)));
		chunk->next = profile.chunks;
		profile.chunks = chunk;
	}
	profile.table[slot] = &chunk->blocks[chunk->n++];
	profile.table[slot]->address = address;
	profile.n_blocks++;
	return profile.table[slot];
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = *(struct block *const *)a, *y = *(struct block *const *)b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void write_out(int64_t executed)
{
	struct block **sorted = must(calloc(profile.n_blocks + 1, sizeof(*sorted)));
	size_t n = 0;

	for (size_t i = 0; i < profile.table_size; i++) {
		if (profile.table[i] && profile.table[i]->count)
			sorted[n++] = profile.table[i];
	}
	qsort(sorted, n, sizeof(*sorted), by_address);
	if (executed < 0)
		fputs("executed -\n", profile.out);
	else
		fprintf(profile.out, "executed %" PRId64 "\n", executed);
	for (size_t i = 0; i < n; i++)
		fprintf(profile.out, "%016" PRIx64 " %" PRIu64 "\n", sorted[i]->address,
			sorted[i]->count);
	fputs("end\n", profile.out);
	fflush(profile.out);
	free(sorted);
}

static void begin_here(unsigned vcpu, void *udata)
{
	(void)vcpu;
	(void)udata;
	if (profile.where != BEFORE)
		return;
	for (struct chunk *c = profile.chunks; c; c = c->next) {
		for (size_t i = 0; i < c->n; i++)
			c->blocks[i].count = 0;
	}
	profile.begin = profile.at;
	profile.at = -1;
	profile.where = BETWEEN;
}

static void end_here(unsigned vcpu, void *udata)
{
	(void)vcpu;
	(void)udata;
	if (profile.where != BETWEEN)
		return;
	profile.where = AFTER;
	write_out(profile.begin < 0 || profile.at < 0 ? -1 : profile.at - profile.begin);
}

/*
 * A block is translated when it is about to be executed, the markers' for the only time: what
 * QEMU has counted is up to date then. `counted`: of the instructions of this block before
 * the marker, those that the plugin has counted when the marker's own callback comes.
 */
static void note_marker(struct qemu_plugin_insn *insn, size_t counted)
{
	const void *bytes = qemu_plugin_insn_data(insn);
	qemu_plugin_vcpu_udata cb;

	if (qemu_plugin_insn_size(insn) != MARKER_BYTES)
		return;
	if (memcmp(bytes, MARKER_BEGIN, MARKER_BYTES) == 0)
		cb = begin_here;
	else if (memcmp(bytes, MARKER_END, MARKER_BYTES) == 0)
		cb = end_here;
	else
		return;
	if (icount_get_raw)
		profile.at = icount_get_raw() + (int64_t)counted;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

/*
 * An instruction that would reach into the next page is left to the next block, but QEMU 7.2
 * still lists it, without executing what is registered for it.
 */
static bool last_may_be_left_out(const struct qemu_plugin_tb *tb, size_t n)
{
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	uint64_t end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);

	return n > 1 && (PAGE - end % PAGE) % PAGE < LONGEST;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block = block_at(qemu_plugin_tb_vaddr(tb));
	size_t n = qemu_plugin_tb_n_insns(tb);
	bool own = n > 0 && last_may_be_left_out(tb, n);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned done = own ? 1 : (i > 0) + (i == n - 1);

		note_marker(insn, own || i == 0 ? i : i - 1);
		if (done)
			qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
								   &block->count, done);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "out=", 4) == 0 && !profile.out)
			profile.out = fopen(argv[i] + 4, "we");
	}
	if (!profile.out) {
		fputs("labctl-profile: out=FILE is missing or cannot be written\n", stderr);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
