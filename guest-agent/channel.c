/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "guest-agent/disk.h"
#include "guest-agent/outbox.h"

#define PORT_WAIT_MS 20000 /* a virtio port that has not come by then will not come */

struct channel_kind {
	const char *name;
	const char *usage;
	int (*open)(const char *arg, const char *sysroot, struct channel *ret,
		    struct lab_error *err);
};

static int open_fd(const char *arg, const char *sysroot, struct channel *ret, struct lab_error *err)
{
	uint64_t fd;

	(void)sysroot;
	if (lab_parse_u64(arg, &fd, err) < 0)
		return -1;
	if (fd > 65535 || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return lab_error_set(err, LAB_ERR_USAGE, "descriptor %s is not open", arg);
	*ret = (struct channel){(int)fd, (int)fd, NULL};
	return 0;
}

static int open_unix(const char *arg, const char *sysroot, struct channel *ret,
		     struct lab_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	LAB_CLEANUP(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)sysroot;
	if (fd < 0)
		return lab_error_errno(err, errno, "socket");
	if (!*arg || strlen(arg) >= sizeof(addr.sun_path))
		return lab_error_set(err, LAB_ERR_USAGE, "'%s' is no socket's path", arg);
	memcpy(addr.sun_path, arg, strlen(arg));
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return lab_error_errno(err, errno, "connect to %s", arg);
	ret->in = ret->out = lab_take_fd(&fd);
	return 0;
}

static int open_stdio(const char *arg, const char *sysroot, struct channel *ret,
		      struct lab_error *err)
{
	(void)sysroot;
	if (*arg)
		return lab_error_set(err, LAB_ERR_USAGE, "stdio takes no argument");
	/* Kept away from 0 and 1, so that nothing of ours or of a child's speaks there. */
	ret->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	ret->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (ret->in < 0 || ret->out < 0)
		return lab_error_errno(err, errno, "stdio");
	dup2(STDERR_FILENO, STDOUT_FILENO);
	return 0;
}

char *channel_virtio_path(const char *sysroot, const char *name)
{
	LAB_CLEANUP(free) char *class = lab_asprintf("%s/sys/class/virtio-ports", sysroot);
	LAB_CLEANUP(dir) DIR *dir = opendir(class);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		LAB_CLEANUP(free) char *port = lab_path_join(class, entry->d_name);
		LAB_CLEANUP(free) char *value = NULL;

		if (entry->d_name[0] == '.')
			continue;
		value = disk_read_attribute(port, "name");
		if (value && strcmp(value, name) == 0)
			return disk_device_node(sysroot, port, entry->d_name, false);
	}
	return NULL;
}

static int open_virtio(const char *arg, const char *sysroot, struct channel *ret,
		       struct lab_error *err)
{
	uint64_t deadline = lab_deadline_in(PORT_WAIT_MS);
	LAB_CLEANUP(free) char *path = NULL;
	int fd = -1;

	/* The port's name comes in a control message some time after its device. */
	while (!(path = channel_virtio_path(sysroot, arg)) ||
	       (fd = open(path, O_RDWR | O_CLOEXEC)) < 0) {
		if (!lab_deadline_left(deadline))
			return path ? lab_error_errno(err, errno, "open %s", path)
				    : lab_error_set(err, LAB_ERR_NOT_FOUND,
						    "no virtio port is called '%s'", arg);
		free(LAB_TAKE(path));
		lab_sleep_ms(1);
	}
	*ret = (struct channel){fd, fd, NULL};
	return 0;
}

/* A disk by its serial or, in tests, a file; nobody reads it before we are gone. */
static int open_outbox(const char *arg, const char *sysroot, struct channel *ret,
		       struct lab_error *err)
{
	const struct job_disk disk = {.serial = (char *)arg};
	uint64_t deadline = lab_deadline_in(PORT_WAIT_MS);
	LAB_CLEANUP(free) char *path = *arg == '/' ? lab_strdup(arg) : NULL;

	while (!path && disk_find(sysroot, &disk, &path, err) < 0) {
		if (err->kind != LAB_ERR_NOT_FOUND || !lab_deadline_left(deadline))
			return -1;
		lab_sleep_ms(1);
	}
	return outbox_open(path, &ret->outbox, err);
}

static const struct channel_kind kinds[] = {
	{"fd", "fd:N", open_fd},
	{"unix", "unix:PATH", open_unix},
	{"stdio", "stdio", open_stdio},
	{"virtio", "virtio:NAME", open_virtio},
	{"outbox", "outbox:SERIAL", open_outbox},
};

int channel_open(const char *spec, const char *sysroot, struct channel *ret_channel,
		 struct lab_error *err)
{
	size_t len = strcspn(spec, ":");
	const char *arg = spec[len] ? spec + len + 1 : "";

	for (size_t i = 0; i < LAB_COUNT(kinds); i++) {
		struct channel channel = CHANNEL_INIT;

		if (strlen(kinds[i].name) != len || strncmp(kinds[i].name, spec, len) != 0)
			continue;
		if (kinds[i].open(arg, sysroot, &channel, err) < 0)
			return lab_error_wrap(err, "channel %s", spec);
		*ret_channel = channel;
		return 0;
	}
	return lab_error_set(err, LAB_ERR_USAGE, "channel '%s' is none of %s", spec,
			     channel_kinds());
}

int channel_write(struct channel *channel, const void *data, size_t len, struct lab_error *err)
{
	if (channel->outbox)
		return outbox_write(channel->outbox, data, len, err);
	return lab_write_all(channel->out, data, len, err);
}

void channel_close(struct channel *channel)
{
	if (channel->out >= 0 && channel->out != channel->in)
		close(channel->out);
	if (channel->in >= 0)
		close(channel->in);
	outbox_free(channel->outbox);
	*channel = (struct channel)CHANNEL_INIT;
}

const char *channel_kinds(void)
{
	static char text[128];

	if (!text[0]) {
		for (size_t i = 0; i < LAB_COUNT(kinds); i++) {
			size_t len = strlen(text);

			snprintf(text + len, sizeof(text) - len, "%s%s", i ? ", " : "",
				 kinds[i].usage);
		}
	}
	return text;
}
