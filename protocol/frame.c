/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "protocol/frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/mem.h"

/* What may wait to be taken: a piece that was fed behind a frame that is nearly whole. */
#define BUFFER_MAX (FRAME_HEAD + FRAME_MAX + FRAME_FEED_MAX)

struct frame_decoder {
	struct lab_buf buf;
	size_t start; /* bytes of buf that were taken already */
	bool broken;
	struct lab_error why;
};

int frame_encode_text(const char *text, size_t len, struct lab_buf *out, struct lab_error *err)
{
	unsigned char head[FRAME_HEAD];

	if (len > FRAME_MAX)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "message of %zu bytes does not fit a frame of %u", len,
				     FRAME_MAX);
	for (int i = 0; i < FRAME_HEAD; i++)
		head[i] = (unsigned char)(len >> (8 * i));
	lab_buf_add(out, head, FRAME_HEAD);
	lab_buf_add(out, text, len);
	return 0;
}

int frame_encode(const json_t *msg, struct lab_buf *out, struct lab_error *err)
{
	LAB_CLEANUP(free) char *text = NULL;

	if (!json_is_object(msg))
		return lab_error_set(err, LAB_ERR_INVALID, "a frame holds one JSON object");
	text = json_dumps(msg, JSON_COMPACT);
	if (!text)
		return lab_error_set(err, LAB_ERR_FAILED, "message cannot be written as JSON");
	return frame_encode_text(text, strlen(text), out, err);
}

uint32_t frame_length(const void *head)
{
	const unsigned char *p = head;

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

struct frame_decoder *frame_decoder_new(void)
{
	return LAB_NEW(struct frame_decoder);
}

void frame_decoder_free(struct frame_decoder *decoder)
{
	if (!decoder)
		return;
	lab_buf_release(&decoder->buf);
	free(decoder);
}

/* Remembers the first failure and repeats it ever after. */
static int fail(struct frame_decoder *decoder, struct lab_error *err)
{
	decoder->broken = true;
	lab_buf_release(&decoder->buf);
	decoder->start = 0;
	return lab_error_set(err, LAB_ERR_INVALID, "%s", decoder->why.text);
}

int frame_decoder_feed(struct frame_decoder *decoder, const void *data, size_t len,
		       struct lab_error *err)
{
	if (decoder->broken)
		return fail(decoder, err);
	if (len > FRAME_FEED_MAX || decoder->buf.len - decoder->start + len > BUFFER_MAX)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "frames are fed faster than they are taken");
	if (decoder->start) {
		lab_buf_consume(&decoder->buf, decoder->start);
		decoder->start = 0;
	}
	lab_buf_add(&decoder->buf, data, len);
	return 0;
}

int frame_decoder_next(struct frame_decoder *decoder, json_t **ret_msg, struct lab_error *err)
{
	size_t have = decoder->buf.len - decoder->start;
	const unsigned char *head;
	json_error_t why;
	json_t *msg;
	uint32_t len;

	if (decoder->broken)
		return fail(decoder, err);
	if (have < FRAME_HEAD)
		return 0;
	head = (const unsigned char *)decoder->buf.data + decoder->start;
	len = frame_length(head);
	if (len < 2 || len > FRAME_MAX) {
		lab_error_set(&decoder->why, LAB_ERR_INVALID, "garbage: frame of %u bytes", len);
		return fail(decoder, err);
	}
	if (have < FRAME_HEAD + len)
		return 0;
	msg = json_loadb((const char *)head + FRAME_HEAD, len, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(msg)) {
		lab_error_set(&decoder->why, LAB_ERR_INVALID, "garbage: frame is not %s",
			      msg ? "a JSON object" : "JSON");
		json_decref(msg);
		return fail(decoder, err);
	}
	decoder->start += FRAME_HEAD + len;
	*ret_msg = msg;
	return 1;
}

size_t frame_decoder_pending(const struct frame_decoder *decoder)
{
	return decoder->buf.len - decoder->start;
}
