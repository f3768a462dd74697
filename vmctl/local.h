/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_LOCAL_H
#define LAB_VMCTL_LOCAL_H

/*
 * For vmctl/ only: a machine on this host's libvirt, which the targets live and exact
 * share: files and their owners, description, start, end, facts.
 */

#include <sys/types.h>

#include "common/strv.h"
#include "vmctl/domain.h"
#include "vmctl/hypervisor.h"
#include "vmctl/machine.h"
#include "vmctl/vm.h"

#define LOCAL_CPU_TCG "Nehalem"	   /* fixed, so that runs on different hosts see the same one */
#define LOCAL_FEATURE_TCG "rdrand" /* that model has none; see domain_cmdline */
#define LOCAL_CONSOLE "console.log"
#define LOCAL_DOMAIN "domain.xml"

struct local {
	struct machine machine;
	const struct target_job *job;
	struct hypervisor *hv;
	struct hypervisor *own_hv; /* the same, when we opened it */
	const struct hypervisor_info *info;
	bool kvm;
	const char *words; /* the target's own on the kernel's command line, or NULL */
	struct domain_desc desc;
	struct domain_disk *disks;
	char *name, *cmdline, *xml;
	char *console_pipe;		/* RUN_DIR/console: .in and .out stand beside it */
	char *console_in, *console_out; /* removed at the end */
	struct vm *vm;
	pid_t pid; /* QEMU's, 0 when not known */
	bool stopped;
	enum machine_stop stop;
	char stop_text[300];
	struct lab_strv warnings;
	struct lab_strv command_line;
	json_t *load_before;
	unsigned others_before; /* other QEMUs on this host */
};

void local_warn(struct local *local, const char *fmt, ...) LAB_PRINTF(2, 3);

/* Connects to the hypervisor and learns what it is; it must run QEMU. */
int local_open(struct local *local, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Makes the files ready, fills ->desc from the job, ->kvm, ->words and what the target put
 * into ->desc before (exact), and writes the domain's XML into the run's directory.
 */
int local_prepare(struct local *local, struct lab_error *err) LAB_MUST_CHECK;
/* Makes the domain, paused. */
int local_create(struct local *local, struct lab_error *err) LAB_MUST_CHECK;
/* Remembers the machine's process, which must not be root's, and the host's load. */
int local_created(struct local *local, pid_t pid, struct lab_error *err) LAB_MUST_CHECK;
int local_collect(struct machine *machine, json_t **ret_facts,
		  struct lab_error *err) LAB_MUST_CHECK;
void local_release(struct local *local);

void local_set_stop(struct local *local, enum machine_stop stop, const char *text);
void local_tell_stop(const struct local *local, struct machine_event *ret);

/* Used by local.c; see local_created. */
void local_note_start(struct local *local);

#endif
