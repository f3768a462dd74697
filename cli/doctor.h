/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_CLI_DOCTOR_H
#define LAB_CLI_DOCTOR_H

/* The checks of `labctl doctor`: one function each, listed in cmd_doctor.c. */

#include <stdbool.h>

#include "cli/cli.h"
#include "vmctl/probe.h"

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

/* One line of the answer. */
struct doctor_line {
	enum doctor_status status;
	char *text;
	char *cure; /* NULL: nothing to do */
};

struct doctor {
	struct cli *cli;
	bool deep;     /* try what takes half a minute, too */
	char *lab_dir; /* where the lab is or would be */
	/* Answers that later checks use. */
	bool kvm_works;
};

void doctor_say(struct doctor_line *line, enum doctor_status status, const char *fmt, ...)
	LAB_PRINTF(3, 4);
void doctor_cure(struct doctor_line *line, const char *fmt, ...) LAB_PRINTF(2, 3);

/* doctor_machine.c: what machines need */
void doctor_qemu(struct doctor *d, struct doctor_line *line);
void doctor_kvm(struct doctor *d, struct doctor_line *line);
void doctor_libvirt(struct doctor *d, struct doctor_line *line);
void doctor_virtlogd(struct doctor *d, struct doctor_line *line);
void doctor_mmdebstrap(struct doctor *d, struct doctor_line *line);
void doctor_libguestfs(struct doctor *d, struct doctor_line *line);
void doctor_agent(struct doctor *d, struct doctor_line *line);

/* doctor_host.c: what kernel builds and the lab need */
void doctor_compiler(struct doctor *d, struct doctor_line *line);
void doctor_kernel_tools(struct doctor *d, struct doctor_line *line);
void doctor_ccache(struct doctor *d, struct doctor_line *line);
void doctor_lab(struct doctor *d, struct doctor_line *line);
void doctor_disk(struct doctor *d, struct doctor_line *line);
void doctor_memory(struct doctor *d, struct doctor_line *line);

#endif
