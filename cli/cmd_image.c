/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl image: root images of the machines. */
#include <string.h>

#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "cli/interrupt.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/nearest.h"
#include "common/num.h"
#include "common/strv.h"
#include "experiments/definition.h"
#include "images/image.h"
#include "vmctl/probe.h"

static int unknown_recipe(const char *dir, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *all = NULL;
	struct lab_nearest nearest = {.word = name};

	if (experiment_list(dir, &names, NULL) < 0)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no recipe '%s'", name);
	for (size_t i = 0; i < names.n; i++)
		lab_nearest_consider(&nearest, names.items[i]);
	if (nearest.best)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no recipe '%s', did you mean '%s'?",
				     name, nearest.best);
	all = lab_strv_join(&names, ", ");
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "no recipe '%s'; there is: %s", name,
			     names.n ? all : "none");
}

/* NAME of an installed recipe, or a path. */
static int find_recipe(const struct cli *cli, const char *name, char **ret_path,
		       struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = NULL;

	if (strchr(name, '/') || lab_ends_with(name, ".yaml")) {
		*ret_path = lab_strdup(name);
		return 0;
	}
	path = lab_asprintf("%s/%s.yaml", cli->paths.recipes, name);
	if (!lab_file_exists(path))
		return unknown_recipe(cli->paths.recipes, name, err);
	*ret_path = LAB_TAKE(path);
	return 0;
}

static void on_say(void *ctx, const char *phase, const char *text)
{
	struct cli *cli = ctx;
	struct term_progress p = {.what = phase, .text = text};

	term_progress(cli->term, &p);
}

static bool on_cancelled(void *ctx)
{
	(void)ctx;
	return cli_interrupted();
}

static int run_image_build(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	LAB_CLEANUP(artifact) struct artifact *image = NULL;
	LAB_CLEANUP(free) char *recipe = NULL;
	struct image_progress progress = {cli, on_say, on_cancelled};
	struct image_request request = {.progress = &progress};
	uint64_t began = lab_now_ms();
	struct kvm_result kvm;
	bool cached = false;
	char time[16];

	(void)options;
	if (find_recipe(cli, operands[0], &recipe, err) < 0 ||
	    kvm_probe(cli->lab, NULL, &kvm, err) < 0)
		return -1;
	request.recipe = recipe;
	request.force_tcg = !kvm.works;
	if (image_ensure(cli->lab, &request, &image, &cached, err) < 0)
		return lab_error_wrap(err, "image '%s'", operands[0]);
	term_progress_end(cli->term);
	if (cli->common.json)
		return cli_print_json(cli,
				      json_pack("{s:s, s:s, s:s, s:b, s:I}", "key", image->key,
						"label", image->label, "path", image->path,
						"cached", cached, "bytes",
						(json_int_t)image->bytes),
				      err);
	term_printf(cli->term, "image    %s  %s  %.*s", image->label, cached ? "cached" : "built",
		    ARTIFACT_SHORT, image->key);
	if (!cached)
		term_printf(cli->term, "   %s",
			    lab_format_duration(lab_now_ms() - began, time, sizeof(time)));
	term_print(cli->term, "\n");
	return CLI_EXIT_OK;
}

const struct cli_handler cmd_image_build = {run_image_build, NULL, 0};
