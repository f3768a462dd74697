/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labctl doctor: what this machine can do, and the cure for what it cannot. */
#include <stdarg.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/exit.h"
#include "cli/handlers.h"
#include "common/mem.h"

struct doctor_args {
	bool deep;
};

static const struct {
	const char *name;
	const char *title;
	void (*check)(struct doctor *d, struct doctor_line *line);
} checks[] = {
	{"qemu", "QEMU", doctor_qemu},
	{"kvm", "KVM", doctor_kvm},
	{"libvirt", "libvirt", doctor_libvirt},
	{"virtlogd", "virtlogd", doctor_virtlogd},
	{"agent", "guest agent", doctor_agent},
	{"mmdebstrap", "mmdebstrap", doctor_mmdebstrap},
	{"libguestfs", "libguestfs", doctor_libguestfs},
	{"compiler", "compiler", doctor_compiler},
	{"kernel-tools", "kernel build", doctor_kernel_tools},
	{"ccache", "ccache", doctor_ccache},
	{"lab", "lab", doctor_lab},
	{"disk", "disk space", doctor_disk},
	{"memory", "memory", doctor_memory},
};

static const char *const status_names[] = {"ok", "warn", "fail"};

void doctor_say(struct doctor_line *line, enum doctor_status status, const char *fmt, ...)
{
	va_list args;

	free(LAB_TAKE(line->text));
	line->status = status;
	va_start(args, fmt);
	if (vasprintf(&line->text, fmt, args) < 0)
		abort();
	va_end(args);
}

void doctor_cure(struct doctor_line *line, const char *fmt, ...)
{
	va_list args;

	free(LAB_TAKE(line->cure));
	va_start(args, fmt);
	if (vasprintf(&line->cure, fmt, args) < 0)
		abort();
	va_end(args);
}

static void print_line(struct cli *cli, const char *title, const struct doctor_line *line)
{
	term_printf(cli->term, "%-5s %s: %s\n", status_names[line->status], title, line->text);
	if (line->cure)
		term_printf(cli->term, "      %s\n", line->cure);
}

static int run_doctor(struct cli *cli, void *options, char **operands, struct lab_error *err)
{
	const struct doctor_args *args = options;
	struct doctor d = {.cli = cli, .deep = args->deep};
	json_t *list = json_array();
	bool failed = false, is_default;

	(void)operands;
	d.lab_dir = cli_lab_dir(cli, &is_default);
	/* A lab keeps the probe's answer, but a machine without one can be asked as well. */
	if (lab_open(d.lab_dir, &cli->lab, NULL) < 0)
		cli->lab = NULL;
	for (size_t i = 0; i < LAB_COUNT(checks); i++) {
		struct doctor_line line = {0};

		checks[i].check(&d, &line);
		term_progress_end(cli->term);
		failed = failed || line.status == DOCTOR_FAIL;
		if (!cli->common.json)
			print_line(cli, checks[i].title, &line);
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s?}", "name", checks[i].name,
						"status", status_names[line.status], "text",
						line.text, "cure", line.cure));
		free(line.text);
		free(line.cure);
	}
	free(d.lab_dir);
	if (!cli->common.json)
		json_decref(list);
	else if (cli_print_json(cli, json_pack("{s:b, s:o}", "ok", !failed, "checks", list), err) <
		 0)
		return -1;
	return failed ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

static const struct cli_option doctor_options[] = {
	{CLI_OPTION_FLAG, 0, "deep", NULL, "start the libguestfs appliance, too (half a minute)",
	 offsetof(struct doctor_args, deep), NULL},
	CLI_OPTION_END,
};

const struct cli_handler cmd_doctor = {run_doctor, doctor_options, sizeof(struct doctor_args)};
