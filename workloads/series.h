/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_WORKLOADS_SERIES_H
#define LAB_WORKLOADS_SERIES_H

/*
 * Metrics that come from the agent's time series, whatever workload ran: slab
 * memory of /proc/meminfo, in kB, less is good, sampled between the beginning and
 * the end of the measured phase. All samples are kept; a boot's value is their mean.
 */

#include "protocol/record.h"
#include "store/sample.h"
#include "workloads/metric.h"

/* Appends SReclaimable, SUnreclaim and Slab. */
void series_metrics(struct metric_list *list);

/*
 * Appends the values of the rows taken in `phase`. A record without such rows or
 * columns is an error: a measured run that was not sampled must not look like one.
 */
int series_parse(const struct record *record, const char *phase, struct sample *sample,
		 struct lab_error *err) LAB_MUST_CHECK;

#endif
