/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/image.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/proc.h"
#include "images/appliance.h"
#include "images/bootstrap.h"
#include "images/recipe.h"
#include "images/volume.h"

/* Goes up whenever the same recipe would be made into something else. */
#define FORMAT "1"
#define ROOT_LABEL "labctl-root"
#define ROOT_UUID "6c616263-746c-4000-8000-000000000010"

/* The tree, its tar and what the image takes of both: seen 560 MiB with the shipped recipe. */
#define ROOM (1ULL << 30)

enum { PACKAGES_MAX = 4 << 20, CLEAN_TIMEOUT_MS = 60000 };

struct build {
	struct lab *lab;
	const struct image_request *request;
	struct recipe *recipe;
	const struct bootstrap_mode *mode;
	char *work; /* scratch in the draft: gone before the commit */
	char *log;
	uint64_t bootstrap_ms, image_ms;
};

static void say(const struct build *build, const char *phase, const char *text)
{
	const struct image_progress *progress = build->request->progress;

	if (progress && progress->say)
		progress->say(progress->ctx, phase, text);
}

static void key_of(const struct recipe *recipe, char out[HASH_HEX])
{
	LAB_CLEANUP(hash) struct hash *hash = hash_new();
	char content[HASH_HEX];

	recipe_hash(recipe, content);
	hash_add_field(hash, "image format", FORMAT);
	hash_add_field(hash, "recipe", content);
	hash_hex(hash, out);
}

int image_key(const char *recipe_path, char out[HASH_HEX], struct lab_error *err)
{
	LAB_CLEANUP(recipe) struct recipe *recipe = NULL;

	if (recipe_load(recipe_path, &recipe, err) < 0)
		return -1;
	key_of(recipe, out);
	return 0;
}

/* packages.tsv as an object of names and versions. */
static int read_packages(const char *path, json_t **ret_packages, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	LAB_CLEANUP(strv) struct lab_strv lines = LAB_STRV_INIT;
	json_t *packages;

	if (lab_read_file(path, PACKAGES_MAX, &text, err) < 0)
		return -1;
	lab_strv_split(&lines, text.data ? text.data : "", "\n");
	if (!lines.n)
		return lab_error_set(err, LAB_ERR_FAILED, "the tree has no package in it");
	packages = json_object();
	for (size_t i = 0; i < lines.n; i++) {
		LAB_CLEANUP(strv) struct lab_strv fields = LAB_STRV_INIT;

		lab_strv_split(&fields, lines.items[i], "\t");
		if (fields.n >= 2)
			json_object_set_new(packages, fields.items[0],
					    json_string(fields.items[1]));
	}
	*ret_packages = packages;
	return 0;
}

static json_t *string_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static int make_manifest(const struct build *build, const char *packages_path, char **ret_text,
			 struct lab_error *err)
{
	LAB_CLEANUP(free) char *mmdebstrap = bootstrap_version();
	LAB_CLEANUP(free) char *libguestfs = appliance_version();
	LAB_CLEANUP(free) char *mke2fs = NULL;
	char content[HASH_HEX];
	json_t *packages = NULL, *manifest;

	if (volume_mke2fs_version(&mke2fs, err) < 0 ||
	    read_packages(packages_path, &packages, err) < 0)
		return -1;
	recipe_hash(build->recipe, content);
	manifest = json_pack(
		"{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:b, s:{s:f, s:f}}", "recipe",
		build->recipe->name, "recipe_hash", content, "suite", build->recipe->suite, "bytes",
		(json_int_t)build->recipe->bytes, "packages", packages, "mmdebstrap",
		string_or_null(mmdebstrap), "libguestfs", string_or_null(libguestfs), "mke2fs",
		string_or_null(mke2fs), "mode", build->mode->name, "force_tcg",
		(int)build->request->force_tcg, "seconds", "bootstrap",
		(double)build->bootstrap_ms / 1e3, "image", (double)build->image_ms / 1e3);
	*ret_text = json_dumps(manifest, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(manifest);
	return 0;
}

/*
 * Files that belonged to other users of the namespace are not the user's own outside
 * of it, so they are removed from within.
 */
static int remove_work(const struct build *build, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct lab_proc proc = {.timeout_ms = CLEAN_TIMEOUT_MS};

	if (lab_remove_tree(build->work, NULL) == 0)
		return 0;
	lab_strv_add_all(&argv, build->mode->front);
	lab_strv_add_all(&argv, (const char *const[]){"rm", "-rf", "--", build->work, NULL});
	proc.argv = (const char *const *)argv.items;
	return lab_proc_must(&proc, &result, err);
}

static int make_tree(struct build *build, struct lab_error *err)
{
	const struct bootstrap bootstrap = {.recipe = build->recipe,
					    .mode = build->mode,
					    .dir = build->work,
					    .log = build->log,
					    .progress = build->request->progress};
	uint64_t began = lab_now_ms();

	if (bootstrap_run(&bootstrap, err) < 0)
		return -1;
	build->bootstrap_ms = lab_now_ms() - began;
	return 0;
}

static int make_disk(struct build *build, const char *disk, struct lab_error *err)
{
	LAB_CLEANUP(free) char *tar = lab_path_join(build->work, BOOTSTRAP_TAR);
	const struct appliance appliance = {.disk = disk,
					    .tar = tar,
					    .tmp = build->work,
					    .log = build->log,
					    .force_tcg = build->request->force_tcg,
					    .kernel = build->request->appliance_kernel,
					    .modules = build->request->appliance_modules,
					    .progress = build->request->progress};
	uint64_t began = lab_now_ms();

	say(build, "image", "making the file system");
	if (volume_ext4(disk, build->recipe->bytes, ROOT_LABEL, ROOT_UUID, err) < 0 ||
	    appliance_run(&appliance, err) < 0)
		return lab_error_wrap(err, "image '%s'", build->recipe->name);
	if (chmod(disk, 0644) < 0)
		return lab_error_errno(err, errno, "%s", disk);
	build->image_ms = lab_now_ms() - began;
	return 0;
}

/* An empty log of this attempt, of a name that stays the same. */
static int start_log(struct build *build, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = lab_path(build->lab, "logs");

	build->log = lab_path(build->lab, "logs/image-%s.log", build->recipe->name);
	if (lab_mkdirs(dir, 0755, err) < 0)
		return -1;
	return lab_write_file(build->log, "", 0, 0644, err);
}

static int choose_mode(struct build *build, struct lab_error *err)
{
	LAB_CLEANUP(free) char *program = lab_proc_which("mmdebstrap");
	LAB_CLEANUP(free) char *cure = NULL;

	if (!program)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "image '%s' needs mmdebstrap: apt-get install mmdebstrap",
				     build->recipe->name);
	build->mode = bootstrap_mode_find(&cure);
	if (!build->mode)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "image '%s': mmdebstrap cannot work for this user: %s",
				     build->recipe->name, cure);
	return 0;
}

static int check_room(const struct build *build, struct lab_error *err)
{
	char left_text[24], room_text[24];
	uint64_t left;

	if (lab_free_space(lab_dir(build->lab), &left, err) < 0)
		return -1;
	if (left >= ROOM)
		return 0;
	return lab_error_set(
		err, LAB_ERR_UNAVAILABLE,
		"image '%s' needs %s for a while, %s has %s left (--lab DIR puts a lab "
		"elsewhere)",
		build->recipe->name, lab_format_size(ROOM, room_text, sizeof(room_text)),
		lab_dir(build->lab), lab_format_size(left, left_text, sizeof(left_text)));
}

static int commit(struct build *build, struct artifact_draft *draft, struct artifact **ret,
		  struct lab_error *err)
{
	LAB_CLEANUP(free) char *from = lab_path_join(build->work, BOOTSTRAP_PACKAGES);
	LAB_CLEANUP(free) char *to = lab_path_join(artifact_draft_dir(draft), BOOTSTRAP_PACKAGES);
	LAB_CLEANUP(free) char *manifest = NULL;

	say(build, "commit", "recording the image");
	if (rename(from, to) < 0)
		return lab_error_errno(err, errno, "move %s", from);
	if (make_manifest(build, to, &manifest, err) < 0 || remove_work(build, err) < 0)
		return lab_error_wrap(err, "image '%s'", build->recipe->name);
	return artifact_commit(draft, build->recipe->name, manifest, ret, err);
}

static int make_image(struct build *build, const char *key, struct artifact **ret,
		      struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *disk = NULL;
	int rc;

	if (choose_mode(build, err) < 0 || check_room(build, err) < 0 ||
	    start_log(build, err) < 0 ||
	    artifact_begin(build->lab, ARTIFACT_IMAGE, key, &draft, err) < 0)
		return -1;
	build->work = lab_path_join(artifact_draft_dir(draft), "work");
	disk = lab_path_join(artifact_draft_dir(draft), IMAGE_ROOT);
	rc = lab_mkdirs(build->work, 0755, err);
	if (rc == 0)
		rc = make_tree(build, err);
	if (rc == 0)
		rc = make_disk(build, disk, err);
	if (rc == 0)
		rc = commit(build, draft, ret, err);
	if (rc < 0)
		(void)!remove_work(build, NULL);
	return rc;
}

int image_ensure(struct lab *lab, const struct image_request *request, struct artifact **ret_image,
		 bool *ret_cached, struct lab_error *err)
{
	struct build build = {.lab = lab, .request = request};
	struct artifact *found = NULL;
	char key[HASH_HEX];
	bool cached;
	int rc;

	if (recipe_load(request->recipe, &build.recipe, err) < 0)
		return -1;
	key_of(build.recipe, key);
	rc = artifact_find(lab, ARTIFACT_IMAGE, key, &found, err);
	cached = found != NULL;
	if (rc == 0 && !found)
		rc = make_image(&build, key, &found, err);
	if (rc == 0) {
		*ret_image = found;
		if (ret_cached)
			*ret_cached = cached;
	}
	recipe_free(build.recipe);
	free(build.work);
	free(build.log);
	return rc;
}

void image_host_look(struct image_host *host)
{
	const struct bootstrap_mode *mode;
	const char *kernel = getenv("SUPERMIN_KERNEL");

	*host = (struct image_host){0};
	host->mmdebstrap = bootstrap_version();
	mode = bootstrap_mode_find(&host->mode_cure);
	if (mode)
		host->mode = lab_strdup(mode->name);
	host->libguestfs = appliance_version();
	if (kernel && access(kernel, R_OK) == 0)
		host->kernel = lab_strdup(kernel);
	else if (kernel)
		host->kernel_cure = lab_asprintf("SUPERMIN_KERNEL names %s, which this user cannot "
						 "read",
						 kernel);
	else
		host->kernel = appliance_kernel("/boot", "/lib/modules", &host->kernel_cure);
}

void image_host_release(struct image_host *host)
{
	free(host->mmdebstrap);
	free(host->mode);
	free(host->mode_cure);
	free(host->libguestfs);
	free(host->kernel);
	free(host->kernel_cure);
	*host = (struct image_host){0};
}

int image_appliance_try(bool force_tcg, const struct image_progress *progress,
			struct lab_error *err)
{
	const struct appliance appliance = {.force_tcg = force_tcg, .progress = progress};

	return appliance_run(&appliance, err);
}
