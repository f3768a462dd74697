/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kernel.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/writer.h"
#include "builder/elf_notes.h"
#include "builder/functions.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"
#include "store/facts.h"
#include "store/lab.h"

/* Raised when what a key stands for, or what lies in the artifact, changes. */
static const char format[] = "kernel 2";
static const char arch[] = "x86_64", image[] = "arch/x86/boot/bzImage";
static const char objects_fact[] = "kernel-objects";

enum { RELEASE_CAP = 256 };

void kernel_key(const struct kernel_inputs *in, char key[HASH_HEX])
{
	LAB_CLEANUP(hash) struct hash *hash = hash_new();
	LAB_CLEANUP(buf) struct lab_buf base = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf asked = LAB_BUF_INIT;
	LAB_CLEANUP(free) char *left = lab_strv_join(&in->plan->left_to_default, " ");

	dotconfig_format(&in->plan->base, &base);
	dotconfig_format(&in->plan->asked, &asked);
	hash_add_field(hash, "format", format);
	hash_add_field(hash, "arch", arch);
	hash_add_field(hash, "tree", in->tree);
	hash_add_field(hash, "toolchain", in->toolchain);
	hash_add_field(hash, "base", in->plan->from_file ? "file" : in->plan->base_name);
	hash_add_field(hash, "answers", base.data);
	hash_add_field(hash, "asked", asked.data);
	hash_add_field(hash, "left to default", left);
	hash_hex(hash, key);
}

/* What one build leaves behind on its way into the artifact. */
struct made {
	char *release;
	char *build_id;
	char config_hash[HASH_HEX];
	char image_hash[HASH_HEX];
	char modules_hash[HASH_HEX]; /* "" without modules */
	struct lab_strv dropped;
	struct kbuild_stats stats;
	bool incremental;
};

static void made_release(struct made *made)
{
	free(made->release);
	free(made->build_id);
	lab_strv_release(&made->dropped);
}

/* ---- how many steps to expect ---- */

static unsigned expected_objects(struct lab *lab, const char *config_hash)
{
	LAB_CLEANUP(free) char *text = NULL;
	json_t *json;
	json_int_t n;

	if (fact_get(lab, objects_fact, config_hash, &text, NULL) < 0 || !text)
		return 0;
	json = json_loads(text, 0, NULL);
	n = json_integer_value(json_object_get(json, "objects"));
	json_decref(json);
	return n > 0 && n < 1000000 ? (unsigned)n : 0;
}

static int remember_objects(struct lab *lab, const struct made *made, struct lab_error *err)
{
	LAB_CLEANUP(free) char *text = NULL;

	if (made->incremental)
		return 0;
	text = lab_asprintf("{\"objects\": %u}", made->stats.objects);
	return fact_put(lab, objects_fact, made->config_hash, text, err);
}

/* ---- into the artifact ---- */

static int copy_into(const char *dir, const char *name, const char *src, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dst = lab_path_join(dir, name);

	return lab_copy_sparse(src, dst, 0644, err);
}

static int copy_objects(const struct workspace *ws, const char *dir, struct lab_error *err)
{
	LAB_CLEANUP(free) char *bzimage = lab_path_join(ws->obj, image);
	LAB_CLEANUP(free) char *map = lab_path_join(ws->obj, "System.map");
	LAB_CLEANUP(free) char *config = lab_path_join(ws->obj, ".config");

	if (copy_into(dir, "bzImage", bzimage, err) < 0 ||
	    copy_into(dir, "System.map", map, err) < 0 || copy_into(dir, "config", config, err) < 0)
		return -1;
	return 0;
}

static int keep_log(const struct kbuild *k, const char *dir, struct lab_error *err)
{
	LAB_CLEANUP(free) char *log = workspace_log(k->ws, k->arm);

	return copy_into(dir, ARTIFACT_LOG, log, err);
}

static int read_release(const struct workspace *ws, char **ret_release, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(ws->obj, "include/config/kernel.release");
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (lab_read_file(path, RELEASE_CAP, &text, err) < 0)
		return -1;
	*ret_release =
		lab_strndup(text.data ? text.data : "", text.data ? strcspn(text.data, "\n") : 0);
	return 0;
}

/* Links to the build directories: they lead out of the artifact. */
static int drop_build_links(const char *modules, const char *release, struct lab_error *err)
{
	static const char *const names[] = {"build", "source"};

	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		LAB_CLEANUP(free)
		char *path = lab_asprintf("%s/lib/modules/%s/%s", modules, release, names[i]);

		if (unlink(path) < 0 && errno != ENOENT)
			return lab_error_errno(err, errno, "remove %s", path);
	}
	return 0;
}

static int install_modules(const struct kbuild *k, const char *dir, struct made *made,
			   struct lab_error *err)
{
	LAB_CLEANUP(free) char *config_path = lab_path_join(k->ws->obj, ".config");
	LAB_CLEANUP(free) char *modules = lab_path_join(dir, "modules");
	LAB_CLEANUP(free) char *where = lab_asprintf("INSTALL_MOD_PATH=%s", modules);
	LAB_CLEANUP(dotconfig) struct dotconfig config = DOTCONFIG_INIT;
	const char *goals[] = {where, "modules_install", NULL};
	const struct dotconfig_item *item;

	if (dotconfig_load(config_path, &config, err) < 0)
		return -1;
	dotconfig_sort(&config);
	item = dotconfig_find(&config, "MODULES");
	if (!item || strcmp(item->value, "y") != 0)
		return 0;
	if (kbuild_make(k, goals, &made->stats, err) < 0 ||
	    drop_build_links(modules, made->release, err) < 0)
		return -1;
	return lab_dir_exists(modules) ? hash_tree(modules, made->modules_hash, err) : 0;
}

/* All of it and vmlinux in one file, to be handed on. */
static int pack(const struct workspace *ws, const char *dir, struct lab_error *err)
{
	static const char *const names[] = {"bzImage", "System.map", "config"};
	LAB_CLEANUP(archive_writer) struct archive_writer *writer = NULL;
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "kernel.tar.zst");
	LAB_CLEANUP(free) char *vmlinux = lab_path_join(ws->obj, "vmlinux");
	LAB_CLEANUP(free) char *modules = lab_path_join(dir, "modules");

	if (archive_writer_new(path, ARCHIVE_TAR_ZSTD, &writer, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		LAB_CLEANUP(free) char *src = lab_path_join(dir, names[i]);

		if (archive_writer_add_file(writer, names[i], 0644, src, err) < 0)
			return -1;
	}
	if (archive_writer_add_file(writer, "vmlinux", 0644, vmlinux, err) < 0)
		return -1;
	if (lab_dir_exists(modules) && archive_writer_add_tree(writer, "modules", modules, err) < 0)
		return -1;
	return archive_writer_close(writer, err);
}

static json_t *strings(const struct lab_strv *v)
{
	json_t *array = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(array, json_string(v->items[i]));
	return array;
}

/* What of the manifest lies in the artifact as a file: all that its key decides. */
static json_t *settled_facts(const struct kernel_inputs *in, const struct made *made)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}",
			 "commit", in->commit, "tree", in->tree, "release", made->release, "arch",
			 arch, "base_config", lab_path_base(in->plan->base_name), "config_hash",
			 made->config_hash, "compiler", in->toolchain, "flags", KBUILD_FLAGS,
			 "build_id", made->build_id, "image_hash", made->image_hash, "modules_hash",
			 made->modules_hash, "left_to_default", strings(&in->plan->left_to_default),
			 "optional_dropped", strings(&made->dropped));
}

/* The whole manifest: with what only this build can say. */
static char *manifest_text(const struct kernel_inputs *in, const struct made *made, json_t *json)
{
	const struct kbuild_stats *s = &made->stats;
	json_t *ccache = s->ccache_total ? json_pack("{s:i, s:i}", "hits", (int)s->ccache_hits,
						     "total", (int)s->ccache_total)
					 : json_null();
	json_t *more = json_pack("{s:s, s:s, s:i, s:b, s:o, s:f, s:I}", "source", in->source, "log",
				 ARTIFACT_LOG, "objects", (int)s->objects, "incremental",
				 made->incremental, "ccache", ccache, "cpu_s", s->cpu_s, "wall_ms",
				 (json_int_t)s->ms);
	char *text;

	json_object_update(json, more);
	json_decref(more);
	text = json_dumps(json, JSON_INDENT(2));
	return text;
}

static int write_facts(const char *dir, const json_t *facts, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, "manifest.json");
	LAB_CLEANUP(free) char *text = json_dumps(facts, JSON_INDENT(2));

	return lab_write_file(path, text, strlen(text), 0644, err);
}

static int fill_draft(const struct kbuild *k, const char *dir, struct made *made,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) char *vmlinux = lab_path_join(k->ws->obj, "vmlinux");
	LAB_CLEANUP(free) char *bzimage = lab_path_join(k->ws->obj, image);

	if (read_release(k->ws, &made->release, err) < 0 ||
	    elf_build_id(vmlinux, &made->build_id, err) < 0 ||
	    hash_file(bzimage, made->image_hash, err) < 0 ||
	    install_modules(k, dir, made, err) < 0 || copy_objects(k->ws, dir, err) < 0 ||
	    functions_write(k->ws->obj, dir, err) < 0)
		return -1;
	return pack(k->ws, dir, err);
}

static int store(struct lab *lab, const struct kernel_inputs *in, const struct kbuild *k,
		 struct made *made, struct artifact **ret_kernel, struct lab_error *err)
{
	LAB_CLEANUP(artifact_draft) struct artifact_draft *draft = NULL;
	LAB_CLEANUP(free) char *manifest = NULL;
	char key[HASH_HEX];
	json_t *facts;
	int rc;

	kernel_key(in, key);
	if (artifact_begin(lab, ARTIFACT_KERNEL, key, &draft, err) < 0 ||
	    fill_draft(k, artifact_draft_dir(draft), made, err) < 0)
		return -1;
	facts = settled_facts(in, made);
	rc = write_facts(artifact_draft_dir(draft), facts, err);
	manifest = manifest_text(in, made, facts);
	json_decref(facts);
	if (rc < 0 || keep_log(k, artifact_draft_dir(draft), err) < 0)
		return -1;
	return artifact_commit(draft, in->label, manifest, ret_kernel, err);
}

static int prepare(struct lab *lab, const struct kernel_inputs *in, struct repo *repo,
		   struct kbuild *k, struct made *made, struct lab_error *err)
{
	LAB_CLEANUP(free) char *log = workspace_log(k->ws, k->arm);
	LAB_CLEANUP(free) char *config = lab_path_join(k->ws->obj, ".config");
	struct kbuild conf = *k;

	conf.ccache = false; /* some hundred questions to the compiler, none worth keeping */
	if (unlink(log) < 0 && errno != ENOENT)
		return lab_error_errno(err, errno, "remove %s", log);
	if (workspace_checkout(k->ws, repo, in->tree, k->progress, err) < 0 ||
	    configure(in->plan, &conf, &made->stats, &made->dropped, err) < 0 ||
	    hash_file(config, made->config_hash, err) < 0)
		return -1;
	made->stats.objects = 0; /* what kconfig itself took is no object of the kernel */
	if (!made->incremental)
		k->expected = expected_objects(lab, made->config_hash);
	return 0;
}

static unsigned processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

int kernel_build(struct lab *lab, const struct kernel_inputs *in, struct repo *repo,
		 const struct workspace *ws, const struct build_request *request,
		 const struct build_progress *progress, struct build_arm *ret_arm,
		 struct lab_error *err)
{
	static const char *const goals[] = {"all", NULL};
	LAB_CLEANUP(free) char *ccache = lab_proc_which("ccache");
	struct made made = {.incremental = !ws->fresh};
	struct artifact *kernel = NULL;
	uint64_t began = lab_now_ms();
	struct kbuild k = {
		.ws = ws,
		.jobs = request->jobs ? request->jobs : processors(),
		.ccache = request->use_ccache && ccache,
		.arm = in->arm,
		.progress = progress,
	};
	int rc = -1;

	if (prepare(lab, in, repo, &k, &made, err) < 0 ||
	    kbuild_make(&k, goals, &made.stats, err) < 0 ||
	    store(lab, in, &k, &made, &kernel, err) < 0 || remember_objects(lab, &made, err) < 0)
		goto out;
	ret_arm->kernel = LAB_TAKE(kernel);
	ret_arm->cached = false;
	ret_arm->ms = lab_now_ms() - began;
	ret_arm->cpu_s = made.stats.cpu_s;
	ret_arm->objects = made.stats.objects;
	ret_arm->ccache_hits = made.stats.ccache_hits;
	ret_arm->ccache_total = made.stats.ccache_total;
	rc = 0;
out:
	artifact_free(kernel);
	made_release(&made);
	return rc;
}

/* ---- out of the artifact ---- */

static int parse_manifest(const struct artifact *kernel, json_t **ret_json, struct lab_error *err)
{
	json_t *json = json_loads(kernel->manifest, 0, NULL);

	if (!json_is_object(json)) {
		json_decref(json);
		return lab_error_set(err, LAB_ERR_INVALID, "kernel %.*s has a broken manifest",
				     ARTIFACT_SHORT, kernel->key);
	}
	*ret_json = json;
	return 0;
}

int kernel_figures(struct build_arm *arm, struct lab_error *err)
{
	json_t *json, *ccache;

	if (parse_manifest(arm->kernel, &json, err) < 0)
		return -1;
	ccache = json_object_get(json, "ccache");
	arm->ms = (uint64_t)json_integer_value(json_object_get(json, "wall_ms"));
	arm->cpu_s = json_number_value(json_object_get(json, "cpu_s"));
	arm->objects = (unsigned)json_integer_value(json_object_get(json, "objects"));
	arm->ccache_hits = (unsigned)json_integer_value(json_object_get(ccache, "hits"));
	arm->ccache_total = (unsigned)json_integer_value(json_object_get(ccache, "total"));
	json_decref(json);
	return 0;
}

static bool same_text(const json_t *a, const json_t *b, const char *name)
{
	const char *x = json_string_value(json_object_get(a, name));
	const char *y = json_string_value(json_object_get(b, name));

	return x && y && strcmp(x, y) == 0;
}

int kernel_same_code(const struct artifact *a, const struct artifact *b, struct lab_error *err)
{
	json_t *x, *y;
	int same;

	if (parse_manifest(a, &x, err) < 0)
		return -1;
	if (parse_manifest(b, &y, err) < 0) {
		json_decref(x);
		return -1;
	}
	/* The build id is a hash of vmlinux, which holds what the image leaves out. */
	same = same_text(x, y, "image_hash") && same_text(x, y, "modules_hash") &&
	       same_text(x, y, "build_id");
	json_decref(x);
	json_decref(y);
	return same;
}
