/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "store/campaign.h"
#include "store/internal.h"
#include "store/values.h"

void run_free(struct run *r)
{
	if (!r)
		return;
	free(r->variant);
	free(r->cell);
	free(r->state);
	free(r->message);
	free(r->dir);
	free(r->facts);
	free(r->fingerprint);
	free(r);
}

void run_list_release(struct run_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		run_free(list->items[i]);
	free(list->items);
	*list = (struct run_list){0};
}

static char *text_or(char *text, const char *otherwise)
{
	return text ? text : lab_strdup(otherwise);
}

static struct run *from_row(const struct lab *lab, struct db_stmt *st)
{
	struct run *r = LAB_NEW(struct run);

	r->id = db_col_int(st, 0);
	r->campaign = db_col_int(st, 1);
	r->number = (unsigned)db_col_int(st, 2);
	r->attempt = (unsigned)db_col_int(st, 3);
	r->variant = db_col_text(st, 4);
	r->cell = db_col_text(st, 5);
	r->repetition = (unsigned)db_col_int(st, 6);
	r->seed = (uint64_t)db_col_int(st, 7);
	/* NULL where the slot has no attempt. */
	r->state = text_or(db_col_text(st, 8), RUN_PLANNED);
	r->message = text_or(db_col_text(st, 9), "");
	r->facts = text_or(db_col_text(st, 10), "{}");
	r->fingerprint = text_or(db_col_text(st, 11), "{}");
	r->started = db_col_int(st, 12);
	r->ended = db_col_int(st, 13);
	if (r->attempt)
		r->dir = lab_path(lab, "runs/%lld/%u.%u", (long long)r->campaign, r->number,
				  r->attempt);
	return r;
}

/* Closes what dead owners left; campaign 0: of all campaigns. */
static int lose(struct lab *lab, int64_t campaign, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, campaign ? SQL_RUN_LOSE : SQL_RUN_LOSE_ALL, &st, err) < 0)
		return -1;
	db_int(st, lab_unix_time());
	if (campaign)
		db_int(st, campaign);
	if (db_run(st, err) < 0)
		return -1;
	*ret_n = (unsigned)db_changes(lab->db);
	return 0;
}

int run_lose_all(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	return lose(lab, 0, ret_n, err);
}

int run_next(struct lab *lab, int64_t campaign, unsigned after, struct run **ret,
	     struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	unsigned lost;
	int rc;

	if (lab_need_write(lab, err) < 0 || lose(lab, campaign, &lost, err) < 0 ||
	    db_prepare(lab->db, SQL_RUN_NEXT, &st, err) < 0)
		return -1;
	db_int(st, campaign);
	db_int(st, after);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret = rc ? from_row(lab, st) : NULL;
	return 0;
}

int run_get(struct lab *lab, int64_t campaign, unsigned number, unsigned attempt, struct run **ret,
	    struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_RUN_GET, &st, err) < 0)
		return -1;
	db_int(st, campaign);
	db_int(st, number);
	db_int(st, attempt);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc && attempt)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "run %lld.%u has no attempt %u",
				     (long long)campaign, number, attempt);
	if (!rc)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "campaign %lld has no run %u",
				     (long long)campaign, number);
	*ret = from_row(lab, st);
	return 0;
}

static int add_run(struct lab *lab, const struct run *r, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_RUN_ADD, &st, err) < 0)
		return -1;
	db_int(st, r->campaign);
	db_int(st, r->number);
	db_int(st, r->attempt);
	db_int(st, lab_unix_time());
	return db_run(st, err);
}

static int begin(struct lab *lab, int64_t campaign, unsigned number, struct run **ret,
		 struct lab_error *err)
{
	LAB_CLEANUP(run) struct run *before = NULL;
	LAB_CLEANUP(free) char *dir = NULL;
	struct run next = {.campaign = campaign, .number = number};

	if (run_get(lab, campaign, number, 0, &before, err) < 0)
		return -1;
	if (run_state_is_outcome(before->state) || strcmp(before->state, RUN_RUNNING) == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "run %lld.%u is %s already",
				     (long long)campaign, number, before->state);
	next.attempt = before->attempt + 1;
	dir = lab_path(lab, "runs/%lld/%u.%u", (long long)campaign, number, next.attempt);
	/* The directory of an attempt whose row was never committed may be there. */
	if (lab_remove_tree(dir, err) < 0 || lab_mkdirs(dir, 0755, err) < 0 ||
	    add_run(lab, &next, err) < 0)
		return -1;
	return run_get(lab, campaign, number, next.attempt, ret, err);
}

int run_begin(struct lab *lab, int64_t campaign, unsigned number, struct run **ret,
	      struct lab_error *err)
{
	LAB_CLEANUP(run) struct run *run = NULL;

	if (lab_begin(lab, err) < 0 ||
	    lab_end(lab, begin(lab, campaign, number, &run, err), err) < 0)
		return -1;
	*ret = LAB_TAKE(run);
	return 0;
}

/* What goes into the row of an attempt that ends. */
struct ending {
	int64_t run;
	const char *state;
	const char *message;
	const char *facts;
	const char *fingerprint;
	const struct sample *sample;
};

static int update_run(struct lab *lab, const struct ending *end, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_RUN_FINISH, &st, err) < 0)
		return -1;
	db_text(st, end->state);
	db_text(st, end->message ? end->message : "");
	db_text(st, end->facts);
	db_text(st, end->fingerprint);
	db_int(st, lab_unix_time());
	db_int(st, end->run);
	return db_run(st, err);
}

static int complete_campaign(struct lab *lab, int64_t campaign, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_CAMPAIGN_COMPLETE, &st, err) < 0)
		return -1;
	db_int(st, campaign);
	return db_run(st, err);
}

static int finish(struct lab *lab, const struct ending *end, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	LAB_CLEANUP(free) char *state = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_RUN_STATE, &st, err) < 0)
		return -1;
	db_int(st, end->run);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return lab_error_set(err, LAB_ERR_NOT_FOUND, "no run with id %lld",
				     (long long)end->run);
	state = db_col_text(st, 1);
	if (strcmp(state, RUN_RUNNING) != 0)
		return lab_error_set(err, LAB_ERR_INVALID, "the run has ended already: %s", state);
	if (update_run(lab, end, err) < 0 || values_put(lab->db, end->run, end->sample, err) < 0)
		return -1;
	return complete_campaign(lab, db_col_int(st, 0), err);
}

int run_finish(struct lab *lab, int64_t run_id, const char *state, const char *message,
	       const char *facts, const char *fingerprint, const struct sample *sample,
	       struct lab_error *err)
{
	struct ending end = {run_id, state, message, NULL, NULL, sample};

	if (!run_state_is_final(state))
		return lab_error_set(err, LAB_ERR_INVALID, "'%s' is no state that a run ends in",
				     state);
	if (json_object_text(facts, "facts of the run", &end.facts, err) < 0 ||
	    json_object_text(fingerprint, "fingerprint of the run", &end.fingerprint, err) < 0 ||
	    lab_begin(lab, err) < 0)
		return -1;
	return lab_end(lab, finish(lab, &end, err), err);
}

int run_list(struct lab *lab, int64_t campaign, bool newest_only, struct run_list *ret_list,
	     struct lab_error *err)
{
	LAB_CLEANUP(run_list) struct run_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, newest_only ? SQL_RUN_LIST_NEWEST : SQL_RUN_LIST, &st, err) < 0)
		return -1;
	db_int(st, campaign);
	while ((rc = db_step(st, err)) > 0) {
		LAB_GROW(list.items, list.n, list.cap);
		list.items[list.n++] = from_row(lab, st);
	}
	if (rc < 0)
		return -1;
	*ret_list = list;
	list = (struct run_list){0};
	return 0;
}

int run_samples(struct lab *lab, int64_t run_id, struct sample *ret_sample, struct lab_error *err)
{
	return values_get(lab->db, run_id, NULL, ret_sample, err);
}

int run_sample_metric(struct lab *lab, int64_t run_id, const char *metric,
		      struct sample *ret_sample, struct lab_error *err)
{
	return values_get(lab->db, run_id, metric, ret_sample, err);
}

static int run_exists(struct lab *lab, const char *campaign, const char *name, bool *ret,
		      struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	LAB_CLEANUP(free) char *number = lab_strndup(name, strcspn(name, "."));
	const char *attempt = name + strlen(number) + (name[strlen(number)] == '.');
	uint64_t ids[3];
	int rc;

	*ret = false;
	if (lab_parse_u64(campaign, &ids[0], NULL) < 0 ||
	    lab_parse_u64(number, &ids[1], NULL) < 0 || lab_parse_u64(attempt, &ids[2], NULL) < 0)
		return 0;
	if (db_prepare(lab->db, SQL_RUN_EXISTS, &st, err) < 0)
		return -1;
	for (size_t i = 0; i < LAB_COUNT(ids); i++)
		db_int(st, (int64_t)ids[i]);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret = rc > 0;
	return 0;
}

/* Removes the directories of one campaign that have no attempt. */
static int clean_campaign(struct lab *lab, const char *campaign, unsigned *n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "runs/%s", campaign);
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		LAB_CLEANUP(free) char *sub = NULL;
		bool exists;

		if (entry->d_name[0] == '.')
			continue;
		if (run_exists(lab, campaign, entry->d_name, &exists, err) < 0)
			return -1;
		if (exists)
			continue;
		sub = lab_path_join(path, entry->d_name);
		if (lab_remove_tree(sub, err) < 0)
			return -1;
		++*n;
	}
	return 0;
}

int run_clean_dirs(struct lab *lab, unsigned *ret_n, struct lab_error *err)
{
	LAB_CLEANUP(free) char *path = lab_path(lab, "runs");
	LAB_CLEANUP(dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	if (!dir)
		return lab_error_errno(err, errno, "%s", path);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && clean_campaign(lab, entry->d_name, &n, err) < 0)
			return -1;
	}
	*ret_n = n;
	return 0;
}
