/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a patchset to two kernels, with a kernel in miniature (tests/data/fake-kernel). */
#include "builder_fixture.h"

#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>

#include "archive/reader.h"
#include "builder/build.h"
#include "builder/elf_notes.h"
#include "builder/source.h"
#include "builder/strays.h"
#include "builder/workspace.h"
#include "common/clock.h"
#include "store/artifact.h"
#include "store/patchset.h"

static struct build_progress progress = {.say = on_say};
static struct build_request request;
static char *fragments;

/*
 * Source "k" with tag v6.1.7 of the kernel in miniature; `script` runs in a clone of it
 * and makes the commits of branch "change".
 */
static void make_source(const char *script)
{
	LAB_CLEANUP(free) char *cwd = getcwd(NULL, 0);
	LAB_CLEANUP(free) char *url = lab_path_join(top, "up");
	LAB_CLEANUP(free)
	char *text =
		lab_asprintf("mkdir fragments; printf 'CONFIG_64BIT=y\\n' > "
			     "fragments/tiny.config\n"
			     "cp -r '%s/tests/data/fake-kernel' up; cd up; git init -q -b main\n"
			     "git add -A -f .; git commit -q -m base; git tag v6.1.7\n"
			     "git checkout -q -b change\n%s",
			     cwd, script);

	run(text);
	assert_ok(source_add_git(lab, "k", url, NULL, NULL, &err));
	free(fragments);
	fragments = lab_path_join(top, "fragments");
	request = (struct build_request){
		.spec = "change", .fragments_dir = fragments, .jobs = 2, .use_ccache = false};
}

#define PATCH_CODE "sed -i 's/n \\* 3/n * 4/' mm/page.c; git commit -q -a -m 'mm: four'\n"
#define PATCH_DEFAULT                                                      \
	"sed -i '/Merge caches\"/{n;s/default y/default n/}' mm/Kconfig\n" \
	"git commit -q -a -m 'mm: keep caches apart'\n"

static void build(struct build_result *result)
{
	assert_ok(build_patchset(lab, &request, &progress, result, &err));
}

static json_t *manifest_of(const struct build_arm *arm)
{
	json_t *json = json_loads(arm->kernel->manifest, 0, NULL);

	assert_non_null(json);
	return json;
}

static bool has_file(const struct build_arm *arm, const char *name)
{
	LAB_CLEANUP(free) char *path = lab_path_join(arm->kernel->path, name);

	return lab_file_exists(path);
}

static int note_entry(void *ctx, const struct archive_entry_info *entry, struct archive_data *data,
		      struct lab_error *e)
{
	(void)data;
	(void)e;
	lab_buf_addf(ctx, "%s ", entry->path);
	return 0;
}

static void check_artifact(const struct build_arm *arm)
{
	static const char *const names[] = {"bzImage", "System.map", "config", "kernel.tar.zst",
					    "manifest.json"};
	LAB_CLEANUP(free) char *packed = lab_path_join(arm->kernel->path, "kernel.tar.zst");
	LAB_CLEANUP(free) char *unpacked = lab_path_join(top, "unpacked");
	LAB_CLEANUP(free) char *vmlinux = lab_path_join(unpacked, "vmlinux");
	LAB_CLEANUP(free) char *build_id = NULL;
	LAB_CLEANUP(buf) struct lab_buf list = LAB_BUF_INIT;
	json_t *manifest = manifest_of(arm);
	LAB_CLEANUP(free)
	char *log = lab_path_join(arm->kernel->path,
				  json_string_value(json_object_get(manifest, "log")));

	for (size_t i = 0; i < LAB_COUNT(names); i++)
		assert_true(has_file(arm, names[i]));
	assert_true(lab_file_exists(log));
	assert_ok(archive_read(packed, NULL, note_entry, &list, &err));
	assert_string_equal(list.data, "System.map bzImage config vmlinux ");
	assert_ok(archive_extract(packed, unpacked, NULL, &err));
	assert_ok(elf_build_id(vmlinux, &build_id, &err));
	assert_string_equal(json_string_value(json_object_get(manifest, "build_id")), build_id);
	assert_string_equal(json_string_value(json_object_get(manifest, "release")), "6.1.7");
	assert_string_equal(json_string_value(json_object_get(manifest, "base_config")), "tiny");
	assert_int_equal(strlen(json_string_value(json_object_get(manifest, "tree"))), 40);
	assert_int_equal(strlen(json_string_value(json_object_get(manifest, "config_hash"))), 64);
	assert_non_null(strstr(json_string_value(json_object_get(manifest, "compiler")), "gcc"));
	json_decref(manifest);
	assert_ok(lab_remove_tree(unpacked, &err));
}

static void test_two_kernels(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(patchset) struct patchset *row = NULL;
	json_t *a, *b;

	(void)state;
	make_source(PATCH_CODE);
	build(&r);
	assert_false(r.a.cached);
	assert_false(r.b.cached);
	assert_string_equal(r.a.name, "v6.1.7");
	assert_string_equal(r.b.name, "v6.1.7 + 1");
	assert_string_equal(r.b.kernel->label, "v6.1.7 + 1");
	assert_int_equal(r.a.objects, 4);
	assert_int_equal(r.b.objects, 1); /* only the file that was patched */
	assert_int_equal(r.diff.n, 0);
	check_artifact(&r.a);
	check_artifact(&r.b);
	a = manifest_of(&r.a);
	b = manifest_of(&r.b);
	assert_true(json_is_false(json_object_get(a, "incremental")));
	assert_true(json_is_true(json_object_get(b, "incremental")));
	assert_string_not_equal(json_string_value(json_object_get(a, "build_id")),
				json_string_value(json_object_get(b, "build_id")));
	json_decref(a);
	json_decref(b);
	assert_ok(patchset_latest(lab, &row, &err));
	assert_string_equal(row->spec, "change");
	assert_string_equal(row->base_name, "v6.1.7");
	assert_string_equal(row->base_how, "nearest tag under the change");
	assert_string_equal(row->subjects, "[\"mm: four\"]");
	assert_string_equal(row->kernel_a, r.a.kernel->key);
	assert_string_equal(row->kernel_b, r.b.kernel->key);
	assert_string_equal(r.patchset->head, row->head);
}

static void test_second_time_is_a_look_up(void **state)
{
	LAB_CLEANUP(build_result) struct build_result first = {0};
	LAB_CLEANUP(build_result) struct build_result r = {0};
	uint64_t began;

	(void)state;
	make_source(PATCH_CODE);
	build(&first);
	run("rm -rf lab/work"); /* nothing of it is needed */
	began = lab_now_ms();
	build(&r);
	assert_true(lab_now_ms() - began < 5000);
	assert_true(r.a.cached && r.b.cached);
	assert_string_equal(r.a.kernel->key, first.a.kernel->key);
	assert_string_equal(r.b.kernel->key, first.b.kernel->key);
	assert_int_equal(r.b.objects, 1);
	run("test ! -e lab/work");
}

/* The same tree and inputs in another lab give the same content, incremental or not. */
static void test_kernels_are_reproducible(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(free) char *a = NULL;
	LAB_CLEANUP(free) char *b = NULL;

	(void)state;
	make_source(PATCH_CODE);
	build(&r);
	a = lab_strdup(r.a.kernel->content);
	b = lab_strdup(r.b.kernel->content);
	build_result_release(&r);
	lab_free(lab);
	lab = NULL;
	run("mv lab other");
	{
		LAB_CLEANUP(free) char *dir = lab_path_join(top, "lab");
		LAB_CLEANUP(free) char *url = lab_path_join(top, "up");

		assert_ok(lab_init(dir, &err));
		assert_ok(lab_open(dir, &lab, &err));
		assert_ok(source_add_git(lab, "named-otherwise", url, NULL, NULL, &err));
	}
	/* B from nothing this time: another patch, whose base it is, comes first. */
	run("cd up; git tag patched; git checkout -q --detach; echo 'int more;' >> mm/page.c\n"
	    "git commit -q -a -m more; git update-ref refs/heads/above HEAD");
	request.spec = "above";
	build(&r);
	assert_string_equal(r.a.kernel->content, b);
	build_result_release(&r);
	request.spec = "change";
	build(&r);
	assert_string_equal(r.a.kernel->content, a);
	assert_string_equal(r.b.kernel->content, b);
	assert_true(r.b.cached);
}

/* The log lies in the artifact and is no part of its content: another build gives the same. */
static void test_log(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(free) char *content = NULL;
	LAB_CLEANUP(free) char *log = NULL;
	char hash[HASH_HEX];

	(void)state;
	make_source(PATCH_CODE);
	build(&r);
	log = lab_path_join(r.a.kernel->path, ARTIFACT_LOG);
	assert_true(lab_file_exists(log));
	content = lab_strdup(r.a.kernel->content);
	assert_ok(lab_write_file(log, "other words", 11, 0644, &err));
	assert_ok(artifact_content(r.a.kernel->path, hash, &err));
	assert_string_equal(hash, content);
	assert_ok(artifact_remove(lab, r.a.kernel, &err));
	build_result_release(&r);
	build(&r);
	assert_string_equal(r.a.kernel->content, content);
}

/* A changed default: allnoconfig's "n" would cancel it, and the kernels would be equal. */
static void test_changed_default_is_left_to_the_trees(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	json_t *manifest, *left;

	(void)state;
	make_source(PATCH_DEFAULT);
	build(&r);
	assert_int_equal(r.diff.n, 1);
	assert_string_equal(r.diff.items[0].symbol, "MERGE");
	assert_string_equal(r.diff.items[0].a, "y");
	assert_string_equal(r.diff.items[0].b, "n");
	manifest = manifest_of(&r.a);
	left = json_object_get(manifest, "left_to_default");
	assert_int_equal(json_array_size(left), 1);
	assert_string_equal(json_string_value(json_array_get(left, 0)), "MERGE");
	json_decref(manifest);
	assert_non_null(strstr(said.data, "left to each tree's default"));
	assert_non_null(strstr(said.data, "MERGE"));
}

/* The same with a base config from a file, which carries the answer of the base. */
static void test_changed_default_with_a_config_file(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(free) char *config = NULL;
	LAB_CLEANUP(free) char *extra = NULL;

	(void)state;
	make_source(PATCH_DEFAULT);
	run("printf 'CONFIG_64BIT=y\\nCONFIG_MERGE=y\\n# CONFIG_EXTRA is not set\\n' > file.config");
	config = lab_path_join(top, "file.config");
	request.base_config = config;
	build(&r);
	assert_int_equal(r.diff.n, 1);
	assert_string_equal(r.diff.items[0].symbol, "MERGE");
	extra = sh("grep -c 'CONFIG_EXTRA is not set' lab/artifacts/kernel/*/config | grep -c :1");
	assert_string_equal(extra, "2");
	request.base_config = "tinny";
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "no base config 'tinny'");
}

/* Who asks for the symbol gets what he asks for, in both trees. */
static void test_asked_symbols_are_not_left(void **state)
{
	static const char *const config[] = {"MERGE=y", NULL};
	struct build_result r = {0};

	(void)state;
	make_source(PATCH_DEFAULT);
	request.config = config;
	assert_fails(build_patchset(lab, &request, &progress, &r, &err),
		     "the two kernels are equal");
	assert_null(said.data ? strstr(said.data, "left to") : NULL);
}

static void test_symbols_are_verified(void **state)
{
	static const char *const dropped[] = {"CONFIG_DISK=y", NULL};
	static const char *const whole[] = {"CONFIG_DISK=y", "CONFIG_BUS=y", NULL};
	static const char *const optional[] = {"CONFIG_DISK=y?", "CONFIG_NOWHERE=n", NULL};
	static const char *const unknown[] = {"CONFIG_DISC=y", NULL};
	static const char *const against[] = {"64BIT=n", NULL};
	static const char *const needs[] = {"CONFIG_64BIT=y", NULL};
	LAB_CLEANUP(build_result) struct build_result r = {0};
	json_t *manifest, *list;

	(void)state;
	make_source(PATCH_CODE);
	request.config = dropped;
	assert_fails(build_patchset(lab, &request, NULL, &r, &err),
		     "CONFIG_DISK=y (--config) did not survive, it is not set: depends on BUS "
		     "(Kconfig:11), where BUS is not set");
	request.config = unknown;
	assert_fails(build_patchset(lab, &request, NULL, &r, &err),
		     "this tree has no such symbol (the nearest is DISK)");
	request.config = against;
	request.required = needs;
	assert_fails(build_patchset(lab, &request, NULL, &r, &err),
		     "the target needs CONFIG_64BIT=y, --config asks for n");
	request.required = whole;
	request.config = NULL;
	build(&r);
	build_result_release(&r);
	request.required = NULL;
	request.config = optional;
	build(&r);
	manifest = manifest_of(&r.b);
	list = json_object_get(manifest, "optional_dropped");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "DISK");
	json_decref(manifest);
}

/* A symbol that only the patched tree knows may be asked for; A does without. */
static void test_symbol_of_the_patchset(void **state)
{
	static const char *const config[] = {"NEWS=y", NULL};
	LAB_CLEANUP(build_result) struct build_result r = {0};

	(void)state;
	make_source("printf 'config NEWS\\n\\tbool \"News\"\\n' >> Kconfig\n"
		    "sed -i 's/return 5/return 50/' kernel/slow.c\n"
		    "git commit -q -a -m news");
	request.config = config;
	build(&r);
	assert_int_equal(r.diff.n, 1);
	assert_string_equal(r.diff.items[0].symbol, "NEWS");
	assert_null(r.diff.items[0].a);
	assert_string_equal(r.diff.items[0].b, "y");
}

static void test_kernels_that_are_equal(void **state)
{
	struct build_result r = {0};

	(void)state;
	make_source("echo '/* more */' >> mm/page.c; git commit -q -a -m comment\n");
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "the two kernels are equal");
	/* And the look-up of both says so again. */
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "the two kernels are equal");
	run("cd up; git revert --no-edit HEAD");
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "changes nothing");
}

static void test_first_error_of_a_build(void **state)
{
	LAB_CLEANUP(free) char *log = NULL;
	struct build_result r = {0};
	LAB_CLEANUP(build_result) struct build_result fine = {0};

	(void)state;
	make_source("sed -i 's/return n/return m/' mm/page.c; git commit -q -a -m broken\n");
	assert_fails(build_patchset(lab, &request, NULL, &r, &err),
		     "kernel B (v6.1.7 + 1): mm/page.c:4:16: error: 'm' undeclared");
	log = lab_path_join(top, "lab/work/k/build-B.log");
	assert_non_null(strstr(err.text, log));
	assert_true(lab_file_exists(log));
	/* A is there; mended, only B is built. */
	run("cd up; sed -i 's/return m \\* 3/return n * 5/' mm/page.c; git commit -q -a -m mended");
	build(&fine);
	assert_true(fine.a.cached);
	assert_false(fine.b.cached);
	assert_int_equal(fine.patchset->commits, 2);
}

static void test_broken_kconfig_and_tools(void **state)
{
	struct build_result r = {0};
	LAB_CLEANUP(free) char *path = lab_strdup(getenv("PATH"));
	LAB_CLEANUP(free) char *bin = NULL;

	(void)state;
	make_source(
		"printf 'config BAD\\n\\tsyntax error\\n' >> Kconfig; git commit -q -a -m bad\n");
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "Kconfig:24: syntax error");
	run("mkdir bin; for t in make gcc ld bison sh; do ln -s $(command -v $t) bin/$t; done");
	bin = lab_path_join(top, "bin");
	setenv("PATH", bin, 1);
	assert_int_equal(build_patchset(lab, &request, NULL, &r, &err), -1);
	setenv("PATH", path, 1);
	assert_string_equal(err.text, "kernels are built with flex, bc: apt-get install flex bc");
}

/* ---- stopped and killed ---- */

static bool is_slow(void)
{
	LAB_CLEANUP(free) char *torn = lab_path_join(top, "lab/work/k/obj/kernel/slow.o");

	return lab_file_exists(torn);
}

/* Some ticks after the last object that can be finished is there. */
static bool stop_when_slow(void *ctx)
{
	LAB_CLEANUP(free) char *last = lab_path_join(top, "lab/work/k/obj/mm/slub.o");
	unsigned *ticks = ctx;

	return is_slow() && lab_file_exists(last) && ++*ticks > 5;
}

static void test_cancelled_build_goes_on(void **state)
{
	unsigned ticks = 0;
	struct build_progress stop = {.ctx = &ticks, .cancelled = stop_when_slow};
	LAB_CLEANUP(build_result) struct build_result r = {0};

	(void)state;
	make_source(PATCH_CODE);
	run(": > slow");
	assert_fails(build_patchset(lab, &request, &stop, &r, &err), "stopped");
	assert_int_equal(err.kind, LAB_ERR_CANCELLED);
	/* make took back what was not finished, and kept what was. */
	run("rm slow; test ! -e lab/work/k/obj.busy; test ! -e lab/work/k/obj/kernel/slow.o\n"
	    "test -e lab/work/k/obj/kernel/main.o");
	build(&r);
	assert_true(r.a.objects < 4);
}

static void test_killed_build_is_harmless(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(free) char *left = NULL;
	pid_t pid;

	(void)state;
	make_source(PATCH_CODE);
	run(": > slow");
	pid = fork();
	if (pid == 0) {
		struct build_result never = {0};

		_exit(build_patchset(lab, &request, NULL, &never, NULL) < 0);
	}
	for (int i = 0; i < 600 && !is_slow(); i++)
		lab_sleep_ms(50);
	assert_true(is_slow());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	run("test -e lab/work/k/obj.busy; grep -q torn lab/work/k/obj/kernel/slow.o");
	/* The recipe that waits is alive and would go on to write; the next build ends it. */
	run("(sleep 1; rm slow) >/dev/null 2>&1 &");
	build(&r);
	assert_false(r.a.cached);
	assert_int_equal(r.a.objects, 4); /* nothing of the torn objects was used */
	left = sh("grep -l LABCTL_BUILD=$PWD/lab /proc/[0-9]*/environ 2>/dev/null | wc -l");
	assert_string_equal(left, "0");
}

static void test_strays(void **state)
{
	LAB_CLEANUP(free) char *mark = lab_asprintf("LABCTL_BUILD=%s/x", top);
	pid_t marked = fork(), other;
	int status;

	(void)state;
	if (marked == 0) {
		const char *env[] = {"A=b", mark, NULL};

		execle("/bin/sleep", "sleep", "1000", (char *)NULL, env);
		_exit(127);
	}
	other = fork();
	if (other == 0) {
		const char *env[] = {"LABCTL_BUILD=/elsewhere", NULL};

		execle("/bin/sleep", "sleep", "1000", (char *)NULL, env);
		_exit(127);
	}
	lab_sleep_ms(200);
	assert_ok(strays_end(mark, 10000, &err));
	assert_int_equal(waitpid(marked, &status, 0), marked);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(waitpid(other, &status, WNOHANG), 0);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
}

/* Somebody's edit in the lab's work tree does not get into a kernel. */
static void test_changed_work_tree(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(build_result) struct build_result again = {0};

	(void)state;
	make_source(PATCH_CODE);
	build(&r);
	run("cd lab/work/k/tree; sed -i 's/return 5/return 55/' kernel/slow.c; : > mm/stray.c\n"
	    "cd ../../../../up; sed -i 's/n \\* 4/n * 40/' mm/page.c; git commit -q -a -m forty");
	build(&again);
	run("grep -q 'return 5;' lab/work/k/tree/kernel/slow.c; test ! -e lab/work/k/tree/mm/stray.c");
	assert_int_equal(again.patchset->commits, 2);
}

static void test_modules(void **state)
{
	static const char *const config[] = {"MODULES=y", NULL};
	LAB_CLEANUP(build_result) struct build_result r = {0};
	LAB_CLEANUP(free) char *list = NULL;

	(void)state;
	make_source(PATCH_CODE);
	request.config = config;
	build(&r);
	assert_true(has_file(&r.a, "modules/lib/modules/6.1.7/kernel/a.ko"));
	list = sh("ls -A lab/artifacts/kernel/*/modules/lib/modules/6.1.7 | grep -v : | sort -u | "
		  "tr -d '\\n'");
	assert_string_equal(list, "kernel"); /* no links that lead out */
}

static void test_ccache_is_counted(void **state)
{
	LAB_CLEANUP(build_result) struct build_result r = {0};

	(void)state;
	make_source(PATCH_CODE);
	request.use_ccache = true;
	build(&r);
	assert_int_equal(r.a.ccache_total, 4);
	assert_int_equal(r.a.ccache_hits, 0);
	build_result_release(&r);
	/* The kernels are forgotten, the cache is not. */
	lab_free(lab);
	lab = NULL;
	run("mv lab gone; mkdir again");
	{
		LAB_CLEANUP(free) char *dir = lab_path_join(top, "lab");
		LAB_CLEANUP(free) char *url = lab_path_join(top, "up");

		assert_ok(lab_init(dir, &err));
		assert_ok(lab_open(dir, &lab, &err));
		assert_ok(source_add_git(lab, "k", url, NULL, NULL, &err));
	}
	build(&r);
	assert_int_equal(r.a.ccache_total, 4);
	assert_int_equal(r.a.ccache_hits, 4);
}

static void test_paths_make_cannot_take(void **state)
{
	struct build_result r = {0};

	(void)state;
	make_source(PATCH_CODE);
	lab_free(lab);
	run("mv lab 'my lab'");
	{
		LAB_CLEANUP(free) char *dir = lab_path_join(top, "my lab");

		assert_ok(lab_open(dir, &lab, &err));
	}
	assert_fails(build_patchset(lab, &request, NULL, &r, &err), "move the lab");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_two_kernels),
		T(test_second_time_is_a_look_up),
		T(test_kernels_are_reproducible),
		T(test_log),
		T(test_changed_default_is_left_to_the_trees),
		T(test_changed_default_with_a_config_file),
		T(test_asked_symbols_are_not_left),
		T(test_symbols_are_verified),
		T(test_symbol_of_the_patchset),
		T(test_kernels_that_are_equal),
		T(test_first_error_of_a_build),
		T(test_broken_kconfig_and_tools),
		T(test_cancelled_build_goes_on),
		T(test_killed_build_is_harmless),
		T(test_strays),
		T(test_changed_work_tree),
		T(test_modules),
		T(test_ccache_is_counted),
		T(test_paths_make_cannot_take),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(fragments);
	return failed;
}
