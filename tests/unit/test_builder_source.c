/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources, names and bases, on real repositories. */
#include "builder_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "builder/repo.h"
#include "builder/repo_import.h"
#include "builder/resolve.h"
#include "builder/source.h"
#include "common/clock.h"
#include "store/source.h"

static struct build_progress progress = {.say = on_say};

/* The repository "up": v1.0 (tag), a commit on main above it, two changes above that. */
static void make_upstream(void)
{
	run("git init -q -b main up; cd up\n"
	    "put() { echo \"$1\" > \"$1\"; git add .; git commit -q -m \"$2\"; }\n"
	    "put one 'the first'; git tag -a -m release v1.0\n"
	    "put two 'on main'\n"
	    "git checkout -q --detach\n"
	    "put three 'mm: patch one'; put four 'mm: patch two'\n"
	    "git update-ref refs/changes/30/1430/1 HEAD\n"
	    "put five 'mm: patch two again'; git update-ref refs/changes/30/1430/2 HEAD\n"
	    "git checkout -q --detach v1.0; put six 'on the tag'\n"
	    "git update-ref refs/changes/62/1462/3 HEAD\n"
	    "git checkout -q main; git branch topic refs/changes/62/1462/3");
}

static char *url_of(const char *name)
{
	return lab_path_join(top, name);
}

static void add_upstream(const char *name)
{
	LAB_CLEANUP(free) char *url = url_of("up");

	assert_ok(source_add_git(lab, name, url, NULL, NULL, &err));
}

static struct resolved resolve(const char *source, const char *spec, const char *base)
{
	struct resolved r = {0};

	assert_ok(resolve_patchset(lab, source, spec, base, &progress, &r, &err));
	return r;
}

static void assert_resolves(const char *spec, const char *base, const char *want_base,
			    const char *want_how, const char *want_subjects)
{
	LAB_CLEANUP(resolved) struct resolved r = resolve(NULL, spec, base);
	LAB_CLEANUP(free) char *subjects = lab_strv_join(&r.subjects, ", ");

	if (lab_starts_with(want_base, "v"))
		assert_string_equal(r.base_name, want_base);
	else
		assert_true(lab_starts_with(r.base, r.base_name));
	assert_string_equal(r.base_how, want_how);
	assert_string_equal(subjects, want_subjects);
}

static void test_change_and_base(void **state)
{
	(void)state;
	make_upstream();
	add_upstream("up");
	assert_resolves("refs/changes/30/1430/1", NULL, "commit",
			"nearest commit of branch main under the change",
			"mm: patch one, mm: patch two");
	assert_resolves("refs/changes/62/1462/3", NULL, "v1.0", "nearest tag under the change",
			"on the tag");
	assert_resolves("changes/62/1462/3", NULL, "v1.0", "nearest tag under the change",
			"on the tag");
	assert_resolves("topic", NULL, "v1.0", "nearest tag under the change", "on the tag");
	assert_resolves("main", NULL, "v1.0", "nearest tag under the change", "on main");
	assert_resolves("refs/changes/30/1430/2", "v1.0", "v1.0", "given by --base",
			"on main, mm: patch one, mm: patch two, mm: patch two again");
}

static void test_ranges_and_commits(void **state)
{
	LAB_CLEANUP(free) char *commit = NULL;
	LAB_CLEANUP(free) char *range = NULL;
	struct resolved r = {0};

	(void)state;
	make_upstream();
	add_upstream("up");
	commit = sh("git -C up rev-parse refs/changes/30/1430/1");
	commit[12] = '\0';
	/* A commit of the reference's is here at once; so is the one of a fetched change. */
	assert_resolves(commit, "main", "commit", "given by --base",
			"mm: patch one, mm: patch two");
	range = lab_asprintf("main..%s", commit);
	assert_resolves(range, NULL, "commit", "start of the range",
			"mm: patch one, mm: patch two");
	assert_resolves("refs/changes/30/1430/1~1", "v1.0~0", "v1.0", "given by --base",
			"on main, mm: patch one");
	assert_fails(resolve_patchset(lab, NULL, "main^{x}", NULL, NULL, &r, &err), "are known");
	assert_fails(resolve_patchset(lab, NULL, "main~70", NULL, NULL, &r, &err), "~70");
	assert_resolves("v1.0..main", NULL, "v1.0", "start of the range", "on main");
	assert_fails(resolve_patchset(lab, NULL, "v1.0..", NULL, NULL, &r, &err), "no range");
	assert_fails(resolve_patchset(lab, NULL, "v1.0...main", NULL, NULL, &r, &err), "no range");
	assert_fails(resolve_patchset(lab, NULL, "v1.0..main", "v1.0", NULL, &r, &err),
		     "no --base");
	assert_fails(resolve_patchset(lab, NULL, "main..topic", NULL, NULL, &r, &err),
		     "no ancestor of the patchset; they part at");
	assert_fails(resolve_patchset(lab, NULL, "main..main", NULL, NULL, &r, &err),
		     "is its own base");
}

static void test_unknown_names(void **state)
{
	struct resolved r = {0};

	(void)state;
	make_upstream();
	add_upstream("up");
	assert_fails(resolve_patchset(lab, "up", "refs/changes/99/99/1", NULL, NULL, &r, &err),
		     "source 'up' has no refs/changes/99/99/1; the newest change it has is "
		     "62/1462/3");
	assert_int_equal(err.kind, LAB_ERR_NOT_FOUND);
	assert_fails(resolve_patchset(lab, "up", "refs/changes/30/1430/7", NULL, NULL, &r, &err),
		     "the newest patchset of this change is 30/1430/2");
	assert_fails(resolve_patchset(lab, "up", "tropic", NULL, NULL, &r, &err),
		     "the nearest name it has is 'topic'");
	assert_fails(resolve_patchset(lab, "up", "0123456789abcdef", NULL, NULL, &r, &err),
		     "has no 0123456789abcdef");
	assert_fails(resolve_patchset(lab, "pu", "main", NULL, NULL, &r, &err), "up");
	assert_fails(
		resolve_patchset(lab, "up", "refs/changes/30/1430/1", "nothing", NULL, &r, &err),
		"base 'nothing'");
}

/* In somebody's clone HEAD is the branch he works on: no base for what is on it. */
static void test_head_is_the_topic(void **state)
{
	(void)state;
	make_upstream();
	run("cd up; git checkout -q topic; git commit -q --allow-empty -m 'more of it'");
	add_upstream("up");
	assert_resolves("topic", NULL, "v1.0", "nearest tag under the change",
			"on the tag, more of it");
	assert_resolves("main", NULL, "v1.0", "nearest tag under the change", "on main");
}

/* What is here at once, in borrowed objects, still has its base looked for on the branch. */
static void test_branch_that_was_never_fetched(void **state)
{
	LAB_CLEANUP(free) char *url = url_of("up");
	LAB_CLEANUP(free) char *commit = NULL;
	struct resolved r = {0};

	(void)state;
	make_upstream();
	commit = sh("git -C up rev-parse refs/changes/30/1430/1");
	add_upstream("up");
	assert_resolves(commit, NULL, "commit", "nearest commit of branch main under the change",
			"mm: patch one, mm: patch two");
	assert_ok(source_add_git(lab, "named", url, NULL, "topic", &err));
	r = resolve("named", commit, NULL);
	assert_string_equal(r.base_name, "v1.0");
	resolved_release(&r);
	assert_ok(source_add_git(lab, "wrong", url, NULL, "topical", &err));
	assert_fails(resolve_patchset(lab, "wrong", commit, NULL, NULL, &r, &err),
		     "no branch topical");
}

static void test_no_base(void **state)
{
	struct resolved r = {0};
	LAB_CLEANUP(free) char *url = url_of("bare");

	(void)state;
	run("git init -q -b main bare; cd bare; git commit -q --allow-empty -m one\n"
	    "git commit -q --allow-empty -m two; git update-ref refs/x/y HEAD\n"
	    "git symbolic-ref HEAD refs/heads/none; git branch -D -q main");
	assert_ok(source_add_git(lab, "bare", url, NULL, NULL, &err));
	assert_fails(resolve_patchset(lab, NULL, "refs/x/y", NULL, NULL, &r, &err),
		     "name its base: --base COMMIT");
}

static void test_first_source_that_has_it(void **state)
{
	LAB_CLEANUP(free) char *url = url_of("zz");
	struct resolved r = {0};

	(void)state;
	assert_fails(resolve_patchset(lab, NULL, "main", NULL, NULL, &r, &err),
		     "labctl source add");
	make_upstream();
	run("git init -q -b main zz; cd zz; git commit -q --allow-empty -m one\n"
	    "git tag v0.1; git commit -q --allow-empty -m 'other main'");
	assert_ok(source_add_git(lab, "zz", url, NULL, NULL, &err));
	add_upstream("aa");
	r = resolve(NULL, "main", NULL);
	assert_string_equal(r.source->name, "zz"); /* added first, whatever its name */
	resolved_release(&r);
	r = resolve(NULL, "refs/changes/62/1462/3", NULL);
	assert_string_equal(r.source->name, "aa");
	resolved_release(&r);
	assert_fails(resolve_patchset(lab, NULL, "nowhere", NULL, NULL, &r, &err),
		     "no source (zz, aa) has nowhere");
}

static void test_users_repository_is_not_touched(void **state)
{
	LAB_CLEANUP(free) char *before = NULL;
	LAB_CLEANUP(free) char *after = NULL;
	static const char hash[] = "find up -type f | sort | xargs stat -c '%n %Y %Z %s'; "
				   "find up -type f | sort | xargs sha256sum";

	(void)state;
	make_upstream();
	before = sh(hash);
	add_upstream("up");
	assert_resolves("refs/changes/30/1430/1", NULL, "commit",
			"nearest commit of branch main under the change",
			"mm: patch one, mm: patch two");
	assert_ok(source_fetch(lab, "up", &progress, &err));
	after = sh(hash);
	assert_string_equal(before, after);
}

static void test_kinds_of_repositories(void **state)
{
	static const char *const fine[] = {"tree", "mirror.git", "linked"};
	LAB_CLEANUP(free) char *shallow = url_of("shallow");
	LAB_CLEANUP(free) char *partial = url_of("partial");
	LAB_CLEANUP(free) char *file = url_of("up/one");

	(void)state;
	make_upstream();
	run("git clone -q up tree; git clone -q --mirror up mirror.git\n"
	    "git -C tree worktree add -q --detach ../linked\n"
	    "git clone -q --depth 1 file://$PWD/up shallow\n"
	    "git -C up config uploadpack.allowFilter true\n"
	    "git clone -q --filter=blob:none --no-checkout file://$PWD/up partial");
	for (size_t i = 0; i < LAB_COUNT(fine); i++) {
		LAB_CLEANUP(free) char *url = url_of(fine[i]);
		struct resolved r;

		assert_ok(source_add_git(lab, fine[i], url, NULL, NULL, &err));
		r = resolve(fine[i], "v1.0..main", NULL);
		assert_int_equal(r.subjects.n, 1);
		resolved_release(&r);
	}
	assert_fails(source_add_git(lab, "a", shallow, NULL, NULL, &err), "git fetch --unshallow");
	assert_fails(source_add_git(lab, "b", partial, NULL, NULL, &err), "partial clone");
	assert_fails(source_add_git(lab, "c", file, NULL, NULL, &err), "no repository");
	assert_fails(source_add_git(lab, "tree", shallow, NULL, NULL, &err), "already");
	assert_fails(source_add_git(lab, "../x", file, NULL, NULL, &err), "'../x'");
}

static void test_reference_that_is_gone(void **state)
{
	LAB_CLEANUP(free) char *url = url_of("up");
	LAB_CLEANUP(free) char *reference = url_of("reference");
	struct resolved r = {0};

	(void)state;
	make_upstream();
	run("git clone -q --mirror up reference");
	assert_ok(source_add_git(lab, "up", url, reference, NULL, &err));
	r = resolve("up", "topic", NULL);
	resolved_release(&r);
	run("mv reference elsewhere");
	assert_fails(resolve_patchset(lab, "up", "topic", NULL, NULL, &r, &err),
		     "reference/objects");
	run("mv elsewhere reference");
	r = resolve("up", "topic", NULL);
	resolved_release(&r);
}

/* A change whose author rewrote it under the same name, in a directory. */
static void test_moved_reference(void **state)
{
	LAB_CLEANUP(free) char *want = NULL;
	LAB_CLEANUP(resolved) struct resolved r = {0};

	(void)state;
	make_upstream();
	add_upstream("up");
	r = resolve("up", "refs/changes/62/1462/3", NULL);
	resolved_release(&r);
	run("git -C up update-ref refs/changes/62/1462/3 refs/changes/30/1430/2");
	want = sh("git -C up rev-parse refs/changes/30/1430/2");
	r = resolve("up", "refs/changes/62/1462/3", NULL);
	assert_string_equal(r.head, want);
}

/* ---- over the wire ---- */

static pid_t daemon_pid;

static void stop_daemon(void)
{
	if (daemon_pid <= 0)
		return;
	kill(daemon_pid, SIGKILL);
	waitpid(daemon_pid, NULL, 0);
	daemon_pid = 0;
}

static int tear_down_daemon(void **state)
{
	stop_daemon();
	return tear_down(state);
}

static char *start_daemon(void)
{
	LAB_CLEANUP(free) char *base = lab_asprintf("--base-path=%s", top);
	LAB_CLEANUP(free) char *dir = sh("git --exec-path");
	LAB_CLEANUP(free) char *program = lab_path_join(dir, "git-daemon");

	for (int port = 20000 + getpid() % 20000, tries = 0; tries < 20; port++, tries++) {
		LAB_CLEANUP(free) char *arg = lab_asprintf("--port=%d", port);
		LAB_CLEANUP(free)
		char *probe = lab_asprintf("git ls-remote git://127.0.0.1:%d/up >/dev/null 2>&1 && "
					   "echo yes || echo no",
					   port);

		daemon_pid = fork();
		if (daemon_pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl(program, program, "--listen=127.0.0.1", arg, "--export-all",
			      "--reuseaddr", base, (char *)NULL);
			_exit(127);
		}
		for (int i = 0; i < 100 && waitpid(daemon_pid, NULL, WNOHANG) == 0; i++) {
			LAB_CLEANUP(free) char *answer = sh(probe);

			if (strcmp(answer, "yes") == 0)
				return lab_asprintf("git://127.0.0.1:%d/up", port);
			lab_sleep_ms(50);
		}
		stop_daemon();
	}
	fail_msg("git daemon does not start");
	return NULL;
}

static unsigned fetched_objects;

static void on_fetch(void *ctx, unsigned received, unsigned total, uint64_t bytes)
{
	(void)ctx;
	(void)total;
	(void)bytes;
	fetched_objects = received;
}

static void test_server(void **state)
{
	LAB_CLEANUP(free) char *url = NULL;
	LAB_CLEANUP(free) char *want = NULL;
	struct resolved r = {0};

	(void)state;
	make_upstream();
	url = start_daemon();
	want = sh("git -C up rev-parse refs/changes/30/1430/1");
	assert_ok(source_add_git(lab, "server", url, NULL, NULL, &err));
	progress.fetch = on_fetch;
	r = resolve(NULL, "refs/changes/30/1430/1", NULL);
	progress.fetch = NULL;
	assert_string_equal(r.head, want);
	assert_true(r.fetched);
	assert_true(fetched_objects > 5);
	assert_int_equal(r.subjects.n, 2);
	resolved_release(&r);
	assert_fails(resolve_patchset(lab, NULL, "refs/changes/99/99/1", NULL, NULL, &r, &err),
		     "the newest change it has is 62/1462/3");
	stop_daemon();
	/* A patchset never changes on a server: no question, no wait. */
	r = resolve(NULL, "refs/changes/30/1430/1", NULL);
	assert_false(r.fetched);
	resolved_release(&r);
	/* A branch may have moved: what is here is taken, and that is said. */
	r = resolve(NULL, "main", "v1.0");
	assert_non_null(strstr(said.data, "127.0.0.1 cannot be reached"));
	resolved_release(&r);
	assert_fails(resolve_patchset(lab, NULL, "refs/changes/30/1430/2", NULL, NULL, &r, &err),
		     "127.0.0.1 cannot be reached");
	assert_int_equal(err.kind, LAB_ERR_UNAVAILABLE);
}

/* What a reference clone has is not sent again. */
static void test_server_with_reference(void **state)
{
	LAB_CLEANUP(free) char *url = NULL;
	LAB_CLEANUP(free) char *reference = url_of("reference");
	LAB_CLEANUP(resolved) struct resolved r = {0};

	(void)state;
	make_upstream();
	run("git clone -q --no-local up reference"); /* without the changes */
	url = start_daemon();
	assert_ok(source_add_git(lab, "server", url, reference, NULL, &err));
	r = resolve(NULL, "refs/changes/30/1430/1", NULL);
	stop_daemon();
	/* Two commits, two trees, two files. */
	assert_int_equal(r.transfer.objects, 6);
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_cancelled_fetch(void **state)
{
	struct build_progress stop = {.cancelled = always};
	LAB_CLEANUP(free) char *url = NULL;
	struct resolved r = {0};

	(void)state;
	make_upstream();
	url = start_daemon();
	assert_ok(source_add_git(lab, "server", url, NULL, NULL, &err));
	assert_fails(resolve_patchset(lab, NULL, "main", NULL, &stop, &r, &err), "stopped");
	assert_int_equal(err.kind, LAB_ERR_CANCELLED);
	r = resolve(NULL, "main", NULL);
	resolved_release(&r);
	stop_daemon();
}

/* ---- tarballs ---- */

static void make_tarball(void)
{
	run("mkdir -p linux-6.1/scripts/a-b linux-6.1/empty; cd linux-6.1\n"
	    "printf 'VERSION = 6\\nPATCHLEVEL = 1\\nSUBLEVEL = 172\\nEXTRAVERSION =\\n' > Makefile\n"
	    "echo '*' > .gitignore; echo ignored > scripts/ignored.o; echo x > scripts/a-b/z\n"
	    "echo y > scripts/a; printf '#!/bin/sh\\n' > scripts/run; chmod 755 scripts/run\n"
	    "ln -s ../Makefile scripts/link; ln scripts/a scripts/hard; : > scripts/nothing\n"
	    "cd ..; tar cJf k.tar.xz linux-6.1");
}

static void test_import(void **state)
{
	LAB_CLEANUP(free) char *tarball = url_of("k.tar.xz");
	LAB_CLEANUP(free) char *tag = NULL;
	LAB_CLEANUP(free) char *again = NULL;
	LAB_CLEANUP(free) char *want = NULL;
	LAB_CLEANUP(free) char *got = NULL;
	LAB_CLEANUP(free) char *fsck = NULL;
	LAB_CLEANUP(source) struct source *row = NULL;

	(void)state;
	make_tarball();
	assert_ok(source_import_tarball(lab, "k", tarball, NULL, NULL, &progress, &tag, &err));
	assert_string_equal(tag, "v6.1.172");
	assert_ok(source_find(lab, "k", &row, &err));
	assert_string_equal(row->kind, "tarball");
	/* git's own idea of the same tree */
	want = sh("cd linux-6.1; git init -q; git add -A -f .; git write-tree");
	got = sh("git -C lab/sources/k.git rev-parse v6.1.172^{tree}");
	assert_string_equal(got, want);
	fsck = sh("git -C lab/sources/k.git fsck --full --strict 2>&1 | grep -v unborn || :");
	assert_string_equal(fsck, "");
	/* Again: nothing is read, not even looked at. */
	said.len = 0;
	assert_ok(source_import_tarball(lab, "k", tarball, NULL, NULL, &progress, &again, &err));
	assert_string_equal(again, "v6.1.172");
	assert_int_equal(said.len, 0);
}

static void test_same_tarball_same_commit(void **state)
{
	LAB_CLEANUP(free) char *tarball = url_of("k.tar.xz");
	LAB_CLEANUP(free) char *other = url_of("k2.tar");
	LAB_CLEANUP(free) char *a = NULL;
	LAB_CLEANUP(free) char *b = NULL;

	(void)state;
	make_tarball();
	run("tar cf k2.tar --sort=name --mtime=@0 linux-6.1; echo more >> linux-6.1/Makefile\n"
	    "tar cf k3.tar linux-6.1");
	assert_ok(source_import_tarball(lab, "a", tarball, NULL, NULL, NULL, NULL, &err));
	assert_ok(source_import_tarball(lab, "b", other, "v6.1.172", NULL, NULL, NULL, &err));
	a = sh("git -C lab/sources/a.git rev-parse v6.1.172");
	b = sh("git -C lab/sources/b.git rev-parse v6.1.172");
	assert_string_equal(a, b);
	free(LAB_TAKE(other));
	other = url_of("k3.tar");
	assert_fails(source_import_tarball(lab, "b", other, NULL, NULL, NULL, NULL, &err),
		     "another content");
	assert_ok(source_import_tarball(lab, "b", other, "v6.1.172b", NULL, NULL, NULL, &err));
}

static void test_odd_tarballs(void **state)
{
	static const char *const bad[][2] = {
		{"two.tar", "lies beside the top directory"},
		{"flat.tar", "is not in a directory"},
		{"empty.tar", "has no files"},
		{"none.tar", "none.tar"},
		{"version.tar", "must be named"},
		{"dev.tar", "is a device"},
		{"git.tar", ".git"},
	};

	(void)state;
	run("mkdir -p a b c/.git e; echo 1 > a/f; echo 2 > b/f; echo 3 > f; echo 4 > c/.git/config\n"
	    "mkfifo e/fifo; tar cf two.tar a b; tar cf flat.tar f; tar cf empty.tar -T /dev/null\n"
	    "tar cf version.tar a; tar cf dev.tar e; tar cf git.tar c");
	for (size_t i = 0; i < LAB_COUNT(bad); i++) {
		LAB_CLEANUP(free) char *tarball = url_of(bad[i][0]);
		struct source_list list = {0};

		assert_fails(source_import_tarball(lab, "k", tarball, NULL, NULL, NULL, NULL, &err),
			     bad[i][1]);
		assert_ok(source_list(lab, &list, &err));
		assert_int_equal(list.n, 0);
		source_list_release(&list);
	}
}

static void test_cancelled_import_goes_on(void **state)
{
	struct build_progress stop = {.cancelled = always};
	LAB_CLEANUP(free) char *tarball = url_of("k.tar.xz");

	(void)state;
	make_tarball();
	assert_fails(source_import_tarball(lab, "k", tarball, NULL, NULL, &stop, NULL, &err),
		     "stopped");
	assert_int_equal(err.kind, LAB_ERR_CANCELLED);
	assert_ok(source_import_tarball(lab, "k", tarball, NULL, NULL, NULL, NULL, &err));
}

/* The demo: a tarball as the base, changes above it fetched from a path. */
static void test_changes_above_a_tarball(void **state)
{
	LAB_CLEANUP(free) char *tarball = url_of("k.tar.xz");
	LAB_CLEANUP(free) char *remote = url_of("gerrit.git");
	LAB_CLEANUP(resolved) struct resolved r = {0};

	(void)state;
	make_tarball();
	assert_ok(source_import_tarball(lab, "k", tarball, NULL, remote, NULL, NULL, &err));
	run("git clone -q lab/sources/k.git w 2>/dev/null; cd w; git checkout -q v6.1.172\n"
	    "echo patched >> Makefile; git commit -q -a -m 'a patch'\n"
	    "git init -q --bare ../gerrit.git; git push -q ../gerrit.git HEAD:refs/changes/30/1430/1");
	r = resolve(NULL, "refs/changes/30/1430/1", NULL);
	assert_string_equal(r.base_name, "v6.1.172");
	assert_string_equal(r.subjects.items[0], "a patch");
	assert_int_equal(r.transfer.objects, 3); /* commit, tree, file */
}

static void test_versions(void **state)
{
	static const char *const rows[][2] = {
		{"VERSION = 5\nPATCHLEVEL = 14\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n", "5.14-rc3"},
		{"# x\nVERSION=6\nPATCHLEVEL=1\nSUBLEVEL=9\n", "6.1.9"},
	};

	(void)state;
	for (size_t i = 0; i < LAB_COUNT(rows); i++) {
		LAB_CLEANUP(free) char *version = repo_makefile_version(rows[i][0]);

		assert_string_equal(version, rows[i][1]);
	}
	assert_null(repo_makefile_version("all:\n\techo VERSION = 5\n"));
}

/* ---- work trees ---- */

static void checkout(struct repo *repo, const char *dir, const char *from, const char *to)
{
	assert_ok(repo_checkout(repo, dir, from, to, NULL, &err));
}

static void test_checkout_touches_what_differs(void **state)
{
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	LAB_CLEANUP(free) char *path = url_of("r");
	LAB_CLEANUP(free) char *dir = url_of("out");
	LAB_CLEANUP(free) char *a = NULL;
	LAB_CLEANUP(free) char *b = NULL;

	(void)state;
	run("mkdir out; git init -q r; cd r; mkdir d gone; echo 1 > same; echo 1 > d/changed\n"
	    "echo 1 > gone/f; echo 1 > exec; ln -s same link; echo 1 > becomes-dir; mkdir was-dir\n"
	    "echo 1 > was-dir/f; git add .; git commit -q -m a; git tag a\n"
	    "echo 2 > d/changed; rm -r gone was-dir becomes-dir link; chmod 755 exec\n"
	    "ln -s d/changed link; mkdir becomes-dir; echo 2 > becomes-dir/f; echo 2 > was-dir\n"
	    "git add -A .; git commit -q -m b; git tag b");
	a = sh("git -C r rev-parse a^{tree}");
	b = sh("git -C r rev-parse b^{tree}");
	assert_ok(repo_open_foreign(path, &repo, &err));
	checkout(repo, dir, NULL, a);
	run("cd r; git checkout -q a; diff -r --no-dereference -x .git . ../out\n"
	    "stat -c %Y.%y.%i ../out/same > ../stamp");
	checkout(repo, dir, a, b);
	run("cd r; git checkout -q b; diff -r --no-dereference -x .git . ../out\n"
	    "test -x ../out/exec; test ! -e ../out/gone\n"
	    "stat -c %Y.%y.%i ../out/same | cmp - ../stamp");
	checkout(repo, dir, b, a);
	run("cd r; git checkout -q a; diff -r --no-dereference -x .git . ../out");
}

/* Trees as git itself would not make them. */
static void test_hostile_trees(void **state)
{
	static const char *const names[] = {"..", ".git", "."};
	LAB_CLEANUP(repo) struct repo *repo = NULL;
	LAB_CLEANUP(free) char *path = url_of("r");
	LAB_CLEANUP(free) char *dir = url_of("out");

	(void)state;
	run("git init -q r; mkdir out; echo x > r/f; git -C r add .; git -C r commit -q -m a");
	assert_ok(repo_open_foreign(path, &repo, &err));
	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		LAB_CLEANUP(free)
		char *script = lab_asprintf(
			"cd r; t=$(git rev-parse HEAD^{tree} | sed 's/../\\\\x&/g')\n"
			"bash -c 'printf \"40000 %s\\0%%b\" \"$1\"' - \"$t\" > ../raw\n"
			"git hash-object -t tree -w --literally ../raw",
			names[i]);
		LAB_CLEANUP(free) char *tree = sh(script);

		assert_fails(repo_checkout(repo, dir, NULL, tree, NULL, &err), "is refused");
	}
	run("test ! -e f; test -z \"$(ls -A out)\"");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_daemon)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_change_and_base),
		T(test_ranges_and_commits),
		T(test_unknown_names),
		T(test_head_is_the_topic),
		T(test_branch_that_was_never_fetched),
		T(test_no_base),
		T(test_first_source_that_has_it),
		T(test_users_repository_is_not_touched),
		T(test_kinds_of_repositories),
		T(test_reference_that_is_gone),
		T(test_moved_reference),
		T(test_server),
		T(test_server_with_reference),
		T(test_cancelled_fetch),
		T(test_import),
		T(test_same_tarball_same_commit),
		T(test_odd_tarballs),
		T(test_cancelled_import_goes_on),
		T(test_changes_above_a_tarball),
		T(test_versions),
		T(test_checkout_touches_what_differs),
		T(test_hostile_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
