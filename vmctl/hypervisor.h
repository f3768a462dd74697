/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_HYPERVISOR_H
#define LAB_VMCTL_HYPERVISOR_H

/*
 * The connection to libvirt. Its errors become ours, it never writes to stderr, and
 * what a person can do about a failure is part of the message.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* Namespace of our metadata element in a domain's XML: <labctl:run lab="..." name="7.41"/>. */
#define LABCTL_XMLNS "https://labctl.org/xmlns/domain/1"

struct hypervisor;

/* "qemu:///system" for root, "qemu:///session" for others. */
const char *hypervisor_default_uri(void);

/* Opens `uri` (NULL: the default one). */
int hypervisor_open(const char *uri, struct hypervisor **ret, struct lab_error *err) LAB_MUST_CHECK;
void hypervisor_free(struct hypervisor *hv);
LAB_DEFINE_CLEANUP(hypervisor, struct hypervisor, hypervisor_free)

/* What is on the other side. Borrowed, valid until hypervisor_free. */
struct hypervisor_info {
	const char *uri;
	unsigned long libvirt; /* 9000000: version of the daemon's library */
	const char *emulator;  /* "/usr/bin/qemu-system-x86_64", or NULL (test driver) */
	const char *qemu;      /* qemu_build() of the emulator, or NULL */
	const char *machine;   /* newest versioned q35 machine type, "pc-q35-7.2", or NULL */
	bool kvm;	       /* libvirt offers type kvm; only kvm_probe knows if it works */
	bool system;	       /* the machines run as another user than the caller */
	uid_t uid;	       /* the user that QEMU runs as */
	gid_t gid;
	const char *user; /* its name, or its number as text */
};

/* Asks on first use. */
int hypervisor_info(struct hypervisor *hv, const struct hypervisor_info **ret,
		    struct lab_error *err) LAB_MUST_CHECK;

/* One of our domains that exists on the host. */
struct hypervisor_domain {
	char *name;
	char *lab;   /* id of its lab */
	char *run;   /* "7.41" */
	pid_t owner; /* process that started it, 0 when not known; gone or another: stale */
	bool owner_alive;
	bool running;
	uint64_t memory; /* bytes */
	unsigned vcpus;
};

struct hypervisor_domains {
	struct hypervisor_domain *items;
	size_t n;
};

/* All domains with our metadata; of one lab only when `lab` is not NULL. */
int hypervisor_list(struct hypervisor *hv, const char *lab, struct hypervisor_domains *ret,
		    struct lab_error *err) LAB_MUST_CHECK;
void hypervisor_domains_release(struct hypervisor_domains *domains);
/* Destroys one domain by name; one that is not there is fine. */
int hypervisor_destroy(struct hypervisor *hv, const char *name,
		       struct lab_error *err) LAB_MUST_CHECK;
/*
 * Destroys the domains of `lab` whose owner is gone (all of them with `all`) and
 * counts them in *ret_n.
 */
int hypervisor_clean(struct hypervisor *hv, const char *lab, bool all, unsigned *ret_n,
		     struct lab_error *err) LAB_MUST_CHECK;

static inline void lab_cleanup_hypervisor_domains(struct hypervisor_domains *domains)
{
	hypervisor_domains_release(domains);
}

#endif
