/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl ps, labctl clean: machines that run, and what killed commands left behind. */
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/table.h"
#include "common/mem.h"
#include "common/num.h"
#include "vmctl/hypervisor.h"

struct ps_args {
	bool all;
};

static json_t *domain_json(const struct hypervisor_domain *d)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:b, s:b, s:I, s:i}", "run", d->run, "domain",
			 d->name, "lab", d->lab, "owner", (json_int_t)d->owner, "owner_alive",
			 d->owner_alive, "running", d->running, "memory", (json_int_t)d->memory,
			 "vcpus", (int)d->vcpus);
}

static void print_domains(struct cli *cli, const struct hypervisor_domains *domains)
{
	static const char *const names[] = {"RUN", "MACHINE", "MEMORY", "VCPUS", "OWNER", NULL};
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	if (domains->n == 0) {
		term_print(cli->term, "no machine runs\n");
		return;
	}
	table_row(&table);
	for (const char *const *name = names; *name; name++)
		table_cell(&table, *name);
	for (size_t i = 0; i < domains->n; i++) {
		const struct hypervisor_domain *d = &domains->items[i];
		char size[16];

		table_row(&table);
		table_cell(&table, d->run);
		table_cell(&table, d->name);
		table_cell(&table, lab_format_size(d->memory, size, sizeof(size)));
		table_cellf(&table, "%u", d->vcpus);
		table_cellf(&table, "%d%s", (int)d->owner,
			    d->owner_alive ? "" : " (gone: labctl clean)");
	}
	table_format(&table, &text);
	cli_print_buf(cli, &text);
}

static int run_ps(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct ps_args *args = options;
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains domains = {0};
	json_t *array;

	(void)operands;
	if (hypervisor_open(cli->common.connect, &hv, err) < 0 ||
	    hypervisor_list(hv, args->all ? NULL : lab_id(cli->lab), &domains, err) < 0)
		return -1;
	if (!cli->common.json) {
		print_domains(cli, &domains);
		return CLI_EXIT_OK;
	}
	array = json_array();
	for (size_t i = 0; i < domains.n; i++)
		json_array_append_new(array, domain_json(&domains.items[i]));
	return cli_print_json(cli, array, err);
}

static const struct cli_option ps_options[] = {
	{CLI_OPTION_FLAG, 'a', "all", NULL, "machines of all labs", offsetof(struct ps_args, all),
	 NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_ps = {run_ps, ps_options, sizeof(struct ps_args)};

struct cleaned {
	unsigned n;
	const char *one, *many;
};

static void print_cleaned(struct cli *cli, const struct cleaned *items, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (items[i].n == 0)
			continue;
		term_printf(cli->term, "%u %s\n", items[i].n,
			    items[i].n == 1 ? items[i].one : items[i].many);
		any = true;
	}
	if (!any)
		term_print(cli->term, "nothing was left behind\n");
}

/*
 * We hold the lab's lock, so no command of this lab runs and every machine of it is
 * an orphan, whatever process has its owner's number by now.
 */
static int run_clean(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = NULL;
	struct lab_leftovers left = {0};
	unsigned machines = 0;

	(void)options;
	(void)operands;
	if (hypervisor_open(cli->common.connect, &hv, err) < 0 ||
	    hypervisor_clean(hv, lab_id(cli->lab), true, &machines, err) < 0)
		return -1;
	if (lab_clean_leftovers(cli->lab, &left, err) < 0)
		return -1;
	if (cli->common.json) {
		return cli_print_json(cli,
				      json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "machines",
						(int)machines, "drafts", (int)left.drafts,
						"artifacts", (int)left.artifacts, "runs",
						(int)left.runs, "run_dirs", (int)left.run_dirs,
						"scratch", (int)left.scratch),
				      err);
	}
	print_cleaned(cli,
		      (const struct cleaned[]){
			      {machines, "machine destroyed", "machines destroyed"},
			      {left.runs, "run closed as lost", "runs closed as lost"},
			      {left.drafts, "unfinished artifact removed",
			       "unfinished artifacts removed"},
			      {left.artifacts, "artifact without a record removed",
			       "artifacts without a record removed"},
			      {left.run_dirs, "run directory without a record removed",
			       "run directories without a record removed"},
			      {left.scratch, "scratch file removed", "scratch files removed"},
		      },
		      6);
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_clean = {run_clean, NULL, 0};
