/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/stages.h"

#include "images/initramfs.h"
#include "images/volume.h"

const struct run_stages run_stages_real = {
	.target = target_find,
	.probe = kvm_probe,
	.connect = hypervisor_open,
	.disconnect = hypervisor_free,
	.plugin_check = plugin_check,
	.clean = hypervisor_clean,
	.build = build_patchset,
	.image = image_ensure,
	.initramfs = initramfs_ensure,
	.initramfs_append = initramfs_append,
	.copy = volume_copy,
	.overlay = volume_overlay,
	.ext4 = volume_ext4,
	.swap = volume_swap,
	.mke2fs_version = volume_mke2fs_version,
};
