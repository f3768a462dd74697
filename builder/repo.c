/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/repo.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "builder/repo_git.h"
#include "common/file.h"
#include "common/mem.h"

struct repo {
	git_repository *handle;
};

enum { ALTERNATES_CAP = 64 * 1024 };

git_repository *repo_handle(const struct repo *repo)
{
	return repo->handle;
}

int repo_library_begin(struct lab_error *err)
{
	int rc = git_libgit2_init();

	if (rc < 0)
		return repo_error(err, rc, "libgit2 does not start");
	/*
	 * The owner check guards users against configuration and hooks of strangers'
	 * repositories. We run neither, we read objects.
	 */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	return 0;
}

void repo_library_end(void)
{
	git_libgit2_shutdown();
}

int repo_error(struct lab_error *err, int code, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	enum lab_error_kind kind = LAB_ERR_FAILED;
	char what[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (code == GIT_EUSER)
		return lab_error_set(err, LAB_ERR_CANCELLED, "%s: stopped", what);
	if (code == GIT_ENOTFOUND)
		kind = LAB_ERR_NOT_FOUND;
	return lab_error_set(err, kind, "%s: %s", what,
			     last && last->message ? last->message : "libgit2 gives no reason");
}

int repo_oid(git_oid *oid, const char *hex, struct lab_error *err)
{
	if (strlen(hex) != GIT_OID_HEXSZ || git_oid_fromstr(oid, hex) < 0)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is no object name", hex);
	return 0;
}

int repo_lookup_tree(struct repo *repo, const char *hex, git_tree **ret_tree, struct lab_error *err)
{
	git_oid oid;
	int rc;

	if (repo_oid(&oid, hex, err) < 0)
		return -1;
	rc = git_tree_lookup(ret_tree, repo->handle, &oid);
	return rc < 0 ? repo_error(err, rc, "tree %s", hex) : 0;
}

int repo_init(const char *path, struct lab_error *err)
{
	LAB_CLEANUP(git_repository) git_repository *handle = NULL;
	git_repository_init_options opts = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	int rc;

	if (repo_library_begin(err) < 0)
		return -1;
	opts.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
	rc = git_repository_init_ext(&handle, path, &opts);
	if (rc < 0)
		repo_error(err, rc, "make repository %s", path);
	git_repository_free(LAB_TAKE(handle));
	repo_library_end();
	return rc < 0 ? -1 : 0;
}

/* Wraps an opened handle; takes over one repo_library_begin(). */
static struct repo *repo_of(git_repository *handle)
{
	struct repo *repo = LAB_NEW(struct repo);

	repo->handle = handle;
	return repo;
}

void repo_free(struct repo *repo)
{
	if (!repo)
		return;
	git_repository_free(repo->handle);
	repo_library_end();
	free(repo);
}

int repo_borrowed(const char *path, struct lab_strv *ret_dirs, struct lab_error *err)
{
	LAB_CLEANUP(free) char *file = lab_path_join(path, "objects/info/alternates");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (!lab_file_exists(file))
		return 0;
	if (lab_read_file(file, ALTERNATES_CAP, &text, err) < 0)
		return -1;
	lab_strv_split(ret_dirs, text.data ? text.data : "", "\n");
	return 0;
}

int repo_borrow(const char *path, const struct lab_strv *objects_dirs, struct lab_error *err)
{
	LAB_CLEANUP(free) char *file = lab_path_join(path, "objects/info/alternates");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	for (size_t i = 0; i < objects_dirs->n; i++)
		lab_buf_addf(&text, "%s\n", objects_dirs->items[i]);
	return lab_write_file(file, text.data ? text.data : "", text.len, 0644, err);
}

int repo_open(const char *path, struct repo **ret_repo, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv dirs = LAB_STRV_INIT;
	git_repository *handle = NULL;
	int rc;

	/* libgit2 passes over a missing directory; what follows would be puzzling. */
	if (repo_borrowed(path, &dirs, err) < 0)
		return -1;
	for (size_t i = 0; i < dirs.n; i++) {
		if (!lab_dir_exists(dirs.items[i]))
			return lab_error_set(err, LAB_ERR_UNAVAILABLE,
					     "the objects it borrows are gone: %s (put that "
					     "repository back, or remove and add the source again)",
					     dirs.items[i]);
	}
	if (repo_library_begin(err) < 0)
		return -1;
	rc = git_repository_open_bare(&handle, path);
	if (rc < 0) {
		repo_error(err, rc, "open repository %s", path);
		repo_library_end();
		return -1;
	}
	*ret_repo = repo_of(handle);
	return 0;
}

/*
 * A clone that lacks objects on purpose: git would fetch them when they are asked for.
 * Not by git_config_iterator_glob_new(): libgit2 1.5 leaks 20 KiB for each name it matches.
 */
static bool is_partial(git_repository *handle)
{
	git_config *config = NULL;
	git_config_iterator *iter = NULL;
	git_config_entry *entry;
	bool partial = false;

	if (git_repository_config_snapshot(&config, handle) == 0 &&
	    git_config_iterator_new(&iter, config) == 0) {
		while (git_config_next(&entry, iter) == 0)
			partial = partial || (lab_starts_with(entry->name, "remote.") &&
					      lab_ends_with(entry->name, ".promisor") &&
					      strcmp(entry->value, "true") == 0);
	}
	git_config_iterator_free(iter);
	git_config_free(config);
	return partial;
}

static int refuse_incomplete(git_repository *handle, const char *path, struct lab_error *err)
{
	if (is_partial(handle))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s is a partial clone, some of its objects are not there; "
				     "use a whole one (git clone without --filter)",
				     path);
	if (git_repository_is_shallow(handle))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s is a shallow clone, its history ends early; "
				     "run there: git fetch --unshallow",
				     path);
	return 0;
}

int repo_open_foreign(const char *path, struct repo **ret_repo, struct lab_error *err)
{
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	git_repository *handle = NULL;
	int rc;

	if (repo_library_begin(err) < 0)
		return -1;
	rc = git_repository_open_ext(&handle, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	if (rc < 0) {
		repo_error(err, rc, "%s is no repository that can be read", path);
		repo_library_end();
		return -1;
	}
	repo = repo_of(handle);
	if (refuse_incomplete(handle, path, err) < 0)
		return -1;
	*ret_repo = LAB_TAKE(repo);
	return 0;
}

char *repo_objects_dir(const struct repo *repo)
{
	return lab_path_join(git_repository_commondir(repo->handle), "objects");
}

static void format_oid(char text[REPO_OID], const git_oid *oid)
{
	git_oid_tostr(text, REPO_OID, oid);
}

int repo_ref(struct repo *repo, const char *ref, char oid[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(git_reference) git_reference *reference = NULL;
	LAB_CLEANUP(git_object) git_object *object = NULL;
	int rc = git_reference_lookup(&reference, repo->handle, ref);

	if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC)
		return 0;
	if (rc == 0)
		rc = git_reference_peel(&object, reference, GIT_OBJECT_COMMIT);
	if (rc < 0)
		return repo_error(err, rc, "%s", ref);
	format_oid(oid, git_object_id(object));
	return 1;
}

int repo_set_ref(struct repo *repo, const char *ref, const char *oid, struct lab_error *err)
{
	LAB_CLEANUP(git_reference) git_reference *reference = NULL;
	git_oid id;
	int rc;

	if (repo_oid(&id, oid, err) < 0)
		return -1;
	rc = git_reference_create(&reference, repo->handle, ref, &id, 1, "labctl");
	return rc < 0 ? repo_error(err, rc, "set %s", ref) : 0;
}

int repo_set_symbolic(struct repo *repo, const char *ref, const char *target, struct lab_error *err)
{
	LAB_CLEANUP(git_reference) git_reference *reference = NULL;
	int rc = git_reference_symbolic_create(&reference, repo->handle, ref, target, 1, "labctl");

	return rc < 0 ? repo_error(err, rc, "set %s", ref) : 0;
}

char *repo_symbolic(struct repo *repo, const char *ref)
{
	LAB_CLEANUP(git_reference) git_reference *reference = NULL;

	if (git_reference_lookup(&reference, repo->handle, ref) < 0 ||
	    git_reference_type(reference) != GIT_REFERENCE_SYMBOLIC)
		return NULL;
	return lab_strdup(git_reference_symbolic_target(reference));
}

int repo_delete_ref(struct repo *repo, const char *ref, struct lab_error *err)
{
	int rc = git_reference_remove(repo->handle, ref);

	return rc < 0 && rc != GIT_ENOTFOUND ? repo_error(err, rc, "remove %s", ref) : 0;
}

int repo_commit(struct repo *repo, const char *hex, char oid[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(git_object) git_object *object = NULL;
	LAB_CLEANUP(git_object) git_object *commit = NULL;
	size_t len = strlen(hex);
	git_oid prefix;
	int rc;

	if (len < 4 || len > GIT_OID_HEXSZ || strspn(hex, "0123456789abcdefABCDEF") != len)
		return 0;
	rc = git_oid_fromstrn(&prefix, hex, len);
	if (rc == 0)
		rc = git_object_lookup_prefix(&object, repo->handle, &prefix, len, GIT_OBJECT_ANY);
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc == GIT_EAMBIGUOUS)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s' is the beginning of several object names", hex);
	if (rc < 0)
		return repo_error(err, rc, "%s", hex);
	rc = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
	if (rc < 0)
		return 0; /* a tree or a blob: not what is asked for */
	format_oid(oid, git_object_id(commit));
	return 1;
}

/* Reads "^", "^2", "~3": which parent, or how many generations of first parents. */
static int step_back(git_commit *from, const char **suffix, git_commit **ret_to)
{
	bool generations = **suffix == '~';
	unsigned long n = 1;
	char *end;

	++*suffix;
	if (isdigit((unsigned char)**suffix)) {
		n = strtoul(*suffix, &end, 10);
		*suffix = end;
	}
	if (n > UINT_MAX)
		return GIT_ENOTFOUND;
	if (generations || n == 0)
		return git_commit_nth_gen_ancestor(ret_to, from, generations ? (unsigned)n : 0);
	return git_commit_parent(ret_to, from, (unsigned)n - 1);
}

/* Not by git_revparse_single(), which leaks like the above. */
int repo_ancestor(struct repo *repo, const char *suffix, char oid[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(git_commit) git_commit *commit = NULL;
	const char *at = suffix;
	git_oid id;
	int rc;

	if (repo_oid(&id, oid, err) < 0)
		return -1;
	rc = git_commit_lookup(&commit, repo->handle, &id);
	while (rc == 0 && (*at == '~' || *at == '^')) {
		git_commit *next = NULL;

		rc = step_back(commit, &at, &next);
		if (rc == 0) {
			git_commit_free(commit);
			commit = next;
		}
	}
	if (rc < 0)
		return repo_error(err, rc, "%.12s%s", oid, suffix);
	if (*at)
		return lab_error_set(err, LAB_ERR_USAGE, "'%s': ~N and ^N are known", suffix);
	format_oid(oid, git_commit_id(commit));
	return 0;
}

int repo_tree(struct repo *repo, const char *commit, char tree[REPO_OID], struct lab_error *err)
{
	LAB_CLEANUP(git_commit) git_commit *object = NULL;
	git_oid id;
	int rc;

	if (repo_oid(&id, commit, err) < 0)
		return -1;
	rc = git_commit_lookup(&object, repo->handle, &id);
	if (rc < 0)
		return repo_error(err, rc, "commit %s", commit);
	format_oid(tree, git_commit_tree_id(object));
	return 0;
}

int repo_refs(struct repo *repo, const char *prefix, struct lab_strv *ret_names,
	      struct lab_error *err)
{
	LAB_CLEANUP(git_reference_iterator) git_reference_iterator *iter = NULL;
	const char *name;
	int rc = git_reference_iterator_new(&iter, repo->handle);

	if (rc < 0)
		return repo_error(err, rc, "list references");
	while ((rc = git_reference_next_name(&name, iter)) == 0) {
		if (lab_starts_with(name, prefix))
			lab_strv_add(ret_names, name);
	}
	if (rc != GIT_ITEROVER)
		return repo_error(err, rc, "list references");
	lab_strv_sort(ret_names);
	return 0;
}

int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *commit,
		     struct lab_error *err)
{
	git_oid a, c;
	int rc;

	if (repo_oid(&a, ancestor, err) < 0 || repo_oid(&c, commit, err) < 0)
		return -1;
	if (git_oid_equal(&a, &c))
		return 1;
	rc = git_graph_descendant_of(repo->handle, &c, &a);
	return rc < 0 ? repo_error(err, rc, "history of %s", commit) : rc;
}

int repo_merge_base(struct repo *repo, const char *a, const char *b, char oid[REPO_OID],
		    struct lab_error *err)
{
	git_oid x, y, base;
	int rc;

	if (repo_oid(&x, a, err) < 0 || repo_oid(&y, b, err) < 0)
		return -1;
	rc = git_merge_base(&base, repo->handle, &x, &y);
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc < 0)
		return repo_error(err, rc, "merge base of %s and %s", a, b);
	format_oid(oid, &base);
	return 1;
}
