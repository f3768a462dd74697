/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_APPLIANCE_H
#define LAB_IMAGES_APPLIANCE_H

/* Private to images/: appliance.c is the only file that knows libguestfs. */

#include <stdbool.h>

#include "common/err.h"
#include "images/image.h"

struct appliance {
	const char *disk; /* raw ext4 to write to, NULL: none */
	const char *tar;  /* unpacked into it */
	const char *tmp;  /* directory for its temporary files, NULL: /tmp */
	const char *log;  /* what it says is added to this file, NULL: dropped */
	bool force_tcg;
	const char *kernel, *modules; /* NULL: supermin's choice */
	const struct image_progress *progress;
};

/* Starts the appliance, unpacks the tar into the disk if there is one, stops it. */
int appliance_run(const struct appliance *appliance, struct lab_error *err) LAB_MUST_CHECK;

/* "1.48.6"; caller frees. */
char *appliance_version(void);

/* Makes one line for a person of what libguestfs said; for tests. Sets err, returns -1. */
int appliance_explain(const struct appliance *appliance, const char *said, struct lab_error *err);

/* A kernel in `boot` ("/boot") that has modules and that this user can read, or NULL with the cure. */
char *appliance_kernel(const char *boot, const char *modules, char **ret_cure);

#endif
