/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_BASE64_H
#define LAB_COMMON_BASE64_H

/* Base64 of RFC 4648 section 4, padded, without line ends. */

#include <stddef.h>

#include "common/buf.h"

void lab_base64_encode(struct lab_buf *buf, const void *data, size_t len);
/* Strict: wrong length, characters or padding give -1 and leave buf as it was. */
int lab_base64_decode(struct lab_buf *buf, const char *text, size_t len) LAB_MUST_CHECK;

#endif
