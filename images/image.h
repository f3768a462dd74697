/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_IMAGES_IMAGE_H
#define LAB_IMAGES_IMAGE_H

/*
 * The root file system of the machines: recipe -> mmdebstrap -> tar -> libguestfs ->
 * raw sparse ext4 without partitions. The artifact (kind "image") holds:
 *
 *   root.img        the file system; never written to, machines run on overlays of it
 *   packages.tsv    package, version, architecture: one a line
 *
 * What mmdebstrap and libguestfs said of the last attempt is in LAB/logs/image-RECIPE.log.
 * Manifest: recipe, recipe_hash, suite, packages (name: version), bytes, mmdebstrap,
 * libguestfs, mke2fs (versions), mode (of mmdebstrap), seconds {bootstrap, image},
 * force_tcg.
 */

#include <stdbool.h>

#include "common/err.h"
#include "store/artifact.h"
#include "store/hash.h"
#include "store/lab.h"

#define IMAGE_ROOT "root.img"

struct image_progress {
	void *ctx;
	/*
	 * What it is doing: phase "bootstrap", "image" or "commit", and a line of text. Comes
	 * several times a phase; the receiver limits its own rate. May be NULL.
	 */
	void (*say)(void *ctx, const char *phase, const char *text);
	/*
	 * True asks for the end: LAB_ERR_CANCELLED, nothing is left behind. May be NULL. Also
	 * called from another thread: it looks at a flag, and no more.
	 */
	bool (*cancelled)(void *ctx);
};

struct image_request {
	const char *recipe; /* path of the YAML file */
	/* The host's probe says that no guest runs on /dev/kvm. */
	bool force_tcg;
	/* Kernel and modules of the libguestfs appliance; NULL: the host's (SUPERMIN_KERNEL). */
	const char *appliance_kernel;
	const char *appliance_modules;
	const struct image_progress *progress; /* may be NULL */
};

/* The key under which image_ensure finds or makes the image: recipe and our format. */
int image_key(const char *recipe, char out[HASH_HEX], struct lab_error *err) LAB_MUST_CHECK;

/*
 * The image of a recipe: looked up, else made (a minute or so). *ret_cached (may be
 * NULL) says which. Wants the lab lock. A failed or killed build leaves nothing but
 * its log, whose path the error names.
 */
int image_ensure(struct lab *lab, const struct image_request *request, struct artifact **ret_image,
		 bool *ret_cached, struct lab_error *err) LAB_MUST_CHECK;

/* What building an image needs and this host and user lack; for doctor. */
struct image_host {
	char *mmdebstrap; /* version, or NULL: not installed */
	char *mode; /* how mmdebstrap would run here: "root", "userns", "fakechroot", or NULL */
	char *mode_cure;  /* when mode is NULL: what to do about it */
	char *libguestfs; /* version */
	char *kernel;	  /* kernel of the appliance, or NULL: none that this user can read */
	char *kernel_cure;
};

/* Looks, starts nothing slow. Always fills host; release it. */
void image_host_look(struct image_host *host);
void image_host_release(struct image_host *host);

static inline void lab_cleanup_image_host(struct image_host *host)
{
	image_host_release(host);
}

/*
 * Starts the libguestfs appliance and stops it again (half a minute without KVM);
 * the error explains what is known to go wrong.
 */
int image_appliance_try(bool force_tcg, const struct image_progress *progress,
			struct lab_error *err) LAB_MUST_CHECK;

#endif
