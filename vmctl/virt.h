/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_VIRT_H
#define LAB_VMCTL_VIRT_H

/* For vmctl/ only: libvirt behind one door. */

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "common/err.h"

struct hypervisor;

/*
 * Silences libvirt, registers the event loop and starts the thread that runs it; the
 * first call does it, before any connection is opened.
 */
int virt_setup(struct lab_error *err) LAB_MUST_CHECK;

/* Sets err from libvirt's last error with "fmt: " in front and resets it. Returns -1. */
int virt_error(struct lab_error *err, const char *fmt, ...) LAB_PRINTF(2, 3);

/*
 * What libvirt's error means for a person: the kind, and in `ret_text` (capped) its
 * message, or ours with the cure where we know one. Pure but for looking whether this
 * host is run by systemd.
 */
enum lab_error_kind virt_explain(int code, const char *message, char *ret_text, size_t size);

/* Borrowed. A connection that died since it was opened is opened again. */
int hypervisor_connection(struct hypervisor *hv, virConnectPtr *ret,
			  struct lab_error *err) LAB_MUST_CHECK;

/*
 * The domain is on its way out and its QEMU is gone already: hypervisor_free waits
 * until libvirt has forgotten it.
 */
void hypervisor_forget_later(struct hypervisor *hv, const char *name);
/* Waits until that has come true for this name, so that it can be used again. */
void hypervisor_await_forgotten(struct hypervisor *hv, const char *name);

#endif
