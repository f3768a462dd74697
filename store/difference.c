/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "common/mem.h"
#include "store/hash.h"
#include "store/tree.h"

/* One line per entry: digest, blank, name. */
static int add_line(void *ctx, const char *path, const char *name, const struct stat *st,
		    struct lab_error *err)
{
	struct lab_strv *lines = ctx;
	char hex[HASH_HEX] = "directory";

	if (!S_ISDIR(st->st_mode) && hash_tree(path, hex, err) < 0)
		return -1;
	lab_strv_addf(lines, "%s %s", hex, name);
	return 0;
}

static void add_missing(const struct lab_strv *lines, const struct lab_strv *others,
			struct lab_strv *names)
{
	for (size_t i = 0; i < lines->n; i++) {
		const char *name = strchr(lines->items[i], ' ') + 1;

		if (!lab_strv_has(others, lines->items[i]) && !lab_strv_has(names, name))
			lab_strv_add(names, name);
	}
}

int tree_differences(const char *dir_a, const char *dir_b, struct lab_strv *names,
		     struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv a = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv b = LAB_STRV_INIT;

	if (tree_walk(dir_a, add_line, &a, err) < 0 || tree_walk(dir_b, add_line, &b, err) < 0)
		return -1;
	add_missing(&a, &b, names);
	add_missing(&b, &a, names);
	return 0;
}
