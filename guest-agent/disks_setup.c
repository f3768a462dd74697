/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/disks_setup.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/strv.h"
#include "guest-agent/delay.h"
#include "guest-agent/disk.h"
#include "protocol/message.h"

#define DISK_WAIT_MS 30000 /* an emulated NVMe drive may take seconds */
#define NEW_ROOT "/newroot"

/* Mount points to leave, innermost last. */
static struct lab_strv mounted;

unsigned long mount_flags(const char *options, char **ret_data)
{
	static const struct {
		const char *name;
		unsigned long set, clear;
	} words[] = {
		{"ro", MS_RDONLY, 0},	      {"rw", 0, MS_RDONLY},
		{"noatime", MS_NOATIME, 0},   {"relatime", MS_RELATIME, 0},
		{"nodev", MS_NODEV, 0},	      {"nosuid", MS_NOSUID, 0},
		{"noexec", MS_NOEXEC, 0},     {"sync", MS_SYNCHRONOUS, 0},
		{"dirsync", MS_DIRSYNC, 0},   {"nodiratime", MS_NODIRATIME, 0},
		{"lazytime", MS_LAZYTIME, 0}, {"strictatime", MS_STRICTATIME, 0},
		{"defaults", 0, 0},
	};
	LAB_CLEANUP(strv) struct lab_strv all = LAB_STRV_INIT;
	LAB_CLEANUP(strv) struct lab_strv rest = LAB_STRV_INIT;
	unsigned long flags = 0;

	lab_strv_split(&all, options ? options : "", ",");
	for (size_t i = 0; i < all.n; i++) {
		size_t w = 0;

		while (w < LAB_COUNT(words) && strcmp(words[w].name, all.items[i]) != 0)
			w++;
		if (w == LAB_COUNT(words))
			lab_strv_add(&rest, all.items[i]);
		else
			flags = (flags | words[w].set) & ~words[w].clear;
	}
	*ret_data = lab_strv_join(&rest, ",");
	return flags;
}

static int mount_volume(const char *device, const char *path, const struct job_mount *mount_,
			struct lab_error *err)
{
	LAB_CLEANUP(free) char *data = NULL;
	unsigned long flags = mount_flags(mount_->options, &data);

	if (lab_mkdirs(path, 0755, err) < 0)
		return -1;
	if (mount(device, path, mount_->fstype, flags, data) < 0)
		return lab_error_errno(err, errno, "mount disk '%s' (%s, %s) on %s",
				       mount_->disk.serial, device, mount_->fstype, path);
	return 0;
}

/* The initramfs holds memory that belongs to the workload: everything in it goes. */
static void empty_initramfs(void)
{
	LAB_CLEANUP(dir) DIR *dir = opendir("/");
	struct dirent *entry;
	struct stat root, st;

	if (!dir || stat("/", &root) < 0)
		return;
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *path = lab_path_join("/", entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    lstat(path, &st) < 0 || st.st_dev != root.st_dev)
			continue;
		if (lab_remove_tree(path, NULL) < 0)
			continue; /* then it stays */
	}
}

/* What a root expects to find; a file system that the kernel does not have is done without. */
static void mount_pseudo(void)
{
	static const struct {
		const char *type, *path, *data;
		mode_t mode;
	} pseudo[] = {
		{"tmpfs", "/tmp", "mode=1777", 01777},
		{"tmpfs", "/run", "mode=0755", 0755},
		{"devpts", "/dev/pts", "mode=0620,ptmxmode=0666", 0755},
		{"tmpfs", "/dev/shm", "mode=1777", 01777},
		{"cgroup2", "/sys/fs/cgroup", NULL, 0755},
	};

	for (size_t i = 0; i < LAB_COUNT(pseudo); i++) {
		mkdir(pseudo[i].path, pseudo[i].mode);
		mount(pseudo[i].type, pseudo[i].path, pseudo[i].type, MS_NOSUID | MS_NODEV,
		      pseudo[i].data);
	}
	if (access("/dev/ptmx", F_OK) < 0)
		symlink("pts/ptmx", "/dev/ptmx");
}

static int enter_root(const char *device, const struct job_mount *root, struct lab_error *err)
{
	static const char *const kept[] = {"/proc", "/sys", "/dev"};

	if (mount_volume(device, NEW_ROOT, root, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(kept); i++) {
		LAB_CLEANUP(free) char *to = lab_asprintf(NEW_ROOT "%s", kept[i]);

		mkdir(to, 0755);
		if (mount(kept[i], to, NULL, MS_MOVE, NULL) < 0)
			return lab_error_errno(err, errno, "move %s into the root", kept[i]);
	}
	empty_initramfs();
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		return lab_error_errno(err, errno, "switch to the root");
	lab_strv_add(&mounted, "/");
	return 0;
}

struct devices {
	char *root;
	struct lab_strv mounts, swaps;
};

static int put_under_delay(const struct job_disk *disk, char **path, struct lab_error *err)
{
	char *slow;

	if (!disk->delay_ms)
		return 0;
	if (delay_create(disk->serial, *path, disk->delay_ms, &slow, err) < 0)
		return -1;
	free(*path);
	*path = slow;
	return 0;
}

/* Drives come up in their own time; meanwhile requests are answered and hearts beat. */
static int wait_for_disk(struct agent *agent, const struct job_disk *disk, char **ret_path,
			 struct lab_error *err)
{
	uint64_t deadline = lab_deadline_in(DISK_WAIT_MS);
	struct lab_error why = {0};

	while (disk_find(agent->sysroot, disk, ret_path, &why) < 0) {
		if (why.kind != LAB_ERR_NOT_FOUND || agent->stop || !lab_deadline_left(deadline)) {
			*err = why;
			return -1;
		}
		agent_poll(agent, NULL, 0, 1);
	}
	return agent->init ? put_under_delay(disk, ret_path, err) : 0;
}

static int find_all(struct agent *agent, const struct job *job, struct devices *found,
		    struct lab_error *err)
{
	char *path;

	if (job->root.disk.serial && wait_for_disk(agent, &job->root.disk, &found->root, err) < 0)
		return -1;
	for (size_t i = 0; i < job->n_mounts; i++) {
		if (wait_for_disk(agent, &job->mounts[i].disk, &path, err) < 0)
			return -1;
		lab_strv_add(&found->mounts, path);
		free(path);
	}
	for (size_t i = 0; i < job->n_swaps; i++) {
		if (wait_for_disk(agent, &job->swaps[i].disk, &path, err) < 0)
			return -1;
		lab_strv_add(&found->swaps, path);
		free(path);
	}
	return 0;
}

static const char *use_all(const struct job *job, const struct devices *found,
			   struct lab_error *err)
{
	if (found->root && enter_root(found->root, &job->root, err) < 0)
		return MESSAGE_ERR_MOUNT;
	mount_pseudo();
	for (size_t i = 0; i < job->n_swaps; i++) {
		if (swapon(found->swaps.items[i], 0) < 0) {
			lab_error_errno(err, errno, "swapon disk '%s' (%s)",
					job->swaps[i].disk.serial, found->swaps.items[i]);
			return MESSAGE_ERR_SWAP;
		}
	}
	for (size_t i = 0; i < job->n_mounts; i++) {
		if (mount_volume(found->mounts.items[i], job->mounts[i].path, &job->mounts[i],
				 err) < 0)
			return MESSAGE_ERR_MOUNT;
		lab_strv_add(&mounted, job->mounts[i].path);
	}
	return NULL;
}

const char *disks_setup(struct agent *agent, const struct job *job, struct lab_error *err)
{
	struct devices found = {NULL};
	const char *error = MESSAGE_ERR_DISK;

	if (find_all(agent, job, &found, err) == 0)
		error = use_all(job, &found, err);
	free(found.root);
	lab_strv_release(&found.mounts);
	lab_strv_release(&found.swaps);
	return error;
}

void disks_leave(void)
{
	for (size_t i = mounted.n; i-- > 0;) {
		if (umount2(mounted.items[i], 0) < 0)
			mount(NULL, mounted.items[i], NULL, MS_REMOUNT | MS_RDONLY, NULL);
	}
	lab_strv_release(&mounted);
}
