/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl source: where patchsets and base trees come from. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "builder/source.h"
#include "cli/build_talk.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/table.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/source.h"

struct add_args {
	const char *reference;
	const char *base_branch;
	const char *tag;
	const char *url;
};

struct show_args {
	bool refs;
};

static json_t *source_json(const struct source *s)
{
	return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:I}", "name", s->name, "kind", s->kind,
			 "url", s->url, "reference", s->reference, "base_branch", s->base_branch,
			 "created", (json_int_t)s->created);
}

static bool is_regular_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Paths are stored absolute: labctl may be called from elsewhere the next time. */
static char *absolute_if_path(const char *where)
{
	char *real;

	if (!where || strstr(where, "://"))
		return lab_strdup(where);
	real = realpath(where, NULL);
	return real ? real : lab_strdup(where);
}

static int add_tarball(struct cli *cli, const struct add_args *args, const char *name,
		       const char *path, struct lab_error *err)
{
	LAB_CLEANUP(free) char *tag = NULL;
	LAB_CLEANUP(free) char *url = absolute_if_path(args->url);
	struct build_talk talk;

	if (args->reference || args->base_branch)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "a tarball has no --reference and no --base-branch");
	build_talk_init(&talk, cli, false);
	return source_import_tarball(cli->lab, name, path, args->tag, url, &talk.progress, &tag,
				     err);
}

static int add_git(struct cli *cli, const struct add_args *args, const char *name,
		   const char *where, struct lab_error *err)
{
	LAB_CLEANUP(free) char *url = absolute_if_path(where);
	LAB_CLEANUP(free) char *reference = absolute_if_path(args->reference);

	if (args->tag || args->url)
		return lab_error_set(err, LAB_ERR_USAGE, "--%s is for tarballs",
				     args->tag ? "tag" : "url");
	return source_add_git(cli->lab, name, url, reference, args->base_branch, err);
}

static int run_add(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct add_args *args = options;
	LAB_CLEANUP(source) struct source *s = NULL;
	LAB_CLEANUP(free) char *path = NULL;
	int ret;

	if (is_regular_file(operands[1])) {
		path = absolute_if_path(operands[1]);
		ret = add_tarball(cli, args, operands[0], path, err);
	} else {
		ret = add_git(cli, args, operands[0], operands[1], err);
	}
	if (ret < 0 || source_find(cli->lab, operands[0], &s, err) < 0)
		return -1;
	if (cli->common.json)
		return cli_print_json(cli, source_json(s), err);
	term_printf(cli->term, "source   %s  (%s, %s)\n", s->name, s->kind,
		    s->url ? s->url : operands[1]);
	return CLI_EXIT_OK;
}

static int run_fetch(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	struct build_talk talk;

	(void)options;
	build_talk_init(&talk, cli, true);
	if (source_fetch(cli->lab, operands[0], &talk.progress, err) < 0)
		return -1;
	return CLI_EXIT_OK;
}

static int run_list_sources(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(source_list) struct source_list list = {0};
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *array;

	(void)options;
	(void)operands;
	if (source_list(cli->lab, &list, err) < 0)
		return -1;
	if (cli->common.json) {
		array = json_array();
		for (size_t i = 0; i < list.n; i++)
			json_array_append_new(array, source_json(list.items[i]));
		return cli_print_json(cli, array, err);
	}
	table_row(&table);
	table_cell(&table, "NAME");
	table_cell(&table, "KIND");
	table_cell(&table, "FROM");
	for (size_t i = 0; i < list.n; i++) {
		table_row(&table);
		table_cell(&table, list.items[i]->name);
		table_cell(&table, list.items[i]->kind);
		table_cell(&table, list.items[i]->url);
	}
	table_format(&table, &text);
	cli_print_buf(cli, &text);
	return CLI_EXIT_OK;
}

/* As git ls-remote prints them. */
static int show_refs(struct cli *cli, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv oids = LAB_STRV_INIT;
	struct build_talk talk;
	json_t *array;

	build_talk_init(&talk, cli, false);
	if (source_refs(cli->lab, name, &talk.progress, &names, &oids, err) < 0)
		return -1;
	if (!cli->common.json) {
		for (size_t i = 0; i < names.n; i++)
			term_printf(cli->term, "%s\t%s\n", oids.items[i], names.items[i]);
		return CLI_EXIT_OK;
	}
	array = json_array();
	for (size_t i = 0; i < names.n; i++)
		json_array_append_new(array, json_pack("{s:s, s:s}", "ref", names.items[i],
						       "commit", oids.items[i]));
	return cli_print_json(cli, array, err);
}

static int run_show_source(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct show_args *args = options;
	LAB_CLEANUP(source) struct source *s = NULL;
	LAB_CLEANUP(free) char *repository = NULL;

	if (args->refs)
		return show_refs(cli, operands[0], err);
	if (source_find(cli->lab, operands[0], &s, err) < 0)
		return -1;
	repository = source_repository(cli->lab, s->name);
	if (cli->common.json) {
		json_t *json = source_json(s);

		json_object_set_new(json, "repository", json_string(repository));
		return cli_print_json(cli, json, err);
	}
	term_printf(cli->term, "source   %s  (%s)\nfrom     %s\n", s->name, s->kind,
		    s->url ? s->url : "-");
	if (s->reference)
		term_printf(cli->term, "borrows  %s\n", s->reference);
	if (s->base_branch)
		term_printf(cli->term, "bases    %s\n", s->base_branch);
	term_printf(cli->term, "kept in  %s\n", repository);
	return CLI_EXIT_OK;
}

static int run_rm(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(source) struct source *s = NULL;
	LAB_CLEANUP(free) char *repository = NULL;

	(void)options;
	if (source_find(cli->lab, operands[0], &s, err) < 0)
		return -1;
	repository = source_repository(cli->lab, s->name);
	/* The row first: a repository without a row is in nobody's way. */
	if (source_remove(cli->lab, s->name, err) < 0 || lab_remove_tree(repository, err) < 0)
		return -1;
	term_say(cli->term, "removed source %s; kernels that were built from it stay", s->name);
	return CLI_EXIT_OK;
}

#define AT(member) offsetof(struct add_args, member)

static const struct cli_option add_options[] = {
	{CLI_OPTION_STR, 0, "reference", "DIR", "git: a local clone to borrow objects from",
	 AT(reference), NULL},
	{CLI_OPTION_STR, 0, "base-branch", "BRANCH",
	 "git: where bases are looked for (the remote's HEAD)", AT(base_branch), NULL},
	{CLI_OPTION_STR, 0, "tag", "NAME", "tarball: name of its commit (v + its version)", AT(tag),
	 NULL},
	{CLI_OPTION_STR, 0, "url", "URL", "tarball: where patchsets on top of it are fetched",
	 AT(url), NULL},
	CLI_OPTION_END,
};

static const struct cli_option show_options[] = {
	{CLI_OPTION_FLAG, 0, "refs", NULL, "list what it has to build: object and reference",
	 offsetof(struct show_args, refs), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_source_add = {run_add, add_options, sizeof(struct add_args)};
const struct cli_handler cmd_source_fetch = {run_fetch, NULL, 0};
const struct cli_handler cmd_source_list = {run_list_sources, NULL, 0};
const struct cli_handler cmd_source_rm = {run_rm, NULL, 0};
const struct cli_handler cmd_source_show = {run_show_source, show_options,
					    sizeof(struct show_args)};
