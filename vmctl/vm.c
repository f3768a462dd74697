/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/vm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libvirt/libvirt-qemu.h>

#include "common/mem.h"
#include "vmctl/hypervisor.h"
#include "vmctl/virt.h"
#include "vmctl/xml.h"

enum { LIFECYCLE, IO_ERROR, N_EVENTS, DYING_MS = 5000 };

/*
 * Shared with libvirt's event thread, which may still be inside a callback when the
 * machine goes: whoever lets go last frees it.
 */
struct watch {
	pthread_mutex_t lock;
	unsigned refs;
	int wake;
	bool ended;
	enum machine_stop stop;
	char text[200];
};

struct vm {
	struct hypervisor *hv;
	virConnectPtr conn;
	virDomainPtr dom;
	char *name;
	struct watch *watch;
	int events[N_EVENTS]; /* callback ids, -1: none */
	int shutdown_event;
	bool close_event;
	int process; /* pidfd of QEMU, -1: not known */
};

/* ---- what the event thread does ------------------------------------------------- */

static struct watch *watch_ref(struct watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->refs++;
	pthread_mutex_unlock(&w->lock);
	return w;
}

static void watch_unref(void *opaque)
{
	struct watch *w = opaque;
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->refs == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&w->lock);
	close(w->wake);
	free(w);
}

/* The first reason stands: what follows is libvirt tidying up. */
static void ended(struct watch *w, enum machine_stop stop, const char *text)
{
	pthread_mutex_lock(&w->lock);
	if (!w->ended) {
		w->ended = true;
		w->stop = stop;
		snprintf(w->text, sizeof(w->text), "%s", text);
		(void)!eventfd_write(w->wake, 1);
	}
	pthread_mutex_unlock(&w->lock);
}

enum machine_stop vm_stop_of_shutdown(const char *details, char *text, size_t size)
{
	json_t *root = details ? json_loads(details, 0, NULL) : NULL;
	const char *reason = json_string_value(json_object_get(root, "reason"));
	enum machine_stop stop = MACHINE_LOST;

	if (!reason || !strcmp(reason, "guest-shutdown")) {
		stop = MACHINE_SHUTDOWN;
		snprintf(text, size, "the guest powered off");
	} else if (!strcmp(reason, "guest-reset")) {
		stop = MACHINE_REBOOT;
		snprintf(text, size, "the guest reset itself");
	} else if (!strcmp(reason, "guest-panic")) {
		stop = MACHINE_CRASHED;
		snprintf(text, size, "the guest panicked");
	} else {
		snprintf(text, size, "QEMU was told to end (%s)", reason);
	}
	json_decref(root);
	return stop;
}

static void on_shutdown(virConnectPtr conn, virDomainPtr dom, const char *event, long long seconds,
			unsigned int micros, const char *details, void *opaque)
{
	char text[200];
	enum machine_stop stop = vm_stop_of_shutdown(details, text, sizeof(text));

	(void)conn, (void)dom, (void)event, (void)seconds, (void)micros;
	ended(opaque, stop, text);
}

static void stopped(struct watch *w, int detail)
{
	switch (detail) {
	case VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN:
		ended(w, MACHINE_SHUTDOWN, "the guest powered off");
		break;
	case VIR_DOMAIN_EVENT_STOPPED_CRASHED:
		ended(w, MACHINE_CRASHED, "the guest panicked");
		break;
	case VIR_DOMAIN_EVENT_STOPPED_DESTROYED:
		ended(w, MACHINE_LOST, "somebody destroyed the domain");
		break;
	default:
		ended(w, MACHINE_LOST, "QEMU went away (killed, or it failed)");
	}
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event, int detail, void *opaque)
{
	(void)conn, (void)dom;
	if (event == VIR_DOMAIN_EVENT_CRASHED)
		ended(opaque, MACHINE_CRASHED, "the guest panicked");
	else if (event == VIR_DOMAIN_EVENT_STOPPED)
		stopped(opaque, detail);
	return 0;
}

static void on_io_error(virConnectPtr conn, virDomainPtr dom, const char *path, const char *alias,
			int action, const char *reason, void *opaque)
{
	char text[200];

	(void)conn, (void)dom;
	if (action != VIR_DOMAIN_EVENT_IO_ERROR_PAUSE)
		return;
	snprintf(text, sizeof(text), "I/O error on %s%s%s",
		 path && *path ? path : (alias ? alias : "a drive"), reason && *reason ? ": " : "",
		 reason ? reason : "");
	ended(opaque, MACHINE_IO_ERROR, text);
}

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
	(void)conn, (void)reason;
	ended(opaque, MACHINE_LOST, "the connection to libvirtd broke");
}

/* ---- life ----------------------------------------------------------------------- */

static int watch_new(struct watch **ret, struct lab_error *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct watch *w;

	if (fd < 0)
		return lab_error_errno(err, errno, "eventfd");
	w = LAB_NEW(struct watch);
	pthread_mutex_init(&w->lock, NULL);
	w->refs = 1;
	w->wake = fd;
	*ret = w;
	return 0;
}

static int listen_to(struct vm *vm, int slot, int id, void *callback, struct lab_error *err)
{
	vm->events[slot] = virConnectDomainEventRegisterAny(vm->conn, vm->dom, id,
							    VIR_DOMAIN_EVENT_CALLBACK(callback),
							    watch_ref(vm->watch), watch_unref);
	if (vm->events[slot] >= 0)
		return 0;
	watch_unref(vm->watch);
	return virt_error(err, "events of %s", vm->name);
}

static int listen_all(struct vm *vm, struct lab_error *err)
{
	if (listen_to(vm, LIFECYCLE, VIR_DOMAIN_EVENT_ID_LIFECYCLE, on_lifecycle, err) ||
	    listen_to(vm, IO_ERROR, VIR_DOMAIN_EVENT_ID_IO_ERROR_REASON, on_io_error, err))
		return -1;
	/* Tells a reset from a power-off, which libvirt's own events do not. */
	vm->shutdown_event = virConnectDomainQemuMonitorEventRegister(
		vm->conn, vm->dom, "SHUTDOWN", on_shutdown, watch_ref(vm->watch), watch_unref, 0);
	if (vm->shutdown_event < 0) {
		watch_unref(vm->watch);
		return virt_error(err, "QEMU's events of %s", vm->name);
	}
	/* One to a connection: a second machine on it notices by its channel. */
	vm->close_event = virConnectRegisterCloseCallback(vm->conn, on_close, watch_ref(vm->watch),
							  watch_unref) == 0;
	if (!vm->close_event) {
		watch_unref(vm->watch);
		virResetLastError();
	}
	return 0;
}

int vm_create(struct hypervisor *hv, const char *name, const char *xml, struct vm **ret,
	      struct lab_error *err)
{
	LAB_CLEANUP(vm) struct vm *vm = LAB_NEW(struct vm);

	vm->hv = hv;
	vm->name = lab_strdup(name);
	vm->process = vm->shutdown_event = -1;
	for (int i = 0; i < N_EVENTS; i++)
		vm->events[i] = -1;
	if (watch_new(&vm->watch, err) || hypervisor_connection(hv, &vm->conn, err))
		return -1;
	if (virConnectRef(vm->conn) < 0) {
		vm->conn = NULL;
		return virt_error(err, "connection");
	}
	hypervisor_await_forgotten(hv, name);
	vm->dom = virDomainCreateXML(vm->conn, xml,
				     VIR_DOMAIN_START_PAUSED | VIR_DOMAIN_START_AUTODESTROY);
	if (!vm->dom)
		return virt_error(err, "start of %s", name);
	if (listen_all(vm, err))
		return -1;
	*ret = LAB_TAKE(vm);
	return 0;
}

int vm_resume(struct vm *vm, struct lab_error *err)
{
	if (virDomainResume(vm->dom) < 0)
		return virt_error(err, "start of %s", vm->name);
	return 0;
}

int vm_channel_path(struct vm *vm, char **ret, struct lab_error *err)
{
	LAB_CLEANUP(xml) struct xml_doc *doc = NULL;
	LAB_CLEANUP(free) char *text = virDomainGetXMLDesc(vm->dom, 0);
	char *path;

	if (!text)
		return virt_error(err, "description of %s", vm->name);
	if (xml_parse(text, &doc, err))
		return -1;
	path = xml_get(doc, "/domain/devices/channel[@type='unix']/source/@path");
	if (!path)
		return lab_error_set(err, LAB_ERR_FAILED, "%s has no channel", vm->name);
	*ret = path;
	return 0;
}

void vm_set_process(struct vm *vm, pid_t pid)
{
	if (pid > 0 && vm->process < 0)
		vm->process = (int)syscall(SYS_pidfd_open, pid, 0);
}

int vm_wake_fd(const struct vm *vm)
{
	return vm->watch->wake;
}

int vm_process_fd(const struct vm *vm)
{
	return vm->process;
}

bool vm_ended(struct vm *vm, enum machine_stop *ret_stop, char *text, size_t size)
{
	struct watch *w = vm->watch;
	bool result;

	pthread_mutex_lock(&w->lock);
	result = w->ended;
	if (result) {
		*ret_stop = w->stop;
		snprintf(text, size, "%s", w->text);
	}
	pthread_mutex_unlock(&w->lock);
	return result;
}

/* ---- death ---------------------------------------------------------------------- */

static bool process_gone(const struct vm *vm, int timeout_ms)
{
	struct pollfd p = {.fd = vm->process, .events = POLLIN};

	return vm->process >= 0 && poll(&p, 1, timeout_ms) == 1;
}

static void stop_listening(struct vm *vm)
{
	for (int i = 0; i < N_EVENTS; i++) {
		if (vm->events[i] >= 0)
			virConnectDomainEventDeregisterAny(vm->conn, vm->events[i]);
	}
	if (vm->shutdown_event >= 0)
		virConnectDomainQemuMonitorEventDeregister(vm->conn, vm->shutdown_event);
	if (vm->close_event)
		virConnectUnregisterCloseCallback(vm->conn, on_close);
	virResetLastError();
}

/*
 * After a power-off libvirt ends QEMU by itself. What holds memory and files is gone
 * with the process; libvirt's own tidying goes on while the next machine starts.
 */
static void destroy(struct vm *vm)
{
	enum machine_stop stop = MACHINE_LOST;
	struct lab_error ignored;
	char text[200];
	bool by_itself = vm_ended(vm, &stop, text, sizeof(text)) && stop != MACHINE_LOST &&
			 stop != MACHINE_IO_ERROR;

	if (process_gone(vm, by_itself ? DYING_MS : 0)) {
		hypervisor_forget_later(vm->hv, vm->name);
		return;
	}
	if (!hypervisor_destroy(vm->hv, vm->name, &ignored))
		return;
	/* libvirtd is gone: its QEMU would stay. */
	if (vm->process >= 0)
		syscall(SYS_pidfd_send_signal, vm->process, SIGKILL, NULL, 0);
	process_gone(vm, DYING_MS);
}

void vm_halt(struct vm *vm)
{
	destroy(vm);
}

void vm_free(struct vm *vm)
{
	if (!vm)
		return;
	if (vm->dom) {
		stop_listening(vm);
		destroy(vm);
		virDomainFree(vm->dom);
	}
	if (vm->conn)
		virConnectClose(vm->conn);
	if (vm->watch)
		watch_unref(vm->watch);
	if (vm->process >= 0)
		close(vm->process);
	free(vm->name);
	free(vm);
}
