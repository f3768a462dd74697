/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/schema.h"

#include "common/mem.h"

/*
 * JSON columns are checked in C before they get here: json_valid() in a CHECK would need
 * trusted_schema, which a lab of somebody else does not get.
 */
static const char version_1[] =
	"CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
	"CREATE TABLE facts ("
	" name TEXT NOT NULL, scope TEXT NOT NULL,"
	" value TEXT NOT NULL, created INTEGER NOT NULL,"
	" PRIMARY KEY (name, scope)) STRICT;"
	"CREATE TABLE artifacts ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" kind TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, label TEXT NOT NULL,"
	" manifest TEXT NOT NULL,"
	" created INTEGER NOT NULL, bytes INTEGER NOT NULL,"
	" UNIQUE (kind, key)) STRICT;"
	"CREATE TABLE sources ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
	" kind TEXT NOT NULL, url TEXT NOT NULL, reference TEXT, base_branch TEXT,"
	" created INTEGER NOT NULL) STRICT;"
	"CREATE TABLE patchsets ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" source TEXT NOT NULL, spec TEXT NOT NULL, base TEXT NOT NULL, base_name TEXT NOT NULL,"
	" base_how TEXT NOT NULL, head TEXT NOT NULL, commits INTEGER NOT NULL,"
	" subjects TEXT NOT NULL,"
	" kernel_a TEXT NOT NULL, kernel_b TEXT NOT NULL, created INTEGER NOT NULL,"
	/* Which was asked for last: seconds are too coarse to tell. */
	" turn INTEGER NOT NULL UNIQUE,"
	" UNIQUE (source, spec, base, head, kernel_a, kernel_b)) STRICT;"
	"CREATE TABLE campaigns ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" experiment TEXT NOT NULL, preset TEXT NOT NULL, target TEXT NOT NULL,"
	" identity TEXT NOT NULL, definition TEXT NOT NULL,"
	" state TEXT NOT NULL CHECK (state IN ('unfinished', 'complete', 'abandoned')),"
	" seed INTEGER NOT NULL, n INTEGER NOT NULL, emulated INTEGER NOT NULL,"
	" created INTEGER NOT NULL) STRICT;"
	"CREATE INDEX campaigns_identity ON campaigns (identity);"
	"CREATE TABLE slots ("
	" campaign INTEGER NOT NULL REFERENCES campaigns (id),"
	" number INTEGER NOT NULL CHECK (number > 0),"
	" variant TEXT NOT NULL, cell TEXT NOT NULL, repetition INTEGER NOT NULL,"
	" seed INTEGER NOT NULL,"
	" PRIMARY KEY (campaign, number),"
	" UNIQUE (campaign, variant, cell, repetition)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE runs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" campaign INTEGER NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL,"
	" state TEXT NOT NULL CHECK (state IN ('running', 'done', 'panic', 'oops', 'oom', 'hang',"
	"  'stalled', 'workload', 'lost', 'io-error', 'host-timeout', 'cancelled')),"
	" message TEXT NOT NULL,"
	" facts TEXT NOT NULL,"
	" fingerprint TEXT NOT NULL,"
	" started INTEGER NOT NULL, ended INTEGER NOT NULL,"
	" UNIQUE (campaign, number, attempt),"
	" FOREIGN KEY (campaign, number) REFERENCES slots (campaign, number)) STRICT;"
	/* One attempt at a time: two owners of one slot cannot be stored. */
	"CREATE UNIQUE INDEX runs_running ON runs (campaign, number) WHERE state = 'running';"
	/* All values of one metric of one run in one blob: a series is thousands of them. */
	"CREATE TABLE run_values ("
	" run INTEGER NOT NULL REFERENCES runs (id), seq INTEGER NOT NULL,"
	" metric TEXT NOT NULL, data BLOB NOT NULL, times BLOB,"
	" PRIMARY KEY (run, seq), UNIQUE (run, metric)) STRICT;";

static const struct db_migration migrations[] = {
	{1, version_1},
};

const struct db_migration *schema_migrations(size_t *ret_n)
{
	*ret_n = LAB_COUNT(migrations);
	return migrations;
}
