/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "store/internal.h"

static int clean_scratch(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "tmp");
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *name = NULL;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		name = lab_path_join(path, entry->d_name);
		if (lab_remove_tree(name, err) < 0)
			return -1;
		n++;
	}
	*ret_n = n;
	return 0;
}

int lab_clean_leftovers(struct lab *lab, struct lab_leftovers *ret_left, struct lab_error *err)
{
	struct lab_leftovers left = {0};
	unsigned moved;

	if (lab_need_write(lab, err) < 0)
		return -1;
	if (run_lose_all(lab, &left.runs, err) < 0 ||
	    run_clean_dirs(lab, &left.run_dirs, err) < 0 ||
	    artifact_clean_drafts(lab, &left.drafts, err) < 0 ||
	    artifact_clean_orphans(lab, &left.artifacts, err) < 0 ||
	    /* Orphans become drafts of nobody: gone with the second sweep, counted once. */
	    artifact_clean_drafts(lab, &moved, err) < 0 ||
	    clean_scratch(lab, &left.scratch, err) < 0)
		return -1;
	*ret_left = left;
	return 0;
}
