#!/bin/sh
# Runs inside a booted systemd (scripts/booted-deb.sh): the Debian package from its installation to its purge, beside a
# local node and a webhook receiver. Prints a line a case; the last line is the verdict.
set -u

node=/stage/node-of-the-cases
rpc=http://127.0.0.1:8545/Canary-Node-Key-0001/evm
watched=0x70997970C51812dc3A010C7d01b50e0d17dc79C8
got=/run/hook.jsonl
unit=tracewatch.service
. /repo/test/systemd/words.sh
export DEBIAN_FRONTEND=noninteractive

told() { [ "$(cat $got 2>/dev/null | wc -l)" -ge "$1" ]; }
pay() { $node /repo/test/systemd/pay.js $rpc "$watched" 1; }
is_active() { systemctl --quiet is-active tracewatch; }

first=$(ls /stage/tracewatch_*.deb)
expect 'the package installs' dpkg -i "$first"
expect 'nothing is started or enabled before it is configured' not systemctl --quiet is-enabled tracewatch
expect 'nothing runs' not is_active
expect 'the program runs by its own Node' sh -c '! command -v node && tracewatch --version'
expect 'the units are right' systemd-analyze verify /lib/systemd/system/tracewatch.service
expect 'there is a manual page' sh -c 'gzip -dc /usr/share/man/man1/tracewatch.1.gz | grep -q "^.SS doctor"'
for name in alerts.yaml grafana.json; do
	expect "monitoring is shipped: $name" [ -s /usr/share/tracewatch/monitoring/$name ]
done
expect 'bash completes commands' bash -c '. /usr/share/bash-completion/completions/tracewatch
	COMP_WORDS=(tracewatch do) COMP_CWORD=1; _tracewatch 2>/dev/null; [ "${COMPREPLY[*]}" = doctor ]'

# Configured, as the README says; the local node stands in for a provider.
(cd /repo && exec $node dist/cli.js devnode --key Canary-Node-Key-0001 >/run/devnode.log 2>&1) &
$node /repo/test/systemd/hook.js 9000 $got >/run/hook.log 2>&1 &
within 60 grep -q '^Endpoint' /run/devnode.log
cat >/etc/tracewatch/tracewatch.yaml <<YAML
networks:
  - {name: local, chain_id: 31337, rpc: [$rpc], schedule: "* * * * * *", stall_after: never}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000/"}
watchlists: watchlists
state: /var/lib/tracewatch
YAML
printf 'network: local\nreceivers: [hook]\nwatches:\n  - {address: "%s", label: Mine}\n' $watched \
	>/etc/tracewatch/watchlists/mine.yaml
expect 'check finds the configuration by itself' sh -c 'cd / && tracewatch check'
expect 'the service starts' systemctl enable --now tracewatch
sleep 2
pay >/run/paid.log 2>&1
expect 'the first alert arrives' within 20 told 1

before=$(systemctl show tracewatch --property=MainPID --value)
expect 'an upgrade installs' dpkg --force-confdef --force-confold -i /stage/next/tracewatch_99.0.0.deb
expect 'an upgrade keeps the edited configuration' grep -q 31337 /etc/tracewatch/tracewatch.yaml
expect 'an upgrade restarts what ran' within 30 sh -c "systemctl --quiet is-active tracewatch &&
	[ \"\$(systemctl show tracewatch --property=MainPID --value)\" != $before ]"
pay >>/run/paid.log 2>&1
expect 'and goes on from its state' within 20 told 2
expect 'a downgrade installs' dpkg --force-downgrade --force-confdef --force-confold -i "$first"
expect 'a downgrade keeps it too' grep -q 31337 /etc/tracewatch/tracewatch.yaml
pay >>/run/paid.log 2>&1
expect 'and tells' within 20 told 3

expect 'it can be removed' dpkg --remove tracewatch
expect 'nothing runs any more' not is_active
expect 'the configuration stays' [ -f /etc/tracewatch/tracewatch.yaml ]
expect 'the state stays' [ -e /var/lib/private/tracewatch/state.json ]
expect 'it can be purged' dpkg --purge tracewatch
for path in /etc/tracewatch/tracewatch.yaml /var/lib/private/tracewatch /usr/lib/tracewatch \
	/lib/systemd/system/tracewatch.service; do
	expect "nothing of ours is left: $path" [ ! -e "$path" ]
done
expect 'the watchlist is the user'"'"'s, and is not lost' [ -f /etc/tracewatch/watchlists/mine.yaml ]

verdict
