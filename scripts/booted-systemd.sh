#!/bin/sh
# Runs test/systemd/cases.sh in a systemd that is really booted (booted-machine.sh): the shipped units around the packed
# program. Needs root, systemd-nspawn (apt-get install systemd-container), and what `npm ci` and `npm run build` make.
set -eu

tried='the units were not tried'
# shellcheck source=scripts/booted-machine.sh
. "$(dirname "$0")/booted-machine.sh"
dist="${TRACEWATCH_DIST:-$repo/dist}"
[ -f "$dist/cli.js" ] || { echo 'nothing is built: npm run build' >&2; exit 1; }
make_machine 2g

# The program as users install it: packed, then installed without its development parts.
cp "$repo/package.json" "$work/stage/"
cp -R "$dist" "$work/stage/dist"
cp -R "$repo/systemd" "$work/stage/systemd"
(cd "$work/stage" && npm pack --silent --ignore-scripts >/dev/null)
npm install --silent --global --ignore-scripts --no-audit --no-fund --prefix "$machine/usr/local" \
	"$work"/stage/tracewatch-*.tgz
# The local node is a development part: it runs from here.
ln -s /repo/node_modules "$work/stage/node_modules"

# The same Node for all, wherever it is installed here.
rm -f "$machine/usr/local/bin/node"
cp "$(node -p process.execPath)" "$machine/usr/local/bin/node"

# Nodes that are too old, as distributions had them, where the registry gives them.
for major in 14 18; do
	npm install --silent --no-audit --no-fund --no-save --prefix "$work/old" "node@$major" >/dev/null 2>&1 &&
		mv "$work/old/node_modules/node/bin/node" "$work/stage/node-$major" || true
	rm -rf "$work/old"
done

boot cases.sh /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin 1800
