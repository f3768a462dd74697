/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_CHANNEL_H
#define LAB_VMCTL_CHANNEL_H

/*
 * For vmctl/ only: frames over a stream socket that never blocks. What the other side
 * sends is taken apart but not believed; what it does not take is queued up to a cap.
 */

#include <stdbool.h>

#include <jansson.h>

#include "common/err.h"

struct channel;

/* Takes the descriptor over and makes it non-blocking. */
struct channel *channel_new(int fd);
/* Connects to a unix socket. */
int channel_connect(const char *path, struct channel **ret, struct lab_error *err) LAB_MUST_CHECK;
void channel_free(struct channel *channel);
LAB_DEFINE_CLEANUP(channel, struct channel, channel_free)

int channel_fd(const struct channel *channel); /* to poll, -1 once closed by the other side */
bool channel_wants_write(const struct channel *channel);

/* The process that listens on the other side, 0 when it cannot be told, and its user. */
pid_t channel_peer(const struct channel *channel, uid_t *ret_uid);

/* LAB_ERR_TIMEOUT when too much waits already, LAB_ERR_FAILED when the other side is gone. */
int channel_send(struct channel *channel, const json_t *msg, struct lab_error *err) LAB_MUST_CHECK;
void channel_flush(struct channel *channel);

enum channel_state {
	CHANNEL_MORE,	 /* nothing whole is here now */
	CHANNEL_FRAME,	 /* *ret_msg is the caller's */
	CHANNEL_GARBAGE, /* err has the words; later calls give CHANNEL_MORE or _CLOSED */
	CHANNEL_CLOSED,	 /* end of the stream, everything before it was handed out */
};

enum channel_state channel_next(struct channel *channel, json_t **ret_msg, struct lab_error *err);

#endif
