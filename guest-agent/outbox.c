/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"

/* Direct writes are whole blocks from aligned memory; BUFFER of them at most at once. */
enum { BLOCK = 4096, BUFFER = 16 * BLOCK, END = 4 };

struct outbox {
	int fd;
	uint64_t size;
	uint64_t at; /* offset of buffer[0], whole blocks */
	size_t used; /* bytes in buffer: the beginning of a block that is not full yet */
	unsigned char *buffer;
};

int outbox_open(const char *path, struct outbox **ret, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDWR | O_DSYNC | O_DIRECT | O_CLOEXEC);
	void *buffer = NULL;
	off_t size;

	if (fd < 0 && errno == EINVAL) /* a file system that has no direct writes: in tests */
		fd = open(path, O_RDWR | O_DSYNC | O_CLOEXEC);
	if (fd < 0 || (size = lseek(fd, 0, SEEK_END)) < 0)
		return lab_error_errno(err, errno, "outbox %s", path);
	if (posix_memalign(&buffer, BLOCK, BUFFER))
		abort();
	*ret = LAB_NEW(struct outbox);
	**ret = (struct outbox){.fd = lab_take_fd(&fd), .size = (uint64_t)size, .buffer = buffer};
	return 0;
}

/* Writes the blocks that the buffer has begun; the last one stays in it when it is not full. */
static int flush(struct outbox *o, struct lab_error *err)
{
	size_t blocks = (o->used + BLOCK - 1) / BLOCK * BLOCK, full = o->used / BLOCK * BLOCK;
	size_t done = 0;

	memset(o->buffer + o->used, 0, blocks - o->used);
	while (done < blocks) {
		ssize_t n = pwrite(o->fd, o->buffer + done, blocks - done, (off_t)(o->at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lab_error_errno(err, n ? errno : ENOSPC, "outbox");
		done += (size_t)n;
	}
	memmove(o->buffer, o->buffer + full, o->used - full);
	o->at += full;
	o->used -= full;
	return 0;
}

int outbox_write(struct outbox *o, const void *data, size_t len, struct lab_error *err)
{
	const unsigned char *from = data;

	/* Zeros stay behind the last frame: they are its end. */
	if (o->at + o->used + len + END > o->size)
		return lab_error_errno(err, ENOSPC, "outbox");
	while (len) {
		size_t part = len < BUFFER - o->used ? len : BUFFER - o->used;

		memcpy(o->buffer + o->used, from, part);
		o->used += part;
		from += part;
		len -= part;
		if (flush(o, err) < 0)
			return -1;
	}
	return 0;
}

void outbox_free(struct outbox *o)
{
	if (!o)
		return;
	close(o->fd);
	free(o->buffer);
	free(o);
}
