/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: names for addresses, means over runs, two of them side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "lab_fixture.h"
#include "report/profile.h"
#include "report/symbols.h"
#include "store/campaign.h"
#include "tests/unit/golden.h"

#define BASE 0xffffffff81000000u
#define SHIFT 0x1c600000u /* what the kernel of these runs was moved by */

/* The functions fn00 to fn39 of 256 bytes each, and what else a System.map has. */
static void write_map(const char *path)
{
	LAB_CLEANUP(buf) struct lab_buf map = LAB_BUF_INIT;

	lab_buf_adds(&map, "0000000000000000 D fixed_percpu_data\n"
			   "0000000001000000 A phys_startup_64\n"
			   "ffffffff82000000 D data_symbol\n");
	for (unsigned i = 0; i < 40; i++)
		lab_buf_addf(&map, "%016llx %c fn%02u%s\n", (unsigned long long)BASE + i * 256u,
			     i % 2 ? 't' : 'T', i == 7 ? 6 : i, i == 7 ? ".cold" : "");
	lab_buf_addf(&map, "%016llx T __sched_text_start\n", (unsigned long long)BASE + 256u);
	lab_buf_addf(&map, "%016llx T _etext\n", (unsigned long long)BASE + 40 * 256u);
	assert_ok(lab_write_file(path, map.data, map.len, 0644, err));
}

static void test_symbols(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "System.map");
	LAB_CLEANUP(symbols) struct symbols *symbols = NULL;
	uint64_t addresses[40], shift = 1;

	write_map(path);
	assert_ok(symbols_load(path, &symbols, err));
	assert_string_equal(symbols_at(symbols, BASE), "fn00");
	assert_string_equal(symbols_at(symbols, BASE + 255), "fn00");
	/* The mark of a section is no function; what was split off belongs to the whole. */
	assert_string_equal(symbols_at(symbols, BASE + 256), "fn01");
	assert_string_equal(symbols_at(symbols, BASE + 7 * 256 + 3), "fn06");
	assert_null(symbols_at(symbols, BASE - 1));
	assert_null(symbols_at(symbols, BASE + 40 * 256));

	for (size_t i = 0; i < LAB_COUNT(addresses); i++)
		addresses[i] = BASE + SHIFT + 256 * i + (i % 2 ? 0 : 24);
	assert_ok(symbols_shift(symbols, addresses, LAB_COUNT(addresses), &shift, err));
	assert_int_equal(shift, SHIFT);
	for (size_t i = 0; i < LAB_COUNT(addresses); i++)
		addresses[i] -= SHIFT;
	assert_ok(symbols_shift(symbols, addresses, LAB_COUNT(addresses), &shift, err));
	assert_int_equal(shift, 0);
	for (size_t i = 0; i < LAB_COUNT(addresses); i++)
		addresses[i] += 5;
	assert_fails(symbols_shift(symbols, addresses, LAB_COUNT(addresses), &shift, err),
		     LAB_ERR_NOT_FOUND, "not those of the kernel that ran");
}

static void test_no_symbols(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "System.map");
	static const char stub[] = "ffffffffffffffff B The real System.map is elsewhere\n";
	struct symbols *symbols = NULL;

	assert_ok(lab_write_file(path, stub, sizeof(stub) - 1, 0644, err));
	assert_fails(symbols_load(path, &symbols, err), LAB_ERR_INVALID, "names no function");
	assert_fails(symbols_load("/nonexistent", &symbols, err), LAB_ERR_NOT_FOUND, "nonexistent");
}

/* ---- a campaign ------------------------------------------------------------------- */

#define S(literal) ((char *)(literal))

static const struct run_slot plan[] = {
	{1, S("B"), S(""), 1, 1},
	{2, S("A"), S(""), 1, 1},
	{3, S("A"), S(""), 2, 2},
	{4, S("B"), S(""), 2, 2},
};

static int64_t create(struct lab_fixture *f, bool profile)
{
	LAB_CLEANUP(free)
	char *definition = lab_asprintf(
		"{\"profile\": %s, \"variants\": [{\"name\": \"A\", \"arm\": \"A\"}, "
		"{\"name\": \"B\", \"arm\": \"B\"}], \"kernels\": {\"A\": {\"path\": \"%s/bzImage\"}, "
		"\"B\": {\"path\": \"%s/bzImage\"}}}",
		profile ? "true" : "false", f->top, f->top);
	struct campaign c = {
		.experiment = S("slab-nomerge"),
		.preset = S("demo"),
		.target = S("exact"),
		.identity = S(profile ? "i1" : "i2"),
		.definition = definition,
		.n = 2,
	};
	int64_t id;

	assert_ok(campaign_create(f->lab, &c, plan, LAB_COUNT(plan), &id, err));
	return id;
}

/* A done run whose block at the beginning of function i was executed `counts[i]` times. */
static void add_run(struct lab_fixture *f, int64_t campaign, unsigned number,
		    const unsigned counts[4], unsigned executed, const char *tail)
{
	LAB_CLEANUP(run) struct run *run = NULL;
	LAB_CLEANUP(free) char *path = NULL;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	assert_ok(run_begin(f->lab, campaign, number, &run, err));
	path = lab_path_join(run->dir, "profile");
	if (executed)
		lab_buf_addf(&text, "executed %u\n", executed);
	else
		lab_buf_adds(&text, "executed -\n");
	lab_buf_addf(&text, "0000000000401000 11\n0000555555555000 22\n00007ffff7dd1000 33\n");
	for (unsigned i = 0; i < 40; i++)
		lab_buf_addf(&text, "%016llx %u\n", (unsigned long long)BASE + SHIFT + i * 256u,
			     i < 4 ? counts[i] : 1);
	lab_buf_addf(&text, "ffffffffc0123000 44\n%s", tail);
	assert_ok(lab_write_file(path, text.data, text.len, 0644, err));
	assert_ok(run_finish(f->lab, run->id, "done", NULL, NULL, NULL, NULL, err));
}

static double count_of(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->rows[i].name, name) == 0)
			return p->rows[i].count;
	}
	fail_msg("no %s", name);
	return 0;
}

static void fill(struct lab_fixture *f, int64_t *ret_id)
{
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "System.map");

	write_map(path);
	*ret_id = create(f, true);
	add_run(f, *ret_id, 1, (const unsigned[]){100, 200, 300, 400}, 1150, "end\n");
	add_run(f, *ret_id, 2, (const unsigned[]){10, 20, 30, 40}, 250, "end\n");
	add_run(f, *ret_id, 3, (const unsigned[]){20, 20, 30, 41}, 261, "end\n");
	add_run(f, *ret_id, 4, (const unsigned[]){100, 200, 300, 402}, 1150, "end\n");
}

static void test_campaign(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(profile) struct profile a = {0}, b = {0}, one = {0};
	LAB_CLEANUP(free) struct profile_line *lines = NULL;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	int64_t id;
	size_t n;

	fill(f, &id);
	assert_ok(profile_of_run(f->lab, id, 2, PROFILE_BY_FUNCTION, &one, err));
	assert_true(count_of(&one, "fn00") == 10);
	assert_true(count_of(&one, "fn06") == 2); /* and its cold part */
	assert_true(count_of(&one, "[static programs]") == 11);
	assert_true(count_of(&one, "[programs]") == 22);
	assert_true(count_of(&one, "[libraries]") == 33);
	assert_true(count_of(&one, "[modules]") == 44);
	assert_true(one.counted == 10 + 20 + 30 + 40 + 36 + 11 + 22 + 33 + 44);
	assert_true(one.executed == 250);
	assert_true(isnan(one.guest_ns)); /* it has no frames */

	assert_ok(profile_of_variant(f->lab, id, "A", "", PROFILE_BY_FUNCTION, &a, err));
	assert_ok(profile_of_variant(f->lab, id, "B", "", PROFILE_BY_FUNCTION, &b, err));
	assert_int_equal(a.boots, 2);
	assert_true(count_of(&a, "fn00") == 15);
	assert_true(count_of(&b, "fn03") == 401);
	lines = profile_lines(&a, &b, &n);
	assert_string_equal(lines[0].name, "fn03");
	assert_string_equal(lines[1].name, "fn02");
	assert_int_equal(n, a.n);
	profile_text(&a, "A", &b, "B", PROFILE_BY_FUNCTION, 3, &text);
	lab_buf_adds(&text, "----\n");
	profile_text(&one, "1.2", NULL, NULL, PROFILE_BY_FUNCTION, 3, &text);
	golden_check("report/profile.txt", text.data, text.len);
}

/* The same by directory, of a kernel whose build has left them. */
static void test_subsystems(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "functions.tsv");
	static const char functions[] = "fn00\tmm\nfn01\tmm\nfn02\tkernel/sched\n"
					"fn03\tfs\nfn03\tnet\n";
	LAB_CLEANUP(profile) struct profile p = {0};
	int64_t id;

	fill(f, &id);
	assert_fails(profile_of_run(f->lab, id, 2, PROFILE_BY_SUBSYSTEM, &p, err),
		     LAB_ERR_NOT_FOUND, "functions.tsv: only `labctl build` knows");
	assert_ok(lab_write_file(path, functions, sizeof(functions) - 1, 0644, err));
	assert_ok(profile_of_run(f->lab, id, 2, PROFILE_BY_SUBSYSTEM, &p, err));
	assert_true(count_of(&p, "mm") == 10 + 20);
	assert_true(count_of(&p, "kernel/sched") == 30);
	assert_true(count_of(&p, "(several)") == 40);
	assert_true(count_of(&p, "(not known)") == 36);
	assert_true(count_of(&p, "[libraries]") == 33);
	assert_true(p.counted == 10 + 20 + 30 + 40 + 36 + 11 + 22 + 33 + 44);
}

/* A function that only one kernel has counts 0 in the other. */
static void test_lines(void **state)
{
	struct profile_row x[] = {{S("both"), 5}, {S("only_a"), 7}};
	struct profile_row y[] = {{S("both"), 5}, {S("only_b"), 9}};
	const struct profile a = {.rows = x, .n = 2}, b = {.rows = y, .n = 2};
	LAB_CLEANUP(free) struct profile_line *lines = NULL;
	size_t n;

	(void)state;
	lines = profile_lines(&a, &b, &n);
	assert_int_equal(n, 3);
	assert_string_equal(lines[0].name, "only_b");
	assert_true(lines[0].a == 0 && lines[0].b == 9);
	assert_string_equal(lines[1].name, "only_a");
	assert_true(lines[1].a == 7 && lines[1].b == 0);
	assert_string_equal(lines[2].name, "both");
}

static void test_refused(void **state)
{
	struct lab_fixture *f = *state;
	LAB_CLEANUP(free) char *path = lab_path_join(f->top, "System.map");
	int64_t plain = create(f, false), id = create(f, true);
	LAB_CLEANUP(profile) struct profile p = {0};

	assert_fails(profile_of_run(f->lab, plain, 1, PROFILE_BY_FUNCTION, &p, err),
		     LAB_ERR_NOT_FOUND,
		     "labctl run slab-nomerge --preset demo --target exact --profile");
	assert_fails(profile_of_run(f->lab, id, 2, PROFILE_BY_FUNCTION, &p, err), LAB_ERR_NOT_FOUND,
		     "System.map");
	write_map(path);
	assert_fails(profile_of_run(f->lab, id, 2, PROFILE_BY_FUNCTION, &p, err), LAB_ERR_NOT_FOUND,
		     "is planned");
	assert_fails(profile_of_variant(f->lab, id, "A", "", PROFILE_BY_FUNCTION, &p, err),
		     LAB_ERR_NOT_FOUND, "no run of variant A");
	assert_fails(profile_of_variant(f->lab, id, "C", "", PROFILE_BY_FUNCTION, &p, err),
		     LAB_ERR_INVALID, "variant 'C'");
	add_run(f, id, 1, (const unsigned[]){1, 1, 1, 1}, 0, "");
	assert_fails(profile_of_run(f->lab, id, 1, PROFILE_BY_FUNCTION, &p, err), LAB_ERR_INVALID,
		     "is cut");
	add_run(f, id, 2, (const unsigned[]){1, 1, 1, 1}, 0, "12 x\nend\n");
	assert_fails(profile_of_run(f->lab, id, 2, PROFILE_BY_FUNCTION, &p, err), LAB_ERR_INVALID,
		     ":46: no profile");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(test_symbols),	   LAB_TEST(test_no_symbols), LAB_TEST(test_campaign),
		LAB_TEST(test_subsystems), LAB_TEST(test_refused),    cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
