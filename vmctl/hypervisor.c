/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/hypervisor.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/strv.h"
#include "vmctl/probe.h"
#include "vmctl/virt.h"
#include "vmctl/xml.h"

enum { FORGET_MS = 10000, POLL_MS = 20 };

struct hypervisor {
	char *uri;
	virConnectPtr conn;
	bool have_info;
	struct hypervisor_info info;
	char *emulator, *qemu, *machine, *user;
	struct lab_strv leaving; /* names of domains that libvirt is about to forget */
};

const char *hypervisor_default_uri(void)
{
	return geteuid() == 0 ? "qemu:///system" : "qemu:///session";
}

static int connect_to(struct hypervisor *hv, struct lab_error *err)
{
	hv->conn = virConnectOpen(hv->uri);
	if (!hv->conn)
		return virt_error(err, "%s", hv->uri);
	return 0;
}

int hypervisor_open(const char *uri, struct hypervisor **ret, struct lab_error *err)
{
	LAB_CLEANUP(hypervisor) struct hypervisor *hv = LAB_NEW(struct hypervisor);

	if (virt_setup(err))
		return -1;
	hv->uri = lab_strdup(uri ? uri : hypervisor_default_uri());
	if (connect_to(hv, err))
		return -1;
	*ret = LAB_TAKE(hv);
	return 0;
}

static bool domain_exists(struct hypervisor *hv, const char *name)
{
	virDomainPtr dom = virDomainLookupByName(hv->conn, name);

	if (!dom) {
		virResetLastError();
		return false;
	}
	virDomainFree(dom);
	return true;
}

void hypervisor_await_forgotten(struct hypervisor *hv, const char *name)
{
	uint64_t deadline = lab_deadline_in(FORGET_MS);

	if (!lab_strv_has(&hv->leaving, name))
		return;
	while (domain_exists(hv, name) && lab_deadline_left(deadline))
		lab_sleep_ms(POLL_MS);
}

void hypervisor_free(struct hypervisor *hv)
{
	if (!hv)
		return;
	for (size_t i = 0; hv->conn && i < hv->leaving.n; i++)
		hypervisor_await_forgotten(hv, hv->leaving.items[i]);
	if (hv->conn)
		virConnectClose(hv->conn);
	lab_strv_release(&hv->leaving);
	free(hv->uri);
	free(hv->emulator);
	free(hv->qemu);
	free(hv->machine);
	free(hv->user);
	free(hv);
}

int hypervisor_connection(struct hypervisor *hv, virConnectPtr *ret, struct lab_error *err)
{
	if (hv->conn && virConnectIsAlive(hv->conn) != 1) {
		virResetLastError();
		virConnectClose(hv->conn);
		hv->conn = NULL;
	}
	if (!hv->conn && connect_to(hv, err))
		return -1;
	*ret = hv->conn;
	return 0;
}

/* Looking now whether it is gone would wait for it: libvirt holds the domain's lock. */
void hypervisor_forget_later(struct hypervisor *hv, const char *name)
{
	if (!lab_strv_has(&hv->leaving, name))
		lab_strv_add(&hv->leaving, name);
}

/* ---- what is on the other side ----------------------------------------------- */

/* "+64055:+64055" */
static int parse_label(const char *label, uid_t *ret_uid, gid_t *ret_gid, struct lab_error *err)
{
	LAB_CLEANUP(strv) struct lab_strv parts = LAB_STRV_INIT;
	uint64_t uid, gid;

	lab_strv_split(&parts, label, "+:");
	if (parts.n != 2 || lab_parse_u64(parts.items[0], &uid, NULL) ||
	    lab_parse_u64(parts.items[1], &gid, NULL) || uid >= UINT32_MAX || gid >= UINT32_MAX)
		return lab_error_set(err, LAB_ERR_INVALID,
				     "libvirt's DAC label '%s' is not UID:GID", label);
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return 0;
}

/* Under qemu:///system the label tells; without one QEMU stays what the daemon is: root. */
static int ask_user(struct hypervisor *hv, struct lab_error *err)
{
	LAB_CLEANUP(xml) struct xml_doc *doc = NULL;
	LAB_CLEANUP(free) char *text = virConnectGetCapabilities(hv->conn);
	LAB_CLEANUP(free) char *label = NULL;
	struct passwd *pw;

	if (!text)
		return virt_error(err, "%s: capabilities", hv->uri);
	if (xml_parse(text, &doc, err))
		return -1;
	label = xml_get(doc, "/capabilities/host/secmodel[model='dac']/baselabel[@type='qemu']");
	hv->info.system = lab_ends_with(hv->uri, "/system");
	hv->info.uid = hv->info.system ? 0 : geteuid();
	hv->info.gid = hv->info.system ? 0 : getegid();
	if (label && parse_label(label, &hv->info.uid, &hv->info.gid, err))
		return -1;
	pw = getpwuid(hv->info.uid);
	hv->user = pw ? lab_strdup(pw->pw_name) : lab_asprintf("%u", hv->info.uid);
	return 0;
}

static int ask_emulator(struct hypervisor *hv, struct lab_error *err)
{
	LAB_CLEANUP(xml) struct xml_doc *doc = NULL;
	LAB_CLEANUP(free) char *text = NULL;
	LAB_CLEANUP(free) char *kvm = NULL;

	if (strcmp(virConnectGetType(hv->conn), "QEMU") != 0)
		return 0;
	text = virConnectGetDomainCapabilities(hv->conn, NULL, "x86_64", "q35", "qemu", 0);
	if (!text)
		return virt_error(err, "%s: what QEMU can do", hv->uri);
	if (xml_parse(text, &doc, err))
		return -1;
	hv->emulator = xml_get(doc, "/domainCapabilities/path");
	hv->machine = xml_get(doc, "/domainCapabilities/machine");
	kvm = virConnectGetDomainCapabilities(hv->conn, NULL, "x86_64", "q35", "kvm", 0);
	hv->info.kvm = kvm != NULL;
	virResetLastError();
	if (!hv->emulator || !hv->machine)
		return lab_error_set(err, LAB_ERR_UNAVAILABLE,
				     "%s: no QEMU for x86_64; apt-get install qemu-system-x86",
				     hv->uri);
	return qemu_build(hv->emulator, &hv->qemu, err);
}

int hypervisor_info(struct hypervisor *hv, const struct hypervisor_info **ret,
		    struct lab_error *err)
{
	virConnectPtr conn;

	if (!hv->have_info) {
		if (hypervisor_connection(hv, &conn, err) || ask_user(hv, err) ||
		    ask_emulator(hv, err))
			return -1;
		if (virConnectGetLibVersion(conn, &hv->info.libvirt) < 0)
			return virt_error(err, "%s: version", hv->uri);
		hv->info.uri = hv->uri;
		hv->info.emulator = hv->emulator;
		hv->info.qemu = hv->qemu;
		hv->info.machine = hv->machine;
		hv->info.user = hv->user;
		hv->have_info = true;
	}
	*ret = &hv->info;
	return 0;
}
