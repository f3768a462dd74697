/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_ELF_NOTES_H
#define LAB_BUILDER_ELF_NOTES_H

#include "common/err.h"

/*
 * The GNU build id of an ELF file (64 bit, little endian) in lower-case hex: what the
 * kernel it is shows in /sys/kernel/notes. LAB_ERR_NOT_FOUND when it has none. Caller frees.
 */
int elf_build_id(const char *path, char **ret_hex, struct lab_error *err) LAB_MUST_CHECK;

#endif
