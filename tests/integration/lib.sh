# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Helper of the integration tests, which are TAP programs in bash:
#
#   #!/bin/bash
#   . "$(dirname "$0")/lib.sh"
#   plan 3                                  # or done_testing at the end
#   ok "list is empty" test -z "$(labctl list)"
#   is "$got" "$want" "what is compared"
#   like "$text" 'regular expression' "what it must say"
#
# ROOT is the checkout, BUILD the absolute build directory (default: ROOT/build),
# TMP a directory of this test that QEMU's user can enter; it is removed at the end
# unless KEEP is set. The program under test comes first in PATH.

set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
PATH=$BUILD/bin:$PATH:/usr/sbin:/sbin
export ROOT BUILD PATH LC_ALL=C.UTF-8

tap_n=0 tap_failed=0 tap_planned=''
tap_cleanups=()

# Commands to run at the end, the last one first.
at_end() { tap_cleanups=("$1" "${tap_cleanups[@]+"${tap_cleanups[@]}"}"); }

tap_finish() {
	local status=$? c
	for c in "${tap_cleanups[@]+"${tap_cleanups[@]}"}"; do eval "$c"; done
	if [ -z "${KEEP:-}" ]; then rm -rf "$TMP"; else diag "kept $TMP"; fi
	[ "$status" = 0 ] && [ "$tap_failed" != 0 ] && status=1
	exit "$status"
}
TMP=$(mktemp -d /var/tmp/labctl-test.XXXXXX) && chmod 755 "$TMP"
trap tap_finish EXIT
trap 'exit 130' INT TERM

plan() { tap_planned=$1; echo "1..$1"; }
done_testing() { echo "1..$tap_n"; }
diag() { printf '%s\n' "$*" | sed 's/^/# /' >&2; }
note() { printf '%s\n' "$*" | sed 's/^/# /'; }

# The whole test cannot run here: skip_all "why".
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
# The next N checks cannot: skip N "why".
skip() {
	local i
	for ((i = 0; i < $1; i++)); do
		tap_n=$((tap_n + 1)); echo "ok $tap_n # SKIP $2"
	done
}
bail() { echo "Bail out! $1"; exit 1; }

pass() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1"; }
fail() {
	tap_n=$((tap_n + 1)); tap_failed=$((tap_failed + 1)); echo "not ok $tap_n - $1"
	[ -z "${2:-}" ] || diag "$2"
	return 1
}

# ok NAME COMMAND...: passes when the command succeeds; its output is shown when not.
ok() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then pass "$name"; else fail "$name" "$* gave $?: $out"; fi
}
not_ok() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then fail "$name" "$* succeeded: $out"; else pass "$name"; fi
}
is() {
	if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:  $1"$'\n'"want: $2"; fi
}
isnt() {
	if [ "$1" != "$2" ]; then pass "$3"; else fail "$3" "got: $1"; fi
}
like() {
	if grep -Eq -- "$2" <<<"$1"; then pass "$3"; else fail "$3" "got:  $1"$'\n'"want: /$2/"; fi
}
unlike() {
	if grep -Eq -- "$2" <<<"$1"; then fail "$3" "got:  $1"$'\n'"not:  /$2/"; else pass "$3"; fi
}

# run COMMAND...: fills $status, $out and $err.
run() {
	out=$("$@" 2>"$TMP/run.err") && status=0 || status=$?
	err=$(cat "$TMP/run.err")
}

# wait_for SECONDS COMMAND...: until it succeeds; fails when the time is over.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# The daemons that machines need. As root they are started when they do not run and
# left running; session daemons start by themselves.
need_libvirt() {
	command -v libvirtd >/dev/null || skip_all "libvirtd is not installed"
	[ "$(id -u)" = 0 ] || return 0
	[ -S /run/libvirt/virtlogd-sock ] && pgrep -x virtlogd >/dev/null || virtlogd -d ||
		bail "virtlogd does not start"
	[ -S /run/libvirt/libvirt-sock ] && pgrep -x libvirtd >/dev/null || libvirtd -d ||
		bail "libvirtd does not start"
	wait_for 10 virsh -c qemu:///system uri || bail "libvirtd does not answer"
}

# A kernel to boot: $LABCTL_TEST_KERNEL, or the newest cloud kernel of the distribution.
# Sets KERNEL and MODULES (its modules directory, or empty).
need_kernel() {
	KERNEL=${LABCTL_TEST_KERNEL:-} MODULES=${LABCTL_TEST_MODULES:-}
	[ -n "$KERNEL" ] && return 0
	KERNEL=$(ls -v /boot/vmlinuz-*cloud* 2>/dev/null | tail -n 1)
	[ -n "$KERNEL" ] || skip_all "no kernel to boot (apt-get install linux-image-cloud-amd64)"
	MODULES=/lib/modules/${KERNEL#/boot/vmlinuz-}
}

# URI: where machines are started.
use_hypervisor() {
	if [ -n "${LABCTL_TEST_CONNECT:-}" ]; then URI=$LABCTL_TEST_CONNECT
	elif [ "$(id -u)" = 0 ]; then URI=qemu:///system
	else URI=qemu:///session; fi
}

# URI and LABCTL_LAB: a lab of this test, a copy of the one in LABCTL_TEST_LAB that has the
# root image already, when there is one. Artifacts never change, so links will do.
use_lab() {
	use_hypervisor
	export LABCTL_LAB=$TMP/lab
	if [ -n "${LABCTL_TEST_LAB:-}" ]; then
		cp -al "$LABCTL_TEST_LAB" "$LABCTL_LAB" 2>/dev/null || {
			rm -rf "$LABCTL_LAB"
			cp -a --sparse=always "$LABCTL_TEST_LAB" "$LABCTL_LAB"
		}
		rm -f "$LABCTL_LAB"/lab.db* "$LABCTL_LAB/lock"
		cp -a "$LABCTL_TEST_LAB"/lab.db* "$LABCTL_LAB/"
	fi
	labctl init >/dev/null || bail "no lab in $LABCTL_LAB"
}

need_build() {
	local f
	for f; do [ -x "$BUILD/$f" ] || bail "$BUILD/$f is not built (make)"; done
}
