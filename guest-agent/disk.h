/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_DISK_H
#define LAB_GUEST_DISK_H

/* Disks are found by serial: their names change from boot to boot. */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "protocol/job.h"

/* A sysfs attribute without surrounding blanks, or NULL; caller frees. */
char *disk_read_attribute(const char *dir, const char *name);

/*
 * The path under /dev of the device that `sysdir` (with its "dev" attribute)
 * describes; made with mknod where devtmpfs did not. NULL when that fails; caller frees.
 * With a recorded sysroot it is only named.
 */
char *disk_device_node(const char *sysroot, const char *sysdir, const char *name, bool block);

/* The name in /sys/block of the disk with this serial, or NULL; caller frees. */
char *disk_by_serial(const char *sysroot, const char *serial);

/*
 * Finds the disk, checks its size (when disk->bytes is not 0) and yields its device
 * path; caller frees. LAB_ERR_NOT_FOUND: no such disk, yet. Nothing was touched on failure.
 */
int disk_find(const char *sysroot, const struct job_disk *disk, char **ret_path,
	      struct lab_error *err) LAB_MUST_CHECK;

#endif
