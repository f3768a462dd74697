/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_OWNERSHIP_H
#define LAB_VMCTL_OWNERSHIP_H

/*
 * The one place that knows who owns what. Under qemu:///system QEMU runs as another
 * user: the run directory and the volumes become his, kernels and images are only
 * read and must be reachable. Under qemu:///session nothing changes hands.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"

/* The user that QEMU runs as. */
struct vm_owner {
	uid_t uid;
	gid_t gid;
	const char *user; /* for messages */
};

/* Refuses root as the user of QEMU, with the cure. */
int ownership_check_user(const struct vm_owner *owner, const char *uri,
			 struct lab_error *err) LAB_MUST_CHECK;

/*
 * Can the user search every directory above `path` and read it (and write it with
 * `write`)? Asked as that user where we may, so ACLs count. The error names the
 * directory and what would help.
 */
int ownership_check(const struct vm_owner *owner, const char *path, bool write,
		    struct lab_error *err) LAB_MUST_CHECK;

/*
 * Makes a file or a directory (not what is in it) the user's, readable by its group;
 * nothing to do when the user is the caller.
 */
int ownership_give(const struct vm_owner *owner, const char *path,
		   struct lab_error *err) LAB_MUST_CHECK;

#endif
