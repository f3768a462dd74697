/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three ioctls of device-mapper; its library would bring udev into the initramfs. */
#include "guest-agent/delay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/file.h"
#include "common/mem.h"
#include "guest-agent/disk.h"

#define CONTROL "/dev/mapper/control"
#define SECTOR 512

struct request {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char parameters[128];
};

static void request_init(struct request *r, const char *name)
{
	*r = (struct request){.head = {
				      .version = {DM_VERSION_MAJOR, 0, 0},
				      .data_size = sizeof(*r),
				      .data_start = offsetof(struct request, target),
			      }};
	snprintf(r->head.name, sizeof(r->head.name), "%s", name);
}

/* Size in sectors and number of the device under it. */
static int look_at(const char *path, uint64_t *ret_sectors, struct stat *ret_st,
		   struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t bytes;

	if (fd < 0 || fstat(fd, ret_st) < 0 || ioctl(fd, BLKGETSIZE64, &bytes) < 0)
		return lab_error_errno(err, errno, "%s", path);
	*ret_sectors = bytes / SECTOR;
	return 0;
}

static int make(int control, const char *name, uint64_t sectors, const struct stat *st, unsigned ms,
		unsigned *ret_minor)
{
	struct request r;

	request_init(&r, name);
	if (ioctl(control, DM_DEV_CREATE, &r) < 0)
		return -1;
	*ret_minor = minor(r.head.dev);
	request_init(&r, name);
	r.head.target_count = 1;
	r.target.length = sectors;
	snprintf(r.target.target_type, sizeof(r.target.target_type), "delay");
	snprintf(r.parameters, sizeof(r.parameters), "%u:%u 0 %u", major(st->st_rdev),
		 minor(st->st_rdev), ms);
	if (ioctl(control, DM_TABLE_LOAD, &r) < 0)
		return -1;
	/* Without a flag this resumes: the table becomes the device. */
	request_init(&r, name);
	return ioctl(control, DM_DEV_SUSPEND, &r);
}

int delay_create(const char *name, const char *path, unsigned ms, char **ret_path,
		 struct lab_error *err)
{
	LAB_CLEANUP(fd) int control = open(CONTROL, O_RDWR | O_CLOEXEC);
	LAB_CLEANUP(free) char *dm = NULL;
	LAB_CLEANUP(free) char *sysdir = NULL;
	uint64_t sectors = 0;
	unsigned number = 0;
	struct stat st;

	if (control < 0)
		return lab_error_errno(err, errno,
				       "disk '%s' cannot be delayed (CONFIG_DM_DELAY): %s", name,
				       CONTROL);
	if (look_at(path, &sectors, &st, err) < 0)
		return -1;
	if (make(control, name, sectors, &st, ms, &number) < 0)
		return lab_error_errno(err, errno, "dm-delay of disk '%s' over %s", name, path);
	dm = lab_asprintf("dm-%u", number);
	sysdir = lab_asprintf("/sys/block/%s", dm);
	*ret_path = disk_device_node("", sysdir, dm, true);
	if (!*ret_path)
		return lab_error_set(err, LAB_ERR_FAILED, "dm-delay of disk '%s' has no device",
				     name);
	return 0;
}
