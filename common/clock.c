/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

uint64_t lab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

uint64_t lab_now_ms(void)
{
	return lab_now_ns() / 1000000;
}

int64_t lab_unix_time(void)
{
	return (int64_t)time(NULL);
}

void lab_sleep_ms(uint64_t ms)
{
	struct timespec ts = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

const char *lab_format_time(int64_t unix_time, char *text, size_t size)
{
	time_t t = (time_t)unix_time;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, size, "%lld", (long long)unix_time);
	return text;
}

int lab_deadline_left(uint64_t deadline)
{
	uint64_t now;

	if (!deadline)
		return -1;
	now = lab_now_ms();
	if (now >= deadline)
		return 0;
	return deadline - now > INT_MAX ? INT_MAX : (int)(deadline - now);
}
