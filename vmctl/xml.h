/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_VMCTL_XML_H
#define LAB_VMCTL_XML_H

/* For vmctl/ only: reading libvirt's answers. Writing is in vmctl/domain. */

#include "common/err.h"

struct xml_doc;

/* Never touches the network and expands no entity. */
int xml_parse(const char *text, struct xml_doc **ret, struct lab_error *err) LAB_MUST_CHECK;
void xml_free(struct xml_doc *doc);
LAB_DEFINE_CLEANUP(xml, struct xml_doc, xml_free)

/* String value of the first node that the XPath finds, or NULL; caller frees. */
char *xml_get(const struct xml_doc *doc, const char *xpath);

#endif
