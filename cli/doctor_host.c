/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/doctor.h"

#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/proc.h"
#include "common/strv.h"

/* Two kernel builds, an image and a campaign of small machines. */
#define DISK_ENOUGH (12ULL << 30)
#define DISK_LEAST (3ULL << 30)
/* One demo machine and the page cache of a build. */
#define MEMORY_ENOUGH (2ULL << 30)
#define MEMORY_LEAST (700ULL << 20)

/* First line of `PROGRAM --version`, or NULL. */
static char *version_of(const char *program)
{
	const char *argv[] = {program, "--version", NULL};
	struct lab_proc proc = {.argv = argv, .timeout_ms = 10000};
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	char *line;

	if (lab_proc_must(&proc, &result, NULL) < 0 || !result.out.len)
		return NULL;
	line = lab_buf_take(&result.out);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

void doctor_compiler(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(free) char *version = version_of("gcc");

	(void)d;
	if (version) {
		doctor_say(line, DOCTOR_OK, "%s", version);
		return;
	}
	doctor_say(line, DOCTOR_FAIL, "no gcc that runs");
	doctor_cure(line, "apt-get install build-essential");
}

/* A header by its path, a program by its name. */
static bool is_there(const char *what)
{
	LAB_CLEANUP(free) char *program = NULL;

	if (what[0] == '/')
		return lab_file_exists(what);
	program = lab_proc_which(what);
	return program != NULL;
}

void doctor_kernel_tools(struct doctor *d, struct doctor_line *line)
{
	static const struct {
		const char *program; /* or the path of a header */
		const char *package;
	} needs[] = {
		{"make", "make"},
		{"ld", "binutils"},
		{"flex", "flex"},
		{"bison", "bison"},
		{"bc", "bc"},
		{"perl", "perl"},
		{"xz", "xz-utils"},
		{"depmod", "kmod"},
		{"/usr/include/gelf.h", "libelf-dev"},
		{"/usr/include/openssl/opensslv.h", "libssl-dev"},
	};
	LAB_CLEANUP(buf) struct lab_buf missing = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf packages = LAB_BUF_INIT;

	(void)d;
	for (size_t i = 0; i < LAB_COUNT(needs); i++) {
		const char *what = needs[i].program;

		if (is_there(what))
			continue;
		lab_buf_addf(&missing, "%s%s", missing.len ? ", " : "", lab_path_base(what));
		lab_buf_addf(&packages, " %s", needs[i].package);
	}
	if (!missing.len) {
		doctor_say(line, DOCTOR_OK, "make, flex, bison, bc, libelf and the rest are there");
		return;
	}
	doctor_say(line, DOCTOR_FAIL, "missing: %s", missing.data);
	doctor_cure(line, "apt-get install%s", packages.data);
}

void doctor_ccache(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(free) char *version = version_of("ccache");

	(void)d;
	if (version) {
		doctor_say(line, DOCTOR_OK, "%s", version);
		return;
	}
	doctor_say(line, DOCTOR_WARN,
		   "not installed, the second kernel takes as long as the first");
	doctor_cure(line, "apt-get install ccache");
}

void doctor_lab(struct doctor *d, struct doctor_line *line)
{
	struct lab_error err = {0};
	LAB_CLEANUP(free) char *db = lab_path_join(d->lab_dir, "lab.db");

	if (d->cli->lab && !lab_read_only(d->cli->lab)) {
		doctor_say(line, DOCTOR_OK, "%s", d->lab_dir);
	} else if (d->cli->lab) {
		doctor_say(line, DOCTOR_WARN, "%s can only be read by this user", d->lab_dir);
		doctor_cure(line, "--lab DIR or $LABCTL_LAB names another one");
	} else if (lab_file_exists(db)) {
		if (lab_open(d->lab_dir, &d->cli->lab, &err) < 0)
			doctor_say(line, DOCTOR_FAIL, "%s", err.text);
	} else {
		doctor_say(line, DOCTOR_OK, "none yet in %s", d->lab_dir);
		doctor_cure(line, "the first `labctl build` makes it, or `labctl init`");
	}
}

/* The lab's directory, or the nearest one above it that exists. */
static char *existing_above(const char *dir)
{
	char *path = lab_strdup(dir);

	while (!lab_dir_exists(path)) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path) {
			free(path);
			return lab_strdup("/");
		}
		*slash = '\0';
	}
	return path;
}

void doctor_disk(struct doctor *d, struct doctor_line *line)
{
	LAB_CLEANUP(free) char *dir = existing_above(d->lab_dir);
	struct lab_error err = {0};
	uint64_t bytes;
	char text[16];

	if (lab_free_space(dir, &bytes, &err) < 0) {
		doctor_say(line, DOCTOR_FAIL, "%s", err.text);
		return;
	}
	doctor_say(line,
		   bytes >= DISK_ENOUGH	 ? DOCTOR_OK
		   : bytes >= DISK_LEAST ? DOCTOR_WARN
					 : DOCTOR_FAIL,
		   "%s free in %s", lab_format_size(bytes, text, sizeof(text)), dir);
	if (bytes < DISK_ENOUGH)
		doctor_cure(line, "kernels, images and runs want %s; --lab DIR puts them elsewhere",
			    lab_format_size(DISK_ENOUGH, text, sizeof(text)));
}

/* MemAvailable of /proc/meminfo in bytes, 0 when it cannot be read. */
static uint64_t available_memory(void)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	static const char key[] = "MemAvailable:";
	const char *at;
	uint64_t kb = 0;

	if (lab_read_file("/proc/meminfo", 1 << 16, &text, NULL) < 0 || !text.data)
		return 0;
	at = strstr(text.data, key);
	if (!at)
		return 0;
	for (at += sizeof(key) - 1; *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		kb = kb * 10 + (uint64_t)(*at - '0');
	return kb << 10;
}

void doctor_memory(struct doctor *d, struct doctor_line *line)
{
	uint64_t bytes = available_memory();
	char text[16];

	(void)d;
	if (!bytes) {
		doctor_say(line, DOCTOR_WARN, "/proc/meminfo does not say what is available");
		return;
	}
	doctor_say(line,
		   bytes >= MEMORY_ENOUGH  ? DOCTOR_OK
		   : bytes >= MEMORY_LEAST ? DOCTOR_WARN
					   : DOCTOR_FAIL,
		   "%s available, %ld processors", lab_format_size(bytes, text, sizeof(text)),
		   sysconf(_SC_NPROCESSORS_ONLN));
	if (bytes < MEMORY_ENOUGH)
		doctor_cure(line, "a machine of an experiment must fit in: presets differ in size");
}
