/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_INITRAMFS_H
#define LAB_IMAGES_INITRAMFS_H

/*
 * The small initramfs of every machine: the agent as /init and the modules that the
 * kernel needs to reach its disks and its channel. newc cpio, not compressed (it
 * is unpacked by an emulated processor), the same bytes for the same inputs.
 *
 *   /init               the agent
 *   /modules.list       paths of the modules, one a line, in the order to load them;
 *                       empty when there are none
 *   /modules/NAME.ko    uncompressed
 *   /dev /proc /sys /run /newroot (where the root is mounted), /dev/console, /dev/null, /dev/kmsg
 *
 * The artifact (kind "initramfs") holds initramfs.cpio; its manifest says agent (hash),
 * release of the modules and their names.
 */

#include <stdbool.h>

#include "common/err.h"
#include "common/strv.h"
#include "store/artifact.h"
#include "store/lab.h"

#define INITRAMFS_FILE "initramfs.cpio"

/*
 * `modules` is NULL (all that is needed is built in), a kernel artifact's directory (with
 * or without modules in it), or a directory that has a modules.dep (/lib/modules/RELEASE
 * of a distribution). A module that is needed but neither there nor built in is an
 * error that names it. ret_cached may be NULL. Wants the lab lock.
 */
int initramfs_ensure(struct lab *lab, const char *agent, const char *modules,
		     struct artifact **ret_initramfs, bool *ret_cached,
		     struct lab_error *err) LAB_MUST_CHECK;

/*
 * A copy of the initramfs `base` as `path`, with a text file /NAME behind all that is in it:
 * the kernel unpacks one archive after the other.
 */
int initramfs_append(const char *base, const char *name, const char *text, const char *path,
		     struct lab_error *err) LAB_MUST_CHECK;

/* The same as one file, without a lab. */
int initramfs_write(const char *agent, const char *modules, const char *path,
		    struct lab_error *err) LAB_MUST_CHECK;

/*
 * Files (absolute paths) of the modules that a machine needs, in load order; those
 * built into the kernel are left out. `dir` has modules.dep and modules.builtin.
 */
int initramfs_modules(const char *dir, struct lab_strv *ret_files,
		      struct lab_error *err) LAB_MUST_CHECK;

#endif
