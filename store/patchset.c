/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/patchset.h"

#include <jansson.h>

#include "common/clock.h"
#include "common/mem.h"
#include "store/internal.h"

void patchset_free(struct patchset *p)
{
	if (!p)
		return;
	free(p->source);
	free(p->spec);
	free(p->base);
	free(p->base_name);
	free(p->base_how);
	free(p->head);
	free(p->subjects);
	free(p->kernel_a);
	free(p->kernel_b);
	free(p);
}

void patchset_list_release(struct patchset_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		patchset_free(list->items[i]);
	free(list->items);
	*list = (struct patchset_list){0};
}

static int check_subjects(const char *subjects, struct lab_error *err)
{
	json_error_t why;
	json_t *root = json_loads(subjects, 0, &why);
	bool array = json_is_array(root);

	json_decref(root);
	if (!array)
		return lab_error_set(err, LAB_ERR_INVALID, "subjects of a patchset: no JSON array");
	return 0;
}

static int add(struct lab *lab, const struct patchset *p, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_PATCHSET_ADD, &st, err) < 0)
		return -1;
	db_text(st, p->source);
	db_text(st, p->spec);
	db_text(st, p->base);
	db_text(st, p->base_name);
	db_text(st, p->base_how);
	db_text(st, p->head);
	db_int(st, p->commits);
	db_text(st, p->subjects ? p->subjects : "[]");
	db_text(st, p->kernel_a);
	db_text(st, p->kernel_b);
	db_int(st, lab_unix_time());
	return db_run(st, err);
}

/* The row that add() has just made or renewed has the highest turn. */
static int newest_id(struct lab *lab, int64_t *ret_id, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;

	if (db_prepare(lab->db, SQL_PATCHSET_NEWEST_ID, &st, err) < 0 || db_step(st, err) < 0)
		return -1;
	*ret_id = db_col_int(st, 0);
	return 0;
}

int patchset_put(struct lab *lab, const struct patchset *p, int64_t *ret_id, struct lab_error *err)
{
	int64_t id = 0;
	int rc;

	if ((p->subjects && check_subjects(p->subjects, err) < 0) || lab_begin(lab, err) < 0)
		return -1;
	rc = add(lab, p, err);
	if (rc == 0)
		rc = newest_id(lab, &id, err);
	if (lab_end(lab, rc, err) < 0)
		return -1;
	if (ret_id)
		*ret_id = id;
	return 0;
}

static struct patchset *from_row(struct db_stmt *st)
{
	struct patchset *p = LAB_NEW(struct patchset);

	p->id = db_col_int(st, 0);
	p->source = db_col_text(st, 1);
	p->spec = db_col_text(st, 2);
	p->base = db_col_text(st, 3);
	p->base_name = db_col_text(st, 4);
	p->base_how = db_col_text(st, 5);
	p->head = db_col_text(st, 6);
	p->commits = (int)db_col_int(st, 7);
	p->subjects = db_col_text(st, 8);
	p->kernel_a = db_col_text(st, 9);
	p->kernel_b = db_col_text(st, 10);
	p->created = db_col_int(st, 11);
	return p;
}

int patchset_latest(struct lab *lab, struct patchset **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_PATCHSET_LATEST, &st, err) < 0)
		return -1;
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "no patchset was built in this lab yet: labctl build REF");
	*ret = from_row(st);
	return 0;
}

int patchset_find(struct lab *lab, const char *what, struct patchset **ret, struct lab_error *err)
{
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_PATCHSET_FIND, &st, err) < 0)
		return -1;
	db_text(st, what);
	rc = db_step(st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return lab_error_set(err, LAB_ERR_NOT_FOUND,
				     "patchset '%s' was not built in this lab: labctl build %s",
				     what, what);
	*ret = from_row(st);
	return 0;
}

int patchset_list(struct lab *lab, struct patchset_list *ret_list, struct lab_error *err)
{
	LAB_CLEANUP(patchset_list) struct patchset_list list = {0};
	LAB_CLEANUP(db_stmt) struct db_stmt *st = NULL;
	int rc;

	if (db_prepare(lab->db, SQL_PATCHSET_LIST, &st, err) < 0)
		return -1;
	while ((rc = db_step(st, err)) > 0) {
		LAB_GROW(list.items, list.n, list.cap);
		list.items[list.n++] = from_row(st);
	}
	if (rc < 0)
		return -1;
	*ret_list = list;
	list = (struct patchset_list){0};
	return 0;
}
