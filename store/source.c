/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/source.h"

#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/strv.h"
#include "store/internal.h"

void source_free(struct source *s)
{
	if (!s)
		return;
	free(s->name);
	free(s->kind);
	free(s->url);
	free(s->reference);
	free(s->base_branch);
	free(s);
}

void source_list_release(struct source_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		source_free(list->items[i]);
	free(list->items);
	*list = (struct source_list){0};
}

/* A source's name is also a directory's. */
static int check_name(const char *name, struct lab_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (!*name || strchr("._-", name[0]) || strspn(name, allowed) != strlen(name) ||
	    strlen(name) > 64)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "'%s' is no name for a source: letters, digits, '.', '_' and "
				     "'-', a letter or digit first",
				     name);
	return 0;
}

int source_add(struct lab *lab, const struct source *s, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (lab_need_write(lab, err) < 0 || check_name(s->name, err) < 0 ||
	    db_prepare(lab->db, SQL_SOURCE_ADD, &st, err) < 0)
		return -1;
	db_text(st, s->name);
	db_text(st, s->kind);
	db_text(st, s->url);
	db_text(st, s->reference);
	db_text(st, s->base_branch);
	db_int(st, lab_unix_time());
	if (db_run(st, err) < 0)
		return -1;
	if (db_changes(lab->db) == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "there is a source '%s' already",
				     s->name);
	return 0;
}

static int not_found(struct lab *lab, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(source_list) struct source_list list = {0};
	LAB_CLEANUP(strv) struct lab_strv names = LAB_STRV_INIT;
	LAB_CLEANUP(free) char *joined = NULL;

	if (source_list(lab, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++)
		lab_strv_add(&names, list.items[i]->name);
	joined = lab_strv_join(&names, ", ");
	if (!list.n)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no source '%s'; there is none yet: labctl source add", name);
	return lab_error_set(err, LAB_ERR_NOT_FOUND, "no source '%s'; there is: %s", name, joined);
}

int source_update(struct lab *lab, const struct source *s, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (lab_need_write(lab, err) < 0 || db_prepare(lab->db, SQL_SOURCE_UPDATE, &st, err) < 0)
		return -1;
	db_text(st, s->url);
	db_text(st, s->reference);
	db_text(st, s->base_branch);
	db_text(st, s->name);
	if (db_run(st, err) < 0)
		return -1;
	return db_changes(lab->db) ? 0 : not_found(lab, s->name, err);
}

static struct source *from_row(struct db_stmt *st)
{
	struct source *s = LAB_NEW(struct source);

	s->id = db_col_int(st, 0);
	s->name = db_col_text(st, 1);
	s->kind = db_col_text(st, 2);
	s->url = db_col_text(st, 3);
	s->reference = db_col_text(st, 4);
	s->base_branch = db_col_text(st, 5);
	s->created = db_col_int(st, 6);
	return s;
}

int source_find(struct lab *lab, const char *name, struct source **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_SOURCE_FIND, &st, err) < 0)
		return -1;
	db_text(st, name);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return not_found(lab, name, err);
	*ret = from_row(st);
	return 0;
}

int source_list(struct lab *lab, struct source_list *ret_list, struct lab_error *err)
{
	LAB_CLEANUP(source_list) struct source_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_SOURCE_LIST, &st, err) < 0)
		return -1;
	while ((rc = db_step(st, err)) > 0) {
		LAB_GROW(list.items, list.n, list.cap);
		list.items[list.n++] = from_row(st);
	}
	if (rc < 0)
		return -1;
	*ret_list = list;
	list = (struct source_list){0};
	return 0;
}

int source_remove(struct lab *lab, const char *name, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (lab_need_write(lab, err) < 0 || db_prepare(lab->db, SQL_SOURCE_REMOVE, &st, err) < 0)
		return -1;
	db_text(st, name);
	if (db_run(st, err) < 0)
		return -1;
	return db_changes(lab->db) ? 0 : not_found(lab, name, err);
}
