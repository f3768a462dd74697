/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "common/file.h"
#include "common/mem.h"
#include "protocol/job.h"
#include "protocol/record.h"
#include "report/subsystems.h"
#include "report/symbols.h"
#include "store/campaign.h"
#include "store/state.h"

#define RAW_MAX (256u << 20) /* bytes of a run's raw counts */
#define RAW_FILE "profile"
#define FRAMES_FILE "frames"

/* Where x86-64 Linux puts things (Documentation/arch/x86/x86_64/mm.rst). */
#define KERNEL_HALF 0x8000000000000000u
#define KERNEL_MODULES 0xffffffffc0000000u
#define USER_PIE 0x550000000000u
#define USER_PIE_END 0x570000000000u

void profile_release(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->rows[i].name);
	free(p->rows);
	*p = (struct profile){0};
}

/* ---- the raw counts --------------------------------------------------------------- */

struct raw {
	uint64_t *addresses;
	double *counts;
	size_t n, cap, cap_counts;
	double executed;
};

static void raw_release(struct raw *raw)
{
	free(raw->addresses);
	free(raw->counts);
}

static void lab_cleanup_raw(struct raw *raw)
{
	raw_release(raw);
}

static int bad_line(const char *path, size_t line, struct lab_error *err)
{
	return lab_error_set(err, LAB_ERR_INVALID, "%s:%zu: no profile's line", path, line);
}

static int take_line(struct raw *raw, const char *line)
{
	uint64_t address, count;
	int end = 0;

	if (sscanf(line, "%16" SCNx64 " %" SCNu64 "%n", &address, &count, &end) != 2 || line[end])
		return -1;
	LAB_GROW(raw->addresses, raw->n, raw->cap);
	LAB_GROW(raw->counts, raw->n, raw->cap_counts);
	raw->addresses[raw->n] = address;
	raw->counts[raw->n++] = (double)count;
	return 0;
}

static int read_raw(const char *path, struct raw *raw, struct lab_error *err)
{
	LAB_CLEANUP(buf) struct lab_buf text = LAB_BUF_INIT;
	char *line, *rest;
	size_t number = 1;

	if (lab_read_file(path, RAW_MAX, &text, err) < 0)
		return -1;
	if (!text.len)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "%s is empty: the run did not come to its phase's end", path);
	rest = text.data;
	line = strsep(&rest, "\n");
	raw->executed = NAN;
	if (!lab_starts_with(line, "executed "))
		return bad_line(path, 1, err);
	if (strcmp(line, "executed -") != 0)
		raw->executed = (double)strtoll(line + strlen("executed "), NULL, 10);
	while ((line = strsep(&rest, "\n")) && strcmp(line, "end") != 0) {
		number++;
		if (!rest) /* a whole line is followed by another */
			return lab_error_set(err, LAB_ERR_INVALID, "%s is cut", path);
		if (take_line(raw, line) < 0)
			return bad_line(path, number, err);
	}
	return line ? 0 : lab_error_set(err, LAB_ERR_INVALID, "%s is cut", path);
}

/* ---- names ------------------------------------------------------------------------ */

/* What names addresses of one kernel. */
struct names {
	struct symbols *symbols;
	struct subsystems *subsystems; /* NULL: functions are wanted */
};

static void names_release(struct names *names)
{
	symbols_free(names->symbols);
	subsystems_free(names->subsystems);
}

static void lab_cleanup_names(struct names *names)
{
	names_release(names);
}

static const char *subsystem_of(const struct names *names, const char *function)
{
	const char *directory =
		names->subsystems ? subsystems_of(names->subsystems, function) : function;

	return directory ? directory : "(not known)";
}

static const char *name_of(const struct names *names, uint64_t shift, uint64_t address)
{
	const char *name;

	if (address < KERNEL_HALF) {
		if (address >= USER_PIE && address < USER_PIE_END)
			return "[programs]";
		return address < USER_PIE ? "[static programs]" : "[libraries]";
	}
	name = symbols_at(names->symbols, address - shift);
	if (name)
		return subsystem_of(names, name);
	return address >= KERNEL_MODULES ? "[modules]" : "[kernel, no function]";
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct profile_row *)a)->name, ((const struct profile_row *)b)->name);
}

/* One row for each name. */
static void fold(struct profile *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->rows, p->n, sizeof(*p->rows), by_name);
	for (size_t i = 0; i < p->n; i++) {
		if (n && strcmp(p->rows[n - 1].name, p->rows[i].name) == 0) {
			p->rows[n - 1].count += p->rows[i].count;
			free(p->rows[i].name);
		} else {
			p->rows[n++] = p->rows[i];
		}
	}
	p->n = n;
}

static void add_row(struct profile *p, const char *name, double count)
{
	LAB_GROW(p->rows, p->n, p->cap);
	p->rows[p->n++] = (struct profile_row){lab_strdup(name), count};
}

static int give_names(const struct raw *raw, const struct names *names, struct profile *p,
		      struct lab_error *err)
{
	LAB_CLEANUP(free) uint64_t *kernel = LAB_NEW_ARRAY(uint64_t, raw->n + 1);
	const char *name = NULL;
	uint64_t shift;
	size_t n = 0;

	for (size_t i = 0; i < raw->n; i++) {
		if (raw->addresses[i] >= KERNEL_HALF)
			kernel[n++] = raw->addresses[i];
	}
	if (symbols_shift(names->symbols, kernel, n, &shift, err) < 0)
		return -1;
	for (size_t i = 0; i < raw->n; i++) {
		const char *is = name_of(names, shift, raw->addresses[i]);

		/* The blocks come by address, so most are in the function of the one before. */
		if (!name || strcmp(name, is) != 0)
			add_row(p, is, 0);
		name = is;
		p->rows[p->n - 1].count += raw->counts[i];
		p->counted += raw->counts[i];
	}
	fold(p);
	return 0;
}

/* ---- a campaign's kernels ----------------------------------------------------------- */

/* Beside the kernel: in an artifact, in /boot, or at the top of the tree it was built in. */
static char *find_map(const char *bzimage)
{
	LAB_CLEANUP(free)
	char *dir = lab_strndup(bzimage, (size_t)(lab_path_base(bzimage) - bzimage));
	const char *version = strchr(lab_path_base(bzimage), '-');
	char *paths[] = {
		lab_asprintf("%sSystem.map", dir),
		lab_asprintf("%sSystem.map%s", dir, version ? version : ""),
		lab_asprintf("%s../../../System.map", dir),
	};
	char *found = NULL;

	for (size_t i = 0; i < LAB_COUNT(paths); i++) {
		if (!found && lab_file_exists(paths[i]))
			found = LAB_TAKE(paths[i]);
		free(paths[i]);
	}
	return found;
}

static int open_subsystems(const char *map, struct subsystems **ret, struct lab_error *err)
{
	LAB_CLEANUP(free) char *dir = lab_strndup(map, (size_t)(lab_path_base(map) - map));
	LAB_CLEANUP(free) char *path = lab_asprintf("%sfunctions.tsv", dir);

	if (!lab_file_exists(path))
		return lab_error_set(
			err, LAB_ERR_NOT_FOUND,
			"there is no %s: only `labctl build` knows the directories that "
			"functions come from, of Linux 6.1 and later",
			path);
	return subsystems_load(path, ret, err);
}

static int open_names(const json_t *definition, const char *variant, enum profile_by by,
		      struct names *ret, struct lab_error *err)
{
	const json_t *variants = json_object_get(definition, "variants"), *v;
	const char *arm = NULL, *path;
	LAB_CLEANUP(free) char *map = NULL;
	size_t i;

	json_array_foreach(variants, i, v)
	{
		const char *name = json_string_value(json_object_get(v, "name"));

		if (name && strcmp(name, variant) == 0)
			arm = json_string_value(json_object_get(v, "arm"));
	}
	path = json_string_value(json_object_get(
		json_object_get(json_object_get(definition, "kernels"), arm ? arm : ""), "path"));
	if (!path)
		return lab_error_set(err, LAB_ERR_INVALID, "variant '%s' has no kernel", variant);
	map = find_map(path);
	if (!map)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "there is no System.map beside %s: put it there", path);
	if (by == PROFILE_BY_SUBSYSTEM && open_subsystems(map, &ret->subsystems, err) < 0)
		return -1;
	return symbols_load(map, &ret->symbols, err);
}

static int open_campaign(struct lab *lab, int64_t id, json_t **ret_definition,
			 struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *c = NULL;
	json_t *d;

	if (campaign_get(lab, id, &c, err) < 0)
		return -1;
	d = json_loads(c->definition, 0, NULL);
	if (json_is_true(json_object_get(d, "profile"))) {
		*ret_definition = d;
		return 0;
	}
	json_decref(d);
	return lab_error_set(err, LAB_ERR_NOT_FOUND,
			     "campaign %" PRId64 " has no profile: `labctl run %s --preset %s "
			     "--target exact --profile` makes one that has",
			     id, c->experiment, c->preset);
}

/* ---- runs --------------------------------------------------------------------------- */

/* How long the run phase took by the guest's clock, NaN when its frames do not say. */
static double phase_span(const char *dir)
{
	LAB_CLEANUP(free) char *path = lab_path_join(dir, FRAMES_FILE);
	struct record record = {0};
	double span = NAN;

	if (record_load(path, &record, NULL) < 0)
		return NAN;
	for (size_t i = 0; i < record.n_phases; i++) {
		if (record.phases[i].ended && strcmp(record.phases[i].name, JOB_PHASE_RUN) == 0)
			span = (double)(record.phases[i].end_ns - record.phases[i].begin_ns);
	}
	record_release(&record);
	return span;
}

static int load_run(const struct run *run, const struct names *names, struct profile *p,
		    struct lab_error *err)
{
	LAB_CLEANUP(raw) struct raw raw = {0};
	LAB_CLEANUP(free) char *path = NULL;

	if (!run->dir || strcmp(run->state, RUN_DONE) != 0)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "run %" PRId64 ".%u is %s: it has no profile", run->campaign,
				     run->number, run->state);
	path = lab_path_join(run->dir, RAW_FILE);
	if (read_raw(path, &raw, err) < 0 || give_names(&raw, names, p, err) < 0)
		return -1;
	p->boots = 1;
	p->executed = raw.executed;
	p->guest_ns = phase_span(run->dir);
	return 0;
}

int profile_of_run(struct lab *lab, int64_t campaign, unsigned number, enum profile_by by,
		   struct profile *ret, struct lab_error *err)
{
	LAB_CLEANUP(names) struct names names = {0};
	LAB_CLEANUP(run) struct run *run = NULL;
	json_t *definition;
	int rc;

	*ret = (struct profile){0};
	if (open_campaign(lab, campaign, &definition, err) < 0)
		return -1;
	rc = run_get(lab, campaign, number, 0, &run, err) < 0 ||
	     open_names(definition, run->variant, by, &names, err) < 0 ||
	     load_run(run, &names, ret, err) < 0;
	json_decref(definition);
	return rc ? -1 : 0;
}

/* Adds `one` to the sum and empties it. */
static void add_profile(struct profile *sum, struct profile *one)
{
	for (size_t i = 0; i < one->n; i++)
		add_row(sum, one->rows[i].name, one->rows[i].count);
	sum->boots++;
	sum->counted += one->counted;
	sum->executed += one->executed;
	sum->guest_ns += one->guest_ns;
	profile_release(one);
}

static void divide(struct profile *sum)
{
	fold(sum);
	for (size_t i = 0; i < sum->n; i++)
		sum->rows[i].count /= sum->boots;
	sum->counted /= sum->boots;
	sum->executed /= sum->boots;
	sum->guest_ns /= sum->boots;
}

static int sum_runs(const struct run_list *runs, const char *variant, const char *cell,
		    const struct names *names, struct profile *ret, struct lab_error *err)
{
	for (size_t i = 0; i < runs->n; i++) {
		const struct run *run = runs->items[i];
		LAB_CLEANUP(profile) struct profile one = {0};

		if (strcmp(run->variant, variant) != 0 || strcmp(run->cell, cell) != 0 ||
		    strcmp(run->state, RUN_DONE) != 0)
			continue;
		if (load_run(run, names, &one, err) < 0)
			return lab_error_wrap(err, "run %" PRId64 ".%u", run->campaign,
					      run->number);
		add_profile(ret, &one);
	}
	return 0;
}

int profile_of_variant(struct lab *lab, int64_t campaign, const char *variant, const char *cell,
		       enum profile_by by, struct profile *ret, struct lab_error *err)
{
	LAB_CLEANUP(names) struct names names = {0};
	LAB_CLEANUP(run_list) struct run_list runs = {0};
	json_t *definition;
	int rc;

	*ret = (struct profile){0};
	if (open_campaign(lab, campaign, &definition, err) < 0)
		return -1;
	rc = open_names(definition, variant, by, &names, err) < 0 ||
	     run_list(lab, campaign, true, &runs, err) < 0 ||
	     sum_runs(&runs, variant, cell, &names, ret, err) < 0;
	json_decref(definition);
	if (rc)
		return -1;
	if (!ret->boots)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "campaign %" PRId64 " has no run of variant %s that is done",
				     campaign, variant);
	divide(ret);
	return 0;
}
