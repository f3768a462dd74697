/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show.h"

#include <string.h>

#include "cli/exit.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/num.h"
#include "experiments/definition.h"
#include "store/artifact.h"
#include "store/patchset.h"

static json_t *presets_json(const struct experiment *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_presets; i++) {
		const struct experiment_preset *p = &e->presets[i];

		json_array_append_new(list, json_pack("{s:s, s:s?, s:I, s:i, s:I, s:I, s:i}",
						      "name", p->name, "title", p->title, "memory",
						      (json_int_t)p->memory, "vcpus", (int)p->vcpus,
						      "data", (json_int_t)p->data, "swap",
						      (json_int_t)p->swap, "n", (int)p->n));
	}
	return list;
}

static json_t *names_json(const struct experiment *e, bool variants)
{
	json_t *list = json_array();

	if (variants) {
		for (size_t i = 0; i < e->n_variants; i++)
			json_array_append_new(list, json_string(e->variants[i].name));
		return list;
	}
	for (size_t i = 0; i < e->n_phases; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", e->phases[i].name,
						      "workload", e->phases[i].workload));
	return list;
}

static void print_experiment(struct cli *cli, const struct experiment *e)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;

	lab_buf_addf(&text, "experiment %s  %s\n", e->name, e->title ? e->title : "");
	lab_buf_addf(&text, "file       %s\n", e->path);
	/* A folded text ends in a line end of its own. */
	if (e->method)
		lab_buf_addf(&text, "method     %.*s\n", (int)strcspn(e->method, "\n"), e->method);
	lab_buf_addf(&text, "target     %s\nimage      %s\n", e->target, e->image);
	for (size_t i = 0; i < e->n_variants; i++)
		lab_buf_addf(&text, "variant    %s: kernel %s%s%s\n", e->variants[i].name,
			     e->variants[i].kernel, e->variants[i].cmdline[0] ? " " : "",
			     e->variants[i].cmdline);
	for (size_t i = 0; i < e->n_factors; i++) {
		lab_buf_addf(&text, "factor     %s:", e->factors[i].name);
		for (size_t l = 0; l < e->factors[i].n; l++)
			lab_buf_addf(&text, " %s", e->factors[i].levels[l].name);
		lab_buf_addc(&text, '\n');
	}
	for (size_t i = 0; i < e->n_phases; i++)
		lab_buf_addf(&text, "phase      %s: %s\n", e->phases[i].name,
			     e->phases[i].workload);
	for (size_t i = 0; i < e->n_presets; i++) {
		const struct experiment_preset *p = &e->presets[i];
		char memory[16];

		lab_buf_addf(&text, "preset     %s: %u vCPU%s, %s, n %u%s%s\n", p->name, p->vcpus,
			     p->vcpus == 1 ? "" : "s",
			     lab_format_size(p->memory, memory, sizeof(memory)), p->n,
			     p->title ? "; " : "", p->title ? p->title : "");
	}
	cli_print_buf(cli, &text);
}

int show_experiment(struct cli *cli, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(experiment) struct experiment *e = NULL;

	if (experiment_find(cli->paths.definitions, name, &e, err) < 0)
		return -1;
	if (cli->common.json)
		return cli_print_json(cli,
				      json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:s, s:o, s:o, s:o}",
						"name", e->name, "title", e->title, "method",
						e->method, "path", e->path, "target", e->target,
						"image", e->image, "variants", names_json(e, true),
						"phases", names_json(e, false), "presets",
						presets_json(e)),
				      err);
	print_experiment(cli, e);
	return CLI_EXIT_OK;
}

static int show_artifact(struct cli *cli, const char *kind, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *a = NULL;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *manifest, *value;
	const char *key;
	char size[16], time[32];

	if (artifact_resolve(cli->lab, kind, name, &a, err) < 0)
		return -1;
	manifest = cli_json_text(a->manifest);
	if (cli->common.json) {
		return cli_print_json(cli,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o}", "kind",
						a->kind, "key", a->key, "content", a->content,
						"label", a->label, "path", a->path, "bytes",
						(json_int_t)a->bytes, "created",
						(json_int_t)a->created, "manifest", manifest),
				      err);
	}
	lab_buf_addf(&text, "%-8s %s\nkey      %s\ncontent  %s\nmade     %s, %s\nfiles    %s\n",
		     a->kind, a->label, a->key, a->content,
		     lab_format_time(a->created, time, sizeof(time)),
		     lab_format_size(a->bytes, size, sizeof(size)), a->path);
	json_object_foreach(manifest, key, value)
	{
		char *dump;

		if (json_is_string(value)) {
			lab_buf_addf(&text, "  %s: %s\n", key, json_string_value(value));
			continue;
		}
		dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		if (dump && strlen(dump) <= 200)
			lab_buf_addf(&text, "  %s: %s\n", key, dump);
		else if (json_is_array(value))
			lab_buf_addf(&text, "  %s: %zu entries (--json)\n", key,
				     json_array_size(value));
		free(dump);
	}
	json_decref(manifest);
	cli_print_buf(cli, &text);
	return CLI_EXIT_OK;
}

int show_kernel(struct cli *cli, const char *name, struct lab_error *err)
{
	return show_artifact(cli, ARTIFACT_KERNEL, name, err);
}

int show_image(struct cli *cli, const char *name, struct lab_error *err)
{
	return show_artifact(cli, ARTIFACT_IMAGE, name, err);
}

int show_patchset(struct cli *cli, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(patchset) struct patchset *p = NULL;
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	json_t *subjects, *subject;
	size_t i;

	if (patchset_find(cli->lab, name, &p, err) < 0)
		return -1;
	subjects = cli_json_text(p->subjects);
	if (cli->common.json) {
		return cli_print_json(
			cli,
			json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:s, s:s, "
				  "s:I}",
				  "id", (json_int_t)p->id, "patchset", p->spec, "source", p->source,
				  "base", p->base, "base_name", p->base_name, "base_how",
				  p->base_how, "head", p->head, "commits", p->commits, "subjects",
				  subjects, "kernel_a", p->kernel_a, "kernel_b", p->kernel_b,
				  "created", (json_int_t)p->created),
			err);
	}
	lab_buf_addf(&text, "patchset %s  (source %s, id %lld)\nbase     %s  %.12s  (%s)\n",
		     p->spec, p->source, (long long)p->id, p->base_name, p->base, p->base_how);
	lab_buf_addf(&text, "head     %.12s, %d commit%s\nA        %.*s\nB        %.*s\n", p->head,
		     p->commits, p->commits == 1 ? "" : "s", ARTIFACT_SHORT, p->kernel_a,
		     ARTIFACT_SHORT, p->kernel_b);
	json_array_foreach(subjects, i, subject)
		lab_buf_addf(&text, "  %s\n", json_string_value(subject));
	json_decref(subjects);
	cli_print_buf(cli, &text);
	return CLI_EXIT_OK;
}
