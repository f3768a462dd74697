/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/setup.h"
#include "experiments/talk.h"
#include "store/hash.h"

/* What a kernel must have, on the way through this file. */
struct wanted {
	const char *spec, *source; /* patchset to build */
	struct lab_strv fragments; /* paths */
	struct lab_strv config;	   /* symbols of definition, fragments and target */
};

static void lab_cleanup_wanted(struct wanted *w)
{
	lab_strv_release(&w->fragments);
	lab_strv_release(&w->config);
}

const struct kernel *kernel_find(const struct kernel_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	return NULL;
}

static void kernel_release_one(struct kernel *k)
{
	free(k->name);
	free(k->bzimage);
	free(k->key);
	free(k->content);
	free(k->label);
	free(k->build_id);
	free(k->config);
	free(k->modules);
	artifact_free(k->initramfs);
	free(k->initramfs_path);
}

void kernel_set_release(struct kernel_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		kernel_release_one(&set->items[i]);
	free(set->items);
	patchset_free(set->patchset);
	*set = (struct kernel_set){0};
}

/* Adds an empty kernel. */
static struct kernel *kernel_add(struct kernel_set *set, const char *name)
{
	LAB_GROW(set->items, set->n, set->cap);
	set->items[set->n] = (struct kernel){.name = lab_strdup(name)};
	return &set->items[set->n++];
}

static char *if_there(char *path)
{
	if (lab_file_exists(path) || lab_dir_exists(path))
		return path;
	free(path);
	return NULL;
}

static int from_artifact(struct kernel_set *set, const char *name, const struct artifact *a,
			 struct lab_error *err)
{
	json_auto_t *manifest = json_loads(a->manifest, 0, NULL);
	const char *build_id = json_string_value(json_object_get(manifest, "build_id"));
	struct kernel *k;

	if (!manifest)
		return lab_error_set(err, LAB_ERR_INVALID, "kernel %.12s: its manifest is no JSON",
				     a->key);
	k = kernel_add(set, name);
	k->bzimage = lab_path_join(a->path, "bzImage");
	k->key = lab_strdup(a->key);
	k->content = lab_strdup(a->content);
	k->label = lab_strdup(*a->label ? a->label : a->key);
	k->build_id = build_id && *build_id ? lab_strdup(build_id) : NULL;
	k->config = if_there(lab_path_join(a->path, "config"));
	k->modules = lab_strdup(a->path);
	if (!lab_file_exists(k->bzimage))
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "kernel %.12s has no bzImage in %s",
				     a->key, a->path);
	return 0;
}

int kernel_release(const char *bzimage, char **ret_release, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(bzimage, O_RDONLY | O_CLOEXEC);
	unsigned char head[0x210];
	char text[128] = {0};
	off_t at;

	if (fd < 0)
		return lab_error_errno(err, errno, "open kernel '%s'", bzimage);
	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head + 0x202, "HdrS", 4) != 0)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s' is no bzImage: it has no Linux boot header", bzimage);
	at = 0x200 + (head[0x20e] | head[0x20f] << 8);
	if (pread(fd, text, sizeof(text) - 1, at) <= 0)
		return lab_error_set(err, LAB_ERR_INVALID, "'%s': no version text", bzimage);
	text[strcspn(text, " \n")] = 0;
	*ret_release = lab_strdup(text);
	return 0;
}

/* /boot/vmlinuz-REL has its config beside it; a build tree has it three floors up. */
static char *config_beside(const char *path)
{
	LAB_CLEANUP(free) char *dir = lab_strndup(path, (size_t)(lab_path_base(path) - path));
	const char *base = lab_path_base(path);
	char *config;

	if (lab_starts_with(base, "vmlinuz-"))
		return if_there(lab_asprintf("%sconfig-%s", dir, base + strlen("vmlinuz-")));
	config = if_there(lab_asprintf("%sconfig", dir));
	if (!config && lab_ends_with(dir, "/arch/x86/boot/"))
		config = if_there(lab_asprintf("%s../../../.config", dir));
	return config;
}

static int from_file(struct kernel_set *set, const char *name, const char *path,
		     struct lab_error *err)
{
	LAB_CLEANUP(free) char *release = NULL;
	char hash[HASH_HEX], real[PATH_MAX];
	struct kernel *k;

	if (!realpath(path, real))
		return lab_error_errno(err, errno, "kernel %s: '%s'", name, path);
	if (kernel_release(real, &release, err) || hash_file(real, hash, err))
		return lab_error_wrap(err, "kernel %s", name);
	k = kernel_add(set, name);
	k->bzimage = lab_strdup(real);
	k->key = lab_asprintf("file:%s", hash);
	k->content = lab_strdup(hash);
	k->label = lab_strdup(release);
	k->config = config_beside(real);
	k->modules = if_there(lab_asprintf("/lib/modules/%s/modules.dep", release));
	if (k->modules)
		*strrchr(k->modules, '/') = 0;
	return 0;
}

const struct run_kernel *kernel_given(const struct run_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_kernels; i++)
		if (strcmp(request->kernels[i].name, name) == 0)
			return &request->kernels[i];
	return NULL;
}

static int one_given(const struct setup *s, const char *name, struct kernel_set *set,
		     struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	const struct run_kernel *given = kernel_given(s->request, name);
	const char *value;

	if (given && given->kernel)
		return from_artifact(set, name, given->kernel, err);
	value = given ? given->value : NULL;
	if (!value)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "the experiment boots kernel %s: give it with --kernel %s=...",
				     name, name);
	if (strchr(value, '/'))
		return from_file(set, name, value, err);
	if (artifact_resolve(s->lab, ARTIFACT_KERNEL, value, &a, err))
		return lab_error_wrap(err, "kernel %s", name);
	return from_artifact(set, name, a, err);
}

static int from_given(const struct setup *s, struct kernel_set *set, struct lab_error *err)
{
	const struct experiment *e = s->experiment;
	const struct run_request *request = s->request;

	for (size_t i = 0; i < e->n_variants; i++) {
		const char *name = e->variants[i].kernel;

		if (!kernel_find(set, name) && one_given(s, name, set, err))
			return -1;
	}
	for (size_t i = 0; i < request->n_kernels; i++)
		if (!kernel_find(set, request->kernels[i].name))
			return lab_error_set(err, LAB_ERR_USAGE,
					     "no variant of the experiment boots a kernel '%s'",
					     request->kernels[i].name);
	return 0;
}

/* Both kernels of a stored patchset; *ret_there is false when one of them is gone. */
static int from_patchset(struct lab *lab, struct patchset *p, struct kernel_set *set,
			 bool *ret_there, struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	LAB_CLEANUP(artifact) struct artifact *b = NULL;

	if (artifact_find(lab, ARTIFACT_KERNEL, p->kernel_a, &a, err) ||
	    artifact_find(lab, ARTIFACT_KERNEL, p->kernel_b, &b, err))
		return -1;
	*ret_there = a && b;
	if (!*ret_there)
		return 0;
	return from_artifact(set, "A", a, err) || from_artifact(set, "B", b, err) ? -1 : 0;
}

/* Fragment files of a name in the installed data, or as paths beside the definition. */
static int find_fragments(const struct setup *s, struct wanted *w, struct lab_error *err)
{
	const struct experiment *e = s->experiment;

	for (size_t i = 0; i < e->fragments.n; i++) {
		LAB_CLEANUP(free)
		char *path = talk_data_path(e, s->request->fragments_dir, e->fragments.items[i],
					    ".config");

		if (!lab_file_exists(path))
			return lab_error_set(err, LAB_ERR_NOT_FOUND, "config fragment '%s': no %s",
					     e->fragments.items[i], path);
		lab_strv_add(&w->fragments, path);
	}
	return 0;
}

/* Symbols that definition and target want of every kernel, those of fragments included. */
static int find_wanted(const struct setup *s, struct wanted *w, struct lab_error *err)
{
	if (find_fragments(s, w, err))
		return -1;
	lab_strv_add_all(&w->config, (const char *const *)s->experiment->config.items);
	lab_strv_add_all(&w->config, s->target->caps.required_config);
	for (size_t i = 0; i < w->fragments.n; i++) {
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
		LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;

		if (lab_read_file(w->fragments.items[i], 1 << 20, &text, err))
			return -1;
		lab_strv_split(&lines, text.data ? text.data : "", "\n");
		for (size_t l = 0; l < lines.n; l++)
			if (lab_starts_with(lines.items[l], "CONFIG_"))
				lab_strv_add(&w->config, lines.items[l]);
	}
	return 0;
}

static const char *config_value(const struct lab_strv *lines, const char *symbol, size_t len)
{
	for (size_t i = 0; i < lines->n; i++)
		if (strncmp(lines->items[i], "CONFIG_", 7) == 0 &&
		    strncmp(lines->items[i] + 7, symbol, len) == 0 &&
		    lines->items[i][7 + len] == '=')
			return lines->items[i] + 8 + len;
	return "n";
}

int kernel_config_missing(const char *config, const char *const *wanted, bool modules,
			  struct lab_strv *ret_missing, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;

	if (lab_read_file(config, 8 << 20, &text, err))
		return -1;
	lab_strv_split(&lines, text.data ? text.data : "", "\n");
	for (size_t i = 0; wanted && wanted[i]; i++) {
		const char *symbol = wanted[i], *equals = strchr(symbol, '=');
		const char *value;

		if (!equals || lab_ends_with(symbol, "?"))
			continue;
		if (lab_starts_with(symbol, "CONFIG_"))
			symbol += strlen("CONFIG_");
		value = config_value(&lines, symbol, (size_t)(equals - symbol));
		if (strcmp(value, equals + 1) == 0)
			continue;
		if (modules && strcmp(equals, "=y") == 0 && strcmp(value, "m") == 0)
			continue;
		lab_strv_add(ret_missing, wanted[i]);
	}
	return 0;
}

/* *ret_text names what is missing where, or is NULL. */
static int check_configs(const struct kernel_set *set, const struct wanted *w, char **ret_text,
			 struct lab_error *err)
{
	for (size_t i = 0; i < set->n; i++) {
		LAB_CLEANUP(strv) struct lab_strv missing = LAB_STRV_INIT;
		LAB_CLEANUP(free) char *all = NULL;
		const struct kernel *k = &set->items[i];

		if (!k->config)
			continue;
		if (kernel_config_missing(k->config, (const char *const *)w->config.items,
					  k->modules != NULL, &missing, err))
			return -1;
		if (!missing.n)
			continue;
		all = lab_strv_join(&missing, " ");
		*ret_text = lab_asprintf("kernel %s (%s) lacks %s", k->name, k->label, all);
		return 0;
	}
	return 0;
}

static int build(const struct setup *s, const struct wanted *w, struct kernel_set *set,
		 struct lab_error *err)
{
	LAB_CLEANUP(build_result) struct build_result result = {0};
	struct build_request b = {
		.source = w->source,
		.spec = w->spec,
		.base_config = s->experiment->base_config,
		.fragments_dir = s->request->fragments_dir,
		.fragments = (const char *const *)w->fragments.items,
		.config = (const char *const *)s->experiment->config.items,
		.required = s->target->caps.required_config,
		.jobs = s->request->jobs,
		.use_ccache = s->request->use_ccache,
	};

	if (s->stages->build(s->lab, &b, s->progress ? s->progress->build : NULL, &result, err))
		return lab_error_wrap(err, "patchset '%s'", w->spec);
	if (from_artifact(set, "A", result.a.kernel, err) ||
	    from_artifact(set, "B", result.b.kernel, err))
		return -1;
	set->patchset = LAB_TAKE(result.patchset);
	return 0;
}

/* The patchset as stored, NULL when it was never built, and the spec, the caller's to free. */
static int find_patchset(const struct setup *s, char **ret_spec, struct patchset **ret_patchset,
			 struct lab_error *err)
{
	const char *asked = s->request->patchset, *named = s->experiment->patchset;
	const char *how = asked ? "as asked" : "named by the definition";
	struct lab_error why = {0};

	if (!asked && !named) {
		if (patchset_latest(s->lab, ret_patchset, err))
			return lab_error_wrap(err, "experiment '%s' names no patchset",
					      s->experiment->name);
		how = "the newest built";
		asked = (*ret_patchset)->spec;
	} else if (patchset_find(s->lab, asked ? asked : named, ret_patchset, &why) &&
		   why.kind != LAB_ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	*ret_spec = lab_strdup(asked ? asked : named);
	talk(s->progress, "patchset", "%s (%s%s)", *ret_spec, how,
	     *ret_patchset ? "" : ", not built yet");
	return 0;
}

static int from_spec(const struct setup *s, struct wanted *w, struct kernel_set *set,
		     struct lab_error *err)
{
	LAB_CLEANUP(patchset) struct patchset *p = NULL;
	LAB_CLEANUP(free) char *missing = NULL;
	LAB_CLEANUP(free) char *spec = NULL;
	bool there = false;

	if (find_patchset(s, &spec, &p, err))
		return -1;
	if (p && from_patchset(s->lab, p, set, &there, err))
		return -1;
	if (there && check_configs(set, w, &missing, err))
		return -1;
	if (there && !missing) {
		set->patchset = LAB_TAKE(p);
		return 0;
	}
	if (missing)
		talk(s->progress, "config", "%s: building again", missing);
	kernel_set_release(set);
	w->spec = spec;
	w->source = p ? p->source : s->request->source;
	return build(s, w, set, err);
}

static int check_names(const struct experiment *e, const struct kernel_set *set,
		       struct lab_error *err)
{
	for (size_t i = 0; i < e->n_variants; i++)
		if (!kernel_find(set, e->variants[i].kernel))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "variant '%s' boots kernel '%s', but a patchset has "
					     "only A and B",
					     e->variants[i].name, e->variants[i].kernel);
	return 0;
}

int kernels_resolve(const struct setup *setup, struct kernel_set *ret_set, struct lab_error *err)
{
	LAB_CLEANUP(kernel_set) struct kernel_set set = {0};
	LAB_CLEANUP(wanted) struct wanted wanted = {0};
	LAB_CLEANUP(free) char *missing = NULL;
	int rc;

	if (setup->request->n_kernels && setup->request->patchset)
		return lab_error_set(err, LAB_ERR_USAGE, "give a patchset or --kernel, not both");
	if (find_wanted(setup, &wanted, err))
		return -1;
	rc = setup->request->n_kernels ? from_given(setup, &set, err)
				       : from_spec(setup, &wanted, &set, err);
	if (rc || check_names(setup->experiment, &set, err) ||
	    check_configs(&set, &wanted, &missing, err))
		return -1;
	if (missing)
		return lab_error_set(err, LAB_ERR_INVALID, "%s", missing);
	*ret_set = set;
	set = (struct kernel_set){0};
	return 0;
}
