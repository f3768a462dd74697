/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"
#include "store/internal.h"

/*
 * A draft is artifacts/tmp/NAME beside artifacts/tmp/NAME.lock, which its process keeps
 * flock()ed: a lock that can be had belongs to a dead process. artifacts/tmp/.gate is
 * held while a draft appears or is swept, so that no sweep sees a draft that does not
 * hold its lock yet.
 */
struct artifact_draft {
	struct lab *lab;
	char *kind;
	char *key;
	char *dir; /* NULL once published */
	char *lock_path;
	int lock_fd;
};

static int open_locked(const char *path, int how, int *ret_fd, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	while (flock(fd, how) < 0) {
		if (errno == EWOULDBLOCK)
			return lab_error_set(err, LAB_ERR_BUSY, "%s is held", path);
		if (errno != EINTR)
			return lab_error_errno(err, errno, "lock %s", path);
	}
	*ret_fd = lab_take_fd(&fd);
	return 0;
}

static int open_gate(const struct lab *lab, int *ret_fd, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "artifacts/tmp/.gate");

	return open_locked(path, LOCK_EX, ret_fd, err);
}

/* Removes the draft `name` unless its process lives; says whether it did. */
static int sweep_one(const char *tmp, const char *name, bool *ret_swept, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = lab_path_join(tmp, name);
	LAB_CLEANUP(free) char *lock = lab_asprintf("%s.lock", dir);
	LAB_CLEANUP(fd) int fd = -1;
	struct lab_error why = {0};

	*ret_swept = false;
	if (open_locked(lock, LOCK_EX | LOCK_NB, &fd, &why) < 0) {
		if (why.kind == LAB_ERR_BUSY)
			return 0;
		return lab_error_set(err, why.kind, "%s", why.text);
	}
	if (lab_remove_tree(dir, err) < 0)
		return -1;
	/* Its owner may have removed it himself just now. */
	if (unlink(lock) < 0 && errno != ENOENT)
		return lab_error_errno(err, errno, "%s", lock);
	*ret_swept = true;
	return 0;
}

static int draft_names(const char *tmp, struct lab_strv *names, struct lab_error *err)
{
	LAB_CLEANUP(dir) DIR *dir = opendir(tmp);
	const struct dirent *entry;

	if (!dir)
		return lab_error_errno(err, errno, "%s", tmp);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *name = NULL;
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		/* A lock without its directory is what is left of a sweep or a publication. */
		if (lab_ends_with(entry->d_name, ".lock"))
			len -= strlen(".lock");
		name = lab_strndup(entry->d_name, len);
		if (!lab_strv_has(names, name))
			lab_strv_add(names, name);
	}
	return 0;
}

/* With the gate held. */
static int sweep(const struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *tmp = lab_path(lab, "artifacts/tmp");
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	unsigned n = 0;

	if (draft_names(tmp, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		bool swept;

		if (sweep_one(tmp, names.items[i], &swept, err) < 0)
			return lab_error_wrap(err, "remove an unfinished artifact");
		n += swept;
	}
	*ret_n = n;
	return 0;
}

int artifact_clean_drafts(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(fd) int gate = -1;

	if (open_gate(lab, &gate, err) < 0)
		return -1;
	return sweep(lab, ret_n, err);
}

static int check_names(const char *kind, const char *key, struct lab_error *err)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	size_t len = strlen(key);

	if (len < 8 || len > 64 || strspn(key, digits) != len)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is no artifact key", key);
	if (!*kind || strspn(kind, digits) != strlen(kind) || strcmp(kind, "tmp") == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is no artifact kind", kind);
	return 0;
}

/* With the gate held: lock first, so that the directory never stands alone. */
static int make_draft(struct artifact_draft *draft, struct lab_error *err)
{
	static unsigned counter;
	LAB_CLEANUP(free)
	char *dir = lab_path(draft->lab, "artifacts/tmp/%s-%.*s.%d.%u", draft->kind, ARTIFACT_SHORT,
			     draft->key, (int)getpid(), ++counter);
	LAB_CLEANUP(free) char *lock = lab_asprintf("%s.lock", dir);

	if (open_locked(lock, LOCK_EX | LOCK_NB, &draft->lock_fd, err) < 0)
		return -1;
	draft->lock_path = LAB_TAKE(lock);
	if (mkdir(dir, 0755) < 0)
		return lab_error_errno(err, errno, "make %s", dir);
	draft->dir = LAB_TAKE(dir);
	if (chmod(draft->dir, 0755) < 0)
		return lab_error_errno(err, errno, "%s", draft->dir);
	return 0;
}

int artifact_begin(struct lab *lab, const char *kind, const char *key,
		   struct artifact_draft **ret_draft, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(fd) int gate = -1;
	unsigned swept;

	if (lab_need_write(lab, err) < 0 || check_names(kind, key, err) < 0 ||
	    open_gate(lab, &gate, err) < 0 || sweep(lab, &swept, err) < 0)
		return -1;
	draft = LAB_NEW(struct artifact_draft);
	draft->lab = lab;
	draft->kind = lab_strdup(kind);
	draft->key = lab_strdup(key);
	draft->lock_fd = -1;
	if (make_draft(draft, err) < 0)
		return -1;
	*ret_draft = LAB_TAKE(draft);
	return 0;
}

const char *artifact_draft_dir(const struct artifact_draft *draft)
{
	return draft->dir;
}

void artifact_draft_free(struct artifact_draft *draft)
{
	if (!draft)
		return;
	/* What cannot be removed now is removed by the next sweep. */
	if (draft->dir && lab_remove_tree(draft->dir, NULL) < 0)
		free(LAB_TAKE(draft->lock_path));
	if (draft->lock_path)
		unlink(draft->lock_path);
	if (draft->lock_fd >= 0)
		close(draft->lock_fd);
	free(draft->kind);
	free(draft->key);
	free(draft->dir);
	free(draft->lock_path);
	free(draft);
}

struct lab *draft_lab(const struct artifact_draft *draft)
{
	return draft->lab;
}

const char *draft_kind(const struct artifact_draft *draft)
{
	return draft->kind;
}

const char *draft_key(const struct artifact_draft *draft)
{
	return draft->key;
}

struct artifact *draft_describe(const struct artifact_draft *draft)
{
	struct artifact *a = LAB_NEW(struct artifact);

	a->kind = lab_strdup(draft->kind);
	a->key = lab_strdup(draft->key);
	a->path = lab_path(draft->lab, "artifacts/%s/%s", a->kind, a->key);
	return a;
}

void draft_published(struct artifact_draft *draft)
{
	free(LAB_TAKE(draft->dir));
}
