/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/configure.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "builder/kconfig.h"
#include "common/file.h"
#include "common/mem.h"

static const char tiny[] = "tiny", target_origin[] = "the target", option_origin[] = "--config";

enum { CONFIG_CAP = 4 << 20 };

void config_plan_release(struct config_plan *plan)
{
	free(plan->base_name);
	dotconfig_release(&plan->base);
	dotconfig_release(&plan->asked);
	lab_strv_release(&plan->left_to_default);
	lab_strv_release(&plan->touched);
	*plan = (struct config_plan){0};
}

/* ---- what the patchset touches ---- */

struct side_file {
	char *path;
	bool is_new;
	unsigned *lines;
	size_t n, cap;
};

struct sides {
	struct side_file *items;
	size_t n, cap;
};

static void add_line(void *ctx, const struct repo_hunk_line *line)
{
	struct sides *sides = ctx;
	struct side_file *file = NULL;

	for (size_t i = sides->n; i > 0 && !file; i--) {
		if (sides->items[i - 1].is_new == line->is_new &&
		    strcmp(sides->items[i - 1].path, line->path) == 0)
			file = &sides->items[i - 1];
	}
	if (!file) {
		LAB_GROW(sides->items, sides->n, sides->cap);
		file = &sides->items[sides->n++];
		*file = (struct side_file){.path = lab_strdup(line->path), .is_new = line->is_new};
	}
	LAB_GROW(file->lines, file->n, file->cap);
	file->lines[file->n++] = line->number;
}

int config_touched(struct repo *repo, const char *tree_a, const char *tree_b,
		   struct lab_strv *ret_symbols, struct lab_error *err)
{
	struct sides sides = {0};
	int rc = repo_changed_lines(repo, tree_a, tree_b, "Kconfig", add_line, &sides, err);

	for (size_t i = 0; i < sides.n; i++) {
		struct side_file *file = &sides.items[i];
		LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

		if (rc == 0 &&
		    repo_file(repo, file->is_new ? tree_b : tree_a, file->path, &text, err) < 0)
			rc = -1;
		if (rc == 0 && text.data)
			kconfig_touched(text.data, file->lines, file->n, ret_symbols);
		free(file->path);
		free(file->lines);
	}
	free(sides.items);
	lab_strv_sort(ret_symbols);
	return rc;
}

/* ---- the plan ---- */

static int append_file(struct dotconfig *asked, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig file = DOTCONFIG_INIT;

	if (dotconfig_load(path, &file, err) < 0)
		return -1;
	for (size_t i = 0; i < file.n; i++) {
		LAB_GROW(asked->items, asked->n, asked->cap);
		asked->items[asked->n++] = file.items[i];
	}
	file.n = 0; /* its strings are theirs now */
	return 0;
}

static int append_list(struct dotconfig *asked, const char *const *list, const char *origin,
		       struct lab_error *err)
{
	for (; list && *list; list++) {
		if (dotconfig_add(asked, *list, origin, err) < 0)
			return -1;
	}
	return 0;
}

/* What the target cannot do without must not be overruled: the machine would not start. */
static int check_required(const struct dotconfig *asked, const char *const *required,
			  struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig needs = DOTCONFIG_INIT;

	if (append_list(&needs, required, target_origin, err) < 0)
		return -1;
	for (size_t i = 0; i < needs.n; i++) {
		const struct dotconfig_item *item = dotconfig_find(asked, needs.items[i].symbol);

		if (!needs.items[i].optional &&
		    !dotconfig_satisfied(needs.items[i].value, item->value))
			return lab_error_set(err, LAB_ERR_INVALID,
					     "the target needs CONFIG_%s=%s, %s asks for %s",
					     needs.items[i].symbol, needs.items[i].value,
					     item->origin, item->value);
	}
	return 0;
}

static int collect_asked(const struct build_request *request, struct config_plan *plan,
			 struct lab_error *err)
{
	LAB_CLEANUP(free) char *fragment = NULL;

	if (!plan->from_file) {
		if (!request->fragments_dir)
			return lab_error_set(err, LAB_ERR_INVALID, "no directory of fragments");
		fragment = lab_asprintf("%s/%s.config", request->fragments_dir, tiny);
		if (append_file(&plan->asked, fragment, err) < 0)
			return -1;
	}
	if (append_list(&plan->asked, request->required, target_origin, err) < 0)
		return -1;
	for (const char *const *path = request->fragments; path && *path; path++) {
		if (append_file(&plan->asked, *path, err) < 0)
			return -1;
	}
	if (append_list(&plan->asked, request->config, option_origin, err) < 0)
		return -1;
	dotconfig_sort(&plan->asked);
	return check_required(&plan->asked, request->required, err);
}

int config_plan_make(const struct build_request *request, struct repo *repo, const char *tree_a,
		     const char *tree_b, struct config_plan *ret_plan, struct lab_error *err)
{
	LAB_CLEANUP(config_plan) struct config_plan plan = {0};
	const char *base = request->base_config ? request->base_config : tiny;

	plan.base_name = lab_strdup(base);
	plan.from_file = strcmp(base, tiny) != 0;
	if (plan.from_file && !strchr(base, '/') && !lab_file_exists(base))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "there is no base config '%s': 'tiny', or the path of a file",
				     base);
	if (plan.from_file && dotconfig_load(base, &plan.base, err) < 0)
		return -1;
	dotconfig_sort(&plan.base);
	if (collect_asked(request, &plan, err) < 0 ||
	    config_touched(repo, tree_a, tree_b, &plan.touched, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.touched.n; i++) {
		if (!dotconfig_find(&plan.asked, plan.touched.items[i]))
			lab_strv_add(&plan.left_to_default, plan.touched.items[i]);
	}
	*ret_plan = plan;
	plan = (struct config_plan){0};
	return 0;
}

/* ---- carrying it out ---- */

struct paths {
	char *fragment;
	char *work; /* the configuration while it is made */
	char *final;
};

static void paths_release(struct paths *paths)
{
	free(paths->fragment);
	free(paths->work);
	free(paths->final);
}

static int write_config(const char *path, const struct dotconfig *config, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	dotconfig_format(config, &text);
	return lab_write_file(path, text.data ? text.data : "", text.len, 0644, err);
}

static int run_conf(const struct kbuild *k, const struct paths *paths, const char *goal,
		    const char *all, struct kbuild_stats *stats, struct lab_error *err)
{
	LAB_CLEANUP(free) char *config = lab_asprintf("KCONFIG_CONFIG=%s", paths->work);
	LAB_CLEANUP(free) char *fragment = lab_asprintf("KCONFIG_ALLCONFIG=%s", paths->fragment);
	const char *goals[] = {config, goal, all ? fragment : NULL, NULL};

	return kbuild_make(k, goals, stats, err);
}

/* Writes what of `from` the plan neither asks for itself nor leaves to the tree. */
static int write_answers(const struct config_plan *plan, const struct dotconfig *from,
			 const char *path, struct lab_error *err)
{
	struct dotconfig kept = DOTCONFIG_INIT;
	int rc;

	for (size_t i = 0; i < from->n; i++) {
		if (dotconfig_find(&plan->asked, from->items[i].symbol) ||
		    lab_strv_has(&plan->left_to_default, from->items[i].symbol))
			continue;
		LAB_GROW(kept.items, kept.n, kept.cap);
		kept.items[kept.n++] = from->items[i];
	}
	for (size_t i = 0; i < plan->asked.n; i++) {
		LAB_GROW(kept.items, kept.n, kept.cap);
		kept.items[kept.n++] = plan->asked.items[i];
	}
	rc = write_config(path, &kept, err);
	free(kept.items); /* the strings are borrowed */
	return rc;
}

static int make_config(const struct config_plan *plan, const struct kbuild *k,
		       const struct paths *paths, struct kbuild_stats *stats, struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig answers = DOTCONFIG_INIT;

	if (plan->from_file) {
		if (write_answers(plan, &plan->base, paths->work, err) < 0)
			return -1;
		return run_conf(k, paths, "olddefconfig", NULL, stats, err);
	}
	if (write_config(paths->fragment, &plan->asked, err) < 0 ||
	    run_conf(k, paths, "allnoconfig", paths->fragment, stats, err) < 0)
		return -1;
	if (!plan->left_to_default.n)
		return 0;
	/* allnoconfig answered "n" for them: take that back and let the tree decide. */
	if (dotconfig_load(paths->work, &answers, err) < 0 ||
	    write_answers(plan, &answers, paths->work, err) < 0)
		return -1;
	return run_conf(k, paths, "olddefconfig", NULL, stats, err);
}

static bool is_unknown_here(const struct kbuild *k, const char *symbol, char **ret_why,
			    const struct dotconfig *config)
{
	*ret_why = kconfig_why(k->ws->tree, symbol, config);
	return lab_starts_with(*ret_why, "this tree has no such symbol");
}

static int verify(const struct config_plan *plan, const struct kbuild *k, const char *path,
		  struct lab_strv *ret_dropped, struct lab_error *err)
{
	LAB_CLEANUP(dotconfig) struct dotconfig config = DOTCONFIG_INIT;

	if (dotconfig_load(path, &config, err) < 0)
		return -1;
	dotconfig_sort(&config);
	for (size_t i = 0; i < plan->asked.n; i++) {
		const struct dotconfig_item *asked = &plan->asked.items[i];
		const struct dotconfig_item *got = dotconfig_find(&config, asked->symbol);
		LAB_CLEANUP(free) char *why = NULL;

		if (dotconfig_satisfied(asked->value, got ? got->value : NULL))
			continue;
		if (asked->optional) {
			lab_strv_add(ret_dropped, asked->symbol);
			continue;
		}
		if (is_unknown_here(k, asked->symbol, &why, &config) &&
		    lab_strv_has(&plan->touched, asked->symbol))
			continue; /* the other tree has it */
		return lab_error_set(
			err, LAB_ERR_FAILED, "CONFIG_%s=%s (%s) did not survive, it is %s: %s%s%s",
			asked->symbol, asked->value, asked->origin, got ? got->value : "not set",
			why, asked->value[0] == 'y' ? "; if it may be missing, ask for it as " : "",
			asked->value[0] == 'y' ? "=y?" : "");
	}
	return 0;
}

/* Written only when it differs: a new time stamp alone makes kbuild look at everything. */
static int install_config(const char *from, const char *to, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf new = LAB_BUF_INIT;
	LAB_CLEANUP(buf) struct lab_buf old = LAB_BUF_INIT;

	if (lab_read_file(from, CONFIG_CAP, &new, err) < 0)
		return -1;
	if (lab_read_file(to, CONFIG_CAP, &old, NULL) == 0 && old.len == new.len &&new.len &&
	    memcmp(old.data, new.data, new.len) == 0)
		return 0;
	return lab_write_file(to, new.data, new.len, 0644, err);
}

int configure(const struct config_plan *plan, const struct kbuild *k, struct kbuild_stats *stats,
	      struct lab_strv *ret_dropped, struct lab_error *err)
{
	struct paths paths = {
		.fragment = lab_path_join(k->ws->obj, ".config.asked"),
		.work = lab_path_join(k->ws->obj, ".config.work"),
		.final = lab_path_join(k->ws->obj, ".config"),
	};
	int rc = 0;

	/* What an earlier try left there would be read in as answers. */
	if (unlink(paths.work) < 0 && errno != ENOENT)
		rc = lab_error_errno(err, errno, "remove %s", paths.work);
	if (rc < 0 || make_config(plan, k, &paths, stats, err) < 0 ||
	    verify(plan, k, paths.work, ret_dropped, err) < 0 ||
	    install_config(paths.work, paths.final, err) < 0)
		rc = -1;
	paths_release(&paths);
	return rc;
}
