/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "store/internal.h"

/*
 * flock() on DIR/lock: the kernel drops it with its holder, so a killed labctl never
 * leaves a lab locked. The file's three lines (process id, unix time, command) are for
 * people only.
 */
struct lab_lock {
	int fd;
};

static int busy(const struct lab *lab, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	char since[32];
	int64_t when;

	if (lab_read_file(path, 4096, &text, NULL) == 0 && text.len)
		lab_strv_split(&lines, text.data, "\n");
	/* The holder may be between taking the lock and writing its name. */
	if (lines.n < 3 || lab_parse_i64(lines.items[1], &when, NULL) < 0)
		return lab_error_set(err, LAB_ERR_BUSY, "the lab %s is in use by another labctl",
				     lab->dir);
	return lab_error_set(
		err, LAB_ERR_BUSY, "the lab %s is in use by process %s (%s) since %s UTC", lab->dir,
		lines.items[0], lines.items[2], lab_format_time(when, since, sizeof(since)));
}

static int write_holder(int fd, const char *what, struct lab_error *err)
{
	LAB_CLEANUP(free)
	char *text =
		lab_asprintf("%d\n%lld\n%s\n", (int)getpid(), (long long)lab_unix_time(), what);

	/* Our message is one line per field. */
	for (char *p = strchr(strchr(text, '\n') + 1, '\n') + 1; p[0] && p[1]; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	if (ftruncate(fd, 0) < 0)
		return lab_error_errno(err, errno, "truncate");
	return lab_write_all(fd, text, strlen(text), err);
}

int lab_lock(struct lab *lab, const char *what, struct lab_lock **ret_lock, struct lab_error *err)
{
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = LAB_NEW(struct lab_lock);
	LAB_CLEANUP(free) char *path = lab_path(lab, "lock");

	lock->fd = -1;
	if (lab_need_write(lab, err) < 0)
		return -1;
	lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (lock->fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (flock(lock->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return busy(lab, path, err);
		return lab_error_errno(err, errno, "lock %s", path);
	}
	if (write_holder(lock->fd, what, err) < 0)
		return lab_error_wrap(err, "%s", path);
	*ret_lock = LAB_TAKE(lock);
	return 0;
}

void lab_lock_free(struct lab_lock *lock)
{
	if (!lock)
		return;
	if (lock->fd >= 0)
		close(lock->fd);
	free(lock);
}
