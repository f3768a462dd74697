/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_FRAMES_DIFF_H
#define LAB_PROTOCOL_FRAMES_DIFF_H

#include "common/buf.h"
#include "common/err.h"

/*
 * Compares two files of frames to the byte. 1: equal; 0: they differ, and `out` gets words
 * for the first frame that does (or for the bytes, where one is cut); -1: not readable.
 */
int frames_diff(const char *path_a, const char *path_b, struct lab_buf *out,
		struct lab_error *err) LAB_MUST_CHECK;

#endif
