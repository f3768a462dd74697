/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_CLEANUP_H
#define LAB_COMMON_CLEANUP_H

/*
 * Cleanup attributes. A type's own cleanup is declared next to the type with
 * LAB_DEFINE_CLEANUP and used as `LAB_CLEANUP(foo) struct foo *f = NULL;`.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LAB_CLEANUP(name) __attribute__((cleanup(lab_cleanup_##name)))

/* Defines the cleanup of a pointer variable of `type` through `fn`, which must accept NULL. */
#define LAB_DEFINE_CLEANUP(name, type, fn)              \
	static inline void lab_cleanup_##name(type **p) \
	{                                               \
		fn(*p);                                 \
	}

/* Hands a pointer over: yields its value and leaves NULL behind. */
#define LAB_TAKE(p)                             \
	({                                      \
		__typeof__(p) lab_taken_ = (p); \
		(p) = NULL;                     \
		lab_taken_;                     \
	})

#define LAB_MUST_CHECK __attribute__((warn_unused_result))
#define LAB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

static inline void lab_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void lab_cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void lab_cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void lab_cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Hands a file descriptor over: yields it and leaves -1 behind. */
static inline int lab_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
