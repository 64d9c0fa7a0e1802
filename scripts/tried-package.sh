#!/bin/sh
# Tries what `npm run package` makes, as root on a Debian: the same bytes from a second clone with another umask, time
# zone and folder; and the image, unpacked layer by layer with tar alone and run from its own files as its own user,
# without a shell: check, the first alert from a local node, a stop by SIGTERM, and a state that a second run opens.
# Ends with 77 where it cannot run. --mirror URL: a mirror of Debian. --packed DIR: tries what is packed there, once.
set -eu
repo="$(cd "$(dirname "$0")/.." && pwd)"
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: the package was not tried: this needs root' >&2; exit 77; }
work="$(mktemp -d)"
started=''
finish() {
	[ -z "${run-}" ] || pkill -TERM -P "$run" || true
	for pid in $started; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
say() { echo "$(($(date +%s) - began)) s  $*"; }
within() { # SECONDS COMMAND...
	end=$(($(date +%s) + $1)); shift
	until "$@"; do [ "$(date +%s)" -lt "$end" ] || { echo "FAILED: $*" >&2; exit 1; }; sleep 0.2; done
}
began=$(date +%s)

mkdir "$work/one" "$work/two" "$work/root" "$work/layout"
pack_twice() {
	node "$repo/scripts/package.js" --out "$work/one" "$@" >"$work/log"
	say 'packed'
	(
		umask 077
		export TZ=Asia/Tokyo
		git clone --quiet "$repo" "$work/clone"
		ln -s "$repo/node_modules" "$work/clone/node_modules"
		cd "$work/clone" && node scripts/build.js && node scripts/package.js --out "$work/two" "$@" >>"$work/log"
	)
	cmp "$work/one/SHA256SUMS" "$work/two/SHA256SUMS"
	(cd "$work/two" && sha256sum --quiet --check SHA256SUMS)
	say 'packed again from another clone, under another umask and time zone: the same bytes'
}
packed="$work/one"
if [ "${1-}" = --packed ]; then packed="$2"; else pack_twice "$@"; fi

tar -xf "$packed"/*_"$(dpkg --print-architecture)".oci.tar -C "$work/layout"
blob() { echo "$work/layout/blobs/sha256/${1#sha256:}"; }
(cd "$work/layout/blobs/sha256" && for name in *; do echo "$name  $name"; done | sha256sum --quiet --check)
pick() { node -p "JSON.parse(require('fs').readFileSync(process.argv[1]))$2" "$1"; }
manifest="$(blob "$(pick "$work/layout/index.json" '.manifests[0].digest')")"
for layer in $(pick "$manifest" '.layers.map((layer) => layer.digest).join(" ")'); do
	tar -xpzf "$(blob "$layer")" --numeric-owner -C "$work/root"
done
user="$(pick "$(blob "$(pick "$manifest" '.config.digest')")" '.config.User')"
say "unpacked: $(du -sm "$work/root" | cut -f1) MiB"
[ ! -e "$work/root/bin/sh" ] || { echo 'FAILED: there is a shell in the image' >&2; exit 1; }

mkdir -p "$work/root/proc" "$work/root/dev" "$work/root/run/secrets"
inside() { # ARGUMENTS of tracewatch: as process 1 of a PID namespace, as the image's user
	exec unshare --mount --pid --fork --kill-child sh -c '
		root=$1 user=$2; shift 2
		mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && mount --bind "$root" "$root" &&
		exec env -i PATH=/usr/sbin:/usr/bin CREDENTIALS_DIRECTORY=/run/secrets chroot --userspec="$user" "$root" \
			/usr/bin/tracewatch "$@"' sh "$work/root" "$user" "$@"
}
(inside --version)
"$repo/node_modules/.bin/anvil" --port 0 >"$work/anvil.log" 2>&1 &
started="$started $!"
: >"$work/got.jsonl"
hook=$((20000 + $$ % 10000))
node "$repo/test/systemd/hook.js" "$hook" "$work/got.jsonl" >"$work/hook.log" 2>&1 &
started="$started $!"
within 60 grep -q '^Listening' "$work/anvil.log"
rpc="$(sed -n 's,^Listening on ,http://,p' "$work/anvil.log")"
mkdir "$work/root/etc/tracewatch/watchlists"
cat >"$work/root/etc/tracewatch/tracewatch.yaml" <<END
networks: [{name: local, chain_id: 31337, rpc: ['\${RPC_URL}'], schedule: '* * * * * *', stall_after: never}]
receivers: [{name: hook, type: webhook, url: '\${HOOK_URL}'}]
watchlists: watchlists
state: /var/lib/tracewatch
END
cat >"$work/root/etc/tracewatch/watchlists/local.yaml" <<END
network: local
receivers: [hook]
watches: [{address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, label: Mine}]
END
printf %s "$rpc" >"$work/root/run/secrets/RPC_URL"
printf %s "http://127.0.0.1:$hook/" >"$work/root/run/secrets/HOOK_URL"
(inside check) >"$work/check.log" 2>&1 || { cat "$work/check.log"; exit 1; }
say 'check finds the configuration and the secrets'
got() { [ "$(wc -l <"$work/got.jsonl" 2>/dev/null || echo 0)" -ge "$1" ]; }
for alerts in 1 2; do
	(inside run) >"$work/run.log" 2>&1 &
	run=$!
	within 30 grep -q 'polling goes well' "$work/run.log"
	node "$repo/test/systemd/pay.js" "$rpc" 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 1 >/dev/null
	within 30 got "$alerts"
	say "alert $alerts has arrived"
	pkill -TERM -P "$run"
	wait "$run" || { cat "$work/run.log"; echo 'FAILED: it did not stop cleanly' >&2; exit 1; }
done
say 'stopped by SIGTERM, started again on the same state'
echo 'ALL CASES PASSED'
