/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"
#include "protocol/frame.h"

/* READS_MAX: a guest that floods us with bytes behind garbage must not keep us here. */
enum { CHUNK = 64 * 1024, QUEUE_MAX = 16 << 20, READS_MAX = 64 };

struct channel {
	int fd;
	struct frame_decoder *decoder;
	struct lab_buf queue;
	bool garbage;
	char chunk[CHUNK];
};

struct channel *channel_new(int fd)
{
	struct channel *channel = LAB_NEW(struct channel);
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		(void)!fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	channel->fd = fd;
	channel->decoder = frame_decoder_new();
	return channel;
}

int channel_connect(const char *path, struct channel **ret, struct lab_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	LAB_CLEANUP(fd) int fd = -1;

	if (strlen(path) >= sizeof(addr.sun_path))
		return lab_error_set(err, LAB_ERR_INVALID, "socket path too long: %s", path);
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return lab_error_errno(err, errno, "connect to %s", path);
	*ret = channel_new(lab_take_fd(&fd));
	return 0;
}

void channel_free(struct channel *channel)
{
	if (!channel)
		return;
	if (channel->fd >= 0)
		close(channel->fd);
	frame_decoder_free(channel->decoder);
	lab_buf_release(&channel->queue);
	free(channel);
}

int channel_fd(const struct channel *channel)
{
	return channel->fd;
}

bool channel_wants_write(const struct channel *channel)
{
	return channel->fd >= 0 && channel->queue.len;
}

pid_t channel_peer(const struct channel *channel, uid_t *ret_uid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (channel->fd < 0 || getsockopt(channel->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 0;
	*ret_uid = cred.uid;
	return cred.pid;
}

static void hang_up(struct channel *channel)
{
	close(channel->fd);
	channel->fd = -1;
	lab_buf_release(&channel->queue);
}

void channel_flush(struct channel *channel)
{
	while (channel_wants_write(channel)) {
		ssize_t n = send(channel->fd, channel->queue.data, channel->queue.len,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			lab_buf_consume(&channel->queue, (size_t)n);
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else {
			/* A dead peer shows up when reading, after what it sent before. */
			if (n < 0 && errno != EAGAIN)
				lab_buf_release(&channel->queue);
			return;
		}
	}
}

int channel_send(struct channel *channel, const json_t *msg, struct lab_error *err)
{
	if (channel->fd < 0)
		return lab_error_set(err, LAB_ERR_FAILED, "the guest's end of the channel is gone");
	if (channel->queue.len > QUEUE_MAX)
		return lab_error_set(err, LAB_ERR_TIMEOUT,
				     "the guest reads nothing: %zu MiB wait for it",
				     channel->queue.len >> 20);
	if (frame_encode(msg, &channel->queue, err))
		return -1;
	channel_flush(channel);
	return 0;
}

enum fill { FILL_BYTES, FILL_NOTHING, FILL_END, FILL_GARBAGE };

static enum fill fill(struct channel *channel, struct lab_error *err)
{
	ssize_t n;

	if (channel->fd < 0)
		return FILL_END;
	do
		n = recv(channel->fd, channel->chunk, CHUNK, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return FILL_NOTHING;
	if (n <= 0) {
		hang_up(channel);
		return FILL_END;
	}
	/* Behind garbage nothing is decoded, but the guest is not left blocked either. */
	if (channel->garbage)
		return FILL_BYTES;
	return frame_decoder_feed(channel->decoder, channel->chunk, (size_t)n, err) ? FILL_GARBAGE
										    : FILL_BYTES;
}

enum channel_state channel_next(struct channel *channel, json_t **ret_msg, struct lab_error *err)
{
	for (int i = 0; i < READS_MAX; i++) {
		int got = channel->garbage ? 0 : frame_decoder_next(channel->decoder, ret_msg, err);
		enum fill filled;

		if (got > 0)
			return CHANNEL_FRAME;
		filled = got < 0 ? FILL_GARBAGE : fill(channel, err);
		if (filled == FILL_GARBAGE) {
			channel->garbage = true;
			return CHANNEL_GARBAGE;
		}
		if (filled == FILL_END)
			return CHANNEL_CLOSED;
		if (filled == FILL_NOTHING)
			break;
	}
	return CHANNEL_MORE;
}
