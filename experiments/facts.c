/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiments/facts.h"

#include <string.h>

#include "common/file.h"
#include "common/mem.h"
#include "experiments/boot.h"
#include "store/facts.h"
#include "store/hash.h"

static json_t *strv_json(const struct lab_strv *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_string(v->items[i]));
	return list;
}

static json_t *console_json(const struct console_verdict *v)
{
	json_t *json = json_pack("{s:I, s:I, s:s}", "lines", (json_int_t)v->lines, "bytes",
				 (json_int_t)v->bytes, "last", v->last);

	for (int kind = 0; kind < CONSOLE_KINDS; kind++) {
		const struct console_hit *hit = &v->hits[kind];

		if (hit->count)
			json_object_set_new(json, console_kind_name((enum console_kind)kind),
					    json_pack("{s:i, s:I, s:s}", "count", (int)hit->count,
						      "line", (json_int_t)hit->line, "text",
						      hit->text));
	}
	return json;
}

static json_t *hello_json(const struct record *r)
{
	if (!r->has_hello)
		return json_null();
	return json_pack("{s:I, s:s, s:s, s:s, s:s}", "protocol", (json_int_t)r->hello.protocol,
			 "agent", r->hello.agent, "boot_id", r->hello.boot_id, "kernel_build_id",
			 r->hello.kernel_build_id, "kernel_release", r->hello.kernel_release);
}

static json_t *steps_json(const struct record *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_steps; i++) {
		const struct record_step *s = &r->steps[i];
		json_t *step = json_pack("{s:s, s:s, s:b}", "phase", s->phase, "step", s->name,
					 "ended", s->ended);

		if (s->ended)
			json_object_update_new(step,
					       json_pack("{s:I, s:I, s:f, s:f, s:f, s:I, s:I}",
							 "exit_code", (json_int_t)s->exit_code,
							 "signal", (json_int_t)s->signal, "wall_s",
							 (double)s->wall_ns / 1e9, "user_s",
							 (double)s->user_ns / 1e9, "system_s",
							 (double)s->system_ns / 1e9, "maxrss_kb",
							 (json_int_t)s->maxrss_kb, "leftover",
							 (json_int_t)s->leftover));
		json_array_append_new(list, step);
	}
	return list;
}

static json_t *notes_json(const struct record_note *notes, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < 100; i++)
		json_array_append_new(list, json_pack("[s, s]", notes[i].name, notes[i].text));
	return list;
}

static json_t *span(uint64_t from, uint64_t to)
{
	return from && to >= from ? json_integer((json_int_t)(to - from)) : json_null();
}

static json_t *timing_json(const struct boot_facts *f)
{
	const struct watch *w = f->watch;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "prepare_ms", span(f->begun, f->prepared),
			 "boot_ms", span(w->started, w->hello), "job_ms", span(w->hello, w->done),
			 "poweroff_ms", span(w->done, f->stopped), "total_ms",
			 span(f->begun, f->stopped));
}

static json_t *frames_json(const char *dir)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, BOOT_FRAMES);
	char hash[HASH_HEX];
	uint64_t bytes;

	if (lab_file_size(path, &bytes, NULL) || hash_file(path, hash, NULL))
		return json_null();
	return json_pack("{s:I, s:s}", "bytes", (json_int_t)bytes, "sha256", hash);
}

char *boot_facts_json(const struct boot_facts *facts, const char *dir)
{
	const struct boot_facts *f = facts;
	const struct record *r = f->record;
	json_auto_t *json = json_object();

	json_object_set(json, "machine", f->machine ? f->machine : json_null());
	json_object_set_new(json, "console", console_json(&f->console));
	json_object_set_new(json, "hello", hello_json(r));
	json_object_set_new(json, "steps", steps_json(r));
	json_object_set_new(json, "notes", strv_json(f->notes));
	json_object_set_new(json, "warnings", strv_json(&f->warnings));
	json_object_set_new(json, "logs", notes_json(r->logs, r->n_logs));
	json_object_set_new(json, "unavailable", notes_json(r->unavailable, r->n_unavailable));
	json_object_set_new(json, "timing", timing_json(f));
	json_object_set_new(json, "frames", frames_json(dir));
	return json_dumps(json, JSON_COMPACT);
}

/* Of what decides an exact run: two hosts where it is the same can expect equal bytes. */
static void add_hash(json_t *fingerprint)
{
	static const char *const decisive[] = {
		"target", "kernel", "image",   "initramfs", "job",     "seed",	  "cmdline",
		"memory", "vcpus",  "volumes", "qemu",	    "machine", "firmware"};
	json_auto_t *part = json_object();
	LAB_CLEANUP(free) char *text = NULL;
	char hash[HASH_HEX];

	for (size_t i = 0; i < LAB_COUNT(decisive); i++)
		json_object_set(part, decisive[i], json_object_get(fingerprint, decisive[i]));
	text = json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS);
	hash_bytes(text, strlen(text), hash);
	json_object_set_new(fingerprint, "hash", json_string(hash));
}

char *boot_fingerprint_json(const struct boot_facts *facts, const struct setup *setup,
			    const struct run *run, const char *cmdline)
{
	static const char *const from_machine[] = {"qemu", "machine", "firmware", "command_line"};
	const char *qemu = json_string_value(json_object_get(facts->machine, "qemu"));
	const struct experiment_variant *v = setup_variant(setup, run->variant);
	const struct kernel *k = kernel_find(&setup->kernels, v->kernel);
	LAB_CLEANUP(free) char *host = host_facts_json(qemu);
	json_auto_t *json =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:o, s:o}", "target",
			  setup->target_name, "kernel", k->content, "image", setup->image->content,
			  "initramfs", k->initramfs->content, "cmdline", cmdline, "memory",
			  (json_int_t)setup->preset->memory, "vcpus", (int)setup->preset->vcpus,
			  "volumes", json_deep_copy(json_object_get(setup->definition, "machine")),
			  "host", host ? json_loads(host, 0, NULL) : json_null());

	json_object_set_new(json, "seed", json_integer((json_int_t)run->seed));
	json_object_set_new(json, "job", json_string(facts->job_hash));
	for (size_t i = 0; i < LAB_COUNT(from_machine); i++) {
		json_t *value = json_object_get(facts->machine, from_machine[i]);

		json_object_set(json, from_machine[i], value ? value : json_null());
	}
	add_hash(json);
	return json_dumps(json, JSON_COMPACT);
}

void boot_facts_release(struct boot_facts *facts)
{
	json_decref(facts->machine);
	lab_strv_release(&facts->warnings);
}
