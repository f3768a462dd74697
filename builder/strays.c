/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/strays.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"

enum { ENVIRON_CAP = 1 << 20, POLL_MS = 20 };

/* Zombies have an empty environment, so what is dead does not count. */
static bool has_mark(const char *pid, const char *mark)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("/proc/%s/environ", pid);
	LAB_CLEANUP(buf) struct lab_buf env = LAB_BUF_INIT;

	if (lab_read_file(path, ENVIRON_CAP, &env, NULL) < 0)
		return false;
	for (size_t at = 0; at < env.len; at += strlen(env.data + at) + 1) {
		if (strcmp(env.data + at, mark) == 0)
			return true;
	}
	return false;
}

static unsigned kill_marked(DIR *proc, const char *mark)
{
	struct dirent *entry;
	unsigned n = 0;

	rewinddir(proc);
	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (!isdigit((unsigned char)*entry->d_name) || pid == getpid() ||
		    !has_mark(entry->d_name, mark))
			continue;
		kill(pid, SIGKILL);
		n++;
	}
	return n;
}

int strays_end(const char *mark, uint64_t wait_ms, struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *proc = opendir("/proc");
	uint64_t deadline = lab_deadline_in(wait_ms);

	if (!proc)
		return lab_error_errno(err, errno, "/proc");
	while (kill_marked(proc, mark)) {
		if (lab_deadline_left(deadline) == 0)
			return lab_error_set(err, LAB_ERR_BUSY,
					     "processes of an earlier build do not end (%s)", mark);
		lab_sleep_ms(POLL_MS);
	}
	return 0;
}
