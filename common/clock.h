/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_CLOCK_H
#define LAB_COMMON_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t lab_now_ns(void);   /* CLOCK_MONOTONIC, nanoseconds */
uint64_t lab_now_ms(void);   /* the same in milliseconds */
int64_t lab_unix_time(void); /* seconds since 1970, UTC */
void lab_sleep_ms(uint64_t ms);
/* "2026-12-01 14:03:59" in UTC into a buffer of at least 20 bytes; returns it. */
const char *lab_format_time(int64_t unix_time, char *text, size_t size);

/* A deadline is a lab_now_ms() value; 0 means never. */
static inline uint64_t lab_deadline_in(uint64_t ms)
{
	return ms ? lab_now_ms() + ms : 0;
}

/* Milliseconds left for poll(2): -1 for never, 0 when passed. */
int lab_deadline_left(uint64_t deadline);

#endif
