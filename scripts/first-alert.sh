#!/usr/bin/env bash
# Seconds from a clone to the first alert on an address of one's own, with a local node instead of a provider:
# clone, npm ci, `tracewatch setup --dir`, `tracewatch run`, a payment. From the package: scripts/booted-deb.sh says it.
set -euo pipefail
repo="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
started=()
finish() {
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
began=$(date +%s%N)
since() { awk -v ns=$(($(date +%s%N) - began)) 'BEGIN { printf "%5.1f s  ", ns / 1e9 }'; }

git clone --quiet "$repo" "$work/clone"
cd "$work/clone"
echo "$(since)cloned"
npm ci --silent --no-audit --no-fund
echo "$(since)npm ci, which builds"
program=("$(command -v node)" "$work/clone/dist/cli.js")
# What stands for a provider and a receiver is not waited for in a real installation.
pause=$(date +%s%N)
node_modules/.bin/anvil --port 0 >"$work/anvil.log" 2>&1 &
started+=($!)
hook=$((20000 + RANDOM % 10000))
node test/systemd/hook.js "$hook" "$work/told.jsonl" >"$work/hook.log" 2>&1 &
started+=($!)
until grep -q '^Listening' "$work/anvil.log"; do sleep 0.1; done
rpc=$(sed -n 's,^Listening on ,http://,p' "$work/anvil.log")
began=$((began + $(date +%s%N) - pause))
ETHEREUM_RPC_URL="$rpc" OPS_HOOK_URL="http://127.0.0.1:$hook/" "${program[@]}" setup --dir "$work/mine" \
	--address 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --label Mine >"$work/setup.log"
echo "$(since)set up and tried both ways"
"${program[@]}" run -c "$work/mine/tracewatch.yaml" >"$work/run.log" 2>&1 &
started+=($!)
until grep -q 'polling goes well' "$work/run.log"; do sleep 0.1; done
node test/systemd/pay.js "$rpc" 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 1 >/dev/null
until [ "$(wc -l <"$work/told.jsonl")" -ge 2 ]; do sleep 0.05; done
echo "$(since)the first alert has arrived"
