/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/frames_diff.h"

#include <stdbool.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "protocol/frame.h"
#include "protocol/record.h"

enum { AROUND = 60 }; /* characters shown around the first difference */

/* Length of the frame at `at` with its head, 0 when the rest is none. */
static size_t frame_at(const struct lab_buf *b, size_t at)
{
	size_t len;

	if (b->len - at < FRAME_HEAD)
		return 0;
	len = FRAME_HEAD + (size_t)frame_length(b->data + at);
	return len <= b->len - at ? len : 0;
}

static char *type_of(const struct lab_buf *b, size_t at, size_t len)
{
	json_auto_t *json = json_loadb(b->data + at + FRAME_HEAD, len - FRAME_HEAD, 0, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));

	return lab_strdup(type ? type : "unreadable");
}

/* What stands around offset `diff` of a frame's text. */
static char *excerpt(const struct lab_buf *b, size_t at, size_t len, size_t diff)
{
	size_t from = diff > AROUND / 2 ? diff - AROUND / 2 : 0;
	size_t n = len - FRAME_HEAD - from;

	return lab_asprintf("%s%.*s%s", from ? "..." : "", (int)(n < AROUND ? n : AROUND),
			    b->data + at + FRAME_HEAD + from, n > AROUND ? "..." : "");
}

static void describe(const struct lab_buf *a, const struct lab_buf *b, size_t at, size_t number,
		     struct lab_buf *out)
{
	size_t len_a = frame_at(a, at), len_b = frame_at(b, at), diff = 0;
	LAB_CLEANUP(free) char *type = NULL;
	LAB_CLEANUP(free) char *text_a = NULL;
	LAB_CLEANUP(free) char *text_b = NULL;

	if (!len_a || !len_b) {
		lab_buf_addf(out, "after %zu equal frames one has %zu bytes more and the other %zu",
			     number - 1, a->len - at, b->len - at);
		return;
	}
	while (diff < len_a - FRAME_HEAD && diff < len_b - FRAME_HEAD &&
	       a->data[at + FRAME_HEAD + diff] == b->data[at + FRAME_HEAD + diff])
		diff++;
	type = type_of(a, at, len_a);
	text_a = excerpt(a, at, len_a, diff);
	text_b = excerpt(b, at, len_b, diff);
	lab_buf_addf(out, "frame %zu (%s) differs at character %zu: '%s' against '%s'", number,
		     type, diff + 1, text_a, text_b);
}

int frames_diff(const char *path_a, const char *path_b, struct lab_buf *out, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf a = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf b = LAB_BUF_INIT;
	size_t at = 0, number = 1;

	if (lab_read_file(path_a, RECORD_MAX, &a, err) < 0 ||
	    lab_read_file(path_b, RECORD_MAX, &b, err) < 0)
		return -1;
	if (a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0))
		return 1;
	for (;; number++) {
		size_t len_a = frame_at(&a, at), len_b = frame_at(&b, at);

		if (!len_a || len_a != len_b || memcmp(a.data + at, b.data + at, len_a) != 0)
			break;
		at += len_a;
	}
	describe(&a, &b, at, number, out);
	return 0;
}
