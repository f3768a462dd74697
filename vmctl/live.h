/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_LIVE_H
#define LAB_VMCTL_LIVE_H

/* For vmctl/ only: the live target's machine. */

#include <sys/types.h>

#include "common/strv.h"
#include "vmctl/channel.h"
#include "vmctl/domain.h"
#include "vmctl/hypervisor.h"
#include "vmctl/machine.h"
#include "vmctl/vm.h"

#define LIVE_CPU_TCG "Nehalem"	  /* fixed, so that runs on different hosts see the same one */
#define LIVE_FEATURE_TCG "rdrand" /* that model has none; see domain_cmdline */
#define LIVE_CONSOLE "console.log"
#define LIVE_DOMAIN "domain.xml"

struct live {
	struct machine machine;
	const struct target_job *job;
	struct hypervisor *hv;
	struct hypervisor *own_hv; /* the same, when we opened it */
	const struct hypervisor_info *info;
	bool kvm;
	struct domain_desc desc;
	struct domain_disk *disks;
	char *name, *cmdline, *xml;
	char *console_pipe;		/* RUN_DIR/console: .in and .out stand beside it */
	char *console_in, *console_out; /* removed at the end */
	struct vm *vm;
	struct channel *channel; /* NULL once it said all */
	uint64_t closed_since;	 /* lab_now_ms() when it ended before the machine, or 0 */
	pid_t pid;		 /* QEMU's, 0 when not known */
	bool stopped;
	enum machine_stop stop;
	char stop_text[300];
	struct lab_strv warnings;
	struct lab_strv command_line;
	json_t *load_before;
	unsigned others_before; /* other QEMUs on this host */
};

void live_warn(struct live *live, const char *fmt, ...) LAB_PRINTF(2, 3);
int live_collect(struct machine *machine, json_t **ret_facts, struct lab_error *err) LAB_MUST_CHECK;
/* Remembers QEMU's command line and this host's load as the machine starts. */
void live_note_start(struct live *live);

#endif
