/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_DOMAIN_H
#define LAB_VMCTL_DOMAIN_H

/*
 * A domain as plain data and the pure function that writes its XML. What the XML
 * says is compared with golden files; carrying it out is vmctl/machine's work.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "vmctl/target.h"

#define DOMAIN_CHANNEL "org.labctl.agent.0"

struct domain_disk {
	struct target_volume volume;
	bool direct; /* the file system takes O_DIRECT: cache=none, aio=native; else writeback, threads */
};

/* Every day of the exact target begins here: 2026-01-01 00:00:00 UTC. */
#define DOMAIN_EXACT_EPOCH "1767225600"

/* What makes a domain's course depend on nothing but its inputs. */
struct domain_exact {
	uint32_t seed; /* of all that the machine draws at random */
	/* That the guest sees, and gathers entropy from; the domain's own is of no account. */
	char uuid[37];
	const char *plugin;	/* a TCG plugin's path, or NULL */
	const char *plugin_out; /* what it writes */
};

struct domain_desc {
	const struct domain_exact *exact; /* or NULL; wants one vCPU, no KVM */
	const char *name;
	const char *uuid; /* NULL: libvirt's choice */
	const char *lab;  /* metadata */
	const char *run;
	pid_t owner; /* process that starts it, and when that started (clock ticks) */
	uint64_t owner_started;
	bool kvm;
	const char *emulator;
	const char *machine;	 /* versioned type */
	const char *cpu_model;	 /* NULL: host-passthrough with KVM */
	const char *cpu_feature; /* added to the model, or NULL */
	const char *kernel;
	const char *initramfs;
	const char *cmdline; /* whole */
	uint64_t memory;     /* bytes */
	bool locked;	     /* lock guest memory: only where the host lets us */
	unsigned vcpus;
	const struct domain_disk *disks;
	unsigned n_disks;
	const char *console; /* path without ending: QEMU reads PATH.in (FIFO), writes PATH.out */
	bool dac_label;	     /* run QEMU as uid:gid and leave the files' owners alone */
	uid_t uid;
	gid_t gid;
};

/* Text in UTF-8, caller frees. */
int domain_xml(const struct domain_desc *desc, char **ret_text,
	       struct lab_error *err) LAB_MUST_CHECK;

/*
 * Our part of every variant's command line, with the target's and the variant's part (NULL:
 * none) behind it; caller frees.
 */
char *domain_cmdline(const char *target, const char *variant);

#endif
