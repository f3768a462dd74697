/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_CHANNEL_H
#define LAB_GUEST_CHANNEL_H

/*
 * Where the agent talks. The words of --channel, "KIND:ARGUMENT", choose a row of
 * the table in channel.c. A kind opens descriptors; what it does not have stays -1.
 */

#include <stddef.h>

#include "common/err.h"

struct channel {
	int in;		       /* to be polled and read; -1: nobody ever asks us anything */
	int out;	       /* for channel_write */
	struct outbox *outbox; /* NULL: a stream */
};

#define CHANNEL_INIT         \
	{                    \
		-1, -1, NULL \
	}

/* `sysroot` is where /sys is looked for; "" for the machine's own. Waits for a virtio port. */
int channel_open(const char *spec, const char *sysroot, struct channel *ret_channel,
		 struct lab_error *err) LAB_MUST_CHECK;
/* Whole frames; blocks. */
int channel_write(struct channel *channel, const void *data, size_t len,
		  struct lab_error *err) LAB_MUST_CHECK;
void channel_close(struct channel *channel);

/* Path of the device of the virtio port called `name`, or NULL while there is none; caller frees. */
char *channel_virtio_path(const char *sysroot, const char *name);

/* "fd:N, unix:PATH, stdio, virtio:NAME, ..."; for the usage text. */
const char *channel_kinds(void);

#endif
