/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_NUM_H
#define LAB_COMMON_NUM_H

/*
 * The one strict parser of numbers, sizes and durations: the whole string must be
 * the number, signs and white space are not skipped, overflow is an error.
 */

#include <stdint.h>

#include "common/err.h"

int lab_parse_u64(const char *s, uint64_t *ret_value, struct lab_error *err) LAB_MUST_CHECK;
int lab_parse_i64(const char *s, int64_t *ret_value, struct lab_error *err) LAB_MUST_CHECK;
/* Decimal point only, locale-independent; nan and inf are errors. */
int lab_parse_double(const char *s, double *ret_value, struct lab_error *err) LAB_MUST_CHECK;
/* Bytes: "4096", "64 KiB", "512M", "2 GiB"; K, M, G, T are powers of 1024; kB, MB, GB of 1000. */
int lab_parse_size(const char *s, uint64_t *ret_bytes, struct lab_error *err) LAB_MUST_CHECK;
/* Milliseconds: "250ms", "10 s", "5m", "2h"; a bare number is refused (except 0). */
int lab_parse_duration(const char *s, uint64_t *ret_ms, struct lab_error *err) LAB_MUST_CHECK;

/* "1.2 GiB", "312 KiB", "96 B" into a buffer of at least 16 bytes; returns it. */
const char *lab_format_size(uint64_t bytes, char *text, size_t size);
/* "3 s", "1m12s", "2h05m" into a buffer of at least 16 bytes; returns it. */
const char *lab_format_duration(uint64_t ms, char *text, size_t size);

#endif
