/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "protocol/frame.h"

struct outbox {
	FILE *file;
	long long at; /* where the next frame begins */
	bool over;
};

int outbox_create(const char *path, uint64_t bytes, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;

	if (unlink(path) && errno != ENOENT)
		return lab_error_errno(err, errno, "%s", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return lab_error_errno(err, errno, "%s", path);
	return 0;
}

int outbox_open(const char *path, struct outbox **ret, struct lab_error *err)
{
	LAB_CLEANUP(outbox) struct outbox *o = LAB_NEW(struct outbox);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	o->file = fdopen(fd, "r");
	if (!o->file) {
		close(fd);
		return lab_error_errno(err, errno, "%s", path);
	}
	*ret = LAB_TAKE(o);
	return 0;
}

void outbox_free(struct outbox *outbox)
{
	if (!outbox)
		return;
	if (outbox->file)
		fclose(outbox->file);
	free(outbox);
}

static int decode(const struct lab_buf *bytes, json_t **ret, struct lab_error *err)
{
	LAB_CLEANUP(frame_decoder) struct frame_decoder *decoder = frame_decoder_new();

	/* At most FRAME_FEED_MAX in one piece: the head goes first. */
	if (frame_decoder_feed(decoder, bytes->data, FRAME_HEAD, err) ||
	    frame_decoder_feed(decoder, bytes->data + FRAME_HEAD, bytes->len - FRAME_HEAD, err))
		return -1;
	return frame_decoder_next(decoder, ret, err) == 1 ? 0 : -1;
}

static int cut(struct outbox *o, const char *why, struct lab_error *err)
{
	o->over = true;
	return lab_error_set(err, LAB_ERR_INVALID, "the outbox is cut after %lld bytes: %s", o->at,
			     why);
}

int outbox_next(struct outbox *o, json_t **ret_frame, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf bytes = LAB_BUF_INIT;
	unsigned char head[FRAME_HEAD];
	struct lab_error why = {.text = "not a frame"};
	size_t len;
	char *body;

	if (o->over)
		return 0;
	if (fread(head, 1, sizeof(head), o->file) != sizeof(head))
		return cut(o, "it is full", err);
	len = frame_length(head);
	if (!len) {
		o->over = true;
		return 0;
	}
	if (len > FRAME_MAX)
		return cut(o, "no frame is that long", err);
	lab_buf_add(&bytes, (const char *)head, sizeof(head));
	body = LAB_NEW_ARRAY(char, len);
	if (fread(body, 1, len, o->file) != len) {
		free(body);
		return cut(o, "it is full", err);
	}
	lab_buf_add(&bytes, body, len);
	free(body);
	if (decode(&bytes, ret_frame, &why))
		return cut(o, why.text, err);
	o->at += (long long)bytes.len;
	return 1;
}
