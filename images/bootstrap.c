/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/bootstrap.h"

#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/proc.h"

/* Later times in the tree are set back to this one (2023-01-01): same packages, same bytes. */
#define TREE_TIME "1672531200"

enum { BOOTSTRAP_TIMEOUT_MS = 40 * 60 * 1000, TRY_TIMEOUT_MS = 10000 };

static const char *const front_none[] = {NULL};
static const char *const front_root[] = {"unshare", "--fork",	    "--pid",
					 "--mount", "--kill-child", NULL};
/* The user is root of the namespace, so that what is left after a kill is his to remove. */
static const char *const front_userns[] = {"unshare",	 "--user",	 "--map-root-user",
					   "--map-auto", "--fork",	 "--pid",
					   "--mount",	 "--kill-child", NULL};

static const struct bootstrap_mode mode_root = {"root", front_root, "root"};
static const struct bootstrap_mode mode_root_bare = {"root", front_none, "root"};
static const struct bootstrap_mode mode_userns = {"userns", front_userns, "root"};
static const struct bootstrap_mode mode_fakechroot = {"fakechroot", front_none, "fakechroot"};

static bool front_works(const char *const *front)
{
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	struct lab_proc proc = {.timeout_ms = TRY_TIMEOUT_MS};

	lab_strv_add_all(&argv, front);
	lab_strv_add(&argv, "true");
	proc.argv = (const char *const *)argv.items;
	return lab_proc_run(&proc, &result, NULL) == 0 && result.exit_code == 0;
}

static bool installed(const char *program)
{
	LAB_CLEANUP(free) char *path = lab_proc_which(program);

	return path != NULL;
}

const struct bootstrap_mode *bootstrap_mode_find(char **ret_cure)
{
	if (geteuid() == 0)
		return front_works(front_root) ? &mode_root : &mode_root_bare;
	if (front_works(front_userns))
		return &mode_userns;
	if (installed("fakechroot") && installed("fakeroot"))
		return &mode_fakechroot;
	if (!installed("newuidmap"))
		*ret_cure = lab_strdup("apt-get install uidmap (or fakechroot)");
	else
		*ret_cure = lab_strdup("allow user namespaces (sysctl kernel.unprivileged_userns_"
				       "clone=1) and give this user a range in /etc/subuid and "
				       "/etc/subgid (usermod --add-subuids 100000-165535 "
				       "--add-subgids 100000-165535 USER), or apt-get install "
				       "fakechroot");
	return NULL;
}

/* Adds `word` so that a shell, and mmdebstrap's own splitter, sees this one word. */
static void add_quoted(struct lab_buf *buf, const char *word)
{
	lab_buf_addc(buf, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			lab_buf_adds(buf, "'\\''");
		else
			lab_buf_addc(buf, *word);
	}
	lab_buf_addc(buf, '\'');
}

/* "chroot "$1" 'word' 'word'": mmdebstrap hands the tree to a hook as its first argument. */
static void add_chroot_hook(struct lab_strv *argv, const char *const *words)
{
	LAB_CLEANUP(buf) struct lab_buf hook = LAB_BUF_INIT;

	lab_buf_adds(&hook, "--customize-hook=chroot \"$1\"");
	for (; *words; words++) {
		lab_buf_addc(&hook, ' ');
		add_quoted(&hook, *words);
	}
	lab_strv_add(argv, hook.data);
}

static char *file_source(const struct bootstrap *bootstrap, size_t i)
{
	return lab_asprintf("%s/file-%zu", bootstrap->dir, i);
}

static void add_file_hooks(const struct bootstrap *bootstrap, struct lab_strv *argv)
{
	for (size_t i = 0; i < bootstrap->recipe->n_files; i++) {
		const struct recipe_file *file = &bootstrap->recipe->files[i];
		LAB_CLEANUP(free) char *source = file_source(bootstrap, i);
		LAB_CLEANUP(free) char *mode = lab_asprintf("%04o", (unsigned)file->mode);
		LAB_CLEANUP(free)
		char *parent =
			lab_strndup(file->path, (size_t)(lab_path_base(file->path) - file->path));
		LAB_CLEANUP(buf) struct lab_buf upload = LAB_BUF_INIT;

		add_chroot_hook(argv, (const char *const[]){"mkdir", "-p", parent, NULL});
		lab_buf_adds(&upload, "--customize-hook=upload ");
		add_quoted(&upload, source);
		lab_buf_addc(&upload, ' ');
		add_quoted(&upload, file->path);
		lab_strv_add(argv, upload.data);
		add_chroot_hook(argv, (const char *const[]){"chown", "0:0", file->path, NULL});
		add_chroot_hook(argv, (const char *const[]){"chmod", mode, file->path, NULL});
	}
}

void bootstrap_argv(const struct bootstrap *bootstrap, struct lab_strv *ret_argv)
{
	const struct recipe *recipe = bootstrap->recipe;
	LAB_CLEANUP(free) char *include = lab_strv_join(&recipe->packages, ",");
	LAB_CLEANUP(free) char *tar = lab_path_join(bootstrap->dir, BOOTSTRAP_TAR);
	LAB_CLEANUP(free) char *packages = lab_path_join(bootstrap->dir, BOOTSTRAP_PACKAGES);
	LAB_CLEANUP(buf) struct lab_buf list = LAB_BUF_INIT;

	lab_strv_add_all(ret_argv, bootstrap->mode->front);
	lab_strv_add(ret_argv, "mmdebstrap");
	lab_strv_addf(ret_argv, "--mode=%s", bootstrap->mode->mmdebstrap);
	lab_strv_add(ret_argv, "--format=tar");
	lab_strv_addf(ret_argv, "--variant=%s", recipe->variant);
	if (recipe->packages.n)
		lab_strv_addf(ret_argv, "--include=%s", include);
	for (size_t i = 0; i < recipe->exclude.n; i++)
		lab_strv_addf(ret_argv, "--dpkgopt=path-exclude=%s", recipe->exclude.items[i]);
	if (recipe->exclude.n)
		lab_strv_add(ret_argv, "--dpkgopt=path-include=/usr/share/doc/*/copyright");
	add_file_hooks(bootstrap, ret_argv);
	for (size_t i = 0; i < recipe->n_commands; i++)
		add_chroot_hook(ret_argv, (const char *const *)recipe->commands[i].items);
	lab_buf_adds(&list, "--customize-hook=chroot \"$1\" dpkg-query -W -f "
			    "'${Package}\\t${Version}\\t${Architecture}\\n' > ");
	add_quoted(&list, packages);
	lab_strv_add(ret_argv, list.data);
	/* No mirror: the suite's archives are those that the host's own apt uses. */
	lab_strv_add(ret_argv, recipe->suite);
	lab_strv_add(ret_argv, tar);
}

static bool is_ours(const char *variable)
{
	static const char *const names[] = {"TMPDIR=", "SOURCE_DATE_EPOCH=", "LC_",
					    "LANG=",   "LANGUAGE=",	     "DEBIAN_FRONTEND="};

	for (size_t i = 0; i < LAB_COUNT(names); i++) {
		if (lab_starts_with(variable, names[i]))
			return true;
	}
	return false;
}

/* The caller's environment (proxies are in it), with what must be the same everywhere. */
static void make_env(const char *tmp, struct lab_strv *env)
{
	for (char **variable = environ; *variable; variable++) {
		if (!is_ours(*variable))
			lab_strv_add(env, *variable);
	}
	lab_strv_addf(env, "TMPDIR=%s", tmp);
	lab_strv_add(env, "SOURCE_DATE_EPOCH=" TREE_TIME);
	lab_strv_add(env, "LC_ALL=C.UTF-8");
	lab_strv_add(env, "DEBIAN_FRONTEND=noninteractive");
}

/* The lines of mmdebstrap that tell a person where it is. */
static const struct {
	const char *prefix;
	const char *text;
} steps[] = {
	{"running apt-get update", "reading the package lists"},
	{"downloading packages", "downloading packages"},
	{"extracting archives", "unpacking packages"},
	{"installing essential", "installing essential packages"},
	{"installing remaining", "installing the recipe's packages"},
	{"running special hook", "files and commands of the recipe"},
	{"running --customize-hook", "files and commands of the recipe"},
	{"creating tarball", "packing the tree"},
};

struct talk {
	const struct image_progress *progress;
	const char *step;
	char *error; /* the first complaint: later ones are its consequences */
	char *other; /* the last line that is not mmdebstrap's own */
};

static void hear_step(struct talk *talk, const char *line)
{
	for (size_t i = 0; i < LAB_COUNT(steps); i++) {
		if (!lab_starts_with(line, steps[i].prefix))
			continue;
		if ((!talk->step || strcmp(talk->step, steps[i].text) != 0) && talk->progress &&
		    talk->progress->say)
			talk->progress->say(talk->progress->ctx, "bootstrap", steps[i].text);
		talk->step = steps[i].text;
		return;
	}
}

static void hear(void *ctx, bool is_stderr, const char *line)
{
	struct talk *talk = ctx;

	(void)is_stderr;
	if (lab_starts_with(line, "E: ")) {
		const char *text = line + 3;

		if (lab_starts_with(text, "setup failed: E: "))
			text += strlen("setup failed: E: ");
		if (!talk->error)
			talk->error = lab_strdup(text);
	} else if (lab_starts_with(line, "I: ")) {
		hear_step(talk, line + 3);
	} else if (*line && !lab_starts_with(line, "W: ") && !talk->error) {
		free(talk->other);
		talk->other = lab_strdup(line);
	}
}

static bool tick(void *ctx)
{
	const struct talk *talk = ctx;

	return talk->progress && talk->progress->cancelled &&
	       talk->progress->cancelled(talk->progress->ctx);
}

static int explain(const struct bootstrap *bootstrap, const struct talk *talk,
		   struct lab_error *err)
{
	if (err->kind == LAB_ERR_CANCELLED)
		return lab_error_set(err, LAB_ERR_CANCELLED,
				     "image '%s': stopped while the tree was made",
				     bootstrap->recipe->name);
	if (err->kind != LAB_ERR_FAILED || !talk->error)
		return lab_error_wrap(err, "image '%s'", bootstrap->recipe->name);
	/* A command of the recipe says itself what went wrong, just before. */
	if (lab_starts_with(talk->error, "command failed") && talk->other)
		return lab_error_set(
			err, LAB_ERR_FAILED, "image '%s': mmdebstrap: %s: %s (log: %s)",
			bootstrap->recipe->name, talk->error, talk->other, bootstrap->log);
	return lab_error_set(err, LAB_ERR_FAILED, "image '%s': mmdebstrap: %s (log: %s)",
			     bootstrap->recipe->name, talk->error, bootstrap->log);
}

static int write_files(const struct bootstrap *bootstrap, struct lab_error *err)
{
	for (size_t i = 0; i < bootstrap->recipe->n_files; i++) {
		const char *content = bootstrap->recipe->files[i].content;
		LAB_CLEANUP(free) char *path = file_source(bootstrap, i);

		if (lab_write_file(path, content, strlen(content), 0644, err) < 0)
			return -1;
	}
	return 0;
}

int bootstrap_run(const struct bootstrap *bootstrap, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv argv = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv env = LAB_STRV_INIT;
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	LAB_CLEANUP(free) char *tmp = lab_path_join(bootstrap->dir, "tmp");
	struct talk talk = {.progress = bootstrap->progress};
	struct lab_error local = {0};
	struct lab_proc proc = {.timeout_ms = BOOTSTRAP_TIMEOUT_MS,
				.log_path = bootstrap->log,
				.output_cap = 4096,
				.on_line = hear,
				.on_tick = tick,
				.ctx = &talk};
	int rc;

	if (lab_mkdirs(tmp, 0755, err) < 0 || write_files(bootstrap, err) < 0)
		return -1;
	bootstrap_argv(bootstrap, &argv);
	make_env(tmp, &env);
	proc.argv = (const char *const *)argv.items;
	proc.env = (const char *const *)env.items;
	rc = lab_proc_must(&proc, &result, &local);
	if (rc < 0) {
		explain(bootstrap, &talk, &local);
		if (err)
			*err = local;
	}
	free(talk.error);
	free(talk.other);
	return rc;
}

char *bootstrap_version(void)
{
	LAB_CLEANUP(proc_result) struct lab_proc_result result = {0};
	const struct lab_proc proc = {
		.argv = (const char *const[]){"mmdebstrap", "--version", NULL},
		.timeout_ms = TRY_TIMEOUT_MS};
	const char *word;

	if (lab_proc_must(&proc, &result, NULL) < 0 || !result.out.len)
		return NULL;
	word = strrchr(result.out.data, ' '); /* "mmdebstrap 1.3.5\n" */
	word = word ? word + 1 : result.out.data;
	return lab_strndup(word, strcspn(word, "\n"));
}
