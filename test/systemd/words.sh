# Sourced by the cases: the words they are written in. $unit is the unit that they are about.
failed=0

# expect WORDS COMMAND...: the command must succeed.
expect() {
	words="$1"
	shift
	if "$@" >/run/expect.log 2>&1; then
		echo "ok      $words"
	else
		echo "FAILED  $words ($*)"
		sed 's/^/        /' /run/expect.log
		systemctl status "$unit" --no-pager --lines=15 2>&1 | sed 's/^/        /'
		failed=$((failed + 1))
	fi
}

not() { ! "$@"; }

# within SECONDS COMMAND...: the command must come to succeed; on a slow machine in four times as many.
within() {
	deadline=$(($(date +%s) + 4 * $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt "$deadline" ] || return 1
		sleep 0.1
	done
}

# starts UNIT, restarts UNIT: systemd may fail before it runs the program, as a busy machine showed: it could not set up
# the control group (219). It is asked once more then.
starts() { by_systemd start "$1"; }
restarts() { by_systemd restart "$1"; }
by_systemd() {
	systemctl "$1" "$2" && return
	[ "$(systemctl show "$2" --property=ExecMainStatus --value)" = 219 ] && systemctl "$1" "$2"
}

# logged UNIT PATTERN: some line of its journal has it.
logged() { journalctl -u "$1" -o cat --no-pager | grep -q "$2"; }

verdict() {
	[ "$failed" = 0 ] && echo 'ALL CASES PASSED' || echo "$failed CASES FAILED"
}
