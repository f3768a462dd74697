/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/term.h"
#include "common/mem.h"

/* A term whose two streams end in memory. */
struct fixture {
	char *out, *talk;
	size_t out_len, talk_len;
	FILE *out_file, *talk_file;
	struct term *term;
};

static void begin(struct fixture *f, bool is_tty)
{
	memset(f, 0, sizeof(*f));
	f->out_file = open_memstream(&f->out, &f->out_len);
	f->talk_file = open_memstream(&f->talk, &f->talk_len);
	f->term = term_new(f->out_file, f->talk_file, is_tty, 80);
}

static void finish(struct fixture *f)
{
	assert_int_equal(term_finish(f->term, NULL), 0); /* closes out */
	fclose(f->talk_file);
	term_free(f->term);
}

static void release(struct fixture *f)
{
	free(f->out);
	free(f->talk);
}

static void test_streams(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false);
	term_printf(f.term, "result %d\n", 1);
	term_say(f.term, "talk %d", 2);
	term_error(f.term, "first line\nand its cure");
	finish(&f);
	assert_string_equal(f.out, "result 1\n");
	assert_string_equal(f.talk, "talk 2\nlabctl: first line\n        and its cure\n");
	release(&f);
}

static void test_line(void **state)
{
	static const struct {
		struct term_progress p;
		const char *line;
	} cases[] = {
		{{.what = "B", .done = 156, .total = 312, .unit = "objects", .text = "mm/slub.c"},
		 "[###############---------------]  B  156/312 objects  1m05s  mm/slub.c"},
		{{.what = "fetch", .done = 5, .unit = "objects"}, "fetch  5 objects  1m05s"},
		{{.what = "import", .done = 1 << 20, .total = 4 << 20, .unit = "bytes"},
		 "[#######-----------------------]  import  1.0 MiB/4.0 MiB  1m05s"},
		{{.what = "14/60  B over",
		  .done = 1361,
		  .total = 6000,
		  .unit = "",
		  .text = "run  61 %",
		  .left_ms = 1500000},
		 "[######------------------------]  14/60  B over  1m05s  left 25m00s  run  61 %"},
		{{.what = "x", .done = 9, .total = 3},
		 "[##############################]  x  9/3  1m05s"},
		{{.what = "KVM"}, "KVM  1m05s"},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(cases); i++) {
		LAB_CLEANUP(free) char *line = term_progress_line(&cases[i].p, 65000, 100);

		assert_string_equal(line, cases[i].line);
	}
}

static void test_line_is_cut(void **state)
{
	struct term_progress p = {.what = "\xc3\xa4\xc3\xb6\xc3\xbc", .text = "long"};
	LAB_CLEANUP(free) char *two = term_progress_line(&p, 0, 2);
	LAB_CLEANUP(free) char *none = term_progress_line(&p, 0, 0);

	(void)state;
	assert_string_equal(two, "\xc3\xa4\xc3\xb6"); /* no half of a character */
	assert_string_equal(none, "");
}

static unsigned count(const char *text, char c)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

/* A log gets a line at the beginning and at each tenth, however often it moves. */
static void test_progress_in_a_log(void **state)
{
	struct fixture f;
	struct term_progress p = {.what = "A", .total = 1000, .unit = "objects"};

	(void)state;
	begin(&f, false);
	for (p.done = 0; p.done <= 1000; p.done++)
		term_progress(f.term, &p);
	p.what = "B";
	p.done = 0;
	term_progress(f.term, &p);
	term_progress_end(f.term);
	finish(&f);
	assert_int_equal(count(f.talk, '\n'), 12);
	assert_null(strchr(f.talk, '\r'));
	assert_null(strchr(f.talk, '\033'));
	assert_string_equal(f.out, "");
	release(&f);
}

/* On a terminal the line is redrawn in place and gone before anything is printed. */
static void test_progress_on_a_terminal(void **state)
{
	struct fixture f;
	struct term_progress p = {.what = "A", .done = 1, .total = 2};

	(void)state;
	begin(&f, true);
	term_progress(f.term, &p);
	term_progress(f.term, &p); /* too soon to be drawn again */
	term_say(f.term, "words");
	term_progress_end(f.term);
	finish(&f);
	assert_int_equal(count(f.talk, '\n'), 1);
	assert_int_equal(count(f.talk, '['), 3); /* one bar, an erase behind it, one of it */
	assert_non_null(strstr(f.talk, "\r\033[Kwords\n"));
	release(&f);
}

static void test_failed_write(void **state)
{
	struct lab_error err = {0};
	FILE *full = fopen("/dev/full", "we");
	FILE *talk = fopen("/dev/null", "we");
	struct term *term;

	(void)state;
	assert_non_null(full);
	assert_non_null(talk);
	term = term_new(full, talk, false, 80);
	term_print(term, "result\n");
	assert_int_equal(term_finish(term, &err), -1);
	assert_string_equal(err.text, "cannot write standard output: No space left on device");
	term_free(term);
	fclose(talk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_line_is_cut),
		cmocka_unit_test(test_progress_in_a_log),
		cmocka_unit_test(test_progress_on_a_terminal),
		cmocka_unit_test(test_failed_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
