#!/bin/sh
# Runs inside a booted systemd (scripts/booted-systemd.sh): the shipped units around the real program, a local node and
# a webhook receiver. Prints a line a case; the last line is the verdict.
set -u

repo=/repo
node=http://127.0.0.1:8545/?key=Canary-Node-Key-0001
watched=0x70997970C51812dc3A010C7d01b50e0d17dc79C8
added=0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
got=/run/hook.jsonl
metrics=http://127.0.0.1:9464/metrics
unit=tracewatch.service
. $repo/test/systemd/words.sh
. $repo/test/systemd/old-node.sh

# ---- Words -------------------------------------------------------------------------------------------------------

is() { [ "$1" = "$2" ] || { echo "is $1, should be $2" && return 1; }; }
property() { systemctl show "$unit" --property="$1" --value; }
has() { is "$(property "$1")" "$2"; }
words_of_status() { property StatusText | grep -qi "$1"; }
pid() { property MainPID; }
other_pid() { [ "$(pid)" != 0 ] && [ "$(pid)" != "$1" ] && has ActiveState active; }
pay() { node $repo/test/systemd/pay.js $node "$1" "$2"; }

# Every transaction of a list was told.
all_told() {
	while read -r hash; do grep -q "$hash" $got || return 1; done <"$1"
}

# A delivery may come twice, but only under its own id.
one_delivery_an_alert() {
	node -e '
		const rows = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line))
		const ids = new Map()
		for (const { id, delivery } of rows) ids.set(id, new Set([...(ids.get(id) ?? []), delivery]))
		process.exit([...ids.values()].every(({ size }) => size === 1) ? 0 : 1)' $got
}

took_less_than() {
	limit=$1
	shift
	start=$(date +%s)
	"$@" || return 1
	took=$(($(date +%s) - start))
	[ "$took" -lt "$limit" ] || { echo "took $took s" && return 1; }
}

# ---- The world ---------------------------------------------------------------------------------------------------

settings() { # FOLDER STATE PORT
	mkdir -p "$1/watchlists"
	cat >"$1/tracewatch.yaml" <<-YAML
		networks:
		  - name: local
		    chain_id: 31337
		    rpc:
		      - \${ETHEREUM_RPC_URL}
		    schedule: "* * * * * *"
		receivers:
		  - name: hook
		    type: webhook
		    url: \${OPS_HOOK_URL}
		    secret: \${OPS_HOOK_SECRET}
		watchlists: watchlists
		state: $2
		http: 127.0.0.1:$3
	YAML
	printf 'network: local\nreceivers: [hook]\nwatches:\n  - address: %s\n' $watched >"$1/watchlists/main.yaml"
}

secrets() { # FOLDER
	install -d -m 0700 "$1/secrets"
	echo $node >"$1/secrets/ETHEREUM_RPC_URL"
	echo http://127.0.0.1:9000/Canary-Hook-Path-0002 >"$1/secrets/OPS_HOOK_URL"
	echo whsec_Q2FuYXJ5SG9va1NlY3JldDAwMDNDYW5hcnlIb29r >"$1/secrets/OPS_HOOK_SECRET"
	chmod 600 "$1"/secrets/*
}

touch $got
for name in tracewatch tracewatch@; do
	install -m 0644 $repo/systemd/tracewatch.service "/etc/systemd/system/$name.service"
done
cp -R "$repo/systemd/tracewatch@.service.d" /etc/systemd/system/
generation="$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')"
settings /etc/tracewatch /var/lib/tracewatch 9464
secrets /etc/tracewatch
systemctl daemon-reload
systemd-run --quiet --unit=world-node node $repo/node_modules/.bin/anvil
systemd-run --quiet --unit=world-hook node $repo/test/systemd/hook.js 9000 $got
expect 'the world: a node and a receiver' within 30 pay 0x00000000000000000000000000000000000000aa 1
echo "        systemd $generation, node $(node --version), $(tracewatch --version 2>/dev/null)"

# ---- The cases ---------------------------------------------------------------------------------------------------

started() {
	expect 'start: returns when the program says that it is ready' starts $unit
	expect 'start: the unit is active' has ActiveState active
	expect 'start: STATUS= is in words' within 10 words_of_status local
	expect 'start: runs as a user of its own' not is "$(stat -c %U "/proc/$(pid)")" root
	expect 'start: the state is for that user alone' is "$(stat -L -c %a /var/lib/tracewatch)" 700
	expect 'start: no secret in the environment' not grep -qa Canary "/proc/$(pid)/environ"
	expect 'start: no secret in the command line' not grep -qa Canary "/proc/$(pid)/cmdline"
	expect 'start: /metrics answers' within 10 curl_ok "$metrics" tracewatch_checkpoint_block
	expect 'start: /healthz is well' within 10 curl_ok http://127.0.0.1:9464/healthz '"status":"ok"'
	pay $watched 3 >/run/paid
	expect 'start: payments are told' within 15 all_told /run/paid
	expect 'start: state files are for that user alone' is \
		"$(find -L /var/lib/tracewatch -type f -perm /077 | wc -l)" 0
}

curl_ok() {
	node -e '
		const end = (good) => process.exit(good ? 0 : 1)
		const [url, words] = process.argv.slice(1)
		fetch(url).then(async (answer) => end(answer.ok && (await answer.text()).includes(words)), () => end(false))
	' "$1" "$2"
}

killed() {
	for round in 1 2 3; do
		before=$(pid)
		pay $watched 2 >>/run/paid
		kill -9 "$before"
		pay $watched 2 >>/run/paid
		expect "kill -9, round $round: is started again" within 20 other_pid "$before"
	done
	expect 'kill -9: nothing is lost' within 20 all_told /run/paid
	expect 'kill -9: what came twice came under its own id' one_delivery_an_alert
}

hung() {
	mkdir -p /run/systemd/system/$unit.d
	# Longer than a slow machine may forget a process.
	printf '[Service]\nWatchdogSec=12s\nTimeoutAbortSec=5s\n' >/run/systemd/system/$unit.d/90-soon.conf
	systemctl daemon-reload
	restarts $unit
	before=$(pid)
	sleep 26
	expect 'watchdog: progress keeps it alive' is "$(pid)" "$before"
	kill -STOP "$before"
	pay $watched 2 >>/run/paid
	expect 'watchdog: a hang is killed and started again' within 40 other_pid "$before"
	expect 'watchdog: the journal says why' sh -c "journalctl -u $unit --no-pager | grep -q 'Watchdog timeout'"
	expect 'watchdog: nothing is lost' within 20 all_told /run/paid
	rm -r /run/systemd/system/$unit.d
	systemctl daemon-reload
	restarts $unit
}

# Longer than one request may take, shorter than the loop was once held up.
attacked() {
	mkdir -p /run/systemd/system/$unit.d
	printf '[Service]\nWatchdogSec=40s\n' >/run/systemd/system/$unit.d/90-soon.conf
	systemctl daemon-reload
	restarts $unit
	before=$(pid)
	timeouts=$(journalctl -u $unit --no-pager | grep -c 'Watchdog timeout')
	expect 'attack: a stranger makes 100,000 calls in one transaction' node $repo/test/systemd/attack.js $node
	start=$(date +%s)
	pay $watched 1 >/run/paid
	expect 'attack: the block after it is told' within 180 all_told /run/paid
	echo "        told after $(($(date +%s) - start)) s, most of it the node's own"
	sleep 45
	expect 'attack: the watchdog did not end it' is "$(pid)" "$before"
	expect 'attack: nor was it about to' is "$(journalctl -u $unit --no-pager | grep -c 'Watchdog timeout')" "$timeouts"
	expect 'attack: it is well' within 10 curl_ok http://127.0.0.1:9464/healthz '"status":"ok"'
	rm -r /run/systemd/system/$unit.d
	systemctl daemon-reload
	systemctl stop $unit
}

reloaded() {
	before=$(pid)
	printf '  - address: %s\n' $added >>/etc/tracewatch/watchlists/main.yaml
	expect 'reload: a good edit is taken' systemctl reload $unit
	expect 'reload: both are watched' within 15 logged $unit 'coverage changed.*watched=2\b'
	pay $added 1 >>/run/paid
	expect 'reload: the new watch is told' within 15 all_told /run/paid
	cp /etc/tracewatch/watchlists/main.yaml /run/good.yaml
	printf '  - adress: nonsense\n' >>/etc/tracewatch/watchlists/main.yaml
	expect 'reload: a bad edit is refused' not systemctl reload $unit
	expect 'reload: its place is in the journal' within 5 sh -c "journalctl -u $unit --no-pager | grep -q 'main.yaml:6:5'"
	expect 'reload: the journal knows it for an error' within 10 sh -c \
		"journalctl -u $unit -p err -o cat --no-pager | grep -q '^[^{]*watchlists are wrong'"
	expect 'reload: the unit stays active' within 5 has ActiveState active
	expect 'reload: it is the same process' is "$(pid)" "$before"
	expect 'reload: STATUS= says so' within 10 words_of_status wrong
	expect 'reload: the metric says so' within 10 curl_ok "$metrics" 'tracewatch_config_last_reload_successful 0'
	pay $watched 1 >>/run/paid
	pay $added 1 >>/run/paid
	expect 'reload: the last good watchlists stay in effect' within 15 all_told /run/paid
	sleep 6
	expect 'reload: STATUS= still says so' words_of_status wrong
	cp /run/good.yaml /etc/tracewatch/watchlists/main.yaml
	expect 'reload: mended by saving alone' within 15 \
		curl_ok "$metrics" 'tracewatch_config_last_reload_successful 1'
	printf '  - adress: nonsense\n' >>/etc/tracewatch/watchlists/main.yaml
	expect 'reload: refused once more' not systemctl reload $unit
	cp /run/good.yaml /etc/tracewatch/watchlists/main.yaml
	expect 'reload: mended at once, before anyone looked' within 15 \
		curl_ok "$metrics" 'tracewatch_config_last_reload_successful 1'
	expect 'reload: the process never changed' is "$(pid)" "$before"
}

asked() {
	for command in status check doctor 'test-send hook'; do
		# shellcheck disable=SC2086
		expect "root beside the daemon: $command" tracewatch $command
	done
}

stopped() {
	pay $watched 2 >>/run/paid
	expect 'stop: takes seconds' took_less_than 30 systemctl stop $unit
	expect 'stop: ends well' has Result success
	expect 'stop: with 0' has ExecMainStatus 0
	pay $watched 2 >>/run/paid
	starts $unit
	expect 'stop: nothing is lost' within 20 all_told /run/paid
	systemctl stop $unit
}

refused() {
	mv /etc/tracewatch/secrets/OPS_HOOK_SECRET /run/kept
	expect 'missing secret: the start fails' not starts $unit
	sleep 6
	expect 'missing secret: as a wrong configuration' has ExecMainStatus 78
	expect 'missing secret: without a loop' has NRestarts 0
	expect 'missing secret: the journal says where it belongs' \
		logged $unit 'OPS_HOOK_SECRET.*is not set: write it to /etc/tracewatch/secrets/OPS_HOOK_SECRET'
	mv /run/kept /etc/tracewatch/secrets/OPS_HOOK_SECRET
	expect 'missing secret: mended, it starts' starts $unit
	systemctl stop $unit

	mv /etc/tracewatch/secrets /run/secrets-kept
	expect 'no folder of secrets: the start fails' not starts $unit
	expect 'no folder of secrets: the program says so, not systemd' has ExecMainStatus 78
	mkdir -p /run/systemd/system/$unit.d
	cp -r /run/secrets-kept /run/credentials-of-before
	for name in ETHEREUM_RPC_URL OPS_HOOK_URL OPS_HOOK_SECRET; do
		echo "LoadCredential=$name:/run/credentials-of-before/$name"
	done | sed '1i[Service]' >/run/systemd/system/$unit.d/90-single.conf
	systemctl daemon-reload
	expect 'no folder of secrets: it starts with credentials from elsewhere' starts $unit
	systemctl stop $unit
	rm -r /run/systemd/system/$unit.d
	systemctl daemon-reload
	mv /run/secrets-kept /etc/tracewatch/secrets
}

instances() {
	settings /etc/tracewatch/a /var/lib/tracewatch-a 9471
	settings /etc/tracewatch/b /var/lib/tracewatch-b 9472
	sed -i 's/name: local/name: other/' /etc/tracewatch/b/tracewatch.yaml
	sed -i 's/network: local/network: other/' /etc/tracewatch/b/watchlists/main.yaml
	secrets /etc/tracewatch/a
	secrets /etc/tracewatch/b
	unit=tracewatch@a.service
	expect 'instances: a starts' starts tracewatch@a
	unit=tracewatch@b.service
	expect 'instances: b starts beside it' starts tracewatch@b
	expect 'instances: a is still active' systemctl is-active --quiet tracewatch@a
	for one in a b; do expect "instances: $one watches" within 15 logged tracewatch@$one 'coverage changed'; done
	expect 'instances: root finds the secrets of each' tracewatch test-send hook -c /etc/tracewatch/a/tracewatch.yaml
	hash=$(pay $watched 1)
	expect 'instances: each tells of its own' within 15 sh -c \
		"grep '$hash' $got | grep -q '\"local\"' && grep '$hash' $got | grep -q '\"other\"'"
	expect 'instances: each has a state of its own' \
		test -s /var/lib/tracewatch-a/state.json -a -s /var/lib/tracewatch-b/state.json
	systemctl stop tracewatch@a tracewatch@b
	unit=tracewatch.service
}

secret_nowhere() {
	expect 'secrets: the journal can be read' \
		sh -c "journalctl -o export --no-pager -u 'tracewatch*' >/run/journal && test -s /run/journal"
	expect 'secrets: none in the journal of any unit' not grep -qaE 'Canary-|Q2FuYXJ5' /run/journal
	expect 'secrets: none in the state' not grep -rqaE 'Canary-|Q2FuYXJ5' /var/lib/private
}

started
[ $failed = 0 ] || { echo 'IT DOES NOT START: the other cases mean nothing' && exit 1; }
killed
hung
reloaded
asked
stopped
refused
old_node
instances
attacked
secret_nowhere
expect 'exposure: as the running systemd counts it' systemd-analyze security --threshold=13 tracewatch.service
verdict
