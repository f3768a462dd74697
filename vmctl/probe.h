/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_PROBE_H
#define LAB_VMCTL_PROBE_H

/*
 * Does KVM work here? Only a guest that ran answers that: /dev/kvm can exist, open,
 * answer ioctls and still abort QEMU or spin in the firmware for ever. So a boot
 * sector of ours is started under a deadline of seconds.
 */

#include <stdbool.h>

#include "common/err.h"

struct lab;

struct kvm_result {
	bool works;
	bool cached;	/* the answer comes from the lab, nothing was started */
	char text[400]; /* "a guest runs on /dev/kvm", "no /dev/kvm", "/dev/kvm opens but ..." */
	char cure[300]; /* what helps, or "" */
};

/*
 * Asks as the invoking user, without libvirt. `lab` keeps the answer for this boot of
 * the host and this build of QEMU (NULL: asks anew). `emulator` is the path of
 * qemu-system-x86_64, NULL: found in PATH. A KVM that does not work is an answer;
 * -1 means that the question could not be asked (no QEMU).
 */
int kvm_probe(struct lab *lab, const char *emulator, struct kvm_result *ret,
	      struct lab_error *err) LAB_MUST_CHECK;

/* Version and package of a QEMU, "7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"; caller frees. */
int qemu_build(const char *emulator, char **ret_build, struct lab_error *err) LAB_MUST_CHECK;

#endif
