/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/campaign.h"

#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "store/internal.h"

void campaign_free(struct campaign *c)
{
	if (!c)
		return;
	free(c->experiment);
	free(c->preset);
	free(c->target);
	free(c->identity);
	free(c->definition);
	free(c->state);
	free(c);
}

void campaign_list_release(struct campaign_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		campaign_free(list->items[i]);
	free(list->items);
	*list = (struct campaign_list){0};
}

static int add_campaign(struct lab *lab, const struct campaign *c, const char *definition,
			int64_t *ret_id, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_CAMPAIGN_ADD, &st, err) < 0)
		return -1;
	db_text(st, c->experiment);
	db_text(st, c->preset);
	db_text(st, c->target);
	db_text(st, c->identity);
	db_text(st, definition);
	db_int(st, (int64_t)c->seed);
	db_int(st, c->n);
	db_int(st, c->emulated);
	db_int(st, lab_unix_time());
	if (db_run(st, err) < 0)
		return -1;
	*ret_id = db_last_id(lab->db);
	return 0;
}

static int add_slots(struct lab *lab, int64_t campaign, const struct run_slot *slots, size_t n,
		     struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_SLOT_ADD, &st, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		db_int(st, campaign);
		db_int(st, slots[i].number);
		db_text(st, slots[i].variant);
		db_text(st, slots[i].cell ? slots[i].cell : "");
		db_int(st, slots[i].repetition);
		db_int(st, (int64_t)slots[i].seed);
		if (db_run(st, err) < 0)
			return lab_error_wrap(err, "run %u of the plan", slots[i].number);
	}
	return 0;
}

/* Numbers are the run order, so they must be 1..n; the rest the schema checks. */
static int check_plan(const struct run_slot *slots, size_t n, struct lab_error *err)
{
	if (n == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "a campaign without runs");
	for (size_t i = 0; i < n; i++) {
		if (slots[i].number != i + 1)
			return lab_error_set(err, LAB_ERR_INVALID,
					     "run %zu of the plan is numbered %u", i + 1,
					     slots[i].number);
	}
	return 0;
}

int campaign_create(struct lab *lab, const struct campaign *c, const struct run_slot *slots,
		    size_t n, int64_t *ret_id, struct lab_error *err)
{
	const char *definition;
	int64_t id = 0;
	int rc;

	if (json_object_text(c->definition, "definition of the campaign", &definition, err) < 0 ||
	    check_plan(slots, n, err) < 0 || lab_begin(lab, err) < 0)
		return -1;
	rc = add_campaign(lab, c, definition, &id, err);
	if (rc == 0)
		rc = add_slots(lab, id, slots, n, err);
	if (lab_end(lab, rc, err) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

static struct campaign *from_row(struct db_stmt *st)
{
	struct campaign *c = LAB_NEW(struct campaign);

	c->id = db_col_int(st, 0);
	c->experiment = db_col_text(st, 1);
	c->preset = db_col_text(st, 2);
	c->target = db_col_text(st, 3);
	c->identity = db_col_text(st, 4);
	c->definition = db_col_text(st, 5);
	c->state = db_col_text(st, 6);
	c->seed = (uint64_t)db_col_int(st, 7);
	c->n = (unsigned)db_col_int(st, 8);
	c->emulated = db_col_int(st, 9) != 0;
	c->created = db_col_int(st, 10);
	return c;
}

static int newest(struct lab *lab, const char *identity, const char *state, struct campaign **ret,
		  struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_CAMPAIGN_NEWEST, &st, err) < 0)
		return -1;
	db_text(st, identity);
	db_text(st, state);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	*ret = rc ? from_row(st) : NULL;
	return 0;
}

int campaign_unfinished(struct lab *lab, const char *identity, struct campaign **ret,
			struct lab_error *err)
{
	return newest(lab, identity, CAMPAIGN_UNFINISHED, ret, err);
}

int campaign_newest(struct lab *lab, const char *identity, struct campaign **ret,
		    struct lab_error *err)
{
	return newest(lab, identity, NULL, ret, err);
}

static int not_found(struct lab *lab, int64_t id, struct lab_error *err)
{
	LAB_CLEANUP(campaign) struct campaign *last = NULL;

	if (newest(lab, NULL, NULL, &last, err) < 0)
		return -1;
	if (!last)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no campaign %lld: nothing was run in this lab yet",
				     (long long)id);
	return lab_error_set(err, LAB_ERR_NOT_FOUND,
			     "no campaign %lld; the newest is %lld (labctl list campaigns)",
			     (long long)id, (long long)last->id);
}

int campaign_get(struct lab *lab, int64_t id, struct campaign **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_CAMPAIGN_GET, &st, err) < 0)
		return -1;
	db_int(st, id);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return not_found(lab, id, err);
	*ret = from_row(st);
	return 0;
}

int campaign_list(struct lab *lab, struct campaign_list *ret_list, struct lab_error *err)
{
	LAB_CLEANUP(campaign_list) struct campaign_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_CAMPAIGN_LIST, &st, err) < 0)
		return -1;
	while ((rc = db_step(st, err)) > 0) {
		LAB_GROW(list.items, list.n, list.cap);
		list.items[list.n++] = from_row(st);
	}
	if (rc < 0)
		return -1;
	*ret_list = list;
	list = (struct campaign_list){0};
	return 0;
}

int campaign_set_state(struct lab *lab, int64_t id, const char *state, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (lab_need_write(lab, err) < 0 ||
	    db_prepare(lab->db, SQL_CAMPAIGN_SET_STATE, &st, err) < 0)
		return -1;
	db_text(st, state);
	db_int(st, id);
	if (db_run(st, err) < 0)
		return -1;
	return db_changes(lab->db) ? 0 : not_found(lab, id, err);
}

int campaign_set_emulated(struct lab *lab, int64_t id, bool emulated, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (lab_need_write(lab, err) < 0 ||
	    db_prepare(lab->db, SQL_CAMPAIGN_SET_EMULATED, &st, err) < 0)
		return -1;
	db_int(st, emulated);
	db_int(st, id);
	if (db_run(st, err) < 0)
		return -1;
	return db_changes(lab->db) ? 0 : not_found(lab, id, err);
}

int campaign_progress(struct lab *lab, int64_t campaign, struct campaign_progress *ret,
		      struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_PROGRESS, &st, err) < 0)
		return -1;
	db_int(st, campaign);
	if (db_step(st, err) < 0)
		return -1;
	if (db_col_int(st, 0) == 0)
		return not_found(lab, campaign, err);
	ret->slots = (unsigned)db_col_int(st, 0);
	ret->done = (unsigned)db_col_int(st, 1);
	ret->outcomes = (unsigned)db_col_int(st, 2);
	ret->faults = (unsigned)db_col_int(st, 3);
	ret->planned = (unsigned)db_col_int(st, 4);
	ret->running = (unsigned)db_col_int(st, 5);
	return 0;
}
