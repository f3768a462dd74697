/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/state.h"

#include <stddef.h>
#include <string.h>

#include "common/mem.h"

enum state_class { CLASS_OPEN, CLASS_OUTCOME, CLASS_FAULT };

static const struct {
	const char *name;
	enum state_class class;
	const char *label;
} states[] = {
	{RUN_PLANNED, CLASS_OPEN, "planned"},
	{RUN_RUNNING, CLASS_OPEN, "running"},
	{RUN_DONE, CLASS_OUTCOME, "done"},
	{RUN_PANIC, CLASS_OUTCOME, "kernel panic"},
	{RUN_OOPS, CLASS_OUTCOME, "kernel oops"},
	{RUN_OOM, CLASS_OUTCOME, "OOM killed"},
	{RUN_HANG, CLASS_OUTCOME, "hung"},
	{RUN_STALLED, CLASS_OUTCOME, "stalled"},
	{RUN_WORKLOAD, CLASS_OUTCOME, "workload failed"},
	{RUN_LOST, CLASS_FAULT, "lost"},
	{RUN_IO_ERROR, CLASS_FAULT, "I/O error on the host"},
	{RUN_HOST_TIMEOUT, CLASS_FAULT, "host timeout"},
	{RUN_CANCELLED, CLASS_FAULT, "cancelled"},
};

static bool is_class(const char *state, enum state_class class)
{
	for (size_t i = 0; i < LAB_COUNT(states); i++) {
		if (strcmp(states[i].name, state) == 0)
			return states[i].class == class;
	}
	return false;
}

bool run_state_is_outcome(const char *state)
{
	return is_class(state, CLASS_OUTCOME);
}

bool run_state_is_fault(const char *state)
{
	return is_class(state, CLASS_FAULT);
}

bool run_state_is_final(const char *state)
{
	return run_state_is_outcome(state) || run_state_is_fault(state);
}

const char *run_state_label(const char *state)
{
	for (size_t i = 0; i < LAB_COUNT(states); i++) {
		if (strcmp(states[i].name, state) == 0)
			return states[i].label;
	}
	return state;
}
