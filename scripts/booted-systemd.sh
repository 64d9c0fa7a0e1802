#!/bin/sh
# Runs test/systemd/cases.sh inside a systemd that is really booted: in a container, over a throw-away copy of this
# machine's files. Needs root, systemd-nspawn (apt-get install systemd-container) and what `npm ci` and `npm run build` make.
# Changes nothing on the machine. Ends with 77, and says so loudly, where it cannot run.
#
#   --root DIR   boot the system in DIR instead of this machine's own, as `debootstrap` makes it
set -eu

repo="$(cd "$(dirname "$0")/.." && pwd)"
dist="${TRACEWATCH_DIST:-$repo/dist}"
root=/
[ "${1-}" = --root ] && root="$2"

skip() {
	echo "SKIPPED: the units were not tried in a booted systemd: $*" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'this needs root'
command -v systemd-nspawn >/dev/null || skip 'systemd-nspawn is missing (apt-get install systemd-container)'
[ -x "$root/lib/systemd/systemd" ] || skip "there is no systemd in $root (apt-get install systemd)"
[ -f "$dist/cli.js" ] || { echo 'nothing is built: npm run build' >&2; exit 1; }

work="$(mktemp -d)"
machine="$work/layers/machine"
mount -t tmpfs -o size=2g tmpfs "$work" || skip 'a tmpfs cannot be mounted here'
clean() {
	umount "$machine" 2>/dev/null || true
	umount "$work" && rmdir "$work"
}
trap clean EXIT
mkdir -p "$work/layers/upper" "$work/layers/scratch" "$machine" "$work/stage"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/layers/upper,workdir=$work/layers/scratch" "$machine" ||
	skip 'an overlay cannot be mounted here'

# The program as users install it: packed, then installed without its development parts.
cp "$repo/package.json" "$work/stage/"
cp -R "$dist" "$work/stage/dist"
cp -R "$repo/systemd" "$work/stage/systemd"
(cd "$work/stage" && npm pack --silent --ignore-scripts >/dev/null)
npm install --silent --global --ignore-scripts --no-audit --no-fund --prefix "$machine/usr/local" "$work"/stage/tracewatch-*.tgz
# The local node is a development part: it runs from here.
ln -s /repo/node_modules "$work/stage/node_modules"

# The same Node for all, wherever it is installed here.
rm -f "$machine/usr/local/bin/node"
cp "$(node -p process.execPath)" "$machine/usr/local/bin/node"

[ -s "$machine/etc/hosts" ] || echo '127.0.0.1 localhost' >"$machine/etc/hosts"
cat >"$machine/etc/systemd/system/cases.service" <<'UNIT'
[Unit]
DefaultDependencies=no
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
StandardOutput=append:/cases.log
StandardError=inherit
ExecStart=/bin/sh /repo/test/systemd/cases.sh
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
printf '[Unit]\nRequires=basic.target cases.service\nAllowIsolate=yes\n' >"$machine/etc/systemd/system/cases.target"
# Nothing of this machine waits for a network that the container has not got.
ln -sf /dev/null "$machine/etc/systemd/system/systemd-networkd-wait-online.service"
ln -sf /dev/null "$machine/etc/systemd/system/NetworkManager-wait-online.service"
: >"$machine/cases.log"

SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout --kill-after=10 600 systemd-nspawn --quiet --boot --directory="$machine" \
	--machine="tracewatch-$$" --register=no --keep-unit --private-network --console=pipe \
	--bind-ro="$repo:/repo" --bind-ro="$work/stage:/stage" systemd.unit=cases.target </dev/null >"$work/console.log" 2>&1 || true
cat "$machine/cases.log"
[ -s "$machine/cases.log" ] || tail -n 30 "$work/console.log"
grep -q '^ALL CASES PASSED$' "$machine/cases.log"
