/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remotes. A URL is spoken to by libgit2. A path is read directly: libgit2's transport
 * for local repositories packs, with delta search, all that the remote has.
 */
#include <string.h>

#include "builder/repo_copy.h"
#include "builder/repo_git.h"
#include "common/clock.h"
#include "common/mem.h"

struct repo_remote {
	struct repo *repo;
	const struct build_progress *progress;
	char *url;
	git_remote *handle;   /* a URL's */
	struct repo *foreign; /* a path's */
	struct repo_remote_ref *refs;
	size_t n, cap;
	char *head;
};

/* More negotiation tips than this cost more than they save. */
enum { MAX_TIPS = 4000 };

static const char have_prefix[] = "refs/labctl/have/";

bool repo_url_is_path(const char *url)
{
	const char *colon = strchr(url, ':');
	const char *slash = strchr(url, '/');

	return !colon || (slash && slash < colon);
}

void repo_remote_free(struct repo_remote *remote)
{
	if (!remote)
		return;
	git_remote_free(remote->handle);
	repo_free(remote->foreign);
	for (size_t i = 0; i < remote->n; i++)
		free(remote->refs[i].name);
	free(remote->refs);
	free(remote->head);
	free(remote->url);
	free(remote);
}

static void add_ref(struct repo_remote *remote, const char *name, const git_oid *oid)
{
	struct repo_remote_ref *ref;

	LAB_GROW(remote->refs, remote->n, remote->cap);
	ref = &remote->refs[remote->n++];
	ref->name = lab_strdup(name);
	git_oid_tostr(ref->oid, REPO_OID, oid);
}

static int list_path(struct repo_remote *remote, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(git_reference) git_reference *head = NULL;
	git_repository *handle = repo_handle(remote->foreign);

	if (repo_refs(remote->foreign, "refs/", &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		git_oid oid;

		/* A symbolic reference that leads nowhere is not offered. */
		if (git_reference_name_to_id(&oid, handle, names.items[i]) == 0)
			add_ref(remote, names.items[i], &oid);
	}
	if (git_reference_lookup(&head, handle, "HEAD") == 0 &&
	    git_reference_type(head) == GIT_REFERENCE_SYMBOLIC)
		remote->head = lab_strdup(git_reference_symbolic_target(head));
	return 0;
}

static int on_transfer(const git_indexer_progress *stats, void *payload)
{
	const struct repo_remote *remote = payload;
	const struct build_progress *p = remote->progress;

	if (p && p->fetch)
		p->fetch(p->ctx, stats->received_objects, stats->total_objects,
			 stats->received_bytes);
	return p && p->cancelled && p->cancelled(p->ctx) ? GIT_EUSER : 0;
}

/* "Counting objects" and the like: only a chance to stop. */
static int on_sideband(const char *text, int len, void *payload)
{
	const struct repo_remote *remote = payload;
	const struct build_progress *p = remote->progress;

	(void)text;
	(void)len;
	return p && p->cancelled && p->cancelled(p->ctx) ? GIT_EUSER : 0;
}

static int on_credentials(git_credential **out, const char *url, const char *user,
			  unsigned int allowed, void *payload)
{
	(void)url;
	(void)payload;
	if (allowed & GIT_CREDENTIAL_SSH_KEY)
		return git_credential_ssh_key_from_agent(out, user ? user : "git");
	return GIT_PASSTHROUGH;
}

static void set_callbacks(git_remote_callbacks *callbacks, struct repo_remote *remote)
{
	callbacks->transfer_progress = on_transfer;
	callbacks->sideband_progress = on_sideband;
	callbacks->credentials = on_credentials;
	callbacks->payload = remote;
}

/* The host of a URL: what stands between "//" or "@" and the next "/" or ":". */
static char *url_host(const char *url)
{
	const char *begin = strstr(url, "://");
	const char *at;
	size_t len;

	begin = begin ? begin + 3 : url;
	len = strcspn(begin, "/");
	at = memchr(begin, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - begin);
		begin = at + 1;
	}
	return lab_strndup(begin, strcspn(begin, ":/") < len ? strcspn(begin, ":/") : len);
}

static int list_url(struct repo_remote *remote, struct lab_error *err)
{
	git_remote_callbacks callbacks = GIT_REMOTE_CALLBACKS_INIT;
	git_proxy_options proxy = GIT_PROXY_OPTIONS_INIT;
	const git_remote_head **heads = NULL;
	size_t n = 0;
	int rc = git_remote_create_anonymous(&remote->handle, repo_handle(remote->repo),
					     remote->url);

	if (rc < 0)
		return repo_error(err, rc, "%s", remote->url);
	proxy.type = GIT_PROXY_AUTO;
	set_callbacks(&callbacks, remote);
	rc = git_remote_connect(remote->handle, GIT_DIRECTION_FETCH, &callbacks, &proxy, NULL);
	if (rc == 0)
		rc = git_remote_ls(&heads, &n, remote->handle);
	if (rc < 0) {
		LAB_CLEANUP(free) char *host = url_host(remote->url);

		repo_error(err, rc, "%s cannot be reached for %s", host, remote->url);
		if (err && rc != GIT_EUSER)
			err->kind = LAB_ERR_UNAVAILABLE;
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (strcmp(heads[i]->name, "HEAD") == 0)
			remote->head = lab_strdup(heads[i]->symref_target);
		else if (!lab_ends_with(heads[i]->name, "^{}"))
			add_ref(remote, heads[i]->name, &heads[i]->oid);
	}
	return 0;
}

int repo_remote_open(struct repo *repo, const char *url, const struct build_progress *progress,
		     struct repo_remote **ret_remote, struct lab_error *err)
{
	LAB_CLEANUP(repo_remote) struct repo_remote *remote = LAB_NEW(struct repo_remote);
	const char *path = lab_starts_with(url, "file://") ? url + strlen("file://") : url;

	remote->repo = repo;
	remote->progress = progress;
	remote->url = lab_strdup(url);
	if (repo_url_is_path(path)) {
		if (repo_open_foreign(path, &remote->foreign, err) < 0 ||
		    list_path(remote, err) < 0)
			return -1;
	} else if (list_url(remote, err) < 0) {
		return -1;
	}
	*ret_remote = LAB_TAKE(remote);
	return 0;
}

const struct repo_remote_ref *repo_remote_refs(const struct repo_remote *remote, size_t *ret_n)
{
	*ret_n = remote->n;
	return remote->refs;
}

const struct repo_remote_ref *repo_remote_find(const struct repo_remote *remote, const char *name)
{
	for (size_t i = 0; i < remote->n; i++) {
		if (strcmp(remote->refs[i].name, name) == 0)
			return &remote->refs[i];
	}
	return NULL;
}

const char *repo_remote_head(const struct repo_remote *remote)
{
	return remote->head;
}

/*
 * libgit2 tells the server of the commits our references lead to, newest first, and gives
 * up after 256. Borrowed objects have no references of ours, so those of the remote's that
 * are here already become references for the time of the fetch.
 */
static int add_tips(struct repo_remote *remote, struct lab_error *err)
{
	LAB_CLEANUP(git_odb) git_odb *odb = NULL;
	unsigned tips = 0;
	int rc = git_repository_odb(&odb, repo_handle(remote->repo));

	if (rc < 0)
		return repo_error(err, rc, "object database");
	for (size_t i = 0; i < remote->n && tips < MAX_TIPS; i++) {
		const struct repo_remote_ref *ref = &remote->refs[i];
		LAB_CLEANUP(free) char *name = lab_asprintf("%s%s", have_prefix, ref->oid);
		git_oid oid;

		if (!lab_starts_with(ref->name, "refs/heads/") &&
		    !lab_starts_with(ref->name, "refs/tags/"))
			continue;
		if (repo_oid(&oid, ref->oid, err) < 0)
			return -1;
		if (!git_odb_exists_ext(odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH))
			continue;
		if (repo_set_ref(remote->repo, name, ref->oid, err) < 0)
			return -1;
		tips++;
	}
	return 0;
}

static int drop_tips(struct repo *repo, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;

	if (repo_refs(repo, have_prefix, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (repo_delete_ref(repo, names.items[i], err) < 0)
			return -1;
	}
	return 0;
}

static int fetch_url(struct repo_remote *remote, const struct lab_strv *refspecs,
		     struct repo_fetched *fetched, struct lab_error *err)
{
	git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
	git_strarray specs = {refspecs->items, refspecs->n};
	const git_indexer_progress *stats;
	int rc;

	if (add_tips(remote, err) < 0)
		return -1;
	set_callbacks(&options.callbacks, remote);
	options.proxy_opts.type = GIT_PROXY_AUTO;
	options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_AUTO;
	options.update_fetchhead = 0;
	rc = git_remote_fetch(remote->handle, &specs, &options, "labctl: fetch");
	if (rc < 0)
		return repo_error(err, rc, "fetch from %s", remote->url);
	stats = git_remote_stats(remote->handle);
	fetched->objects = stats->received_objects;
	fetched->bytes = stats->received_bytes;
	return drop_tips(remote->repo, err);
}

/* One reference of a path's into ours, if the refspec asks for it. */
static int fetch_ref(struct repo_remote *remote, struct repo_copy *copy,
		     const struct repo_remote_ref *ref, const git_refspec *spec,
		     struct lab_error *err)
{
	git_buf name = GIT_BUF_INIT;
	int rc;

	if (!git_refspec_src_matches(spec, ref->name))
		return 0;
	if (repo_copy_object(copy, ref->oid, err) < 0)
		return lab_error_wrap(err, "%s", ref->name);
	rc = git_refspec_transform(&name, spec, ref->name);
	if (rc < 0)
		return repo_error(err, rc, "%s", ref->name);
	rc = repo_set_ref(remote->repo, name.ptr, ref->oid, err);
	git_buf_dispose(&name);
	return rc;
}

/* Tags of what is here now, as git fetch brings them. */
static int follow_tags(struct repo_remote *remote, struct repo_copy *copy, struct lab_error *err)
{
	for (size_t i = 0; i < remote->n; i++) {
		const struct repo_remote_ref *ref = &remote->refs[i];
		char commit[REPO_OID], here[REPO_OID];
		int rc;

		if (!lab_starts_with(ref->name, "refs/tags/"))
			continue;
		rc = repo_commit(remote->foreign, ref->oid, commit, err);
		if (rc > 0)
			rc = repo_commit(remote->repo, commit, here, err);
		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		if (repo_copy_object(copy, ref->oid, err) < 0 ||
		    repo_set_ref(remote->repo, ref->name, ref->oid, err) < 0)
			return -1;
	}
	return 0;
}

static int fetch_path(struct repo_remote *remote, const struct lab_strv *refspecs,
		      struct repo_fetched *fetched, struct lab_error *err)
{
	LAB_CLEANUP(repo_copy) struct repo_copy *copy = NULL;

	if (repo_copy_new(remote->foreign, remote->repo, remote->progress, &copy, err) < 0)
		return -1;
	for (size_t i = 0; i < refspecs->n; i++) {
		git_refspec *spec;
		int rc = git_refspec_parse(&spec, refspecs->items[i], 1);

		if (rc < 0)
			return repo_error(err, rc, "%s", refspecs->items[i]);
		for (size_t k = 0; k < remote->n && rc == 0; k++)
			rc = fetch_ref(remote, copy, &remote->refs[k], spec, err);
		git_refspec_free(spec);
		if (rc < 0)
			return -1;
	}
	if (follow_tags(remote, copy, err) < 0)
		return -1;
	repo_copy_count(copy, &fetched->objects, &fetched->bytes);
	return 0;
}

int repo_remote_fetch(struct repo_remote *remote, const struct lab_strv *refspecs,
		      struct repo_fetched *ret_fetched, struct lab_error *err)
{
	struct repo_fetched fetched = {0};
	uint64_t began = lab_now_ms();
	int rc = remote->foreign ? fetch_path(remote, refspecs, &fetched, err)
				 : fetch_url(remote, refspecs, &fetched, err);

	if (rc < 0)
		return -1;
	fetched.ms = lab_now_ms() - began;
	*ret_fetched = fetched;
	return 0;
}
