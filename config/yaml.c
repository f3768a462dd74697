/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only file that knows libfyaml: its events become our tree, its diagnostics our errors. */
#include <libfyaml.h>
#include <string.h>

#include "common/mem.h"
#include "config/node.h"

/* Deeper than any definition is, shallow enough for recursion. */
enum { MAX_DEPTH = 32 };

struct reader {
	struct config_doc *doc;
	struct fy_parser *parser;
	struct fy_diag *diag;
	/* Where the last token stood: the place of what has no token of its own. */
	unsigned line, column;
};

static int fail_at(const struct reader *reader, unsigned line, unsigned column,
		   struct lab_error *err, const char *text)
{
	return lab_error_set(err, LAB_ERR_INVALID, "%s:%u:%u: %s", reader->doc->name, line, column,
			     text);
}

/* The library would write to stderr what only cli/ may. */
static void drop_output(struct fy_diag *diag, void *user, const char *text, size_t len)
{
	(void)diag;
	(void)user;
	(void)text;
	(void)len;
}

static int fail_from_diag(struct reader *reader, struct lab_error *err)
{
	const struct fy_diag_error *first;
	void *at = NULL;

	first = fy_diag_errors_iterate(reader->diag, &at);
	if (!first)
		return fail_at(reader, reader->line, reader->column, err, "cannot be read as YAML");
	return fail_at(reader, first->line > 0 ? (unsigned)first->line : reader->line,
		       first->column > 0 ? (unsigned)first->column : reader->column, err,
		       first->msg ? first->msg : "cannot be read as YAML");
}

/* Length of the UTF-8 sequence at p, 0 when it is none (overlong forms, surrogates included). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	unsigned code;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	n = (p[0] & 0xe0) == 0xc0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xf8) == 0xf0 ? 4 : 0;
	if (!n || n > left)
		return 0;
	code = p[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < (n == 2   ? 0x80U
		    : n == 3 ? 0x800U
			     : 0x10000U) ||
	    code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

/* libfyaml takes a byte that is no UTF-8, or a zero byte, for the end of the text. */
static int check_bytes(const struct reader *reader, const char *text, size_t len,
		       struct lab_error *err)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned line = 1, column = 1;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_length(p + i, len - i);

		if (!n)
			return fail_at(reader, line, column, err, "not UTF-8 text");
		if ((p[i] < 0x20 && !strchr("\t\n\r", p[i])) || p[i] == 0 || p[i] == 0x7f)
			return fail_at(reader, line, column, err, "control character");
		column++;
		if (p[i] == '\n') {
			line++;
			column = 1;
		}
		i += n;
	}
	return 0;
}

/* The next event; NULL with err set, or NULL with *ret_end at the end. Caller frees it. */
static struct fy_event *next_event(struct reader *reader, bool *ret_end, struct lab_error *err)
{
	struct fy_event *event = fy_parser_parse(reader->parser);
	const struct fy_mark *mark;

	if (!event) {
		if (fy_parser_get_stream_error(reader->parser))
			fail_from_diag(reader, err);
		else if (ret_end)
			*ret_end = true;
		else
			fail_at(reader, reader->line, reader->column, err, "ends too early");
		return NULL;
	}
	mark = fy_event_start_mark(event);
	if (mark) {
		reader->line = (unsigned)mark->line + 1;
		reader->column = (unsigned)mark->column + 1;
	}
	return event;
}

static struct config_node *read_node(struct reader *reader, struct fy_event *event, int depth,
				     struct lab_error *err);

static struct config_node *read_scalar(struct reader *reader, struct fy_event *event,
				       struct lab_error *err)
{
	struct fy_token *token = fy_event_get_token(event);
	struct config_node *node =
		config_node_new(reader->doc, CONFIG_SCALAR, reader->line, reader->column);
	enum fy_scalar_style style;
	size_t len = 0;
	const char *text = token ? fy_token_get_text(token, &len) : "";

	if (!text)
		text = "";
	if (memchr(text, 0, len)) {
		fail_at(reader, reader->line, reader->column, err, "zero byte in a text");
		return NULL;
	}
	style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
	node->plain = style == FYSS_PLAIN;
	/* The library's mark of a quoted text is behind its quote. */
	if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && node->column > 1)
		node->column--;
	node->text = lab_strndup(text, len);
	return node;
}

static int add_key(struct reader *reader, struct config_node *map, struct config_node *key,
		   struct lab_error *err)
{
	if (key->kind != CONFIG_SCALAR || !*key->text)
		return config_error(key, err, "a key must be a text");
	for (size_t i = 0; i < map->n; i++) {
		if (strcmp(map->keys[i]->text, key->text) == 0)
			return config_error(key, err, "'%s' is given twice, first on line %u",
					    key->text, map->keys[i]->line);
	}
	LAB_GROW(map->keys, map->n, map->keys_cap);
	map->keys[map->n] = key;
	/* What follows without a token (`key:`) stands where its key does. */
	reader->line = key->line;
	reader->column = key->column;
	return 0;
}

static int read_children(struct reader *reader, struct config_node *parent, int depth,
			 struct lab_error *err)
{
	enum fy_event_type end =
		parent->kind == CONFIG_MAPPING ? FYET_MAPPING_END : FYET_SEQUENCE_END;
	struct config_node *key = NULL;

	for (;;) {
		struct fy_event *event = next_event(reader, NULL, err);
		struct config_node *node;

		if (!event)
			return -1;
		if (event->type == end) {
			fy_parser_event_free(reader->parser, event);
			return 0;
		}
		node = read_node(reader, event, depth, err);
		fy_parser_event_free(reader->parser, event);
		if (!node)
			return -1;
		if (parent->kind == CONFIG_MAPPING && !key) {
			if (add_key(reader, parent, node, err) < 0)
				return -1;
			key = node;
			continue;
		}
		key = NULL;
		LAB_GROW(parent->values, parent->n, parent->values_cap);
		parent->values[parent->n++] = node;
	}
}

static struct config_node *read_node(struct reader *reader, struct fy_event *event, int depth,
				     struct lab_error *err)
{
	const char *refused = NULL;
	struct config_node *node;

	if (event->type == FYET_ALIAS || fy_event_get_anchor_token(event))
		refused =
			"anchors and aliases (& and *) are not used here; quote the text if it is one";
	else if (fy_event_get_tag_token(event))
		refused = "tags (!) are not used here; quote the text if it is one";
	else if (depth >= MAX_DEPTH)
		refused = "nested too deeply";
	if (refused) {
		fail_at(reader, reader->line, reader->column, err, refused);
		return NULL;
	}
	if (event->type == FYET_SCALAR)
		return read_scalar(reader, event, err);
	node = config_node_new(reader->doc,
			       event->type == FYET_MAPPING_START ? CONFIG_MAPPING : CONFIG_SEQUENCE,
			       reader->line, reader->column);
	return read_children(reader, node, depth + 1, err) < 0 ? NULL : node;
}

static bool is_content(enum fy_event_type type)
{
	return type == FYET_SCALAR || type == FYET_MAPPING_START || type == FYET_SEQUENCE_START ||
	       type == FYET_ALIAS;
}

static int read_stream(struct reader *reader, struct lab_error *err)
{
	struct config_doc *doc = reader->doc;
	bool end = false;

	for (;;) {
		struct fy_event *event = next_event(reader, &end, err);
		enum fy_event_type type = event ? event->type : FYET_NONE;

		if (!event)
			break;
		/* One that begins without "---" has no mark before its content. */
		if (doc->root && (is_content(type) ||
				  (type == FYET_DOCUMENT_START && fy_event_start_mark(event)))) {
			fail_at(reader, reader->line, reader->column, err,
				"a second document begins; one file holds one");
			fy_parser_event_free(reader->parser, event);
			return -1;
		}
		if (is_content(type))
			doc->root = read_node(reader, event, 0, err);
		fy_parser_event_free(reader->parser, event);
		if (is_content(type) && !doc->root)
			return -1;
	}
	if (!end)
		return -1;
	if (!doc->root || config_is_null(doc->root))
		return lab_error_set(err, LAB_ERR_INVALID, "%s:1:1: there is nothing in this file",
				     doc->name);
	return 0;
}

int config_yaml_read(struct config_doc *doc, const char *text, size_t len, struct lab_error *err)
{
	struct reader reader = {.doc = doc, .line = 1, .column = 1};
	struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG |
					    FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE};
	struct fy_diag_cfg diag_cfg;
	int rc = -1;

	if (check_bytes(&reader, text, len, err) < 0)
		return -1;
	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.fp = NULL;
	diag_cfg.output_fn = drop_output;
	diag_cfg.colorize = false;
	reader.diag = fy_diag_create(&diag_cfg);
	if (reader.diag) {
		fy_diag_set_collect_errors(reader.diag, true);
		cfg.diag = reader.diag;
		reader.parser = fy_parser_create(&cfg);
	}
	if (reader.parser && fy_parser_set_string(reader.parser, text, len) == 0)
		rc = read_stream(&reader, err);
	else
		lab_error_set(err, LAB_ERR_FAILED, "%s: libfyaml does not start", doc->name);
	if (reader.parser)
		fy_parser_destroy(reader.parser);
	if (reader.diag)
		fy_diag_destroy(reader.diag);
	return rc;
}
