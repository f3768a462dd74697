/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/functions.h"

#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "common/strv.h"

/* All that is linked into vmlinux: one archive, and the libraries that it draws from. */
static const char *const archives[] = {"vmlinux.a", "lib/lib.a", "arch/x86/lib/lib.a"};

enum { NM_CAP = 256 << 20, NM_MS = 120000 };

/* "vmlinux.a:mm/slub.o", "lib/lib.a:rbtree.o": the directory that the object lies in. */
static char *directory_of(const char *archive, size_t archive_len, const char *object,
			  size_t object_len)
{
	const char *path = memchr(object, '/', object_len) ? object : archive;
	size_t len = path == object ? object_len : archive_len;

	while (len && path[len - 1] != '/')
		len--;
	return lab_strndup(path, len ? len - 1 : 0);
}

/* "ARCHIVE:OBJECT:0000000000000140 t NAME" */
static void take_line(const char *line, struct lab_strv *all)
{
	const char *object = strchr(line, ':');
	const char *end = object ? strchr(object + 1, ':') : NULL;
	const char *type = end ? strchr(end, ' ') : NULL;
	LAB_CLEANUP(free) char *dir = NULL;

	if (!type || !type[1] || type[2] != ' ' || !strchr("tTwW", type[1]))
		return;
	dir = directory_of(line, (size_t)(object - line), object + 1, (size_t)(end - object - 1));
	lab_strv_addf(all, "%.*s\t%s", (int)strcspn(type + 3, "."), type + 3, dir);
}

void functions_parse(const char *nm, struct lab_buf *names)
{
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv all = LAB_STRV_INIT;

	lab_strv_split(&lines, nm, "\n");
	for (size_t i = 0; i < lines.n; i++)
		take_line(lines.items[i], &all);
	lab_strv_sort(&all);
	for (size_t i = 0; i < all.n; i++) {
		if (i == 0 || strcmp(all.items[i], all.items[i - 1]) != 0)
			lab_buf_addf(names, "%s\n", all.items[i]);
	}
}

int functions_write(const char *obj, const char *dir, struct lab_error *err)
{
	LAB_CLEANUP(free) char *nm = lab_proc_which("nm");
	LAB_CLEANUP(free) char *first = lab_path_join(obj, archives[0]);
	LAB_CLEANUP(free) char *path = lab_path_join(dir, FUNCTIONS_FILE);
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(buf) struct lab_buf names = LAB_BUF_INIT;
	const char *argv[] = {nm, "-A", "-p", "--defined-only", archives[0], NULL, NULL, NULL};
	const struct lab_proc proc = {
		.argv = argv, .cwd = obj, .output_cap = NM_CAP, .timeout_ms = NM_MS};
	size_t n = 5;

	if (!nm || !lab_file_exists(first))
		return 0;
	for (size_t i = 1; i < LAB_COUNT(archives); i++) {
		LAB_CLEANUP(free) char *archive = lab_path_join(obj, archives[i]);

		if (lab_file_exists(archive))
			argv[n++] = archives[i];
	}
	if (lab_proc_must(&proc, &result, err) < 0)
		return -1;
	functions_parse(result.out.data ? result.out.data : "", &names);
	return lab_write_file(path, names.data ? names.data : "", names.len, 0644, err);
}
