/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/repo_import.h"

#include <stdlib.h>
#include <string.h>

#include "archive/reader.h"
#include "builder/repo_git.h"
#include "builder/repo_writers.h"
#include "common/file.h"
#include "common/mem.h"

/* The commit of an import tells nothing but its tree. 2000-01-01 00:00:00 UTC. */
static const git_time_t COMMIT_TIME = 946684800;
static const char commit_name[] = "labctl", commit_mail[] = "labctl@localhost";

enum { MAKEFILE_HEAD = 4096 };

struct file {
	char *path;
	git_filemode_t mode;
	git_oid oid;
	char *same_as; /* hard link: the path whose content it has */
};

struct import {
	const struct build_progress *progress;
	struct repo_writers *writers;
	char *top; /* the single top directory */
	uint64_t packed_size;
	struct file **files; /* pointers, since the writers fill in oid while more come */
	size_t n, cap;
	struct repo_imported result;
};

static void import_release(struct import *import)
{
	repo_writers_free(import->writers); /* first: it writes into the files */
	for (size_t i = 0; i < import->n; i++) {
		free(import->files[i]->path);
		free(import->files[i]->same_as);
		free(import->files[i]);
	}
	free(import->files);
	free(import->top);
	free(import->result.version);
}

/* The number or word behind "NAME =" at the begin of a line; caller frees. */
static char *make_variable(const char *text, const char *name)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *p;

		line += *line == '\n';
		if (!lab_starts_with(line, name))
			continue;
		p = line + strlen(name);
		p += strspn(p, " \t");
		if (*p++ != '=')
			continue;
		p += strspn(p, " \t");
		return lab_strndup(p, strcspn(p, " \t\r\n#"));
	}
	return NULL;
}

char *repo_makefile_version(const char *makefile)
{
	LAB_CLEANUP(free) char *version = make_variable(makefile, "VERSION");
	LAB_CLEANUP(free) char *patchlevel = make_variable(makefile, "PATCHLEVEL");
	LAB_CLEANUP(free) char *sublevel = make_variable(makefile, "SUBLEVEL");
	LAB_CLEANUP(free) char *extra = make_variable(makefile, "EXTRAVERSION");
	bool has_sublevel = sublevel && *sublevel && strcmp(sublevel, "0") != 0;

	if (!version || !*version || !patchlevel || !*patchlevel)
		return NULL;
	return lab_asprintf("%s.%s%s%s%s", version, patchlevel, has_sublevel ? "." : "",
			    has_sublevel ? sublevel : "", extra ? extra : "");
}

/* The path below the top directory (borrowed), NULL for the top itself. */
static int below_top(struct import *import, const char *path, const char **ret_path,
		     struct lab_error *err)
{
	size_t len = strcspn(path, "/");

	if (strcmp(path, ".") == 0) {
		*ret_path = NULL;
		return 0;
	}
	if (!import->top)
		import->top = lab_strndup(path, len);
	if (strncmp(path, import->top, len) != 0 || import->top[len])
		return lab_error_set(err, LAB_ERR_INVALID,
				     "lies beside the top directory '%s'; one directory with "
				     "everything in it is expected",
				     import->top);
	*ret_path = path[len] ? path + len + 1 : NULL;
	return 0;
}

static int read_content(const struct archive_entry_info *entry, struct archive_data *data,
			char **ret_text, struct lab_error *err)
{
	LAB_CLEANUP(free) char *text = lab_calloc(entry->size + 1, 1);
	uint64_t done = 0;

	while (done < entry->size) {
		ssize_t n = archive_data_read(data, text + done, entry->size - done, err);

		if (n < 0)
			return -1;
		if (n == 0)
			return lab_error_set(err, LAB_ERR_INVALID, "ends early");
		done += (uint64_t)n;
	}
	*ret_text = LAB_TAKE(text);
	return 0;
}

static struct file *add_file(struct import *import, const char *path, git_filemode_t mode)
{
	struct file *file = LAB_NEW(struct file);

	file->path = lab_strdup(path);
	file->mode = mode;
	LAB_GROW(import->files, import->n, import->cap);
	import->files[import->n++] = file;
	return file;
}

static int add_regular(struct import *import, const char *path,
		       const struct archive_entry_info *entry, struct archive_data *data,
		       struct lab_error *err)
{
	bool exec = entry->mode & 0111;
	struct file *file;
	char *text = NULL;

	if (read_content(entry, data, &text, err) < 0)
		return -1;
	if (strcmp(path, "Makefile") == 0) {
		LAB_CLEANUP(free) char *head = lab_strndup(text, MAKEFILE_HEAD);

		free(import->result.version);
		import->result.version = repo_makefile_version(head);
	}
	import->result.bytes += entry->size;
	file = add_file(import, path, exec ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB);
	return repo_writers_add(import->writers, text, entry->size, &file->oid, err);
}

static int add_hardlink(struct import *import, const char *path,
			const struct archive_entry_info *entry, struct lab_error *err)
{
	const char *target;

	if (below_top(import, entry->link, &target, err) < 0)
		return -1;
	if (!target)
		return lab_error_set(err, LAB_ERR_INVALID, "hard link to '%s'", entry->link);
	add_file(import, path, GIT_FILEMODE_BLOB)->same_as = lab_strdup(target);
	return 0;
}

static int import_entry(void *ctx, const struct archive_entry_info *entry,
			struct archive_data *data, struct lab_error *err)
{
	struct import *import = ctx;
	const struct build_progress *p = import->progress;
	const char *path;
	struct file *file;

	if (p && p->cancelled && p->cancelled(p->ctx))
		return lab_error_set(err, LAB_ERR_CANCELLED, "import stopped");
	if (p && p->work)
		p->work(p->ctx, "import", archive_data_position(data), import->packed_size,
			entry->path);
	if (below_top(import, entry->path, &path, err) < 0)
		return -1;
	if (!path && entry->type != ARCHIVE_TYPE_DIR)
		return lab_error_set(err, LAB_ERR_INVALID, "is not in a directory");
	switch (entry->type) {
	case ARCHIVE_TYPE_DIR: /* git has no empty ones, others come with their files */
		return 0;
	case ARCHIVE_TYPE_FILE:
		return add_regular(import, path, entry, data, err);
	case ARCHIVE_TYPE_SYMLINK:
		file = add_file(import, path, GIT_FILEMODE_LINK);
		return repo_writers_add(import->writers, lab_strdup(entry->link),
					strlen(entry->link), &file->oid, err);
	case ARCHIVE_TYPE_HARDLINK:
		return add_hardlink(import, path, entry, err);
	default:
		return lab_error_set(err, LAB_ERR_INVALID, "is a device, fifo or socket");
	}
}

static int compare_files(const void *a, const void *b)
{
	return strcmp((*(struct file *const *)a)->path, (*(struct file *const *)b)->path);
}

static int compare_key(const void *key, const void *file)
{
	return strcmp(key, (*(struct file *const *)file)->path);
}

/* Sorts, refuses doubles, and gives hard links the content they share. */
static int settle_files(struct import *import, struct lab_error *err)
{
	if (!import->n)
		return lab_error_set(err, LAB_ERR_INVALID, "has no files");
	qsort(import->files, import->n, sizeof(struct file *), compare_files);
	for (size_t i = 0; i < import->n; i++) {
		struct file *file = import->files[i];
		struct file **target;

		if (i && strcmp(import->files[i - 1]->path, file->path) == 0)
			return lab_error_set(err, LAB_ERR_INVALID, "'%s' comes twice", file->path);
		if (!file->same_as)
			continue;
		target = bsearch(file->same_as, import->files, import->n, sizeof(struct file *),
				 compare_key);
		if (!target || (*target)->same_as)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "'%s': hard link to '%s', which is no file",
					     file->path, file->same_as);
		file->mode = (*target)->mode;
		file->oid = (*target)->oid;
	}
	return 0;
}

static int insert(git_treebuilder *builder, const char *path, size_t at, size_t len,
		  const git_oid *oid, git_filemode_t mode, struct lab_error *err)
{
	LAB_CLEANUP(free) char *name = lab_strndup(path + at, len);
	int rc;

	if (git_treebuilder_get(builder, name))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is a file and a directory", path);
	rc = git_treebuilder_insert(NULL, builder, name, oid, mode);
	return rc < 0 ? repo_error(err, rc, "'%s'", path) : 0;
}

/* The tree of files[begin, end), which share their first `at` bytes. */
static int write_tree(git_repository *handle, struct file *const *files, size_t begin, size_t end,
		      size_t at, git_oid *ret_oid, struct lab_error *err)
{
	LAB_CLEANUP(git_treebuilder) git_treebuilder *builder = NULL;
	int rc = git_treebuilder_new(&builder, handle, NULL);

	for (size_t i = begin; i < end && rc == 0;) {
		const char *path = files[i]->path;
		size_t len = strcspn(path + at, "/"), last = i + 1;
		git_oid oid = files[i]->oid;
		git_filemode_t mode = files[i]->mode;

		if (path[at + len] == '/') {
			while (last < end && strncmp(files[last]->path, path, at + len + 1) == 0)
				last++;
			mode = GIT_FILEMODE_TREE;
			if (write_tree(handle, files, i, last, at + len + 1, &oid, err) < 0)
				return -1;
		}
		if (insert(builder, path, at, len, &oid, mode, err) < 0)
			return -1;
		i = last;
	}
	if (rc == 0)
		rc = git_treebuilder_write(ret_oid, builder);
	return rc < 0 ? repo_error(err, rc, "write tree") : 0;
}

static int write_commit(git_repository *handle, const git_oid *tree_oid, char commit[REPO_OID],
			struct lab_error *err)
{
	LAB_CLEANUP(git_signature) git_signature *who = NULL;
	LAB_CLEANUP(git_tree) git_tree *tree = NULL;
	git_oid oid;
	int rc = git_signature_new(&who, commit_name, commit_mail, COMMIT_TIME, 0);

	if (rc == 0)
		rc = git_tree_lookup(&tree, handle, tree_oid);
	if (rc == 0)
		rc = git_commit_create(&oid, handle, NULL, who, who, NULL,
				       "Import of a source tarball\n", tree, 0, NULL);
	if (rc < 0)
		return repo_error(err, rc, "write commit");
	git_oid_tostr(commit, REPO_OID, &oid);
	return 0;
}

static int run_import(struct repo *repo, const char *tarball, struct import *import,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *objects = repo_objects_dir(repo);
	struct archive_limits limits = {.max_file_bytes = 1ULL << 30};
	git_oid tree;

	if (lab_file_size(tarball, &import->packed_size, err) < 0 ||
	    repo_writers_new(objects, &import->writers, err) < 0 ||
	    archive_read(tarball, &limits, import_entry, import, err) < 0)
		return -1;
	if (repo_writers_finish(import->writers, err) < 0 || settle_files(import, err) < 0 ||
	    write_tree(repo_handle(repo), import->files, 0, import->n, 0, &tree, err) < 0 ||
	    write_commit(repo_handle(repo), &tree, import->result.commit, err) < 0)
		return lab_error_wrap(err, "%s", tarball);
	import->result.files = import->n;
	return 0;
}

int repo_import(struct repo *repo, const char *tarball, const struct build_progress *progress,
		struct repo_imported *ret_imported, struct lab_error *err)
{
	struct import import = {.progress = progress};
	int rc = run_import(repo, tarball, &import, err);

	if (rc == 0) {
		*ret_imported = import.result;
		import.result.version = NULL;
	}
	import_release(&import);
	return rc;
}
