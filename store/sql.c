/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sql.h"

#define ARTIFACT "SELECT id, kind, key, content, label, manifest, created, bytes FROM artifacts "
#define SOURCE "SELECT id, name, kind, url, reference, base_branch, created FROM sources "
#define PATCHSET                                                                                 \
	"SELECT id, source, spec, base, base_name, base_how, head, commits, subjects, kernel_a," \
	" kernel_b, created FROM patchsets "
#define CAMPAIGN                                                                                 \
	"SELECT id, experiment, preset, target, identity, definition, state, seed, n, emulated," \
	" created FROM campaigns "
#define RUN_COLUMNS                                                                              \
	"SELECT r.id, s.campaign, s.number, r.attempt, s.variant, s.cell, s.repetition, s.seed," \
	" r.state, r.message, r.facts, r.fingerprint, r.started, r.ended FROM slots s "
/* Slots with their newest attempt; the columns of r are NULL where there is none. */
#define RUN_NEWEST                                                                        \
	RUN_COLUMNS "LEFT JOIN runs r ON r.campaign = s.campaign AND r.number = s.number" \
		    " AND r.attempt = (SELECT max(attempt) FROM runs"                     \
		    " WHERE campaign = s.campaign AND number = s.number) "
#define RUN_ATTEMPTS RUN_COLUMNS "JOIN runs r ON r.campaign = s.campaign AND r.number = s.number "
/* The names of store/state.h. */
#define FAULTS "('lost', 'io-error', 'host-timeout', 'cancelled')"
#define OUTCOMES "('done', 'panic', 'oops', 'oom', 'hang', 'stalled', 'workload')"
#define LOSE                                                                                \
	"UPDATE runs SET state = 'lost', message = 'labctl ended while it ran', ended = ?1" \
	" WHERE state = 'running'"

static const char *const texts[SQL_COUNT] = {
	[SQL_FOREIGN_TABLES] =
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
		" AND name NOT LIKE 'sqlite_%' AND name NOT IN ('meta', 'facts', 'artifacts',"
		" 'sources', 'patchsets', 'campaigns', 'slots', 'runs', 'run_values')",
	[SQL_META_GET] = "SELECT value FROM meta WHERE name = ?",
	[SQL_META_PUT] = "INSERT INTO meta (name, value) VALUES (?, ?)"
			 " ON CONFLICT (name) DO UPDATE SET value = excluded.value",

	[SQL_FACT_GET] = "SELECT value FROM facts WHERE name = ? AND scope = ?",
	[SQL_FACT_PUT] = "INSERT INTO facts (name, scope, value, created) VALUES (?, ?, ?, ?)"
			 " ON CONFLICT (name, scope) DO UPDATE"
			 " SET value = excluded.value, created = excluded.created",

	[SQL_ARTIFACT_FIND] = ARTIFACT "WHERE kind = ? AND key = ?",
	[SQL_ARTIFACT_RESOLVE] =
		ARTIFACT "WHERE (?1 IS NULL OR kind = ?1) AND (label = ?2"
			 " OR (length(?2) >= 4 AND substr(key, 1, length(?2)) = ?2)) ORDER BY id",
	[SQL_ARTIFACT_LIST] = ARTIFACT "WHERE ?1 IS NULL OR kind = ?1 ORDER BY id",
	[SQL_ARTIFACT_ADD] =
		"INSERT INTO artifacts (kind, key, content, label, manifest, created, bytes)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)",
	[SQL_ARTIFACT_REMOVE] = "DELETE FROM artifacts WHERE id = ?",

	[SQL_SOURCE_ADD] = "INSERT INTO sources (name, kind, url, reference, base_branch, created)"
			   " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
	[SQL_SOURCE_UPDATE] =
		"UPDATE sources SET url = ?, reference = ?, base_branch = ? WHERE name = ?",
	[SQL_SOURCE_FIND] = SOURCE "WHERE name = ?",
	[SQL_SOURCE_LIST] = SOURCE "ORDER BY name",
	[SQL_SOURCE_REMOVE] = "DELETE FROM sources WHERE name = ?",

	[SQL_PATCHSET_ADD] =
		"INSERT INTO patchsets (source, spec, base, base_name, base_how, head, commits,"
		" subjects, kernel_a, kernel_b, created, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, (SELECT coalesce(max(turn), 0) + 1 FROM patchsets))"
		" ON CONFLICT (source, spec, base, head, kernel_a, kernel_b) DO UPDATE SET"
		" base_name = excluded.base_name, base_how = excluded.base_how,"
		" commits = excluded.commits, subjects = excluded.subjects,"
		" created = excluded.created, turn = excluded.turn",
	[SQL_PATCHSET_NEWEST_ID] = "SELECT id FROM patchsets ORDER BY turn DESC LIMIT 1",
	[SQL_PATCHSET_LATEST] = PATCHSET "ORDER BY turn DESC LIMIT 1",
	[SQL_PATCHSET_FIND] = PATCHSET "WHERE spec = ?1 OR CAST(id AS TEXT) = ?1"
				       " OR (length(?1) >= 7 AND substr(head, 1, length(?1)) = ?1)"
				       " ORDER BY spec = ?1 DESC, turn DESC LIMIT 1",
	[SQL_PATCHSET_LIST] = PATCHSET "ORDER BY turn",

	[SQL_CAMPAIGN_ADD] =
		"INSERT INTO campaigns (experiment, preset, target, identity, definition, state,"
		" seed, n, emulated, created) VALUES (?, ?, ?, ?, ?, 'unfinished', ?, ?, ?, ?)",
	[SQL_CAMPAIGN_GET] = CAMPAIGN "WHERE id = ?",
	[SQL_CAMPAIGN_LIST] = CAMPAIGN "ORDER BY id",
	[SQL_CAMPAIGN_NEWEST] = CAMPAIGN "WHERE (?1 IS NULL OR identity = ?1)"
					 " AND (?2 IS NULL OR state = ?2) ORDER BY id DESC LIMIT 1",
	[SQL_CAMPAIGN_SET_STATE] = "UPDATE campaigns SET state = ? WHERE id = ?",
	[SQL_CAMPAIGN_SET_EMULATED] = "UPDATE campaigns SET emulated = ? WHERE id = ?",
	/* An abandoned campaign stays so, even when its last run comes in. */
	[SQL_CAMPAIGN_COMPLETE] =
		"UPDATE campaigns SET state = 'complete' WHERE id = ?1 AND state = 'unfinished'"
		" AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.campaign = ?1 AND NOT EXISTS"
		" (SELECT 1 FROM runs r WHERE r.campaign = ?1 AND r.number = s.number"
		" AND r.state IN " OUTCOMES "))",

	[SQL_SLOT_ADD] = "INSERT INTO slots (campaign, number, variant, cell, repetition, seed)"
			 " VALUES (?, ?, ?, ?, ?, ?)",
	[SQL_RUN_NEXT] = RUN_NEWEST "WHERE s.campaign = ? AND s.number > ?"
				    " AND (r.id IS NULL OR r.state IN " FAULTS ")"
				    " ORDER BY s.number LIMIT 1",
	[SQL_RUN_LOSE] = LOSE " AND campaign = ?2",
	[SQL_RUN_LOSE_ALL] = LOSE,
	[SQL_RUN_ADD] =
		"INSERT INTO runs (campaign, number, attempt, state, message, facts, fingerprint,"
		" started, ended) VALUES (?, ?, ?, 'running', '', '{}', '{}', ?, 0)",
	[SQL_RUN_FINISH] = "UPDATE runs SET state = ?, message = ?, facts = ?, fingerprint = ?,"
			   " ended = ? WHERE id = ? AND state = 'running'",
	[SQL_RUN_STATE] = "SELECT campaign, state FROM runs WHERE id = ?",
	[SQL_RUN_LIST] = RUN_ATTEMPTS "WHERE s.campaign = ? ORDER BY s.number, r.attempt",
	[SQL_RUN_LIST_NEWEST] = RUN_NEWEST "WHERE s.campaign = ? ORDER BY s.number",
	[SQL_RUN_GET] = RUN_COLUMNS
	"LEFT JOIN runs r ON r.campaign = s.campaign AND r.number = s.number"
	" WHERE s.campaign = ?1 AND s.number = ?2 AND (?3 = 0 OR r.attempt = ?3)"
	" ORDER BY r.attempt DESC LIMIT 1",
	[SQL_RUN_EXISTS] = "SELECT 1 FROM runs WHERE campaign = ? AND number = ? AND attempt = ?",

	[SQL_VALUES_ADD] =
		"INSERT INTO run_values (run, seq, metric, data, times) VALUES (?, ?, ?, ?, ?)",
	[SQL_VALUES_GET] = "SELECT metric, data, times FROM run_values WHERE run = ? ORDER BY seq",
	[SQL_VALUES_GET_METRIC] =
		"SELECT metric, data, times FROM run_values WHERE run = ? AND metric = ?",

	[SQL_PROGRESS] =
		"SELECT count(*), count(*) FILTER (WHERE r.state = 'done'),"
		" count(*) FILTER (WHERE r.state IN " OUTCOMES " AND r.state <> 'done'),"
		" count(*) FILTER (WHERE r.state IN " FAULTS "),"
		" count(*) FILTER (WHERE r.state IS NULL),"
		" count(*) FILTER (WHERE r.state = 'running')"
		" FROM slots s LEFT JOIN runs r ON r.campaign = s.campaign AND r.number = s.number"
		" AND r.attempt = (SELECT max(attempt) FROM runs"
		" WHERE campaign = s.campaign AND number = s.number) WHERE s.campaign = ?",
};

const char *sql_text(enum sql_id id)
{
	return texts[id];
}
