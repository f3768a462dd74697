#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The exact target on a distribution's kernel: equal bytes for equal seeds whatever else the
# host does, other bytes for other seeds, and every way to end is told apart afterwards.
# LABCTL_TEST_KERNEL and LABCTL_TEST_LAB as in 40-campaign.t.
. "$(dirname "$0")/lib.sh"

need_libvirt
need_kernel
need_build bin/labctl libexec/labctl/labctl-agent
use_lab
cd "$ROOT" || exit 1
options=(--target exact --connect "$URI" --kernel A="$KERNEL")
campaign() { labctl run "tests/data/definitions/$1" "${options[@]}" "${@:2}"; }
newest() { labctl list campaigns --json | jq -r '.[-1].id'; }
# "cell variant hash" of the frames of every run of a campaign.
hashes() {
	local number
	for number in $(labctl show "$1" --json | jq '.runs[].number'); do
		labctl show "$1.$number" --json |
			jq -r '"\(.cell) \(.variant) \(.seed) \(.facts.frames.sha256)"'
	done | sort
}

# ---- every way to end -----------------------------------------------------------
run campaign exact.yaml --only swaps --only fails --only panics
is "$status" 5 "a campaign with failed runs says so" || diag "$err"
id=$(newest)
text=$(labctl show "$id" --json | jq -r '.runs[] | "\(.cell) \(.state)"')
for pair in "swaps done" "fails workload" "panics panic"; do
	like "$text" "^$pair\$" "${pair% *} ended as ${pair#* }"
done
first=$(hashes "$id")

# The frames of a cell's first run, as text.
frames_of() {
	local dir
	dir=$(labctl show "$id" --json | jq -r --arg c "$1" '[.runs[] | select(.cell == $c)][0].dir')
	tr -d '\0' <"$dir/frames"
}
like "$(frames_of panics)" "$(printf 'said before\n' | base64)" "what was said before the panic is kept"
# What the workload of a cell printed.
output_of() {
	local dir
	dir=$(labctl show "$id" --json | jq -r --arg c "$1" '[.runs[] | select(.cell == $c)][0].dir')
	perl -MMIME::Base64 -0777 -ne 'while (length) {
		$n = unpack "V", $_;
		$f = substr $_, 4, $n;
		$_ = substr $_, 4 + $n;
		print decode_base64($1) if $f =~ m{"run/[^"]*/stdout"} && $f =~ /"data": ?"([^"]*)"/;
	}' "$dir/frames"
}
printed=$(output_of swaps)
for counter in pswpin pswpout pgscan_direct workingset_refault_anon swap_ra; do
	like "$printed" "^$counter [1-9]" "in 192 MiB that are too few, $counter is above zero"
done
like "$printed" '^some .*total=[1-9]' "and so is the time that tasks waited for I/O"

# ---- one that is stuck: nobody hears it before it is ended ----------------------------
run campaign exact.yaml --only spins --deadline-scale 0.1
is "$status" 5 "a stuck guest is ended by a deadline of the host"
message=$(labctl show "$(newest)" --json | jq -r '.runs[0] | "\(.state) \(.message)"')
like "$message" "^host-timeout .*its clock had come to [0-9.]+ s" "which is no word about the kernel, and how far it came is told"

# ---- under load ------------------------------------------------------------------
(while :; do :; done) & one=$!
(while :; do :; done) & two=$!
run campaign exact.yaml --only swaps --new
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null
is "$status" 0 "it also runs on a busy host" || diag "$err"
is "$(hashes "$(newest)")" "$(grep '^swaps ' <<<"$first")" "and gives the same bytes there, though it swaps"

# ---- another seed, and one run alone -----------------------------------------------
run campaign exact.yaml --only fails --seed 2 --new
other=$(hashes "$(newest)" | cut -d' ' -f4)
like "$other" '^[0-9a-f]{64}$' "another seed"
unlike "$first" "$other" "gives other bytes"
last=$(newest)

# ---- somebody else's lab --------------------------------------------------------------
bundle=$TMP/bundle.tar.zst
run labctl bundle "$last" "$bundle" tests/data/definitions/exact.yaml --connect "$URI"
is "$status" 0 "a campaign becomes a bundle" || diag "$err"
run labctl bundle "$last" "$bundle" tests/data/definitions/exact.yaml
like "$err" "$bundle is there already" "which is never overwritten"
labctl --lab "$TMP/other" init >/dev/null
run labctl --lab "$TMP/other" reproduce "$bundle" --connect "$URI"
is "$status" 0 "an empty lab reproduces it" || diag "$err"
like "$out" '^reproduced +exact: 1 of 1 runs gave the same bytes' "to the byte"
like "$out" '^expect +equal bytes' "which it expected"
is "$(labctl --lab "$TMP/other" list kernels --json | jq length)" 0 "a stranger's kernels do not become the lab's"
is "$(find "$TMP/other/tmp" -mindepth 1 | wc -l)" 0 "and nothing stays"
mkdir "$TMP/open"
tar --zstd -xf "$bundle" -C "$TMP/open"
printf 'x' | dd of="$TMP/open/kernels/A/bzImage" bs=1 seek=5000 conv=notrunc status=none
tar --zstd -cf "$TMP/changed.tar.zst" -C "$TMP/open" .
run labctl --lab "$TMP/other" reproduce "$TMP/changed.tar.zst" --connect "$URI"
is "$status" 1 "one changed byte is refused"
like "$err" 'kernels/A/bzImage is not what SHA256SUMS says' "with the name of its file"
rm -rf "$TMP/open" "$TMP/changed.tar.zst" "$bundle"
run labctl bundle "$last" "$bundle" tests/data/definitions/exact.yaml --no-binaries --connect "$URI"
is "$(tar --zstd -tf "$bundle" | grep -cE '^(kernels|image|initramfs)/')" 0 "a bundle without binaries has none"
run labctl --lab "$TMP/other" reproduce "$bundle" --connect "$URI"
like "$err" 'comes without binaries and this lab has no kernel' "and says what is missing"

# One bit less in what was kept, and the difference is found.
kept=$(labctl show "$last.1" --json | jq -r .dir)
printf 'x' | dd of="$kept/frames" bs=1 seek=40 conv=notrunc status=none
run labctl bundle "$last" "$TMP/damaged.tar.zst" tests/data/definitions/exact.yaml --connect "$URI"
like "$err" "run $last.1: $kept/frames is not what it was" "what was damaged becomes no bundle"
run labctl rerun "$last.1" tests/data/definitions/exact.yaml --connect "$URI"
is "$status" 4 "a run that differs has an exit code of its own"
like "$out" "^differs +$last.1 +frame 1 \(.*\) differs at character" "and the first difference is shown"

# ---- a profile ---------------------------------------------------------------------
run campaign exact.yaml --only fails --profile --check
like "$out" "1 run run twice, equal to the byte" "a run is run twice on request, profile and all"
id=$(newest)
is "$(hashes "$id")" "$(grep '^fails ' <<<"$first")" "with a profile, the run gives the same bytes"
raw=$(labctl show "$id.1" --json | jq -r .dir)/profile
like "$(awk '/^executed/ { e = $2 } /^[0-9a-f]+ [0-9]+$/ { s += $2 }
	END { print (e > 1e5 && s > e * 0.999 && s < e * 1.001) ? "fits" : e " " s }' "$raw")" \
	'^fits$' "what it counts is what QEMU's clock says, within a thousandth"
run labctl rerun "$id.1" tests/data/definitions/exact.yaml --connect "$URI"
is "$status" 0 "and once more afterwards" || diag "$err"
like "$out" "^equal +$id.1 +frames $(grep -o '^fails .*' <<<"$first" | cut -d' ' -f4 | cut -c 1-12)" "with the same outcome"
run labctl profile "$id.1"
if grep -q ' T ' "/boot/System.map-${KERNEL#*vmlinuz-}" 2>/dev/null; then
	like "$out" '^all of them ' "and has names"
else
	like "$err" 'no System.map|names no function' "names need the kernel's System.map, and that is said"
fi
run labctl profile "$last"
like "$err" "campaign $last has no profile: .labctl run exact" "a campaign without one says how to get one"

run labctl run tests/data/definitions/turn.yaml --kernel A="$KERNEL" --check --allow-emulated --dry-run
is "$status" 0 "a plan can be seen"
done_testing
