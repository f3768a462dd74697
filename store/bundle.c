/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/bundle.h"

#include <string.h>

#include "archive/reader.h"
#include "archive/writer.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"
#include "store/hash.h"
#include "store/tree.h"

#define SUMS "SHA256SUMS"
#define SUMS_MAX (64u << 20) /* bytes */

enum { SUM_GAP = 2 }; /* blanks between hash and name, as sha256sum writes them */

struct bundle_writer {
	struct archive_writer *archive;
	struct lab_strv sums; /* "HASH  PATH" */
};

void bundle_writer_free(struct bundle_writer *w)
{
	if (!w)
		return;
	archive_writer_free(w->archive);
	lab_strv_release(&w->sums);
	free(w);
}

int bundle_new(const char *path, struct bundle_writer **ret_writer, struct lab_error *err)
{
	LAB_CLEANUP(bundle_writer) struct bundle_writer *w = LAB_NEW(struct bundle_writer);

	if (lab_file_exists(path) || lab_dir_exists(path))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s is there already: choose another name or remove it", path);
	if (archive_writer_new(path, ARCHIVE_TAR_ZSTD, &w->archive, err) < 0)
		return -1;
	*ret_writer = LAB_TAKE(w);
	return 0;
}

static void add_sum(struct bundle_writer *w, const char *hash, const char *path)
{
	lab_strv_addf(&w->sums, "%s%*s%s", hash, SUM_GAP, "", path);
}

int bundle_add_text(struct bundle_writer *w, const char *path, const char *text,
		    struct lab_error *err)
{
	char hash[HASH_HEX];

	hash_bytes(text, strlen(text), hash);
	add_sum(w, hash, path);
	return archive_writer_add_data(w->archive, path, 0644, text, strlen(text), err);
}

int bundle_add_file(struct bundle_writer *w, const char *path, const char *src,
		    struct lab_error *err)
{
	char hash[HASH_HEX];

	if (hash_file(src, hash, err) < 0)
		return -1;
	add_sum(w, hash, path);
	return archive_writer_add_file(w->archive, path, 0644, src, err);
}

/* One file of a tree on its way into the list of sums. */
struct listing {
	struct bundle_writer *writer;
	const char *prefix;
};

static int list_entry(void *ctx, const char *path, const char *name, const struct stat *st,
		      struct lab_error *err)
{
	struct listing *l = ctx;
	LAB_CLEANUP(free) char *full = lab_path_join(l->prefix, name);
	char hash[HASH_HEX];

	if (!S_ISREG(st->st_mode))
		return 0;
	if (hash_file(path, hash, err) < 0)
		return -1;
	add_sum(l->writer, hash, full);
	return 0;
}

int bundle_add_tree(struct bundle_writer *w, const char *prefix, const char *dir,
		    struct lab_error *err)
{
	struct listing l = {w, prefix};

	if (tree_walk(dir, list_entry, &l, err) < 0)
		return -1;
	return archive_writer_add_tree(w->archive, prefix, dir, err);
}

int bundle_close(struct bundle_writer *w, struct lab_error *err)
{
	LAB_CLEANUP(free) char *lines = NULL;
	LAB_CLEANUP(free) char *text = NULL;

	lines = lab_strv_join(&w->sums, "\n");
	text = lab_asprintf("%s\n", lines);
	if (archive_writer_add_data(w->archive, SUMS, 0644, text, strlen(text), err) < 0)
		return -1;
	return archive_writer_close(w->archive, err);
}

/* ---- opening ---------------------------------------------------------------------- */

/* The list of a bundle: names in byte order. */
struct sums {
	struct lab_strv names;
	const char *bundle, *dir;
};

static int changed(const struct sums *s, const char *name, const char *how, struct lab_error *err)
{
	return lab_error_set(err, LAB_ERR_INVALID,
			     "%s: %s %s: the bundle was changed or is damaged", s->bundle, name,
			     how);
}

static int check_line(struct sums *s, const char *line, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = NULL;
	size_t digits = strspn(line, "0123456789abcdef");
	const char *name = line + HASH_HEX - 1 + SUM_GAP;
	char hash[HASH_HEX];

	if (digits != HASH_HEX - 1 || strncmp(line + digits, "  ", SUM_GAP) != 0 || !*name)
		return changed(s, SUMS, "has a line that is none", err);
	path = lab_path_join(s->dir, name);
	/* The list could name what lies beside the directory. */
	if (*name == '/' || strstr(name, "..") || !lab_file_exists(path))
		return changed(s, name, "is listed and not there", err);
	if (hash_file(path, hash, err) < 0)
		return -1;
	if (strncmp(hash, line, digits) != 0)
		return changed(s, name, "is not what " SUMS " says", err);
	lab_strv_add(&s->names, name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_listed(void *ctx, const char *path, const char *name, const struct stat *st,
			struct lab_error *err)
{
	const struct sums *s = ctx;

	(void)path;
	if (!S_ISREG(st->st_mode) || strcmp(name, SUMS) == 0)
		return 0;
	if (s->names.n &&
	    bsearch(&name, s->names.items, s->names.n, sizeof(*s->names.items), by_name))
		return 0;
	return changed(s, name, "is not listed in " SUMS, err);
}

static int check_sums(struct sums *s, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(s->dir, SUMS);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;

	if (!lab_file_exists(path))
		return lab_error_set(err, LAB_ERR_INVALID, "%s is no bundle: it has no " SUMS,
				     s->bundle);
	if (lab_read_file(path, SUMS_MAX, &text, err) < 0)
		return -1;
	lab_strv_split(&lines, text.data ? text.data : "", "\n");
	for (size_t i = 0; i < lines.n; i++) {
		if (check_line(s, lines.items[i], err) < 0)
			return -1;
	}
	lab_strv_sort(&s->names);
	return tree_walk(s->dir, check_listed, s, err);
}

int bundle_open(const char *path, const char *dir, struct lab_error *err)
{
	/* An image is mostly holes: what it may become is bounded by bytes, not by their ratio. */
	const struct archive_limits limits = {.max_ratio = UINT64_MAX};
	struct sums sums = {.bundle = path, .dir = dir};
	int rc;

	if (archive_extract(path, dir, &limits, err) < 0)
		return lab_error_wrap(err, "%s", path);
	rc = check_sums(&sums, err);
	lab_strv_release(&sums.names);
	return rc;
}
