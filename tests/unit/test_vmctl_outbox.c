/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine left in its outbox: whole, empty, cut, full, garbage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "lab_fixture.h"
#include "protocol/frame.h"
#include "vmctl/outbox.h"

enum { SIZE = 8192 };

static char *fresh(const struct lab_fixture *f, const struct lab_buf *content)
{
	char *path = lab_path_join(f->top, "outbox.img");

	assert_ok(outbox_create(path, SIZE, err));
	if (content && content->len) {
		FILE *file = fopen(path, "r+e");

		assert_int_equal(fwrite(content->data, 1, content->len, file), content->len);
		fclose(file);
	}
	return path;
}

static void add(struct lab_buf *out, int i)
{
	json_auto_t *msg = json_pack("{s:s, s:i}", "type", "log", "i", i);

	assert_ok(frame_encode(msg, out, err));
}

/* Reads n messages in order, then expects `words` in the error, or the end (NULL). */
static void expect(const char *path, int n, const char *words)
{
	LAB_CLEANUP(outbox) struct outbox *outbox = NULL;
	struct lab_error why = {0};
	json_t *frame = NULL;

	assert_ok(outbox_open(path, &outbox, err));
	for (int i = 0; i < n; i++) {
		assert_int_equal(outbox_next(outbox, &frame, &why), 1);
		assert_int_equal(json_integer_value(json_object_get(frame, "i")), i);
		json_decref(frame);
	}
	assert_int_equal(outbox_next(outbox, &frame, &why), words ? -1 : 0);
	if (words && !strstr(why.text, words))
		fail_msg("'%s' is not in '%s'", words, why.text);
	/* Once it is over it stays so. */
	assert_int_equal(outbox_next(outbox, &frame, &why), 0);
}

static void test_whole(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf content = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *path = NULL;
	struct stat st;

	for (int i = 0; i < 3; i++)
		add(&content, i);
	path = fresh(*state, &content);
	expect(path, 3, NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, SIZE);
}

static void test_empty(void **state)
{
	LAB_CLEANUP(free) char *path = fresh(*state, NULL);

	expect(path, 0, NULL);
	/* It can be made again over an old one. */
	assert_ok(outbox_create(path, SIZE, err));
}

/* The guest died while it wrote: what came before is kept, at whatever byte it was. */
static void test_cut(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf content = LAB_BUF_INIT;
	size_t whole;

	add(&content, 0);
	whole = content.len;
	add(&content, 1);
	for (size_t len = whole + FRAME_HEAD; len < content.len; len++) {
		LAB_CLEANUP(buf) struct lab_buf cut = LAB_BUF_INIT;
		LAB_CLEANUP(free) char *path = NULL;

		lab_buf_add(&cut, content.data, len);
		path = fresh(*state, &cut);
		expect(path, 1, "cut after");
	}
}

static void test_garbage(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf content = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *path = NULL;

	add(&content, 0);
	lab_buf_add(&content, "\xff\xff\xff\x7f{}", 6);
	path = fresh(*state, &content);
	expect(path, 1, "no frame is that long");
}

static void test_full(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf content = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *path = NULL;

	add(&content, 0);
	/* A frame that would end behind the end of the volume. */
	lab_buf_add(&content, "\0\x20\0\0{\"type\":", 13);
	path = fresh(*state, &content);
	expect(path, 1, "full");
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	{
		struct outbox *outbox;
		struct lab_error why;

		assert_int_equal(outbox_open(path, &outbox, &why), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_empty, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_cut, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_garbage, lab_set_up, lab_tear_down),
		cmocka_unit_test_setup_teardown(test_full, lab_set_up, lab_tear_down),
	};

	return cmocka_run_group_tests_name("vmctl outbox", tests, NULL, NULL);
}
