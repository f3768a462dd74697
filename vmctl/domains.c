/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our domains on a hypervisor: found by their metadata, whoever started them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "vmctl/hypervisor.h"
#include "vmctl/process.h"
#include "vmctl/virt.h"
#include "vmctl/xml.h"

enum { GONE_MS = 15000, POLL_MS = 20 };

struct domain_array {
	virDomainPtr *items;
	int n;
};

static void domain_array_release(struct domain_array *a)
{
	for (int i = 0; i < a->n; i++)
		virDomainFree(a->items[i]);
	free(a->items);
}

static void domain_release(struct hypervisor_domain *d)
{
	free(d->name);
	free(d->lab);
	free(d->run);
}

void hypervisor_domains_release(struct hypervisor_domains *domains)
{
	for (size_t i = 0; i < domains->n; i++)
		domain_release(&domains->items[i]);
	free(domains->items);
	*domains = (struct hypervisor_domains){0};
}

static uint64_t number_or_0(const char *text)
{
	uint64_t value = 0;

	if (text && lab_parse_u64(text, &value, NULL))
		value = 0;
	return value;
}

/* 1: ours, *ret is filled; 0: somebody else's or already gone. */
static int read_domain(virDomainPtr dom, struct hypervisor_domain *ret)
{
	LAB_CLEANUP(xml) struct xml_doc *doc = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	LAB_CLEANUP(free) char *owner = NULL;
	LAB_CLEANUP(free) char *start = NULL;
	struct hypervisor_domain d = {0};
	virDomainInfo info;

	text = virDomainGetMetadata(dom, VIR_DOMAIN_METADATA_ELEMENT, LABCTL_XMLNS, 0);
	if (!text || xml_parse(text, &doc, NULL) || virDomainGetInfo(dom, &info) < 0) {
		virResetLastError();
		return 0;
	}
	d.lab = xml_get(doc, "/*/@lab");
	d.run = xml_get(doc, "/*/@name");
	if (!d.lab || !d.run) {
		domain_release(&d);
		return 0;
	}
	owner = xml_get(doc, "/*/@owner");
	start = xml_get(doc, "/*/@started");
	d.owner = (pid_t)number_or_0(owner);
	d.owner_alive = process_is(d.owner, number_or_0(start));
	d.name = lab_strdup(virDomainGetName(dom));
	d.running = info.state == VIR_DOMAIN_RUNNING || info.state == VIR_DOMAIN_PAUSED;
	d.memory = (uint64_t)info.maxMem * 1024;
	d.vcpus = info.nrVirtCpu;
	*ret = d;
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct hypervisor_domain *)a)->name,
			  ((const struct hypervisor_domain *)b)->name);
}

static int all_domains(struct hypervisor *hv, unsigned flags, struct domain_array *ret,
		       struct lab_error *err)
{
	virConnectPtr conn;

	if (hypervisor_connection(hv, &conn, err))
		return -1;
	ret->n = virConnectListAllDomains(conn, &ret->items, flags);
	if (ret->n < 0)
		return virt_error(err, "list of domains");
	return 0;
}

int hypervisor_list(struct hypervisor *hv, const char *lab, struct hypervisor_domains *ret,
		    struct lab_error *err)
{
	struct domain_array all = {0};
	struct hypervisor_domains found = {0};

	if (all_domains(hv, 0, &all, err))
		return -1;
	found.items = LAB_NEW_ARRAY(struct hypervisor_domain, (size_t)all.n + 1);
	for (int i = 0; i < all.n; i++) {
		struct hypervisor_domain *d = &found.items[found.n];

		if (!read_domain(all.items[i], d))
			continue;
		if (lab && strcmp(d->lab, lab) != 0)
			domain_release(d);
		else
			found.n++;
	}
	domain_array_release(&all);
	qsort(found.items, found.n, sizeof(found.items[0]), by_name);
	*ret = found;
	return 0;
}

int hypervisor_destroy(struct hypervisor *hv, const char *name, struct lab_error *err)
{
	uint64_t deadline = lab_deadline_in(GONE_MS);
	virConnectPtr conn;
	virDomainPtr dom;
	int result = 0;

	if (hypervisor_connection(hv, &conn, err))
		return -1;
	dom = virDomainLookupByName(conn, name);
	if (!dom) {
		virResetLastError();
		return 0;
	}
	/* One that is going by itself refuses, and is gone a moment later. */
	while (virDomainDestroy(dom) < 0 && virDomainIsActive(dom) == 1) {
		if (!lab_deadline_left(deadline)) {
			result = virt_error(err, "destroy %s", name);
			break;
		}
		lab_sleep_ms(POLL_MS);
	}
	virResetLastError();
	virDomainFree(dom);
	return result;
}

int hypervisor_clean(struct hypervisor *hv, const char *lab, bool all, unsigned *ret_n,
		     struct lab_error *err)
{
	LAB_CLEANUP(hypervisor_domains) struct hypervisor_domains found = {0};
	unsigned n = 0;

	if (hypervisor_list(hv, lab, &found, err))
		return -1;
	for (size_t i = 0; i < found.n; i++) {
		if (!all && found.items[i].owner_alive)
			continue;
		if (hypervisor_destroy(hv, found.items[i].name, err))
			return -1;
		n++;
	}
	*ret_n = n;
	return 0;
}
