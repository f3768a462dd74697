/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_SYMBOLS_H
#define LAB_REPORT_SYMBOLS_H

/*
 * The functions of a kernel, as its System.map has them. What the compiler split off or
 * copied ("f.cold", "f.isra.0") belongs to the function f.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"

struct symbols;

/* LAB_ERR_INVALID when the file names no function. */
int symbols_load(const char *path, struct symbols **ret_symbols,
		 struct lab_error *err) LAB_MUST_CHECK;
void symbols_free(struct symbols *symbols);
LAB_DEFINE_CLEANUP(symbols, struct symbols, symbols_free)

/* The function that an address of the linked kernel lies in, or NULL. Borrowed. */
const char *symbols_at(const struct symbols *symbols, uint64_t address);

/*
 * By how many bytes a kernel whose code was seen at `addresses`, beginnings of blocks, was
 * moved from where it was linked (CONFIG_RANDOMIZE_BASE). Whole functions tell: of all
 * shifts that the kernel can draw, the right one makes most blocks begin where a function
 * does. LAB_ERR_NOT_FOUND when none stands out, as with another kernel's symbols.
 */
int symbols_shift(const struct symbols *symbols, const uint64_t *addresses, size_t n,
		  uint64_t *ret_shift, struct lab_error *err) LAB_MUST_CHECK;

#endif
