/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/strv.h"

enum { MAX_GROUPS = 256, CANNOT_ASK = 255 };

int ownership_check_user(const struct vm_owner *owner, const char *uri, struct lab_error *err)
{
	if (owner->uid != 0)
		return 0;
	if (lab_ends_with(uri, "/session"))
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "QEMU would run as root on %s; use --connect qemu:///system",
				     uri);
	return lab_error_set(
		err, LAB_ERR_UNAVAILABLE,
		"QEMU would run as root on %s; take 'user = \"root\"' or "
		"'security_driver = \"none\"' out of /etc/libvirt/qemu.conf and restart "
		"libvirtd",
		uri);
}

/* "/", "/var", "/var/lib", ... and the path itself last. */
static void split_path(const char *path, struct lab_strv *ret)
{
	lab_strv_add(ret, "/");
	for (const char *p = path + 1; *p; p++) {
		if (*p == '/')
			lab_strv_addf(ret, "%.*s", (int)(p - path), path);
	}
	lab_strv_add(ret, path);
}

static int wanted(const struct lab_strv *parts, size_t i, bool write)
{
	if (i + 1 < parts->n)
		return X_OK;
	return R_OK | (write ? W_OK : 0);
}

/* In the child: 0, or 1 + the number of the first part that is refused. */
static int ask_as_user(const struct vm_owner *owner, const gid_t *groups, int n_groups,
		       const struct lab_strv *parts, bool write)
{
	if (setgroups((size_t)n_groups, groups) || setresgid(owner->gid, owner->gid, owner->gid) ||
	    setresuid(owner->uid, owner->uid, owner->uid))
		return CANNOT_ASK;
	for (size_t i = 0; i < parts->n && i < CANNOT_ASK - 1; i++) {
		if (access(parts->items[i], wanted(parts, i, write)))
			return (int)i + 1;
	}
	return 0;
}

static int denied_by_child(const struct vm_owner *owner, const struct lab_strv *parts, bool write)
{
	gid_t groups[MAX_GROUPS];
	int n_groups = MAX_GROUPS;
	const struct passwd *pw = getpwuid(owner->uid);
	int status;
	pid_t pid;

	groups[0] = owner->gid;
	if (!pw || getgrouplist(pw->pw_name, owner->gid, groups, &n_groups) < 0)
		n_groups = 1;
	pid = fork();
	if (pid == 0)
		_exit(ask_as_user(owner, groups, n_groups, parts, write));
	if (pid < 0)
		return CANNOT_ASK;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return CANNOT_ASK;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT_ASK;
}

/* When we are neither that user nor root only the mode can be looked at; an ACL is trusted. */
static bool mode_allows(const struct vm_owner *owner, const char *path, int want)
{
	unsigned bits = ((want & R_OK) ? 4 : 0) | ((want & W_OK) ? 2 : 0) | ((want & X_OK) ? 1 : 0);
	struct stat st;

	if (stat(path, &st) || getxattr(path, "system.posix_acl_access", NULL, 0) > 0)
		return true;
	if (st.st_uid == owner->uid)
		bits <<= 6;
	else if (st.st_gid == owner->gid)
		bits <<= 3;
	return (st.st_mode & bits) == bits;
}

static int denied_part(const struct vm_owner *owner, const struct lab_strv *parts, bool write)
{
	if (geteuid() == 0 && owner->uid != 0)
		return denied_by_child(owner, parts, write);
	for (size_t i = 0; i < parts->n; i++) {
		int want = wanted(parts, i, write);

		if (owner->uid == geteuid() ? access(parts->items[i], want) != 0
					    : !mode_allows(owner, parts->items[i], want))
			return (int)i + 1;
	}
	return 0;
}

static int refuse(const struct vm_owner *owner, const struct lab_strv *parts, size_t i, bool write,
		  struct lab_error *err)
{
	const char *part = parts->items[i];
	const char *path = parts->items[parts->n - 1];
	struct stat st = {0};
	const struct passwd *pw;

	(void)!stat(part, &st);
	pw = getpwuid(st.st_uid);
	if (i + 1 < parts->n)
		return lab_error_set(
			err, LAB_ERR_FAILED,
			"QEMU runs as %s, who may not enter %s (mode %04o, owner %s) to "
			"reach %s; setfacl -m u:%s:x %s, or keep the lab elsewhere "
			"(--lab DIR)",
			owner->user, part, st.st_mode & 07777, pw ? pw->pw_name : "unknown", path,
			owner->user, part);
	return lab_error_set(err, LAB_ERR_FAILED,
			     "QEMU runs as %s, who may not %s %s (mode %04o, owner %s); "
			     "setfacl -m u:%s:%s %s",
			     owner->user, write ? "write" : "read", part, st.st_mode & 07777,
			     pw ? pw->pw_name : "unknown", owner->user, write ? "rw" : "r", part);
}

int ownership_check(const struct vm_owner *owner, const char *path, bool write,
		    struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv parts = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *real = realpath(path, NULL);
	int denied;

	if (!real)
		return lab_error_errno(err, errno, "%s", path);
	split_path(real, &parts);
	denied = denied_part(owner, &parts, write);
	if (!denied)
		return 0;
	if (denied == CANNOT_ASK)
		return lab_error_set(err, LAB_ERR_FAILED, "cannot find out if %s may read %s",
				     owner->user, path);
	return refuse(owner, &parts, (size_t)denied - 1, write, err);
}

int ownership_give(const struct vm_owner *owner, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = -1;
	struct stat st;

	if (owner->uid == geteuid())
		return 0;
	/* NONBLOCK: it may be a FIFO. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return lab_error_errno(err, errno, "%s", path);
	if (fchown(fd, owner->uid, owner->gid) && errno == EPERM)
		return lab_error_set(
			err, LAB_ERR_UNAVAILABLE,
			"only root can give %s to %s, the user of QEMU; be root, or use "
			"--connect qemu:///session",
			path, owner->user);
	if (fchmod(fd, (st.st_mode & 07777) | (S_ISDIR(st.st_mode) ? 0700 : 0600)))
		return lab_error_errno(err, errno, "mode of %s", path);
	return 0;
}
