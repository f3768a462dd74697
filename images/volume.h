/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_VOLUME_H
#define LAB_IMAGES_VOLUME_H

/*
 * Disks of one run, made on the host so that the guest only mounts them. All are sparse,
 * made in milliseconds, and equal to the byte for equal arguments and tools. The file
 * must not exist yet; a failure leaves none.
 */

#include <stdint.h>

#include "common/err.h"

/* UUIDs used where the caller names none: fixed, since a random one would be noise. */
#define VOLUME_EXT4_UUID "6c616263-746c-4000-8000-000000000001"
#define VOLUME_SWAP_UUID "6c616263-746c-4000-8000-000000000002"

/* A qcow2 file over a raw image that is never written to. `base` is made absolute. */
int volume_overlay(const char *base, const char *path, struct lab_error *err) LAB_MUST_CHECK;

/* A raw copy of its own, for machines that write into their root; holes stay holes. */
int volume_copy(const char *base, const char *path, struct lab_error *err) LAB_MUST_CHECK;

/* Zeros. */
int volume_blank(const char *path, uint64_t bytes, struct lab_error *err) LAB_MUST_CHECK;

/*
 * An empty ext4 without partitions. Features are named one by one (not taken from the
 * host's mke2fs.conf) and such that kernels from 4.4 on mount it. Nothing is left to
 * be initialised by a thread in the guest. label and uuid may be NULL.
 */
int volume_ext4(const char *path, uint64_t bytes, const char *label, const char *uuid,
		struct lab_error *err) LAB_MUST_CHECK;

/* Swap space of version 1 for pages of 4096 bytes; at least 40 KiB. uuid may be NULL. */
int volume_swap(const char *path, uint64_t bytes, const char *uuid,
		struct lab_error *err) LAB_MUST_CHECK;

/* "1.47.0", the mke2fs that volume_ext4 uses: part of a run's fingerprint. Caller frees. */
int volume_mke2fs_version(char **ret_version, struct lab_error *err) LAB_MUST_CHECK;

#endif
