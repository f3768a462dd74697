#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line from outside: help, exit codes, where words go. No lab, no machine.
. "$(dirname "$0")/lib.sh"
need_build bin/labctl

export HOME=$TMP XDG_DATA_HOME=$TMP/data
unset LABCTL_LAB

# says STATUS PATTERN COMMAND...: exit code, words on standard error, nothing on output.
says()
{
	local want=$1 pattern=$2
	shift 2
	run "$@"
	if [ "$status" = "$want" ] && [ -z "$out" ] && grep -Eq -- "$pattern" <<<"$err"; then
		pass "$* says so and exits with $want"
	else
		fail "$* says so and exits with $want" "exit $status, out '$out', err '$err'"
	fi
}

run labctl --version
is "$status:$err" "0:" "--version is no failure"
like "$out" '^labctl [0-9]+\.[0-9]+\.[0-9]+$' "--version prints the version"

run labctl -h
is "$status:$err" "0:" "-h is no failure and quiet on standard error"
like "$out" '^usage: labctl' "-h prints the usage"
mapfile -t commands < <(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$out")
ok "-h lists the commands" test ${#commands[@]} -ge 14

bad=
for c in "${commands[@]}"; do
	run labctl "$c" -h
	[ "$status" = 0 ] && [ -z "$err" ] && grep -q "^usage: labctl $c" <<<"$out" || bad+=" $c"
	one=$out
	run labctl help "$c"
	[ "$status" = 0 ] && [ "$out" = "$one" ] || bad+=" help:$c"
	run labctl --help "$c"
	[ "$status" = 0 ] && [ "$out" = "$one" ] || bad+=" --help:$c"
done
is "$bad" "" "every command explains itself on standard output, all three ways"
run labctl source add -h
like "$status $out" '^0 usage: labctl source add ' "so do commands of a command"
like "$out" '^  --reference DIR ' "with their options"
is "$(labctl help source add)" "$out" "help knows them as well"
ok "asking for help makes no lab" test ! -e "$TMP/data"

says 2 "did you mean 'build'" labctl biuld x
says 2 "'frobnicate' is no labctl command" labctl frobnicate
says 2 "needs a command" labctl
says 2 "needs a command" labctl source
says 2 "did you mean 'list'" labctl source lits
says 2 "did you mean '--preset'" labctl run x --prest y
says 2 "unknown option '-z'" labctl -z
says 2 "usage: labctl build" labctl build
says 2 "one word too many" labctl build a b
says 2 "one word too many" labctl init a b
says 2 "needs a value" labctl list --lab
says 2 "unknown option '--json'" labctl source rm x --json
says 2 "cannot list 'kernel'" labctl list kernel
says 2 "cannot show 'thing'" labctl show thing 7
says 2 "VARIANT=KERNEL" labctl run x --kernel A
says 2 "only for bash" labctl completion zsh
ok "usage errors make no lab" test ! -e "$TMP/data"

says 1 "labctl init" labctl list campaigns
says 1 "labctl init" labctl --lab "$TMP/none" list kernels
says 1 "labctl init" labctl build refs/heads/main --lab "$TMP/none"
ok "a lab that was named and is not there is not made" test ! -e "$TMP/none"

run labctl list experiments
is "$status:$err" "0:" "experiments are listed without a lab"
like "$out" '^slab-nomerge ' "slab-nomerge is one of them"
ok "--json parses" jq -e 'map(.name) | index("slab-nomerge") != null' <<<"$(labctl list experiments --json)"
run labctl show slab-nomerge
like "$status $out" '^0 experiment +slab-nomerge' "an experiment is shown without a lab"
ok "also as JSON" jq -e '.presets | map(.name) | index("demo") != null' <<<"$(labctl show slab-nomerge --json)"

labctl list experiments >/dev/full 2>"$TMP/err"
is "$?" 1 "a full disk under standard output is a failure"
like "$(cat "$TMP/err")" 'cannot write standard output: No space left' "and says so"
labctl list experiments >&- 2>"$TMP/err"
is "$?" 1 "so is a closed standard output"
{ labctl help 2>/dev/null; echo $? >"$TMP/status"; } | :
ok "a reader that goes away is a failure, not a signal" grep -Eqx '0|1' "$TMP/status"

run labctl completion bash
is "$status" 0 "the completion script is printed"
ok "it is a script" bash -n <(echo "$out")
complete_words()
{
	bash -c 'source <(labctl completion bash); COMP_WORDS=(labctl "$@"); COMP_CWORD=$#
		_labctl; echo "${COMPREPLY[@]}"' bash "$@"
}
is "$(complete_words comp)" "compare completion" "it completes commands"
is "$(complete_words source f)" "fetch" "and commands of a command"
is "$(complete_words --lab /x run --pre)" "--preset" "and options behind general options"
is "$(complete_words source add --ref)" "--reference" "and options of a command's command"

done_testing
