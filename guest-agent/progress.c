/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest-agent/progress.h"

#include <stdio.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"

#define TICK_US 10000 /* USER_HZ is 100 on all we run on */

int64_t progress_busy_us(const char *stat)
{
	unsigned long long user, nice, system, irq, softirq;

	/* cpu user nice system idle iowait irq softirq ... */
	if (sscanf(stat, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
		   &softirq) != 5)
		return -1;
	return (int64_t)((user + nice + system + irq + softirq) * TICK_US);
}

static int64_t own_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (int64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 + ru.ru_utime.tv_usec +
	       ru.ru_stime.tv_usec;
}

void progress_add_bytes(struct progress *progress, uint64_t bytes)
{
	progress->value += (int64_t)bytes;
}

int64_t progress_read(struct progress *progress, const char *sysroot)
{
	LAB_CLEANUP(free) char *path = lab_asprintf("%s/proc/stat", sysroot);
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	struct progress now = {.own_us = own_us(), .t_us = (int64_t)(lab_now_ns() / 1000)};

	if (lab_read_file(path, 1 << 20, &text, NULL) < 0 || !text.data)
		return progress->value;
	now.busy_us = progress_busy_us(text.data);
	if (now.busy_us < 0)
		return progress->value;
	if (progress->t_us) {
		int64_t work = now.busy_us - progress->busy_us - (now.own_us - progress->own_us) -
			       (now.t_us - progress->t_us) * PROGRESS_IDLE_PERCENT / 100;

		if (work > 0)
			progress->value += work;
	}
	now.value = progress->value;
	*progress = now;
	return progress->value;
}
