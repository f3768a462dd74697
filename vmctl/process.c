/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"

enum {
	STAT_CAP = 16384,
	CMDLINE_CAP = 1 << 20,
	STARTTIME = 19 /* field 22, counted from the state */
};

uint64_t process_started(pid_t pid)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv fields = LAB_STRV_INIT;
	uint64_t started;
	const char *behind;
	char path[64];

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (lab_read_file(path, STAT_CAP, &text, NULL))
		return 0;
	/* The name stands in parentheses and may hold anything. */
	behind = strrchr(text.data, ')');
	if (!behind)
		return 0;
	lab_strv_split(&fields, behind + 1, " \n");
	if (fields.n <= STARTTIME || strchr("ZX", fields.items[0][0]) ||
	    lab_parse_u64(fields.items[STARTTIME], &started, NULL))
		return 0;
	return started;
}

bool process_is(pid_t pid, uint64_t started)
{
	uint64_t now = process_started(pid);

	return now && now == started;
}

int process_user(pid_t pid, uid_t *ret_uid)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv fields = LAB_STRV_INIT;
	struct lab_error ignored;
	const char *line;
	uint64_t uid;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (pid <= 0 || lab_read_file(path, STAT_CAP, &text, &ignored))
		return -1;
	/* "Uid:" real, effective, saved, file system */
	line = strstr(text.data, "\nUid:");
	if (!line)
		return -1;
	lab_strv_split(&fields, line + 1, " \t\n");
	if (fields.n < 3 || lab_parse_u64(fields.items[2], &uid, &ignored))
		return -1;
	*ret_uid = (uid_t)uid;
	return 0;
}

bool process_runs(pid_t pid, const char *program)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct lab_error ignored;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	return pid > 0 && !lab_read_file(path, CMDLINE_CAP, &text, &ignored) && text.len &&
	       !strcmp(text.data, program);
}

static bool has_argument(const struct lab_buf *cmdline, const char *start)
{
	for (size_t i = 0; i < cmdline->len; i += strlen(cmdline->data + i) + 1) {
		if (lab_starts_with(cmdline->data + i, start))
			return true;
	}
	return false;
}

pid_t process_of_guest(const char *name)
{
	LAB_CLEANUP(free) char *start = lab_asprintf("guest=%s,", name);
	LAB_CLEANUP(dir) DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;

	while (dir && (entry = readdir(dir))) {
		LAB_CLEANUP(buf) struct lab_buf cmdline = LAB_BUF_INIT;
		LAB_CLEANUP(free) char *path = lab_asprintf("/proc/%s/cmdline", entry->d_name);

		if (lab_parse_u64(entry->d_name, &pid, NULL) ||
		    lab_read_file(path, CMDLINE_CAP, &cmdline, NULL) || !cmdline.len)
			continue;
		if (has_argument(&cmdline, start))
			return (pid_t)pid;
	}
	return 0;
}
