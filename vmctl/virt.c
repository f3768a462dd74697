/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmctl/virt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/mem.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int setup_errno;

static void silent(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

/*
 * The loop has a thread of its own because the daemon expects an answer to its
 * keepalive pings every few seconds, whatever the caller is busy with.
 */
static void *event_loop(void *unused)
{
	(void)unused;
	for (;;) {
		if (virEventRunDefaultImpl() < 0)
			virResetLastError();
	}
	return NULL;
}

static void setup(void)
{
	sigset_t all, old;
	pthread_t thread;

	virSetErrorFunc(NULL, silent);
	if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0) {
		setup_errno = ENOSYS;
		return;
	}
	/* Signals belong to the thread that knows what to do about them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	setup_errno = pthread_create(&thread, NULL, event_loop, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!setup_errno)
		pthread_detach(thread);
}

int virt_setup(struct lab_error *err)
{
	pthread_once(&once, setup);
	if (setup_errno)
		return lab_error_errno(err, setup_errno, "libvirt's client library does not start");
	return 0;
}

static const char *start_command(const char *daemon)
{
	if (lab_dir_exists("/run/systemd/system"))
		return !strcmp(daemon, "virtlogd") ? "systemctl start virtlogd.socket"
						   : "systemctl start libvirtd";
	return !strcmp(daemon, "virtlogd") ? "virtlogd -d" : "libvirtd -d";
}

struct explanation {
	const char *has;     /* in libvirt's message */
	const char *and_has; /* or NULL */
	const char *text;
	const char *daemon; /* or NULL: the command that starts it ends the text */
};

#define NO_ACCESS                                                                       \
	"this user may not talk to libvirtd; join the group libvirt, or use --connect " \
	"qemu:///session"

static const struct explanation explanations[] = {
	{"virtlogd-sock", NULL, "virtlogd is not running; start it with: ", "virtlogd"},
	{"libvirt-sock", "Permission denied", NO_ACCESS, NULL},
	{"libvirt-sock", NULL, "libvirtd is not running; start it with: ", "libvirtd"},
	{"virtqemud-sock", NULL, "libvirtd is not running; start it with: ", "libvirtd"},
	{"polkit", NULL, NO_ACCESS, NULL},
	{"locate", "libvirtd", "there is no libvirtd; apt-get install libvirt-daemon-system", NULL},
	{"could not find capabilities for", NULL,
	 "libvirt finds no qemu-system-x86_64; apt-get install qemu-system-x86", NULL},
};

enum lab_error_kind virt_explain(int code, const char *message, char *ret_text, size_t size)
{
	if (!message)
		message = "no reason given";
	for (size_t i = 0; i < LAB_COUNT(explanations); i++) {
		const struct explanation *e = &explanations[i];

		if (!strcasestr(message, e->has) || (e->and_has && !strstr(message, e->and_has)))
			continue;
		snprintf(ret_text, size, "%s%s", e->text,
			 e->daemon ? start_command(e->daemon) : "");
		return LAB_ERR_UNAVAILABLE;
	}
	snprintf(ret_text, size, "libvirt: %s", message);
	for (char *p = ret_text; *p; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	switch (code) {
	case VIR_ERR_NO_DOMAIN:
		return LAB_ERR_NOT_FOUND;
	case VIR_ERR_DOM_EXIST:
		return LAB_ERR_BUSY;
	case VIR_ERR_CONFIG_UNSUPPORTED:
	case VIR_ERR_NO_CONNECT:
		return LAB_ERR_UNAVAILABLE;
	default:
		return LAB_ERR_FAILED;
	}
}

int virt_error(struct lab_error *err, const char *fmt, ...)
{
	virErrorPtr last = virGetLastError();
	enum lab_error_kind kind;
	char what[400], why[1400];
	va_list ap;

	kind = virt_explain(last ? last->code : 0, last ? last->message : NULL, why, sizeof(why));
	virResetLastError();
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return lab_error_set(err, kind, "%s: %s", what, why);
}
