#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One machine at a time through vmctl, with the real agent and a real kernel under
# libvirt: hello, a phase, samples, power-off; then everything that can go wrong.
# LABCTL_TEST_KERNEL and LABCTL_TEST_MODULES name another kernel than the distribution's,
# LABCTL_TEST_CONNECT another libvirt than the default one.
. "$(dirname "$0")/lib.sh"

need_libvirt
need_kernel
need_build tests/machine_test tests/guest_test libexec/labctl/labctl-agent
use_hypervisor

# A sanitized program is slower, and so is a machine that does other things meanwhile.
DEADLINE=${LABCTL_TEST_DEADLINE:-180}

machine_test() { "$BUILD/tests/machine_test" "$@"; }
initramfs() { machine_test initramfs "$1" "${MODULES:--}" "$2" "$BUILD/tests/guest_test"; }
initramfs "$BUILD/libexec/labctl/labctl-agent" "$TMP/agent.cpio" || bail "no initramfs of the agent"
initramfs "$BUILD/tests/guest_test" "$TMP/bad.cpio" || bail "no initramfs of the stand-in"

# drive NAME INITRAMFS OPTION...: runs in the background, says what happens in $TMP/NAME.out.
drive() {
	local name=$1 image=$2
	shift 2
	mkdir -p "$TMP/$name"
	"$BUILD/tests/machine_test" kernel="$KERNEL" initramfs="$TMP/$image" dir="$TMP/$name" connect="$URI" \
		name="$name" deadline="$DEADLINE" "$@" >"$TMP/$name.out" 2>"$TMP/$name.err" &
	pid=$!
}
said() { grep -q "^$2" "$TMP/$1.out"; }
qemu_of() { pgrep -f "guest=labctl-01234567-$1," | head -n 1; }
domains() { virsh -q -c "$URI" list --name | grep -c "^labctl-01234567-$1"; }
gone() { [ "$(domains "$1")" = 0 ] && [ -z "$(qemu_of "$1")" ]; }
out() { cat "$TMP/$1.out" "$TMP/$1.err"; }

# ---- a run as it should be ----------------------------------------------------

truncate -s 64M "$TMP/data.img" "$TMP/swap.img"
mkswap -q "$TMP/swap.img" 2>/dev/null
drive 1.1 agent.cpio data="$TMP/data.img" swap="$TMP/swap.img" vcpus=2 \
	step=/guest_test,true step=/guest_test,sleep,1
run=$pid
wait_for "$DEADLINE" said 1.1 "frame step step2 begin" || diag "$(out 1.1)"
qemu=$(qemu_of 1.1)
isnt "$(awk '/^Uid:/ { print $3 }' "/proc/$qemu/status")" 0 "QEMU does not run as root"
like "$(virsh -c "$URI" metadata labctl-01234567-1.1 https://labctl.org/xmlns/domain/1)" \
	'lab="0123456789abcdef" name="1.1" owner="[0-9]+"' "the domain says whose it is"
wait "$run"
is $? 0 "a run with a phase ends"
text=$(out 1.1)
like "$text" '^frame hello 1 ' "the agent says hello"
like "$text" '^frame step step1 end 0$' "a step ran"
like "$text" '^frame done ok$' "the job is done"
like "$text" '^stopped shutdown: the guest powered off$' "and the machine powers off"
like "$text" '^rows [1-9][0-9]' "samples came every 100 ms"
unlike "$text" '^(warning volume|console (panic|oops|io)|refused|garbage)' "without complaints"
facts=$TMP/1.1/facts.json
like "$(cat "$facts")" '"bus": "nvme"' "the drives are NVMe"
like "$(cat "$facts")" '"pc-q35-[0-9.]+"' "the machine type is versioned"
like "$(cat "$facts")" '"driver\\":\\"nvme\\"' "QEMU's command line is kept"
ok "and nothing is left of it" wait_for 10 gone 1.1
is "$(ls "$TMP/1.1" | tr '\n' ' ')" "console.log domain.xml facts.json " "but its files"

# ---- what a guest can do --------------------------------------------------------

drive 2.1 bad.cpio cmdline=labtest=garbage
one=$pid
drive 2.2 bad.cpio cmdline=labtest=version
wait "$one" "$pid"
like "$(out 2.1)" '^garbage .' "garbage is named"
like "$(out 2.1)" '^stopped shutdown' "and the machine goes on to its end"
like "$(out 2.2)" '^error agent speaks protocol 99' "an agent of another version is told apart"
drive 2.3 bad.cpio cmdline=labtest=reboot
one=$pid
drive 2.4 bad.cpio cmdline=labtest=last-words stall=1
wait "$one" "$pid"
like "$(out 2.3)" '^stopped reboot: ' "a reset is not a power-off, and is not repeated"
is "$(grep -c '^frame log info' "$TMP/2.4.out")" 500 "what was said before the power-off is heard"
is "$(grep -E '^(frame log|stopped)' "$TMP/2.4.out" | tail -n 1 | cut -d: -f1)" \
	"stopped shutdown" "before the stop"
drive 2.5 agent.cpio step=/guest_test,sysrq,c
one=$pid
drive 2.6 bad.cpio cmdline=labtest=chatty
wait "$one" "$pid"
like "$(out 2.5)" '^console panic: Kernel panic - not syncing' "a panic is on the console"
like "$(out 2.5)" '^stopped (crashed|reboot): ' "and ends the machine"
is "$(grep -a '^line 00000001 ' "$TMP/2.6/console.log" | wc -l)" 1 "a long console keeps its beginning"
like "$(wc -c <"$TMP/2.6/console.log")" '^3[0-9]{6}$' "and all the rest"

# ---- what can happen to it --------------------------------------------------------

drive 3.1 agent.cpio step=/guest_test,sleep,600
one=$pid
drive 3.2 agent.cpio step=/guest_test,sleep,600
two=$pid
wait_for "$DEADLINE" said 3.1 started
kill -9 "$(qemu_of 3.1)"
wait "$one"
like "$(out 3.1)" '^stopped lost: QEMU went away' "QEMU killed before the hello"
unlike "$(out 3.1)" '^frame hello' "(it was before the hello)"
wait_for "$DEADLINE" said 3.2 "frame step step1 begin"
sleep 0.5
kill -9 "$(qemu_of 3.2)"
wait "$two"
like "$(out 3.2)" '^stopped lost: QEMU went away' "QEMU killed in mid-run"
like "$(out 3.2)" '^rows [1-9]' "what came until then is kept"
drive 3.3 bad.cpio cmdline=labtest=mute deadline=3
one=$pid
drive 3.4 bad.cpio cmdline=labtest=mute
two=$pid
wait "$one"
is $? 3 "a silent machine ends with the deadline"
ok "and is destroyed" gone 3.3
wait_for "$DEADLINE" said 3.4 started
kill -9 "$two"
wait "$two" 2>/dev/null
ok "a machine does not outlive its owner's SIGKILL" wait_for 15 gone 3.4

# A disk of the host that is full: the guest stops at once (virtio) or is told (NVMe).
full=$TMP/full
mkdir "$full"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=4m,mode=755 none "$full" 2>/dev/null; then
	at_end 'umount -l "$full"'
	truncate -s 64M "$TMP/base.img"
	qemu-img create -q -f qcow2 -b "$TMP/base.img" -F raw "$full/root.qcow2"
	truncate -s 64M "$full/data.img"
	drive 3.5 agent.cpio root="$full/root.qcow2" base="$TMP/base.img" bare=1 \
		step=/guest_test,write,/dev/vda,32
	one=$pid
	drive 3.6 agent.cpio data="$full/data.img" bare=1 step=/guest_test,write,/dev/nvme0n1,32
	wait "$one" "$pid"
	like "$(out 3.5)" '^stopped io-error: I/O error on .*' "a full disk under the root ends the run"
	like "$(out 3.6)" '^console io-error: .*nvme0n1' "under an NVMe drive the guest says so"
else
	skip 2 "only root can make a file system that is full"
fi

# ---- what is found before it starts ------------------------------------------------

mkdir -m 700 "$TMP/shut"
cp "$TMP/bad.cpio" "$TMP/shut/"
if [ "$(id -u)" = 0 ]; then
	drive 4.1 shut/bad.cpio
	wait "$pid"
	like "$(out 4.1)" "^error QEMU runs as .* may not enter $TMP/shut \(mode 0700, owner root\)" \
		"a directory in the way is named"
else
	skip 1 "QEMU runs as this user, who reaches everything"
fi
drive 4.2 bad.cpio emulated=0 cmdline=labtest=x
wait "$pid"
if [ -w /dev/kvm ]; then
	like "$(out 4.2)" '^(stopped|error target live needs KVM: /dev/kvm opens)' "KVM or a refusal"
else
	like "$(out 4.2)" '^error target live needs KVM: .*--allow-emulated' "no KVM is refused in words"
fi
drive 4.3 bad.cpio data="$TMP/missing.img"
wait "$pid"
like "$(out 4.3)" "^error volume data: $TMP/missing.img: No such file" "a missing volume is named"
is "$(domains '')" 0 "no domain is left"
done_testing
