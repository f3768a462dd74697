/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/strays.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/lab.h"

enum { STRAY_MS = 10000 };

void workspace_release(struct workspace *ws)
{
	free(ws->dir);
	free(ws->tree);
	free(ws->obj);
	*ws = (struct workspace){0};
}

static char *busy_mark(const struct workspace *ws)
{
	return lab_path_join(ws->dir, "obj.busy");
}

static char *tree_id(const struct workspace *ws)
{
	return lab_path_join(ws->dir, "tree.id");
}

char *workspace_log(const struct workspace *ws, const char *arm)
{
	return lab_asprintf("%s/build-%s.log", ws->dir, arm);
}

char *workspace_mark(const struct workspace *ws)
{
	return lab_asprintf("LABCTL_BUILD=%s", ws->obj);
}

static bool is_empty(const char *dir)
{
	LAB_CLEANUP(dir) DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return false;
	}
	return true;
}

static int settle_objects(struct workspace *ws, struct lab_error *err)
{
	LAB_CLEANUP(free) char *busy = busy_mark(ws);
	LAB_CLEANUP(free) char *mark = workspace_mark(ws);

	if (lab_file_exists(busy)) {
		if (strays_end(mark, STRAY_MS, err) < 0 || lab_remove_tree(ws->obj, err) < 0)
			return -1;
		if (unlink(busy) < 0)
			return lab_error_errno(err, errno, "remove %s", busy);
	}
	if (lab_mkdirs(ws->obj, 0755, err) < 0)
		return -1;
	ws->fresh = is_empty(ws->obj);
	return 0;
}

int workspace_open(struct lab *lab, const char *source, struct workspace *ret_ws,
		   struct lab_error *err)
{
	LAB_CLEANUP(workspace) struct workspace ws = {.dir = lab_path(lab, "work/%s", source)};

	ws.tree = lab_path_join(ws.dir, "tree");
	ws.obj = lab_path_join(ws.dir, "obj");
	/* The kernel's own makefile refuses them, in words that help nobody. */
	if (strpbrk(ws.dir, " :\t"))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "a kernel cannot be built in '%s': make takes no blank or "
				     "colon in its path; move the lab",
				     ws.dir);
	if (lab_mkdirs(ws.dir, 0755, err) < 0 || settle_objects(&ws, err) < 0)
		return -1;
	*ret_ws = ws;
	ws = (struct workspace){0};
	return 0;
}

static bool newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* True when nothing in tree/ has changed (been written, renamed, removed) since `when`. */
static bool is_untouched(const char *tree, const struct timespec *when)
{
	char *const paths[] = {(char *)tree, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool untouched = fts != NULL;
	FTSENT *entry;

	while (untouched && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_DP)
			continue;
		untouched = entry->fts_statp && entry->fts_info != FTS_ERR &&
			    entry->fts_info != FTS_DNR && entry->fts_info != FTS_NS &&
			    !newer(&entry->fts_statp->st_ctim, when);
	}
	if (fts)
		fts_close(fts);
	return untouched;
}

/* The tree object that tree/ holds, or "" when that is not sure. */
static void current_tree(const struct workspace *ws, char oid[REPO_OID])
{
	LAB_CLEANUP(free) char *path = tree_id(ws);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct stat st;

	*oid = '\0';
	if (stat(path, &st) < 0 || lab_read_file(path, REPO_OID, &text, NULL) < 0 ||
	    text.len < REPO_OID - 1 || !is_untouched(ws->tree, &st.st_ctim))
		return;
	memcpy(oid, text.data, REPO_OID - 1);
	oid[REPO_OID - 1] = '\0';
}

int workspace_checkout(const struct workspace *ws, struct repo *repo, const char *tree,
		       const struct build_progress *progress, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = tree_id(ws);
	LAB_CLEANUP(free) char *text = lab_asprintf("%s\n", tree);
	char old[REPO_OID];

	current_tree(ws, old);
	if (strcmp(old, tree) == 0)
		return 0;
	if (unlink(path) < 0 && errno != ENOENT)
		return lab_error_errno(err, errno, "remove %s", path);
	if (!*old && lab_remove_tree(ws->tree, err) < 0)
		return -1;
	if (lab_mkdirs(ws->tree, 0755, err) < 0 ||
	    repo_checkout(repo, ws->tree, *old ? old : NULL, tree, progress, err) < 0)
		return -1;
	return lab_write_file(path, text, strlen(text), 0644, err);
}

int workspace_begin_build(const struct workspace *ws, struct lab_error *err)
{
	LAB_CLEANUP(free) char *busy = busy_mark(ws);

	return lab_write_file(busy, "", 0, 0644, err);
}

int workspace_end_build(const struct workspace *ws, struct lab_error *err)
{
	LAB_CLEANUP(free) char *busy = busy_mark(ws);

	return unlink(busy) < 0 ? lab_error_errno(err, errno, "remove %s", busy) : 0;
}
