/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_GUEST_ELFNOTE_H
#define LAB_GUEST_ELFNOTE_H

#include <stdbool.h>
#include <stddef.h>

#define ELFNOTE_HEX 129 /* room for a build id of 64 bytes in hex */

/*
 * Finds the GNU build id (note "GNU", type 3) in the bytes of a PT_NOTE segment or
 * of /sys/kernel/notes, which has the same layout. False when there is none.
 */
bool elfnote_build_id(const void *notes, size_t len, char hex[ELFNOTE_HEX]);

/* The build id of this very program. */
bool elfnote_own_build_id(char hex[ELFNOTE_HEX]);

#endif
