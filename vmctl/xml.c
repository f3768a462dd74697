/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/xml.h"

#include <string.h>

#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "common/mem.h"

struct xml_doc {
	xmlDocPtr doc;
	xmlXPathContextPtr context;
};

int xml_parse(const char *text, struct xml_doc **ret, struct lab_error *err)
{
	LAB_CLEANUP(xml) struct xml_doc *doc = LAB_NEW(struct xml_doc);

	doc->doc = xmlReadMemory(text, (int)strlen(text), "libvirt", NULL,
				 XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (!doc->doc)
		return lab_error_set(err, LAB_ERR_INVALID, "libvirt's answer is not XML");
	doc->context = xmlXPathNewContext(doc->doc);
	if (!doc->context)
		return lab_error_set(err, LAB_ERR_FAILED, "libxml2 has no memory");
	*ret = LAB_TAKE(doc);
	return 0;
}

void xml_free(struct xml_doc *doc)
{
	if (!doc)
		return;
	xmlXPathFreeContext(doc->context);
	xmlFreeDoc(doc->doc);
	free(doc);
}

char *xml_get(const struct xml_doc *doc, const char *xpath)
{
	xmlXPathObjectPtr found = xmlXPathEvalExpression(BAD_CAST xpath, doc->context);
	char *value = NULL;

	if (found && found->type == XPATH_NODESET && found->nodesetval &&
	    found->nodesetval->nodeNr) {
		xmlChar *text = xmlXPathCastNodeToString(found->nodesetval->nodeTab[0]);

		value = lab_strdup((const char *)text);
		xmlFree(text);
	}
	xmlXPathFreeObject(found);
	return value;
}
