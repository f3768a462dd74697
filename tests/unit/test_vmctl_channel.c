/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"
#include "protocol/frame.h"
#include "vmctl/channel.h"

struct pair {
	struct channel *host;
	int guest;
};

static int set_up(void **state)
{
	struct pair *p = LAB_NEW(struct pair);
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	p->host = channel_new(fds[0]);
	p->guest = fds[1];
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	channel_free(p->host);
	if (p->guest >= 0)
		close(p->guest);
	free(p);
	return 0;
}

static void guest_says(struct pair *p, const char *text)
{
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	json_t *msg = json_pack("{s:s}", "say", text);

	assert_int_equal(frame_encode(msg, &out, NULL), 0);
	assert_int_equal(write(p->guest, out.data, out.len), out.len);
	json_decref(msg);
}

static void host_hears(struct pair *p, const char *text)
{
	struct lab_error err = {0};
	json_t *msg = NULL;

	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_FRAME);
	assert_string_equal(json_string_value(json_object_get(msg, "say")), text);
	json_decref(msg);
}

static void test_frames(void **state)
{
	struct pair *p = *state;
	struct lab_error err = {0};
	json_t *msg = NULL;

	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_MORE);
	guest_says(p, "one");
	guest_says(p, "two");
	host_hears(p, "one");
	host_hears(p, "two");
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_MORE);
}

/* What was said before the end is there; what was half said is not. */
static void test_end(void **state)
{
	struct pair *p = *state;
	struct lab_error err = {0};
	json_t *msg = NULL;

	guest_says(p, "last");
	assert_int_equal(write(p->guest, "\x09\0\0", 3), 3);
	close(p->guest);
	p->guest = -1;
	host_hears(p, "last");
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_CLOSED);
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_CLOSED);
	assert_int_equal(channel_fd(p->host), -1);
	msg = json_object();
	assert_int_equal(channel_send(p->host, msg, &err), -1);
	json_decref(msg);
}

static void test_garbage(void **state)
{
	struct pair *p = *state;
	struct lab_error err = {0};
	char flood[65536] = {0};
	json_t *msg = NULL;

	guest_says(p, "fine");
	assert_int_equal(write(p->guest, "\xff\xff\xff\xffgarbage", 11), 11);
	host_hears(p, "fine");
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_GARBAGE);
	assert_true(strlen(err.text) > 0);
	/* Said once; the rest is read so that the guest is not blocked, and dropped. */
	guest_says(p, "ignored");
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_MORE);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(send(p->guest, flood, sizeof(flood), MSG_DONTWAIT), sizeof(flood));
		assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_MORE);
	}
	close(p->guest);
	p->guest = -1;
	assert_int_equal(channel_next(p->host, &msg, &err), CHANNEL_CLOSED);
}

static void test_cut_frames(void **state)
{
	struct pair *p = *state;
	LAB_CLEANUP(buf) struct lab_buf out = LAB_BUF_INIT;
	json_t *msg = json_pack("{s:s}", "say", "piecemeal"), *got = NULL;
	struct lab_error err = {0};

	assert_int_equal(frame_encode(msg, &out, NULL), 0);
	json_decref(msg);
	for (size_t i = 0; i + 1 < out.len; i++) {
		assert_int_equal(write(p->guest, out.data + i, 1), 1);
		assert_int_equal(channel_next(p->host, &got, &err), CHANNEL_MORE);
	}
	assert_int_equal(write(p->guest, out.data + out.len - 1, 1), 1);
	host_hears(p, "piecemeal");
}

/* A guest that does not read never blocks us, and at last the send fails in words. */
static void test_deaf(void **state)
{
	struct pair *p = *state;
	struct lab_error err = {0};
	char *fill = lab_calloc(1, 500001);
	json_t *msg = NULL;
	int sent = 0;

	memset(fill, 'x', 500000);
	msg = json_pack("{s:s}", "say", fill);
	while (sent < 1000 && channel_send(p->host, msg, &err) == 0)
		sent++;
	assert_in_range(sent, 10, 100);
	assert_int_equal(err.kind, LAB_ERR_TIMEOUT);
	assert_true(channel_wants_write(p->host));
	json_decref(msg);
	free(fill);
}

/* What was queued arrives whole once the guest reads. */
static void test_queue(void **state)
{
	struct pair *p = *state;
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();
	struct lab_error err = {0};
	static char chunk[65536];
	int got = 0;

	for (int i = 0; i < 2000; i++) {
		json_t *msg =
			json_pack("{s:i, s:s}", "n", i, "fill",
				  "0123456789012345678901234567890123456789012345678901234567");

		assert_int_equal(channel_send(p->host, msg, &err), 0);
		json_decref(msg);
	}
	while (got < 2000) {
		ssize_t n = recv(p->guest, chunk, sizeof(chunk), MSG_DONTWAIT);
		json_t *msg = NULL;

		if (n > 0)
			assert_int_equal(frame_decoder_feed(decoder, chunk, (size_t)n, &err), 0);
		while (frame_decoder_next(decoder, &msg, &err) == 1) {
			assert_int_equal(json_integer_value(json_object_get(msg, "n")), got);
			got++;
			json_decref(msg);
		}
		channel_flush(p->host);
	}
	assert_false(channel_wants_write(p->host));
}

static void test_connect(void **state)
{
	struct channel *channel = NULL;
	struct lab_error err = {0};
	char path[200];

	(void)state;
	assert_int_equal(channel_connect("/no/such/socket", &channel, &err), -1);
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(channel_connect(path, &channel, &err), -1);
	assert_non_null(strstr(err.text, "too long"));
	assert_null(channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_garbage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut_frames, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_queue, set_up, tear_down),
		cmocka_unit_test(test_connect),
	};

	return cmocka_run_group_tests_name("vmctl channel", tests, NULL, NULL);
}
