#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands on labs: making them, two at once, empty ones, read-only ones. No machine.
. "$(dirname "$0")/lib.sh"
need_build bin/labctl

export HOME=$TMP XDG_DATA_HOME=$TMP/data
unset LABCTL_LAB
lab=$TMP/lab

run labctl init "$lab"
is "$status:$err" "0:" "init makes a lab"
is "$out" "made a lab in $lab" "and says where"
id=$(labctl init "$lab" --json | jq -r .id)
run labctl init --lab "$lab"
is "$status:$out" "0:already a lab: $lab" "init again keeps it"
is "$(LABCTL_LAB=$lab labctl init --json | jq -c '[.id, .made]')" "[\"$id\",false]" "with its id"
mkdir "$TMP/full" && touch "$TMP/full/precious"
run labctl init "$TMP/full"
is "$status" 1 "init refuses a directory with other things in it"
ok "and leaves it alone" test "$(ls "$TMP/full")" = precious

export LABCTL_LAB=$lab
for kind in campaigns kernels images patchsets; do
	run labctl list "$kind" --json
	is "$status:$(jq -c . <<<"$out")" "0:[]" "an empty lab has no $kind"
done
is "$(labctl source list --json)" "[]" "and no sources"
run labctl compare
is "$status" 1 "nothing can be compared yet"
like "$err" 'labctl run EXPERIMENT' "the error says what to do"
run labctl report 7
like "$status $err" '^1 .*7' "an unknown campaign is an error that names it"
run labctl report x
like "$status $err" "^2 .*'x' is no campaign" "what is no number is a usage error"
run labctl report --format pdf
like "$status $err" "^2 .*pdf" "so is an unknown format"
run labctl report --level 2
like "$status $err" "^2 .*--level" "and a strange level"
for name in 7 7.41 nonsense deadbeef refs/changes/1/1/1; do
	run labctl show "$name"
	is "$status:$out" "1:" "there is no $name to show"
done
run labctl show experiment slab-nomrege
like "$status $err" '^[12] .*slab-nomerge' "a mistyped experiment is suggested"
run labctl diff aaaa bbbb
is "$status:$out" "1:" "unknown kernels cannot be compared"
run labctl build refs/changes/30/1430/1
is "$status:$out" "1:" "nothing can be built without a source"
like "$err" 'labctl source add' "the error says how to add one"
run labctl source add mine "$TMP/no-such-tree"
is "$status" 1 "a source that is not there is an error"
is "$(labctl source list --json)" "[]" "that leaves nothing behind"
run labctl source show mine
is "$status" 1 "an unknown source cannot be shown"

# A repository of the user as a source.
git init -q "$TMP/tree"
git -C "$TMP/tree" -c user.name=n -c user.email=e commit -q --allow-empty -m first
before=$(find "$TMP/tree" -type f -exec sha256sum {} + | sort)
run labctl source add mine "$TMP/tree" --base-branch main
is "$status" 0 "a repository is added" || diag "$err"
is "$(labctl source list --json | jq -c 'map([.name, .kind, .url])')" \
	"[[\"mine\",\"git\",\"$TMP/tree\"]]" "and listed"
like "$(labctl source show mine)" "from +$TMP/tree" "and shown"
ok "in JSON with its repository" test -d "$(labctl source show mine --json | jq -r .repository)"
is "$(labctl source show mine --refs)" "$(git -C "$TMP/tree" ls-remote . | grep refs/)" \
	"its references are those that git lists"
is "$(labctl source show mine --refs --json | jq -c 'map(.ref)')" '["refs/heads/'"$(git -C "$TMP/tree" symbolic-ref --short HEAD)"'"]' "in JSON, too"
run labctl build refs/changes/30/1430/1
like "$err" "has no refs/changes/30/1430/1" "a change that is not there is named"
run labctl source add mine "$TMP/tree"
is "$status" 1 "its name is taken now"
is "$(find "$TMP/tree" -type f -exec sha256sum {} + | sort)" "$before" "the user's repository is untouched"
run labctl source rm mine
is "$status:$out" "0:" "a source is removed" || diag "$err"
is "$(labctl source list --json)" "[]" "and is gone"

# Somebody else works in the lab: reading goes on, changing does not.
printf '4242\n1700000000\nrun slab-nomerge\n' >"$lab/lock"
exec 9<"$lab/lock"
flock -n 9 || bail "cannot take the lock"
run labctl source add mine "$TMP/tree"
is "$status" 1 "a second labctl does not change the lab"
like "$err" 'process 4242 \(run slab-nomerge\) since 2023-11-14' "it says who works there"
run labctl list kernels
is "$status" 0 "reading is not blocked"
exec 9<&-
ok "afterwards it works" labctl source add mine "$TMP/tree"

# The default lab is made on first use, by commands that put something into it.
unset LABCTL_LAB
if [ "$(id -u)" != 0 ]; then
	ok "first use makes the default lab" labctl source add mine "$TMP/tree"
	ok "where XDG says" test -e "$TMP/data/labctl/lab.db"
else
	skip 2 "root's default lab is a fixed directory of the host"
fi

done_testing
