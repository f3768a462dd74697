/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl list: one line for each thing of a kind. */
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/num.h"
#include "experiments/definition.h"
#include "store/artifact.h"
#include "store/campaign.h"
#include "store/patchset.h"

/* Fills a table for people and an array for programs. */
typedef int (*list_fn)(struct cli *cli, struct table *table, json_t *array, struct lab_error *err);

static void heading(struct table *table, const char *const *names)
{
	table_row(table);
	for (; *names; names++)
		table_cell(table, *names);
}

static int list_experiments(struct cli *cli, struct table *table, json_t *array,
			    struct lab_error *err)
{
	static const char *const names[] = {"NAME", "PRESETS", "TITLE", NULL};
	LAB_CLEANUP(strv) struct lab_strv found = LAB_STRV_INIT;

	if (experiment_list(cli->paths.definitions, &found, err) < 0)
		return -1;
	heading(table, names);
	for (size_t i = 0; i < found.n; i++) {
		LAB_CLEANUP(experiment) struct experiment *e = NULL;
		LAB_CLEANUP(strv) struct lab_strv presets = LAB_STRV_INIT;
		LAB_CLEANUP(free) char *joined = NULL;
		json_t *list = json_array();

		if (experiment_find(cli->paths.definitions, found.items[i], &e, err) < 0) {
			json_decref(list);
			return -1;
		}
		for (size_t p = 0; p < e->n_presets; p++) {
			lab_strv_add(&presets, e->presets[p].name);
			json_array_append_new(list, json_string(e->presets[p].name));
		}
		joined = lab_strv_join(&presets, " ");
		table_row(table);
		table_cell(table, e->name);
		table_cell(table, joined);
		table_cell(table, e->title);
		json_array_append_new(array,
				      json_pack("{s:s, s:s?, s:s, s:o}", "name", e->name, "title",
						e->title, "path", e->path, "presets", list));
	}
	return 0;
}

static int add_campaign(struct cli *cli, const struct campaign *c, struct table *table,
			json_t *array, struct lab_error *err)
{
	struct campaign_progress progress;
	char time[32];

	if (campaign_progress(cli->lab, c->id, &progress, err) < 0)
		return -1;
	table_row(table);
	table_cellf(table, "%lld", (long long)c->id);
	table_cellf(table, "%s/%s", c->experiment, c->preset);
	table_cellf(table, "%s%s", c->target, c->emulated ? ", emulated" : "");
	table_cell(table, c->state);
	table_cellf(table, "%u/%u", progress.done + progress.outcomes, progress.slots);
	table_cellf(table, "%u", progress.outcomes);
	table_cell(table, lab_format_time(c->created, time, sizeof(time)));
	json_array_append_new(
		array, json_pack("{s:I, s:s, s:s, s:s, s:b, s:s, s:o, s:i, s:I, s:i, s:i, s:i}",
				 "id", (json_int_t)c->id, "experiment", c->experiment, "preset",
				 c->preset, "target", c->target, "emulated", c->emulated, "state",
				 c->state, "seed", cli_json_u64(c->seed), "n", (int)c->n, "created",
				 (json_int_t)c->created, "planned", (int)progress.slots, "done",
				 (int)progress.done, "failed", (int)progress.outcomes));
	return 0;
}

static int list_campaigns(struct cli *cli, struct table *table, json_t *array,
			  struct lab_error *err)
{
	static const char *const names[] = {"ID",   "EXPERIMENT", "TARGET", "STATE",
					    "RUNS", "FAILED",	  "MADE",   NULL};
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};

	if (campaign_list(cli->lab, &list, err) < 0)
		return -1;
	heading(table, names);
	for (size_t i = 0; i < list.n; i++) {
		if (add_campaign(cli, list.items[i], table, array, err) < 0)
			return -1;
	}
	return 0;
}

static int list_artifacts(struct cli *cli, const char *kind, struct table *table, json_t *array,
			  struct lab_error *err)
{
	static const char *const names[] = {"KEY", "LABEL", "SIZE", "MADE", NULL};
	LAB_CLEANUP(artifact_list) struct artifact_list list = {0};

	if (artifact_list(cli->lab, kind, &list, err) < 0)
		return -1;
	heading(table, names);
	for (size_t i = 0; i < list.n; i++) {
		const struct artifact *a = list.items[i];
		char size[16], time[32];

		table_row(table);
		table_cellf(table, "%.*s", ARTIFACT_SHORT, a->key);
		table_cell(table, a->label);
		table_cell(table, lab_format_size(a->bytes, size, sizeof(size)));
		table_cell(table, lab_format_time(a->created, time, sizeof(time)));
		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}",
						       "kind", a->kind, "key", a->key, "content",
						       a->content, "label", a->label, "path",
						       a->path, "bytes", (json_int_t)a->bytes,
						       "created", (json_int_t)a->created));
	}
	return 0;
}

static int list_kernels(struct cli *cli, struct table *table, json_t *array, struct lab_error *err)
{
	return list_artifacts(cli, ARTIFACT_KERNEL, table, array, err);
}

static int list_images(struct cli *cli, struct table *table, json_t *array, struct lab_error *err)
{
	return list_artifacts(cli, ARTIFACT_IMAGE, table, array, err);
}

static int list_patchsets(struct cli *cli, struct table *table, json_t *array,
			  struct lab_error *err)
{
	static const char *const names[] = {"ID",   "PATCHSET", "SOURCE", "BASE", "COMMITS",
					    "HEAD", "A",	"B",	  NULL};
	LAB_CLEANUP(patchset_list) struct patchset_list list = {0};

	if (patchset_list(cli->lab, &list, err) < 0)
		return -1;
	heading(table, names);
	for (size_t i = 0; i < list.n; i++) {
		const struct patchset *p = list.items[i];

		table_row(table);
		table_cellf(table, "%lld", (long long)p->id);
		table_cell(table, p->spec);
		table_cell(table, p->source);
		table_cell(table, p->base_name);
		table_cellf(table, "%d", p->commits);
		table_cellf(table, "%.12s", p->head);
		table_cellf(table, "%.*s", ARTIFACT_SHORT, p->kernel_a);
		table_cellf(table, "%.*s", ARTIFACT_SHORT, p->kernel_b);
		json_array_append_new(
			array,
			json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I}", "id",
				  (json_int_t)p->id, "patchset", p->spec, "source", p->source,
				  "base", p->base, "base_name", p->base_name, "head", p->head,
				  "commits", p->commits, "kernel_a", p->kernel_a, "kernel_b",
				  p->kernel_b, "created", (json_int_t)p->created));
	}
	return 0;
}

static const struct {
	const char *name;
	bool needs_lab;
	list_fn list;
} kinds[] = {
	{"experiments", false, list_experiments}, {"campaigns", true, list_campaigns},
	{"kernels", true, list_kernels},	  {"images", true, list_images},
	{"patchsets", true, list_patchsets},
};

static int run_list_command(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *array;
	size_t kind = 0;

	(void)options;
	while (kind < LAB_COUNT(kinds) && strcmp(kinds[kind].name, operands[0]) != 0)
		kind++;
	if (kind == LAB_COUNT(kinds))
		return lab_error_set(err, LAB_ERR_USAGE,
				     "cannot list '%s': it can be experiments, campaigns, kernels, "
				     "images or patchsets",
				     operands[0]);
	if (kinds[kind].needs_lab && cli_open_lab(cli, CLI_LAB, "list", err) < 0)
		return -1;
	array = json_array();
	if (kinds[kind].list(cli, &table, array, err) < 0) {
		json_decref(array);
		return -1;
	}
	if (cli->common.json) {
		return cli_print_json(cli, array, err);
	}
	json_decref(array);
	table_format(&table, &text);
	cli_print_buf(cli, &text);
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_list = {run_list_command, NULL, 0};
