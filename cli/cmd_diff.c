/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl diff: what two kernels answer differently in their configuration. */
#include "builder/config_diff.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/kernel_diff.h"
#include "cli/table.h"
#include "common/file.h"
#include "common/mem.h"
#include "store/artifact.h"
#include "store/patchset.h"

struct kernels {
	struct artifact *a, *b;
};

static void kernels_release(struct kernels *k)
{
	artifact_free(k->a);
	artifact_free(k->b);
}

static int find_kernels(struct cli *cli, char **operands, struct kernels *k, struct lab_error *err)
{
	LAB_CLEANUP(patchset) struct patchset *p = NULL;
	const char *a = operands[0], *b = operands[1];

	if (!b) {
		if (patchset_find(cli->lab, operands[0], &p, err) < 0)
			return -1;
		a = p->kernel_a;
		b = p->kernel_b;
	}
	if (artifact_resolve(cli->lab, ARTIFACT_KERNEL, a, &k->a, err) < 0)
		return -1;
	return artifact_resolve(cli->lab, ARTIFACT_KERNEL, b, &k->b, err);
}

static void print_kernels(struct cli *cli, const struct kernels *k, const struct config_diff *diff)
{
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	term_printf(cli->term, "A  %.*s  %s\nB  %.*s  %s\n", ARTIFACT_SHORT, k->a->key, k->a->label,
		    ARTIFACT_SHORT, k->b->key, k->b->label);
	if (diff->n == 0) {
		term_print(cli->term, "the configurations are equal\n");
		return;
	}
	table_row(&table);
	table_cell(&table, "SYMBOL");
	table_cell(&table, "A");
	table_cell(&table, "B");
	for (size_t i = 0; i < diff->n; i++) {
		table_row(&table);
		table_cell(&table, diff->items[i].symbol);
		table_cell(&table, diff->items[i].a);
		table_cell(&table, diff->items[i].b);
	}
	table_format(&table, &text);
	cli_print_buf(cli, &text);
}

static int run_diff(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	__attribute__((cleanup(kernels_release))) struct kernels k = {0};
	LAB_CLEANUP(config_diff) struct config_diff diff = CONFIG_DIFF_INIT;
	LAB_CLEANUP(free) char *path_a = NULL;
	LAB_CLEANUP(free) char *path_b = NULL;

	(void)options;
	if (find_kernels(cli, operands, &k, err) < 0)
		return -1;
	path_a = lab_path_join(k.a->path, "config");
	path_b = lab_path_join(k.b->path, "config");
	if (config_diff(path_a, path_b, &diff, err) < 0)
		return -1;
	if (cli->common.json)
		return cli_print_json(cli,
				      json_pack("{s:s, s:s, s:o}", "a", k.a->key, "b", k.b->key,
						"config", kernel_diff_json(&diff)),
				      err);
	print_kernels(cli, &k, &diff);
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_diff = {run_diff, NULL, 0};
