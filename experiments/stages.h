/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_STAGES_H
#define LAB_EXPERIMENTS_STAGES_H

/*
 * What the runner asks of the stages before it, as a table: tests replace it, so
 * that everything about a campaign can be tried in milliseconds without libvirt,
 * libguestfs or a compiler. The members are the functions of the same purpose in
 * builder/, images/ and vmctl/, where they are described.
 */

#include "builder/build.h"
#include "images/image.h"
#include "vmctl/hypervisor.h"
#include "vmctl/plugin.h"
#include "vmctl/probe.h"
#include "vmctl/target.h"

struct run_stages {
	int (*target)(const char *name, const struct target **ret, struct lab_error *err);
	int (*probe)(struct lab *lab, const char *emulator, struct kvm_result *ret,
		     struct lab_error *err);
	/* One connection for all runs of a local target; NULL: none is needed. */
	int (*connect)(const char *uri, struct hypervisor **ret, struct lab_error *err);
	void (*disconnect)(struct hypervisor *hypervisor);
	/* Whether the machines can make a profile; NULL: they can. */
	int (*plugin_check)(struct hypervisor *hypervisor, const char *plugin,
			    struct lab_error *err);
	/* Destroys what dead owners left running; NULL: nothing can be. */
	int (*clean)(struct hypervisor *hypervisor, const char *lab, bool all, unsigned *ret_n,
		     struct lab_error *err);
	int (*build)(struct lab *lab, const struct build_request *request,
		     const struct build_progress *progress, struct build_result *ret_result,
		     struct lab_error *err);
	int (*image)(struct lab *lab, const struct image_request *request,
		     struct artifact **ret_image, bool *ret_cached, struct lab_error *err);
	int (*initramfs)(struct lab *lab, const char *agent, const char *modules,
			 struct artifact **ret_initramfs, bool *ret_cached, struct lab_error *err);
	int (*initramfs_append)(const char *base, const char *name, const char *text,
				const char *path, struct lab_error *err);
	int (*copy)(const char *base, const char *path, struct lab_error *err);
	int (*overlay)(const char *base, const char *path, struct lab_error *err);
	int (*ext4)(const char *path, uint64_t bytes, const char *label, const char *uuid,
		    struct lab_error *err);
	int (*swap)(const char *path, uint64_t bytes, const char *uuid, struct lab_error *err);
	int (*mke2fs_version)(char **ret_version, struct lab_error *err); /* NULL: not recorded */
};

extern const struct run_stages run_stages_real;

#endif
