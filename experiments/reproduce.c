/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a bundle and running its runs again. What is in it is believed only where it is checked. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "experiments/again.h"
#include "experiments/bundle.h"
#include "experiments/origin.h"
#include "experiments/talk.h"
#include "store/bundle.h"
#include "store/campaign.h"

#define MANIFEST "manifest.json"
#define MANIFEST_MAX (256u << 20) /* bytes */

enum { NAME_MAX_LEN = 64 };

void bundle_result_release(struct bundle_result *r)
{
	free(r->experiment);
	free(r->why);
	free(r->difference);
	free(r->files);
	*r = (struct bundle_result){0};
}

const char *bundle_verdict_name(enum bundle_verdict verdict)
{
	static const char *const names[] = {"reproduced", "not reproduced", "inconclusive"};

	return names[verdict];
}

/* An opened bundle. */
struct opened {
	const char *path;
	char *dir;
	json_t *manifest;
	struct origin origin;
	char *definition; /* path of the experiment */
};

static void opened_release(struct opened *b)
{
	origin_release(&b->origin);
	json_decref(b->manifest);
	if (b->dir)
		(void)!lab_remove_tree(b->dir, NULL);
	free(b->dir);
	free(b->definition);
}

static void lab_cleanup_opened(struct opened *b)
{
	opened_release(b);
}

static int bad(const struct opened *b, const char *what, struct lab_error *err)
{
	return lab_error_set(err, LAB_ERR_INVALID, "%s: " MANIFEST ": %s", b->path, what);
}

/* Names from the manifest become parts of paths. */
static bool is_name(const char *name)
{
	return name && *name && strlen(name) <= NAME_MAX_LEN && name[0] != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       strlen(name);
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static int read_manifest(struct opened *b, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(b->dir, MANIFEST);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_error_t why;

	if (!lab_file_exists(path))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s is no bundle of a campaign: it has no " MANIFEST, b->path);
	if (lab_read_file(path, MANIFEST_MAX, &text, err) < 0)
		return -1;
	b->manifest =
		json_loadb(text.data ? text.data : "", text.len, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(b->manifest))
		return bad(b, "it is no JSON object", err);
	if (json_integer_value(json_object_get(b->manifest, "format")) != BUNDLE_FORMAT)
		return bad(b, "this labctl reads bundles of format 1 only", err);
	return 0;
}

/* ---- what it ran on --------------------------------------------------------------------- */

/* An artifact of the bundle where it lies unpacked; its content is what it says. */
static int part_of_bundle(const struct opened *b, const json_t *json, const char *kind,
			  const char *sub, struct artifact **ret, struct lab_error *err)
{
	struct artifact *a = LAB_NEW(struct artifact);
	bool file = lab_starts_with(text_of(json, "key"), "file:");
	LAB_CLEANUP(free) char *image = NULL;
	char hash[HASH_HEX];

	a->kind = lab_strdup(kind);
	a->key = lab_strdup(text_of(json, "key"));
	a->content = lab_strdup(text_of(json, "content"));
	a->label = lab_strdup(text_of(json, "label"));
	a->manifest = lab_strdup(text_of(json, "manifest"));
	a->path = lab_path_join(b->dir, sub);
	image = lab_path_join(a->path, "bzImage");
	*ret = a;
	if (!lab_dir_exists(a->path))
		return lab_error_set(err, LAB_ERR_INVALID, "%s has no %s/", b->path, sub);
	if ((file ? hash_file(image, hash, err) : artifact_content(a->path, hash, err)) < 0)
		return -1;
	if (strcmp(hash, a->content) == 0)
		return 0;
	return lab_error_set(err, LAB_ERR_INVALID, "%s: %s is not the one of its " MANIFEST,
			     b->path, sub);
}

/* One of this lab, for a bundle without binaries. */
static int part_of_lab(struct lab *lab, const json_t *json, const char *kind, struct artifact **ret,
		       struct lab_error *err)
{
	struct artifact_list list = {0};
	const char *content = text_of(json, "content");

	if (artifact_list(lab, kind, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n && !*ret; i++) {
		if (strcmp(list.items[i]->content, content) == 0)
			*ret = artifact_copy(list.items[i]);
	}
	artifact_list_release(&list);
	if (*ret)
		return 0;
	return lab_error_set(err, LAB_ERR_NOT_FOUND,
			     "the bundle comes without binaries and this lab has no %s %.12s (%s): "
			     "build it, or ask for a bundle with binaries",
			     kind, text_of(json, "key"), text_of(json, "label"));
}

static int find_part(struct lab *lab, const struct opened *b, const json_t *json, const char *kind,
		     const char *sub, struct artifact **ret, struct lab_error *err)
{
	if (json_is_true(json_object_get(b->manifest, "binaries")))
		return part_of_bundle(b, json, kind, sub, ret, err);
	return part_of_lab(lab, json, kind, ret, err);
}

static int find_kernel(struct lab *lab, const struct opened *b, struct origin_kernel *k,
		       struct lab_error *err)
{
	const json_t *json = json_object_get(json_object_get(b->manifest, "kernels"), k->name);
	LAB_CLEANUP(free) char *kernel = lab_asprintf("kernels/%s", k->name);
	LAB_CLEANUP(free) char *initramfs = lab_asprintf("initramfs/%s", k->name);

	if (!is_name(k->name))
		return bad(b, "a kernel has a strange name", err);
	return find_part(lab, b, json_object_get(json, "kernel"), ARTIFACT_KERNEL, kernel, &k->own,
			 err) ||
			       find_part(lab, b, json_object_get(json, "initramfs"),
					 ARTIFACT_INITRAMFS, initramfs, &k->initramfs, err)
		       ? -1
		       : 0;
}

static int find_parts(struct lab *lab, struct opened *b, struct lab_error *err)
{
	struct origin *o = &b->origin;

	for (size_t i = 0; i < o->n_kernels; i++) {
		if (find_kernel(lab, b, &o->kernels[i], err) < 0)
			return -1;
	}
	return find_part(lab, b, json_object_get(b->manifest, "image"), ARTIFACT_IMAGE, "image",
			 &o->image, err);
}

static int read_origin(struct opened *b, struct lab_error *err)
{
	const json_t *m = b->manifest;
	const char *name = text_of(m, "experiment");
	LAB_CLEANUP(free) char *file = lab_asprintf("definition/%s.yaml", name);
	json_t *definition = json_object_get(m, "definition");
	json_int_t n = json_integer_value(json_object_get(m, "n"));

	if (!is_name(name) || !json_is_object(definition) || n < 1 || n > 100000 ||
	    !json_is_array(json_object_get(m, "runs")))
		return bad(b, "it does not say what the campaign is", err);
	if (origin_init(&b->origin, name, text_of(m, "preset"), text_of(m, "target"),
			text_of(m, "identity"), json_incref(definition), err) < 0)
		return lab_error_wrap(err, "%s", b->path);
	b->origin.n = (unsigned)n;
	b->origin.emulated = json_is_true(json_object_get(m, "emulated"));
	if (lab_parse_u64(text_of(m, "seed"), &b->origin.seed, err) < 0)
		return lab_error_wrap(err, "%s: " MANIFEST ": seed", b->path);
	b->definition = lab_path_join(b->dir, file);
	if (!lab_file_exists(b->definition))
		return lab_error_set(err, LAB_ERR_INVALID, "%s has no %s", b->path, file);
	return 0;
}

static int open_bundle(struct lab *lab, const char *path, struct opened *b, struct lab_error *err)
{
	b->path = path;
	b->dir = lab_path(lab, "tmp/bundle-%d", (int)getpid());
	if (!lab_file_exists(path))
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "there is no bundle %s", path);
	if (lab_remove_tree(b->dir, err) < 0 || bundle_open(path, b->dir, err) < 0 ||
	    read_manifest(b, err) < 0 || read_origin(b, err) < 0)
		return -1;
	return find_parts(lab, b, err);
}

/* ---- running --------------------------------------------------------------------------- */

/* A run of the bundle as the store would give it; strings are borrowed, dir is the caller's. */
static int read_run(const struct opened *b, const json_t *json, struct run *run,
		    struct lab_error *err)
{
	json_int_t number = json_integer_value(json_object_get(json, "number"));

	if (number < 1 || number > UINT32_MAX)
		return bad(b, "a run has no number", err);
	*run = (struct run){
		.number = (unsigned)number,
		.attempt = 1,
		.variant = (char *)text_of(json, "variant"),
		.cell = (char *)text_of(json, "cell"),
		.state = (char *)text_of(json, "state"),
		.started = 1,
		.ended = 1,
	};
	if (lab_parse_u64(text_of(json, "seed"), &run->seed, err) < 0)
		return lab_error_wrap(err, "%s: " MANIFEST ": seed of run %u", b->path,
				      run->number);
	return 0;
}

/* A run that the definition beside it does not have would be run as nothing. */
static bool is_planned(const struct setup *setup, const struct run *run)
{
	return setup_variant(setup, run->variant) && plan_cell_find(setup->plan, run->cell);
}

static char *decisive(const json_t *fingerprint)
{
	return lab_strdup(text_of(fingerprint, "hash"));
}

/* What of the fingerprints decides a run and is not the same; NULL: all is. */
static char *fingerprints_differ(const json_t *was, const char *text)
{
	static const char *const names[] = {"qemu",	 "machine", "firmware", "kernel", "image",
					    "initramfs", "job",	    "cmdline",	"volumes"};
	json_auto_t *is = json_loads(text, 0, NULL);
	LAB_CLEANUP(strv) struct lab_strv all = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *a = decisive(was);
	LAB_CLEANUP(free) char *b = decisive(is);

	if (*a && strcmp(a, b) == 0)
		return NULL;
	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		if (!json_equal(json_object_get(was, names[i]), json_object_get(is, names[i])))
			lab_strv_add(&all, names[i]);
	}
	return lab_strv_join(&all, ", ");
}

static int try_run(const struct setup *setup, const json_t *json, const struct run *run,
		   struct run_status *status, struct bundle_result *result, struct lab_error *err)
{
	LAB_CLEANUP(again_result) struct again_result again = {0};
	LAB_CLEANUP(free) char *differ = NULL;

	status->variant = run->variant;
	status->cell = run->cell;
	if (again_boot(setup, run, status, &again, err) < 0)
		return -1;
	result->tried++;
	status->finished++;
	if (again.equal) {
		result->equal++;
		return 0;
	}
	if (!result->difference)
		result->difference = lab_asprintf("run %u: %s", run->number, again.difference);
	differ = fingerprints_differ(json_object_get(json, "fingerprint"),
				     again.fingerprint ? again.fingerprint : "{}");
	if (!differ)
		result->verdict = BUNDLE_NOT_REPRODUCED;
	else if (!result->why)
		result->why =
			lab_asprintf("equal bytes could not be expected, since this is not the "
				     "same: %s",
				     differ);
	return 0;
}

static int try_runs(const struct opened *b, const struct setup *setup, unsigned every,
		    struct bundle_result *result, struct lab_error *err)
{
	const json_t *runs = json_object_get(b->manifest, "runs"), *json;
	unsigned n = (unsigned)json_array_size(runs);
	struct run_status status = {.runs = (n + every - 1) / every};
	size_t i;

	json_array_foreach(runs, i, json)
	{
		LAB_CLEANUP(free) char *dir = NULL;
		struct run run;

		if (read_run(b, json, &run, err) < 0)
			return -1;
		if (!is_planned(setup, &run))
			return bad(b, "a run is not of its plan", err);
		result->runs++;
		if (i % every)
			continue;
		dir = lab_asprintf("%s/runs/%u", b->dir, run.number);
		run.dir = dir;
		if (!lab_dir_exists(dir))
			return bad(b, "a run has no files", err);
		status.run = (unsigned)(i / every) + 1;
		if (try_run(setup, json, &run, &status, result, err) < 0)
			return -1;
	}
	return 0;
}

static int judge(const struct setup *setup, const char *differs, struct bundle_result *result)
{
	if (!setup->target->caps.exact) {
		result->why =
			lab_asprintf("it ran on target '%s', where no run is like another; its "
				     "files are whole",
				     setup->target_name);
		result->verdict = BUNDLE_INCONCLUSIVE;
		return 1;
	}
	if (differs)
		result->why = lab_asprintf("equal bytes cannot be expected, since this is not the "
					   "same: %s",
					   differs);
	return 0;
}

static void conclude(struct opened *b, struct bundle_result *r)
{
	if (r->verdict != BUNDLE_NOT_REPRODUCED)
		r->verdict =
			r->tried && r->equal == r->tried ? BUNDLE_REPRODUCED : BUNDLE_INCONCLUSIVE;
	if (r->difference)
		r->files = LAB_TAKE(b->dir);
}

int bundle_reproduce(struct lab *lab, const struct run_request *request, const char *path,
		     unsigned every, const struct run_progress *progress,
		     struct bundle_result *ret_result, struct lab_error *err)
{
	LAB_CLEANUP(lab_lock) struct lab_lock *lock = NULL;
	LAB_CLEANUP(opened) struct opened b = {0};
	LAB_CLEANUP(setup) struct setup setup = {0};
	LAB_CLEANUP(free) char *differs = NULL;
	struct run_request full = *request;

	*ret_result = (struct bundle_result){0};
	if (lab_lock(lab, "reproduce", &lock, err) < 0 || open_bundle(lab, path, &b, err) < 0)
		return -1;
	ret_result->experiment = lab_strdup(b.origin.experiment);
	talk(progress, "bundle", "%s: every file is what it should be", path);
	full.experiment = b.definition;
	if (origin_resolve(&b.origin, lab, &full, progress, &setup, &differs, err) < 0)
		return -1;
	if (judge(&setup, differs, ret_result))
		return 0;
	talk(progress, "expect", "%s", ret_result->why ? ret_result->why : "equal bytes");
	if (try_runs(&b, &setup, every ? every : 1, ret_result, err) < 0)
		return -1;
	conclude(&b, ret_result);
	return 0;
}
