#!/bin/sh
# Tries the Debian package (npm run package) in a systemd that is really booted, in a container over a throw-away copy of
# this machine's files: test/systemd/deb.sh has the cases. Needs root and systemd-nspawn. Ends with 77 where it cannot run.
#
#   --root DIR   boot the system in DIR instead of this machine's own, as `debootstrap` makes it
set -eu

repo="$(cd "$(dirname "$0")/.." && pwd)"
root=/
[ "${1-}" = --root ] && root="$2"

skip() {
	echo "SKIPPED: the package was not tried in a booted systemd: $*" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'this needs root'
command -v systemd-nspawn >/dev/null || skip 'systemd-nspawn is missing (apt-get install systemd-container)'
command -v dpkg-deb >/dev/null || skip 'this is no Debian'
[ -x "$root/lib/systemd/systemd" ] || skip "there is no systemd in $root (apt-get install systemd)"

work="$(mktemp -d)"
machine="$work/layers/machine"
mount -t tmpfs -o size=3g tmpfs "$work" || skip 'a tmpfs cannot be mounted here'
clean() {
	umount "$machine" 2>/dev/null || true
	umount "$work" && rmdir "$work"
}
trap clean EXIT
mkdir -p "$work/layers/upper" "$work/layers/scratch" "$machine" "$work/stage/next"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/layers/upper,workdir=$work/layers/scratch" "$machine" ||
	skip 'an overlay cannot be mounted here'

node "$repo/scripts/package.js" --out "$work/stage" >/dev/null
# The same, called newer: an upgrade.
dpkg-deb --raw-extract "$work"/stage/tracewatch_*.deb "$work/stage/tree"
sed -i 's/^Version: .*/Version: 99.0.0/' "$work/stage/tree/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/stage/tree" "$work/stage/next/tracewatch_99.0.0.deb" >/dev/null
rm -rf "$work/stage/tree"
# The local node and the receiver of the cases run from here, with this Node; the package must not find it.
cp "$(node -p process.execPath)" "$work/stage/node-of-the-cases"
rm -f "$machine/usr/local/bin/node" "$machine/usr/bin/node"

cat >"$machine/etc/systemd/system/cases.service" <<'UNIT'
[Unit]
DefaultDependencies=no
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin
StandardOutput=append:/cases.log
StandardError=inherit
ExecStart=/bin/sh /repo/test/systemd/deb.sh
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
printf '[Unit]\nRequires=basic.target cases.service\nAllowIsolate=yes\n' >"$machine/etc/systemd/system/cases.target"
ln -sf /dev/null "$machine/etc/systemd/system/systemd-networkd-wait-online.service"
ln -sf /dev/null "$machine/etc/systemd/system/NetworkManager-wait-online.service"
: >"$machine/cases.log"

SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout --kill-after=10 300 systemd-nspawn --quiet --boot --directory="$machine" \
	--machine="tracewatch-deb-$$" --register=no --keep-unit --private-network --console=pipe \
	--bind-ro="$repo:/repo" --bind-ro="$work/stage:/stage" systemd.unit=cases.target </dev/null >"$work/console.log" 2>&1 || true
cat "$machine/cases.log"
[ -s "$machine/cases.log" ] || tail -n 30 "$work/console.log"
grep -q '^ALL CASES PASSED$' "$machine/cases.log"
