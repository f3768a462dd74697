/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show.h"

#include <string.h>

#include "cli/campaign_arg.h"
#include "cli/exit.h"
#include "cli/table.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/num.h"
#include "store/artifact.h"
#include "store/campaign.h"

static json_t *run_json(const struct run *r)
{
	return json_pack("{s:i, s:i, s:s, s:s, s:i, s:o, s:s, s:s, s:s?, s:I, s:I}", "number",
			 (int)r->number, "attempt", (int)r->attempt, "variant", r->variant, "cell",
			 r->cell, "repetition", (int)r->repetition, "seed", cli_json_u64(r->seed),
			 "state", r->state, "message", r->message, "dir", r->dir, "started",
			 (json_int_t)r->started, "ended", (json_int_t)r->ended);
}

static void print_campaign(struct cli *cli, const struct campaign *c, const struct run_list *runs)
{
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *definition = cli_json_text(c->definition);
	json_t *variant;
	size_t i;
	char time[32];

	lab_buf_addf(&text, "campaign %lld  %s/%s  target %s%s  seed %llu  n %u\n",
		     (long long)c->id, c->experiment, c->preset, c->target,
		     c->emulated ? " (emulated)" : "", (unsigned long long)c->seed, c->n);
	lab_buf_addf(&text, "state    %s, made %s\n", c->state,
		     lab_format_time(c->created, time, sizeof(time)));
	json_array_foreach(json_object_get(definition, "variants"), i, variant)
	{
		const char *name = json_string_value(json_object_get(variant, "name"));
		const char *kernel = json_string_value(json_object_get(variant, "kernel"));
		const char *label = json_string_value(json_object_get(variant, "label"));

		lab_buf_addf(&text, "%-8s %s  %.*s\n", name ? name : "?", label ? label : "",
			     kernel && kernel[0] == '/' ? 200 : ARTIFACT_SHORT,
			     kernel ? kernel : "");
	}
	json_decref(definition);
	lab_buf_addc(&text, '\n');
	table_row(&table);
	for (const char *const *h = (const char *const[]){"RUN", "VARIANT", "CELL", "BOOT", "STATE",
							  "TIME", "MESSAGE", NULL};
	     *h; h++)
		table_cell(&table, *h);
	for (i = 0; i < runs->n; i++) {
		const struct run *r = runs->items[i];

		table_row(&table);
		table_cellf(&table, "%lld.%u", (long long)c->id, r->number);
		table_cell(&table, r->variant);
		table_cell(&table, r->cell);
		table_cellf(&table, "%u", r->repetition);
		table_cell(&table, r->state);
		table_cell(&table,
			   r->ended ? lab_format_duration((uint64_t)(r->ended - r->started) * 1000,
							  time, sizeof(time))
				    : "");
		table_cell(&table, r->message);
	}
	table_format(&table, &text);
	cli_print_buf(cli, &text);
}

static json_t *campaign_json(const struct campaign *c, const struct run_list *runs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < runs->n; i++)
		json_array_append_new(list, run_json(runs->items[i]));
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:b, s:o, s:i, s:s, s:I, s:o, s:o}", "id",
			 (json_int_t)c->id, "experiment", c->experiment, "preset", c->preset,
			 "target", c->target, "state", c->state, "emulated", c->emulated, "seed",
			 cli_json_u64(c->seed), "n", (int)c->n, "identity", c->identity, "created",
			 (json_int_t)c->created, "definition", cli_json_text(c->definition), "runs",
			 list);
}

int show_campaign(struct cli *cli, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	int64_t id;

	if (campaign_arg(cli->lab, name, &id, err) < 0 || campaign_get(cli->lab, id, &c, err) < 0 ||
	    run_list(cli->lab, id, true, &runs, err) < 0)
		return -1;
	if (cli->common.json)
		return cli_print_json(cli, campaign_json(c, &runs), err);
	print_campaign(cli, c, &runs);
	return CLI_EXIT_OK;
}

static json_t *sample_json(const struct sample *sample)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sample->n; i++) {
		json_t *values = json_array();

		for (size_t v = 0; v < sample->items[i].n; v++)
			json_array_append_new(values, json_real(sample->items[i].values[v]));
		json_object_set_new(object, sample->items[i].metric, values);
	}
	return object;
}

static double mean_of(const struct sample_value *v)
{
	double sum = 0;

	for (size_t i = 0; i < v->n; i++)
		sum += v->values[i];
	return v->n ? sum / (double)v->n : 0;
}

/* What two runs are compared by: that of their frames, and of all that decided them. */
static void add_hashes(const struct run *r, struct lab_buf *text)
{
	json_t *facts = cli_json_text(r->facts), *print = cli_json_text(r->fingerprint);
	const char *frames =
		json_string_value(json_object_get(json_object_get(facts, "frames"), "sha256"));
	const char *hash = json_string_value(json_object_get(print, "hash"));

	if (frames)
		lab_buf_addf(text, "frames   %s\n", frames);
	if (hash)
		lab_buf_addf(text, "print    %s\n", hash);
	json_decref(facts);
	json_decref(print);
}

static void print_run(struct cli *cli, const struct run *r, const struct sample *sample)
{
	LAB_CLEANUP(table) struct table table = TABLE_INIT;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	char time[32];

	lab_buf_addf(&text, "run      %lld.%u  variant %s  cell %s  boot %u  seed %llu\n",
		     (long long)r->campaign, r->number, r->variant, r->cell[0] ? r->cell : "-",
		     r->repetition, (unsigned long long)r->seed);
	lab_buf_addf(&text, "state    %s", r->state);
	if (r->attempt > 1)
		lab_buf_addf(&text, " (attempt %u)", r->attempt);
	lab_buf_addc(&text, '\n');
	if (r->message && r->message[0])
		lab_buf_addf(&text, "reason   %s\n", r->message);
	if (r->started) {
		lab_buf_addf(&text, "started  %s", lab_format_time(r->started, time, sizeof(time)));
		if (r->ended)
			lab_buf_addf(&text, ", took %s",
				     lab_format_duration((uint64_t)(r->ended - r->started) * 1000,
							 time, sizeof(time)));
		lab_buf_addc(&text, '\n');
	}
	if (r->dir)
		lab_buf_addf(&text, "files    %s\n", r->dir);
	add_hashes(r, &text);
	if (sample->n) {
		lab_buf_addc(&text, '\n');
		table_row(&table);
		table_cell(&table, "METRIC");
		table_cell(&table, "VALUES");
		table_cell(&table, "MEAN");
	}
	for (size_t i = 0; i < sample->n; i++) {
		table_row(&table);
		table_cell(&table, sample->items[i].metric);
		table_cellf(&table, "%zu", sample->items[i].n);
		table_cellf(&table, "%.6g", mean_of(&sample->items[i]));
	}
	table_format(&table, &text);
	cli_print_buf(cli, &text);
}

int show_run(struct cli *cli, const char *text, struct lab_error *err)
{
	LAB_CLEANUP(run) struct run *r = NULL;
	LAB_CLEANUP(sample) struct sample sample = SAMPLE_INIT;
	struct run_name name;
	json_t *json;

	if (!run_name_parse(text, &name) || !name.number)
		return lab_error_set(err, LAB_ERR_USAGE,
				     "'%s' is no run: it is written CAMPAIGN.NUMBER, like 7.41",
				     text);
	if (run_get(cli->lab, name.campaign, name.number, name.attempt, &r, err) < 0)
		return -1;
	if (r->id && run_samples(cli->lab, r->id, &sample, err) < 0)
		return -1;
	if (!cli->common.json) {
		print_run(cli, r, &sample);
		return CLI_EXIT_OK;
	}
	json = run_json(r);
	json_object_set_new(json, "campaign", json_integer(r->campaign));
	json_object_set_new(json, "facts", cli_json_text(r->facts));
	json_object_set_new(json, "fingerprint", cli_json_text(r->fingerprint));
	json_object_set_new(json, "sample", sample_json(&sample));
	return cli_print_json(cli, json, err);
}
