#!/bin/sh
# Runs test/systemd/deb.sh in a systemd that is really booted (booted-machine.sh): the Debian package (npm run package)
# from its installation to its purge. Needs root and systemd-nspawn.
set -eu

tried='the package was not tried'
# shellcheck source=scripts/booted-machine.sh
. "$(dirname "$0")/booted-machine.sh"
command -v dpkg-deb >/dev/null || skip 'this is no Debian'
make_machine 3g

mkdir "$work/stage/next"
node "$repo/scripts/package.js" --out "$work/stage" >/dev/null
(umask 077 && TZ=Asia/Tokyo node "$repo/scripts/package.js" --out "$work/stage/next" >/dev/null)
cmp "$work/stage/SHA256SUMS" "$work/stage/next/SHA256SUMS" ||
	{ echo 'FAILED  the same source gave other bytes' && exit 1; }
(cd "$work/stage" && sha256sum --quiet --check SHA256SUMS)
rm "$work"/stage/next/*
# The same, called newer: an upgrade.
dpkg-deb --raw-extract "$work"/stage/tracewatch_*.deb "$work/stage/tree"
sed -i 's/^Version: .*/Version: 99.0.0/' "$work/stage/tree/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/stage/tree" "$work/stage/next/tracewatch_99.0.0.deb" >/dev/null
rm -rf "$work/stage/tree"
# The local node and the receiver of the cases run from here, with this Node; the package must not find it.
cp "$(node -p process.execPath)" "$work/stage/node-of-the-cases"
rm -f "$machine/usr/local/bin/node" "$machine/usr/bin/node"

boot deb.sh /usr/sbin:/usr/bin:/sbin:/bin 1200
