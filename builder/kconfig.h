/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_BUILDER_KCONFIG_H
#define LAB_BUILDER_KCONFIG_H

/*
 * Reading Kconfig files, only as far as it takes to name symbols: which of them a patch
 * touches, and what one depends on. It is no solver; what a configuration comes to is
 * asked of the kernel's own.
 */

#include <stddef.h>

#include "builder/dotconfig.h"
#include "common/err.h"
#include "common/strv.h"

/*
 * Adds the symbols whose blocks (config, menuconfig, or the head of the choice they are
 * in) hold one of these lines, 1-based, in any order. Help texts, comments and empty
 * lines decide nothing and do not count.
 */
void kconfig_touched(const char *text, const unsigned *lines, size_t n,
		     struct lab_strv *ret_symbols);

/*
 * Why `symbol` is not what was asked for, in words ("depends on PCI && FOO
 * (drivers/x/Kconfig:12), where FOO is not set"), from the Kconfig files below
 * `tree` and the configuration that came out. Caller frees; never NULL.
 */
char *kconfig_why(const char *tree, const char *symbol, const struct dotconfig *config);

#endif
