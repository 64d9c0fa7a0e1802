#!/bin/sh
# Verifies the units that are shipped: nothing that systemd would warn of, and an exposure of at most 1.3.
# Needs systemd-analyze (ends with 77 without it); no running systemd. Changes nothing on the machine.
set -eu

most=13
units="$(cd "$(dirname "$0")/../systemd" && pwd)"

if ! command -v systemd-analyze >/dev/null; then
	echo 'THE UNITS ARE NOT VERIFIED: systemd-analyze is missing (apt-get install systemd)' >&2
	exit 77
fi

# A copy in which the program exists, so that only what is wrong with the units is told.
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
printf '#!/bin/sh\n' >"$copy/program"
chmod 755 "$copy/program"
version="$(systemd-analyze --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')"
failed=0

fail() {
	echo "FAILED  $*" >&2
	failed=1
}

# verify NAME FILE: systemd tells unknown keys as warnings and ends with 0, so any word is a failure.
verify() {
	words="$(systemd-analyze verify --man=no "$2" 2>&1)" || true
	if [ -n "$words" ]; then
		fail "$1: $words"
	else
		echo "ok      $1: verified by systemd $version"
	fi
}

# The daemon, and an instance of it: without a name, a template cannot be verified.
for name in tracewatch tracewatch@one; do
	mkdir -p "$copy/$name.service.d"
	sed "s#/usr/local/bin/tracewatch#$copy/program#" "$units/tracewatch.service" >"$copy/$name.service"
done
cp "$units/tracewatch@.service.d/instance.conf" "$copy/tracewatch@one.service.d/"

# The score depends on the unit and its drop-ins only.
score() {
	if words="$(systemd-analyze security --offline=true --threshold=$most "$2" 2>&1)"; then
		echo "ok      $1: $(echo "$words" | sed -n 's/^.*Overall exposure level for //p')"
	else
		fail "$1: $(echo "$words" | tail -n 1), at most $most/10 is allowed"
	fi
}

for unit in "$copy"/*.service; do
	verify "$(basename "$unit")" "$unit"
	score "$(basename "$unit")" "$unit"
done

exit $failed
