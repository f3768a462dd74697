/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's command line. As PID 1 it needs none. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "guest-agent/agent.h"
#include "guest-agent/hello.h"
#include "guest-agent/init.h"
#include "guest-agent/spawn.h"

enum { OPT_CHANNEL = 256, OPT_SYSROOT, OPT_JOB, OPT_NO_INIT, OPT_VERSION };

struct options {
	const char *channel;
	const char *sysroot;
	const char *job;
	bool no_init;
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: labctl-agent --no-init --channel CHANNEL [--sysroot DIR] [--job FILE]\n"
		"\n"
		"Runs inside a machine under test and does what labctl asks it to. As PID 1 of an\n"
		"initramfs it takes no options and speaks on virtio port " MESSAGE_CHANNEL ".\n"
		"\n"
		"  --no-init          ordinary process: no mounts, no swap, no power off\n"
		"  --channel CHANNEL  %s\n"
		"  --sysroot DIR      where /proc and /sys are read from\n"
		"  --job FILE         do this job and end, instead of waiting for one\n"
		"  -h, --help         this text\n"
		"  --version          version and build id\n",
		channel_kinds());
}

/* Returns -1 to go on, or the exit code. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"channel", required_argument, NULL, OPT_CHANNEL},
		{"sysroot", required_argument, NULL, OPT_SYSROOT},
		{"job", required_argument, NULL, OPT_JOB},
		{"no-init", no_argument, NULL, OPT_NO_INIT},
		{"version", no_argument, NULL, OPT_VERSION},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	LAB_CLEANUP(free) char *id = hello_agent_id();
	int c;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		switch (c) {
		case OPT_CHANNEL:
			options->channel = optarg;
			break;
		case OPT_SYSROOT:
			options->sysroot = optarg;
			break;
		case OPT_JOB:
			options->job = optarg;
			break;
		case OPT_NO_INIT:
			options->no_init = true;
			break;
		case OPT_VERSION:
			printf("labctl-agent %s\n", id);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return 2;
		}
	}
	if (optind < argc)
		fprintf(stderr, "labctl-agent: unexpected argument '%s'\n", argv[optind]);
	else if (!options->no_init)
		fprintf(stderr, "labctl-agent: not PID 1: --no-init is needed\n");
	else if (!options->channel)
		fprintf(stderr, "labctl-agent: --channel is needed\n");
	else
		return -1;
	return 2;
}

static int run_as_init(struct agent *agent)
{
	struct lab_error err;

	agent->init = true;
	if (init_begin(agent, &err) < 0 || agent_init(agent, &err) < 0)
		agent_say(agent, "%s", err.text);
	else
		agent_run(agent);
	init_power_off(agent);
}

static int run_as_process(struct agent *agent, const struct options *options)
{
	struct lab_error err;
	int rc = 1;

	agent->sysroot =
		options->sysroot && strcmp(options->sysroot, "/") != 0 ? options->sysroot : "";
	agent->console = STDERR_FILENO;
	agent->job_file = options->job;
	spawn_adopt_orphans();
	if (agent_init(agent, &err) < 0 ||
	    channel_open(options->channel, agent->sysroot, &agent->channel, &err) < 0) {
		agent_say(agent, "%s", err.text);
	} else {
		agent_run(agent);
		rc = agent->cut ? 1 : 0;
	}
	agent_release(agent);
	return rc;
}

int main(int argc, char **argv)
{
	struct agent agent = {
		.sysroot = "", .channel = CHANNEL_INIT, .signal_fd = -1, .console = -1};
	struct options options = {NULL};
	int rc;

	/* By default jansson seeds its hashes from /dev/urandom, which early in a boot gathers
	   entropy first and so costs a second. Our keys are our own. */
	json_object_seed(1);
	/* The kernel hands PID 1 whatever it did not understand of its own command line. */
	if (getpid() == 1)
		return run_as_init(&agent);
	rc = parse_options(argc, argv, &options);
	return rc >= 0 ? rc : run_as_process(&agent, &options);
}
