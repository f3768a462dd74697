/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_FRAME_H
#define LAB_PROTOCOL_FRAME_H

/*
 * Frames: a four-byte little-endian length, then that many bytes of one JSON
 * object. The same bytes go over a channel and into a frames file.
 */

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/buf.h"
#include "common/err.h"

#define FRAME_MAX (1u << 20)	 /* largest JSON text */
#define FRAME_HEAD 4		 /* bytes of the length */
#define FRAME_FEED_MAX FRAME_MAX /* largest piece to feed at once */

/* Length of the JSON text behind these FRAME_HEAD bytes; not checked. */
uint32_t frame_length(const void *head);

/* Appends the frame of `msg` (an object) to out. Fails when it would exceed FRAME_MAX. */
int frame_encode(const json_t *msg, struct lab_buf *out, struct lab_error *err) LAB_MUST_CHECK;
/* The same of an object's text, which is not looked at. */
int frame_encode_text(const char *text, size_t len, struct lab_buf *out,
		      struct lab_error *err) LAB_MUST_CHECK;

/*
 * Takes a byte stream apart. A length over FRAME_MAX is refused before anything
 * is allocated for it; after the first garbage every call fails the same way,
 * since nothing behind it can be trusted. Drain with frame_decoder_next after
 * each frame_decoder_feed: more than a few frames are not kept.
 */
struct frame_decoder;

struct frame_decoder *frame_decoder_new(void);
void frame_decoder_free(struct frame_decoder *decoder);
LAB_DEFINE_CLEANUP(frame_decoder, struct frame_decoder, frame_decoder_free)

/* Adds bytes as they came, FRAME_FEED_MAX at most. */
int frame_decoder_feed(struct frame_decoder *decoder, const void *data, size_t len,
		       struct lab_error *err) LAB_MUST_CHECK;
/* 1: *ret_msg is the next object (caller's reference); 0: more bytes needed; -1: garbage. */
int frame_decoder_next(struct frame_decoder *decoder, json_t **ret_msg,
		       struct lab_error *err) LAB_MUST_CHECK;
/* Bytes that are here and belong to a frame that is not whole yet. */
size_t frame_decoder_pending(const struct frame_decoder *decoder);

#endif
