/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/disk.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"

#define NFIT "nfit-"
#define SECTOR 512 /* unit of /sys/block/X/size, whatever the disk's own is */

char *disk_read_attribute(const char *dir, const char *name)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, name);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	char *start;
	size_t len;

	if (lab_read_file(path, 4096, &text, NULL) < 0 || !text.data)
		return NULL;
	start = text.data + strspn(text.data, " \t\n");
	len = strlen(start);
	while (len && strchr(" \t\n", start[len - 1]))
		len--;
	return lab_strndup(start, len);
}

char *disk_device_node(const char *sysroot, const char *sysdir, const char *name, bool block)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("/dev/%s", name);
	LAB_CLEANUP(free) char *number = NULL;
	unsigned major, minor;

	if (*sysroot || access(path, F_OK) == 0)
		return LAB_TAKE(path);
	number = disk_read_attribute(sysdir, "dev");
	if (!number || sscanf(number, "%u:%u", &major, &minor) != 2)
		return NULL;
	if (mknod(path, (block ? S_IFBLK : S_IFCHR) | 0600, makedev(major, minor)) < 0 &&
	    errno != EEXIST)
		return NULL;
	return LAB_TAKE(path);
}

/* virtio-blk has it at the disk, NVMe at the controller. */
static bool has_serial(const char *dir, const char *serial)
{
	static const char *const places[] = {"serial", "device/serial"};

	for (size_t i = 0; i < LAB_COUNT(places); i++) {
		LAB_CLEANUP(free) char *value = disk_read_attribute(dir, places[i]);

		if (value && *value)
			return strcmp(value, serial) == 0;
	}
	return false;
}

/* "nmem0,0,67108864,0": the NVDIMM under the region that the pmem disk is in. */
static char *nvdimm_of(const char *dir)
{
	char *mapping = disk_read_attribute(dir, "device/../mapping0");

	if (mapping)
		mapping[strcspn(mapping, ",")] = '\0';
	return mapping;
}

/* "nfit-" and the digits of the NFIT's number of the module, which tells its slot. */
static bool has_nfit_serial(const char *sysroot, const char *dir, const char *serial)
{
	LAB_CLEANUP(free) char *nvdimm = nvdimm_of(dir);
	LAB_CLEANUP(free) char *path = NULL;
	LAB_CLEANUP(free) char *value = NULL;

	if (!nvdimm || !lab_starts_with(serial, NFIT))
		return false;
	path = lab_asprintf("%s/sys/bus/nd/devices/%s/nfit", sysroot, nvdimm);
	value = disk_read_attribute(path, "serial");
	return value && lab_starts_with(value, "0x") &&
	       strcmp(value + strlen("0x"), serial + strlen(NFIT)) == 0;
}

char *disk_by_serial(const char *sysroot, const char *serial)
{
	LAB_CLEANUP(free) char *block = lab_asprintf("%s/sys/block", sysroot);
	LAB_CLEANUP(dir) DIR *dir = opendir(block);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		LAB_CLEANUP(free) char *disk = NULL;

		disk = lab_path_join(block, entry->d_name);
		/* The others carry no serials, are many, and cost a look each. */
		if (lab_starts_with(entry->d_name, "pmem")) {
			if (has_nfit_serial(sysroot, disk, serial))
				return lab_strdup(entry->d_name);
		} else if (lab_starts_with(entry->d_name, "vd") ||
			   lab_starts_with(entry->d_name, "nvme")) {
			if (has_serial(disk, serial))
				return lab_strdup(entry->d_name);
		}
	}
	return NULL;
}

static int check_size(const char *sysdir, const struct job_disk *disk, struct lab_error *err)
{
	LAB_CLEANUP(free) char *text = disk_read_attribute(sysdir, "size");
	uint64_t sectors;

	if (!disk->bytes)
		return 0;
	if (!text || lab_parse_u64(text, &sectors, NULL) < 0 || sectors > UINT64_MAX / SECTOR)
		return lab_error_set(err, LAB_ERR_FAILED, "disk '%s' tells no size", disk->serial);
	if (sectors * SECTOR != disk->bytes)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "disk '%s' has %" PRIu64 " bytes where %" PRIu64
				     " were announced",
				     disk->serial, sectors * SECTOR, disk->bytes);
	return 0;
}

int disk_find(const char *sysroot, const struct job_disk *disk, char **ret_path,
	      struct lab_error *err)
{
	LAB_CLEANUP(free) char *name = disk_by_serial(sysroot, disk->serial);
	LAB_CLEANUP(free) char *sysdir = NULL;
	LAB_CLEANUP(free) char *path = NULL;

	if (!name)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no disk has the serial '%s'",
				     disk->serial);
	sysdir = lab_asprintf("%s/sys/block/%s", sysroot, name);
	if (check_size(sysdir, disk, err) < 0)
		return -1;
	path = disk_device_node(sysroot, sysdir, name, true);
	if (!path)
		return lab_error_set(err, LAB_ERR_FAILED, "disk '%s' (%s) has no device file",
				     disk->serial, name);
	*ret_path = LAB_TAKE(path);
	return 0;
}
