/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/mem.h"
#include "protocol/frame.h"
#include "protocol/frames_diff.h"

static char dir[] = "/tmp/labctl-frames-XXXXXX";

/* Frames {"type": "log", "i": n} for each number given, cut to `len` bytes when that is not 0. */
static char *file(const char *name, const char *numbers, size_t len)
{
	char *path = lab_path_join(dir, name);
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;

	for (const char *p = numbers; *p; p++) {
		json_t *msg = json_pack("{s:s, s:i}", "type", "log", "i", *p - '0');

		assert_int_equal(frame_encode(msg, &bytes, NULL), 0);
		json_decref(msg);
	}
	assert_int_equal(lab_write_file(path, bytes.len ? bytes.data : "", len ? len : bytes.len,
					0644, NULL),
			 0);
	return path;
}

static void expect(const char *a, size_t len_a, const char *b, size_t len_b, const char *words)
{
	LAB_CLEANUP(free) char *path_a = file("a", a, len_a);
	LAB_CLEANUP(free) char *path_b = file("b", b, len_b);
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;

	assert_int_equal(frames_diff(path_a, path_b, &out, NULL), words ? 0 : 1);
	if (words && (!out.data || !strstr(out.data, words)))
		fail_msg("'%s' is not in '%s'", words, out.data ? out.data : "");
}

static void test_diff(void **state)
{
	(void)state;
	expect("", 0, "", 0, NULL);
	expect("123", 0, "123", 0, NULL);
	expect("123", 0, "143", 0, "frame 2 (log) differs at character 19: '");
	expect("123", 0, "143", 0, "\"i\":2}' against '");
	expect("123", 0, "12", 0, "after 2 equal frames one has 24 bytes more and the other 0");
	expect("12", 0, "", 0, "after 0 equal frames");
	/* Cut in the middle of a frame, or of its head. */
	expect("12", 0, "12", 38, "after 1 equal frames one has 24 bytes more and the other 14");
	expect("12", 26, "12", 25, "one has 2 bytes more and the other 1");
}

static void test_unreadable(void **state)
{
	LAB_CLEANUP(free) char *path = file("a", "1", 0);
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(frames_diff(path, "/nonexistent/frames", &out, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/frames"));
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return lab_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests_name("protocol frames_diff", tests, set_up, tear_down);
}
