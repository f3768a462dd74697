#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/setup changes nothing when all is there and says what it lacks; the layering
# check finds what it looks for.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || bail "no $ROOT"

run scripts/setup
is "$status:$out:$err" "0::" "set-up on a machine that is set up is silent"
cpu=$({ TIMEFORMAT='%U %S'; time scripts/setup; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }')
ok "and takes less than a second of CPU time ($cpu ms)" test "$cpu" -lt 1000
ok "its check agrees" scripts/setup --check

printf 'no-such-package-of-labctl\t# why\nperl\n' >"$TMP/packages"
chmod 644 "$TMP/packages"
run env LABCTL_PACKAGES="$TMP/packages" scripts/setup --check
is "$status:$out" "1:missing: no-such-package-of-labctl" "a missing package is named"
if [ "$(id -u)" = 0 ]; then
	cp -r scripts "$TMP/scripts" && chmod -R go+rX "$TMP/scripts"
	run setpriv --reuid=65534 --regid=65534 --clear-groups \
		env LABCTL_PACKAGES="$TMP/packages" "$TMP/scripts/setup"
else
	run env LABCTL_PACKAGES="$TMP/packages" scripts/setup
fi
is "$status" 1 "an ordinary user cannot install it"
like "$err" 'sudo scripts/setup' "and is told the command"
run scripts/setup --frobnicate
is "$status" 2 "an unknown option is a usage error"
is "$(sed 's/#.*//' scripts/packages | tr -s ' \t' '\n' | grep . | sort | uniq -d)" "" "no package is listed twice"

# What CI says at its end must be true.
is "$(printf '%s\n' '[  PASSED  ] 4 test(s).' '[  FAILED  ] 2 test(s), listed below:' '[  FAILED  ] test_x' \
	' 2 FAILED TEST(S)' 'ok 1 - a' 'ok 2 # SKIP why' 'not ok 3 - b' ok 'Result: PASS' | scripts/count-tests)" \
	"5 3" "tests are counted by what cmocka and prove print"
is "$(scripts/count-tests </dev/null)" "0 0" "no test is none"

# A copy of the tree with one forbidden include.
mkdir "$TMP/tree" && cp -r scripts common stats "$TMP/tree"
ok "the layers hold in a copy" "$TMP/tree/scripts/check-layers"
echo '#include "store/lab.h"' >>"$TMP/tree/stats/summary.c"
run "$TMP/tree/scripts/check-layers"
isnt "$status" 0 "stats/ must not include store/"
like "$out" 'stats/summary.c:[0-9]+: stats/ may not include store/' "the line is named"
cp stats/summary.c "$TMP/tree/stats/summary.c"
echo '#include <sqlite3.h>' >>"$TMP/tree/stats/summary.c"
run "$TMP/tree/scripts/check-layers"
like "$status $out" '^[1-9][0-9]* .*stats/summary.c:[0-9]+: <sqlite3.h> belongs to store' "nor another folder's library"

done_testing
