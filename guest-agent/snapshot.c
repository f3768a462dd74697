/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"

#define TEXT_MAX (4u << 20)
#define VALUE_MAX 16384 /* of one sysctl */
#define KLOG_READ_ALL 3 /* syslog(2): the newest bytes of the log, nothing is consumed */
#define KLOG_TAIL (256u << 10)

static int take_file(const char *arg, const char *sysroot, struct lab_buf *out,
		     struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("%s/proc/%s", sysroot, arg);

	return lab_read_file(path, TEXT_MAX, out, err);
}

/* "a.b.c = value", a value of many lines once a line, as sysctl -a prints it. */
static void add_value(struct lab_buf *out, const char *name, const char *value)
{
	size_t len;

	if (!value || !*value) {
		lab_buf_addf(out, "%s = \n", name);
		return;
	}
	for (; *value; value += len + (value[len] == '\n')) {
		len = strcspn(value, "\n");
		lab_buf_addf(out, "%s = %.*s\n", name, (int)len, value);
	}
}

static void walk(const char *dir, const char *prefix, struct lab_buf *out)
{
	LAB_CLEANUP(dir) DIR *d = opendir(dir);
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] != '.')
			lab_strv_add(&names, entry->d_name);
	}
	lab_strv_sort(&names);
	for (size_t i = 0; i < names.n && out->len < TEXT_MAX; i++) {
		LAB_CLEANUP(free) char *path = lab_path_join(dir, names.items[i]);
		LAB_CLEANUP(free)
		char *name = lab_asprintf("%s%s%s", prefix, *prefix ? "." : "", names.items[i]);
		LAB_CLEANUP(buf) struct lab_buf value = LAB_BUF_INIT;
		struct stat st;

		if (lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			walk(path, name, out);
		/* Another number at each look; and what cannot be read is no setting. */
		else if (S_ISREG(st.st_mode) && st.st_mode & 0444 &&
			 strcmp(name, "kernel.random.uuid") != 0 &&
			 lab_read_file(path, VALUE_MAX, &value, NULL) == 0)
			add_value(out, name, value.data);
	}
}

static int take_sysctl(const char *arg, const char *sysroot, struct lab_buf *out,
		       struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("%s/proc/%s", sysroot, arg);
	size_t before = out->len;

	walk(path, "", out);
	if (out->len == before)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "%s is empty", path);
	return 0;
}

static int take_dmesg(const char *arg, const char *sysroot, struct lab_buf *out,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *text = NULL;
	int n;

	(void)arg;
	if (*sysroot)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE, "not part of a recorded tree");
	text = lab_calloc(KLOG_TAIL, 1);
	n = klogctl(KLOG_READ_ALL, text, KLOG_TAIL);
	if (n < 0)
		return lab_error_errno(err, errno, "kernel log");
	lab_buf_add(out, text, (size_t)n);
	return 0;
}

static const struct {
	const char *name;
	int (*take)(const char *arg, const char *sysroot, struct lab_buf *out,
		    struct lab_error *err);
	const char *arg;
	bool only_after;
} snapshots[] = {
	{"cpuinfo", take_file, "cpuinfo"},     {"cmdline", take_file, "cmdline"},
	{"version", take_file, "version"},     {"zoneinfo", take_file, "zoneinfo"},
	{"buddyinfo", take_file, "buddyinfo"}, {"meminfo", take_file, "meminfo"},
	{"vmstat", take_file, "vmstat"},       {"slabinfo", take_file, "slabinfo"},
	{"mounts", take_file, "self/mounts"},  {"swaps", take_file, "swaps"},
	{"sysctl", take_sysctl, "sys"},	       {"dmesg", take_dmesg, NULL, true},
};

static ssize_t find(const char *name)
{
	for (size_t i = 0; i < LAB_COUNT(snapshots); i++) {
		if (strcmp(snapshots[i].name, name) == 0)
			return (ssize_t)i;
	}
	return -1;
}

bool snapshot_known(const char *name)
{
	return find(name) >= 0;
}

bool snapshot_wanted(const char *name, bool after)
{
	ssize_t i = find(name);

	return i >= 0 && (after || !snapshots[i].only_after);
}

int snapshot_take(const char *name, const char *sysroot, struct lab_buf *out, struct lab_error *err)
{
	ssize_t i = find(name);

	if (i < 0)
		return lab_error_set(err, LAB_ERR_INVALID, "no snapshot is called '%s'", name);
	return snapshots[i].take(snapshots[i].arg, sysroot, out, err);
}
