#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole campaigns on real machines: every way a run can end is told apart and the
# campaign goes on; a campaign whose labctl is killed again and again ends complete.
# LABCTL_TEST_KERNEL names another kernel than the distribution's, LABCTL_TEST_LAB a lab
# that has the root image already.
. "$(dirname "$0")/lib.sh"

need_libvirt
need_kernel
need_build bin/labctl libexec/labctl/labctl-agent
use_lab
lab_id=$(labctl init --json | jq -r .id)
before=$(labctl list campaigns --json | jq length)

emulated=()
[ "$(labctl doctor --json | jq -r '.checks[] | select(.name == "kvm") | .status')" = ok ] ||
	emulated=(--allow-emulated)
options=(--connect "$URI" --kernel A="$KERNEL" "${emulated[@]+"${emulated[@]}"}")
campaign() { labctl run "tests/data/definitions/$1" "${options[@]}" "${@:2}"; }
newest() { labctl list campaigns --json | jq -r '.[-1].id'; }
# The states of all slots of a campaign, "cell state" a line.
states() { labctl show "$1" --json | jq -r '.runs[] | "\(.cell) \(.state)"' | sort; }
ours() { virsh -q -c "$URI" list --name | grep "^labctl-${lab_id:0:8}-"; }
nothing_left() { ! ours; }
cd "$ROOT" || exit 1

if [ ${#emulated[@]} -gt 0 ]; then
	run labctl run tests/data/definitions/turn.yaml --kernel A="$KERNEL"
	is "$status" 1 "without KVM a live run is refused"
	like "$err" 'allow-emulated' "and the way on is named"
else
	skip 2 "KVM works here"
fi

# ---- every way to end -----------------------------------------------------------

# Waits until the job of a cell's run has begun, then does something to its machine.
when_running() { # when_running CELL COMMAND...
	local cell=$1 run domain
	shift
	while sleep 0.3; do
		read -r run domain < <(labctl ps --json 2>/dev/null | jq -r '.[0] | "\(.run) \(.domain)"')
		[ "${run:-null}" != null ] || continue
		[ "$(labctl show "$run" --json 2>/dev/null | jq -r .cell)" = "$cell" ] || continue
		grep -aqs '"begin"' "$LABCTL_LAB/runs/${run%.*}/${run#*.}".*/frames || continue
		sleep 1
		"$@" "$domain"
		return
	done
}
suspend() { virsh -q -c "$URI" suspend "$1" >/dev/null; }
kill_qemu() { pkill -9 -f "guest=$1,"; }
when_running spins suspend &
hanger=$!
when_running lost kill_qemu &
killer=$!
run campaign faults.yaml
kill "$hanger" "$killer" 2>/dev/null
wait "$hanger" "$killer" 2>/dev/null
is "$status" 5 "a campaign with failed runs says so with its exit code"
id=$(newest)
diag "$(labctl show "$id" | tail -n 8)"
text=$(states "$id")
for pair in "fine done" "fails workload" "panics panic" "sleeps stalled" "spins hang" "lost lost"; do
	like "$text" "${pair% *} ${pair#* }\$" "the run of ${pair% *} ended as ${pair#* }"
done
ok "no machine is left" nothing_left
run labctl show "$id"
like "$out" 'Kernel panic' "show carries the kernel's last words"

# The lab's fault is repeated by the next run, the kernel's outcomes are not.
run campaign faults.yaml --json
is "$(states "$id" | grep -c running)" 0 "nothing is left running"
like "$(states "$id")" 'lost done$' "a lab fault is repeated by the same command"
is "$(labctl show "$id" --json | jq '[.runs[] | select(.attempt > 1)] | length')" 1 "and only that"
is "$(newest)" "$id" "in the same campaign"

# ---- killed at random moments -----------------------------------------------------

seed=${LABCTL_TEST_SEED:-$RANDOM}
RANDOM=$seed
note "random moments from seed $seed"
kills=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	# Not through a function: $! must be labctl itself.
	labctl run tests/data/definitions/turn.yaml "${options[@]}" >/dev/null 2>&1 &
	victim=$!
	sleep "$((RANDOM % 6)).$((RANDOM % 10))"
	kill -9 "$victim" 2>/dev/null && kills=$((kills + 1))
	wait "$victim" 2>/dev/null
done
note "$kills of 10 found a campaign to kill"
run campaign turn.yaml
is "$status" 0 "the same command ends the campaign"
id=$(newest)
is "$(labctl list campaigns --json | jq length)" $((before + 2)) "there is still one campaign of it"
is "$(labctl show "$id" --json | jq -c '[.runs[].state] | unique')" '["done"]' "every run is done"
is "$(labctl show "$id" --json | jq -r '.runs[] | "\(.variant)\(.repetition)"' | sort | tr '\n' ' ')" \
	"A1 A2 A3 B1 B2 B3 " "each of the plan once"
ok "no machine is left" wait_for 15 nothing_left
is "$(labctl ps --json | jq length)" 0 "ps knows of none"
run labctl clean
is "$status" 0 "clean finds its way"
is "$(find "$LABCTL_LAB/artifacts/tmp" "$LABCTL_LAB/tmp" -mindepth 1 ! -name ".*" 2>/dev/null | wc -l)" 0 \
	"and leaves no half-made thing"
done_testing
