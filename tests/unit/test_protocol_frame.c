/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "protocol/frame.h"

static void test_bytes(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	json_t *msg = json_pack("{s:i}", "a", 1);

	(void)state;
	assert_int_equal(frame_encode(msg, &out, NULL), 0);
	assert_int_equal(out.len, 11);
	assert_memory_equal(out.data, "\7\0\0\0{\"a\":1}", 11);
	json_decref(msg);
}

static json_t *text_of(size_t len)
{
	char *fill = lab_calloc(len + 1, 1);
	json_t *msg = json_object();

	memset(fill, 'x', len);
	json_object_set_new(msg, "t", json_string(fill));
	free(fill);
	return msg;
}

static void test_largest(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	json_t *fits = text_of(FRAME_MAX - 8), *over = text_of(FRAME_MAX - 7), *got = NULL;
	struct lab_error err = {0};

	(void)state;
	assert_int_equal(frame_encode(over, &out, &err), -1);
	assert_non_null(strstr(err.text, "does not fit"));
	assert_int_equal(out.len, 0);
	assert_int_equal(frame_encode(fits, &out, NULL), 0);
	assert_int_equal(out.len, FRAME_HEAD + FRAME_MAX);
	assert_int_equal(frame_decoder_feed(decoder, out.data, FRAME_MAX, NULL), 0);
	assert_int_equal(frame_decoder_next(decoder, &got, NULL), 0);
	assert_int_equal(frame_decoder_feed(decoder, out.data + FRAME_MAX, 4, NULL), 0);
	assert_int_equal(frame_decoder_next(decoder, &got, NULL), 1);
	assert_true(json_equal(got, fits));
	json_decref(got);
	json_decref(fits);
	json_decref(over);
}

/* Two frames arrive a byte at a time: each is out as soon as its last byte is in. */
static void test_torn_arrival(void **state)
{
	static const char bytes[] = "\7\0\0\0{\"a\":1}\2\0\0\0{}";
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	int frames = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		json_t *msg = NULL;
		int rc;

		assert_int_equal(frame_decoder_feed(decoder, bytes + i, 1, NULL), 0);
		rc = frame_decoder_next(decoder, &msg, NULL);
		assert_int_equal(rc, i == 10 || i == 16);
		frames += rc;
		json_decref(msg);
	}
	assert_int_equal(frames, 2);
	assert_int_equal(frame_decoder_pending(decoder), 0);
}

static void test_garbage(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} bad[] = {
		{"\0\0\0\0", 4, "frame of 0 bytes"},
		{"\1\0\0\0{", 5, "frame of 1 bytes"},
		{"\1\0\x10\0", 4, "frame of 1048577 bytes"},
		{"\xff\xff\xff\xff", 4, "frame of 4294967295 bytes"},
		{"\2\0\0\0[]", 6, "not a JSON object"},
		{"\2\0\0\0{x", 6, "not JSON"},
		{"\3\0\0\0{} {}", 9, ""}, /* fine: white space; then garbage */
		{"\4\0\0\0{}{}", 8, "not JSON"},
		{"\x0d\0\0\0{\"a\":1,\"a\":2}", 17, "not JSON"},
		{"\x0c\0\0\0{\"a\":\"\\u0000\"}", 18, "not JSON"},
		{"\x8\0\0\0{\"\xff\xfe\":1}", 12, "not JSON"},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
		struct lab_error err = {0}, again = {0};
		json_t *msg = NULL;
		int rc;

		assert_int_equal(frame_decoder_feed(decoder, bad[i].bytes, bad[i].len, NULL), 0);
		rc = frame_decoder_next(decoder, &msg, &err);
		if (!bad[i].why[0]) {
			assert_int_equal(rc, 1);
			json_decref(msg);
			continue;
		}
		assert_int_equal(rc, -1);
		assert_int_equal(err.kind, LAB_ERR_INVALID);
		assert_non_null(strstr(err.text, bad[i].why));
		/* It stays broken: nothing behind garbage is believed. */
		assert_int_equal(frame_decoder_feed(decoder, "\2\0\0\0{}", 6, NULL), -1);
		assert_int_equal(frame_decoder_next(decoder, &msg, &again), -1);
		assert_string_equal(again.text, err.text);
	}
}

static void test_feed_is_capped(void **state)
{
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	LAB_CLEANUP(free) char *fill = lab_calloc(FRAME_FEED_MAX + 1, 1);
	int rc = 0, fed = 0;

	(void)state;
	assert_int_equal(frame_decoder_feed(decoder, fill, FRAME_FEED_MAX + 1, NULL), -1);
	while (rc == 0 && fed < 100) {
		rc = frame_decoder_feed(decoder, fill, FRAME_FEED_MAX, NULL);
		fed++;
	}
	assert_int_equal(rc, -1);
	assert_true(fed <= 4);
}

static void test_not_an_object(void **state)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	json_t *list = json_array();

	(void)state;
	assert_int_equal(frame_encode(list, &out, NULL), -1);
	assert_int_equal(out.len, 0);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	       cmocka_unit_test(test_largest),
		cmocka_unit_test(test_torn_arrival),   cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_feed_is_capped), cmocka_unit_test(test_not_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
