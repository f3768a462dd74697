#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# labctl doctor: what it looks at, and that it names what is wrong.
. "$(dirname "$0")/lib.sh"
need_build bin/labctl libexec/labctl/labctl-agent
need_libvirt

export LABCTL_LAB=$TMP/lab
labctl init >/dev/null

run labctl doctor --json
json=$out
ok "the answer parses" jq -e .checks <<<"$json"
is "$(jq -r '.checks | map(.name) | join(" ")' <<<"$json")" \
	"qemu kvm libvirt virtlogd agent mmdebstrap libguestfs compiler kernel-tools ccache lab disk memory" \
	"every part is looked at"
is "$(jq -r '[.checks[].status] | unique - ["ok", "warn", "fail"] | length' <<<"$json")" 0 \
	"a part is ok, warn or fail"
is "$(jq -r '[.checks[] | select(.text == "")] | length' <<<"$json")" 0 "each has words"
is "$(jq -r '.ok' <<<"$json")" true "on a machine that is set up nothing fails" || diag "$json"
is "$status" 0 "and the exit code says so"

run labctl doctor
is "$(grep -cE '^(ok|warn|fail) +[^ ].*: ' <<<"$out")" 13 "for people it is one line each"
kvm=$(jq -r '.checks[] | select(.name == "kvm") | .status' <<<"$json")
if [ "$kvm" = ok ]; then
	ok "a working KVM is there" test -w /dev/kvm
else
	like "$out" 'live runs need --allow-emulated here, target exact needs no KVM' "without KVM the way on is named"
fi
run labctl doctor --connect "qemu+unix:///system?socket=$TMP/no-socket"
is "$status" 1 "a hypervisor that does not answer is a failure"
like "$out" '^fail +libvirt: ' "that is named"

# A PATH without compilers and tools.
mkdir "$TMP/bin"
run env PATH="$TMP/bin" "$BUILD/bin/labctl" doctor --json
checks=$(jq -c '[.checks[] | select(.status == "fail") | .name]' <<<"$out")
is "$status" 1 "a bare machine fails"
like "$checks" 'compiler.*kernel-tools' "for the compiler and the tools" || diag "$out"
like "$(jq -r '.checks[] | select(.name == "kernel-tools") | .cure' <<<"$out")" \
	'^apt-get install .*flex bison bc' "and names the packages"

run env LABCTL_LAB="$TMP/elsewhere" labctl doctor
like "$out" "^ok +lab: none yet in $TMP/elsewhere" "a lab that is not made yet is no failure"
ok "and is not made by asking" test ! -e "$TMP/elsewhere"

done_testing
