# SPDX-License-Identifier: GPL-2.0-or-later
# kconfig in small: bool symbols with a prompt or none, one default, "depends on A && B".
BEGIN {
	while (answers != "" && (getline line < answers) > 0) {
		if (line ~ /^CONFIG_[A-Z0-9_]+=/) {
			split(substr(line, 8), part, "=")
			answer[part[1]] = part[2]
		} else if (line ~ /^# CONFIG_[A-Z0-9_]+ is not set/) {
			split(line, part, " ")
			answer[substr(part[2], 8)] = "n"
		}
	}
}
/^(config|menuconfig) / { symbol = $2; order[++n] = symbol; help = 0; next }
/^[a-z]/ { symbol = ""; next }
/^\thelp/ { help = 1; next }
help { next }
symbol != "" && $1 == "bool" && NF > 1 { prompt[symbol] = 1 }
symbol != "" && $1 == "def_bool" { default_of[symbol] = $2 }
symbol != "" && $1 == "default" { default_of[symbol] = $2 }
symbol != "" && $1 == "depends" { needs[symbol] = needs[symbol] " " substr($0, index($0, " on ") + 4) }
symbol != "" && $1 == "syntax" { print FILENAME ":" FNR ": syntax error" > "/dev/stderr"; exit 1 }
END {
	for (i = 1; i <= n; i++) {
		s = order[i]
		count = split(needs[s], need, /[ &]+/)
		visible = 1
		for (k = 1; k <= count; k++)
			if (need[k] != "" && value[need[k]] != "y") visible = 0
		if (!visible) continue
		v = default_of[s] == "" ? "n" : default_of[s]
		if (prompt[s] && mode == "no") v = "n"
		if (prompt[s] && (s in answer)) v = answer[s]
		value[s] = v
		if (v == "n") print "# CONFIG_" s " is not set"
		else print "CONFIG_" s "=" v
	}
}
