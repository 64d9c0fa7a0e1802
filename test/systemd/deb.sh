#!/bin/sh
# Runs inside a booted systemd (scripts/booted-deb.sh): the Debian package from its installation to its purge, beside a
# local node and a webhook receiver. Prints a line a case; the last line is the verdict.
set -u

node=/stage/node-of-the-cases
rpc=http://127.0.0.1:8545/?key=Canary-Node-Key-0001
watched=0x70997970C51812dc3A010C7d01b50e0d17dc79C8
got=/run/hook.jsonl
unit=tracewatch.service
. /repo/test/systemd/words.sh
export DEBIAN_FRONTEND=noninteractive

told() { [ "$(cat $got 2>/dev/null | wc -l)" -ge "$1" ]; }
pay() { $node /repo/test/systemd/pay.js $rpc "$watched" 1; }
is_active() { systemctl --quiet is-active tracewatch; }

first=$(ls /stage/tracewatch_*.deb)
began=$(date +%s)
expect 'the package installs' dpkg -i "$first"
expect 'nothing is started or enabled before it is configured' not systemctl --quiet is-enabled tracewatch
expect 'nothing runs' not is_active
expect 'the program runs by its own Node' sh -c '! command -v node && tracewatch --version'
expect 'the units are right' systemd-analyze verify --man=no /lib/systemd/system/tracewatch.service
expect 'no compiler is shipped' [ -z "$(find /usr/lib/tracewatch -ipath '*typescript*' -print -quit)" ]
for name in alerts.yaml grafana.json; do
	expect "monitoring is shipped: $name" [ -s /usr/share/tracewatch/monitoring/$name ]
done

# Not configured yet: what an operator meets first, in his own shell and in the journal.
by_hand() { (cd / && env -u INVOCATION_ID "$@" 2>&1); }
says() { # PATTERN COMMAND...
	pattern="$1"
	shift
	by_hand "$@" | grep "$pattern"
}
expect 'the folder of secrets is for root alone' sh -c '[ "$(stat -c %a:%U /etc/tracewatch/secrets)" = 700:root ]'
expect 'check as root names a missing secret and its file' \
	says 'SMTP_URL} is not set: write it to /etc/tracewatch/secrets/SMTP_URL' tracewatch check
expect 'a start without it fails' not starts tracewatch
expect 'and names the same file' logged tracewatch 'SMTP_URL} is not set: write it to /etc/tracewatch/secrets/SMTP_URL'
systemctl reset-failed tracewatch

# Configured, as the README says; the local node stands in for a provider.
$node /repo/node_modules/.bin/anvil >/run/anvil.log 2>&1 &
$node /repo/test/systemd/hook.js 9000 $got >/run/hook.log 2>&1 &
within 60 grep -q '^Listening' /run/anvil.log
# A person at a terminal, who types slower than questions come.
cat >/run/person.sh <<'PERSON'
ask() { until grep -q "$1" /run/screen; do sleep 0.1; done; printf '%s\r' "$2"; }
ask 'Endpoint' "$1"
ask 'Alerts by' j   # one down: webhook
ask 'URL of the webhook' http://127.0.0.1:9000/Canary-Hook-0001
ask 'First address' "$2"
ask 'Its label' Mine
until grep -q 'A page' /run/screen; do sleep 0.2; done
PERSON
: >/run/screen
expect 'setup asks, tries, writes and starts' sh -c "sh /run/person.sh $rpc $watched |
	timeout 240 script --quiet --return --flush --command 'tracewatch setup' /dev/null >/run/screen 2>&1"
expect 'the service runs' is_active
expect 'and at each boot' systemctl --quiet is-enabled tracewatch
expect 'setup shows no secret' not grep -q 'Canary\|whsec_' /run/screen
expect 'nor do its other files' not grep -rq --exclude-dir=secrets 'Canary\|whsec_' /etc/tracewatch
for name in RPC_URL OPS_HOOK_URL OPS_HOOK_SECRET; do
	expect "a secret is for root alone: $name" sh -c "[ \$(stat -c %a:%U /etc/tracewatch/secrets/$name) = 600:root ]"
done
expect 'check finds the configuration and the secrets by itself' by_hand tracewatch check
expect 'and so does doctor' by_hand tracewatch doctor
expect 'who may not read the secrets is told so' says 'To do: run the command with sudo' \
	setpriv --reuid=65534 --regid=65534 --clear-groups tracewatch check
expect 'the test message arrived' told 1
expect 'it is watched from now on' within 20 logged tracewatch 'coverage changed'
pay >/run/paid.log 2>&1
expect 'the first alert arrives' within 20 told 2
echo "        $(($(date +%s) - began)) s from the package to the first alert, the local node's start included"
expect 'a second run says to edit the YAML' says 'is there already.*edit /etc/tracewatch/tracewatch.yaml' \
	tracewatch setup
expect 'and the service runs on' is_active

# A secret under another name, written by hand, and too openly.
sed -i 's/{RPC_URL}/{OTHER_RPC_URL}/' /etc/tracewatch/tracewatch.yaml
echo $rpc >/etc/tracewatch/secrets/OTHER_RPC_URL && chmod 644 /etc/tracewatch/secrets/OTHER_RPC_URL
expect 'check finds it, and warns' says 'warning: .*OTHER_RPC_URL can be read by every user' tracewatch check
chmod 600 /etc/tracewatch/secrets/OTHER_RPC_URL
expect 'the service starts with it' restarts tracewatch
expect 'and root finds it' by_hand tracewatch test-send ops
expect 'which tells' told 3

before=$(systemctl show tracewatch --property=MainPID --value)
main_pid_is() { [ "$(systemctl show tracewatch --property=MainPID --value)" = "$1" ] && is_active; }
# kept WORDS COMMAND...: it fails, says WORDS, and the old program runs on.
kept() {
	said="$1"
	shift
	expect "an upgrade does not end: $said" sh -c '! "$@" >/run/upgrade.log 2>&1' sh "$@"
	expect '  it says so' grep -q "$said" /run/upgrade.log
	expect '  and that nothing was restarted' grep -q 'NOT restarted' /run/upgrade.log
	expect '  and the old program runs on' main_pid_is "$before"
}
cp /etc/tracewatch/tracewatch.yaml /run/tracewatch.yaml
echo 'silences: []' >>/etc/tracewatch/tracewatch.yaml
# Held, so that it does not write the file anew.
kill -STOP "$before"
state=/var/lib/private/tracewatch/state.json
cp -p $state /run/state.json
sed -i '1s/^{"v":[0-9]*,/{"v":1,/' $state
kept silences dpkg --force-confdef --force-confold -i /stage/next/tracewatch_99.0.0.deb
expect '  and names the state in the same round' grep -q 'state of another version' /run/upgrade.log
cp /run/tracewatch.yaml /etc/tracewatch/tracewatch.yaml
kept 'state of another version' dpkg --configure tracewatch
cp -p /run/state.json $state
kill -CONT "$before"
mkdir -p /etc/credstore && echo x >/etc/credstore/tracewatch.OLD_SECRET
kept 'mv /etc/credstore/tracewatch.OLD_SECRET /etc/tracewatch/secrets/OLD_SECRET' dpkg --configure tracewatch
mv /etc/credstore/tracewatch.OLD_SECRET /etc/tracewatch/secrets/OLD_SECRET
pay >>/run/paid.log 2>&1
expect 'which still watches' within 20 told 4
expect 'once that is done, the package is configured' dpkg --configure tracewatch
expect 'an upgrade keeps the edited configuration' grep -q 31337 /etc/tracewatch/tracewatch.yaml
expect 'an upgrade restarts what ran' within 30 sh -c "systemctl --quiet is-active tracewatch &&
	[ \"\$(systemctl show tracewatch --property=MainPID --value)\" != $before ]"
pay >>/run/paid.log 2>&1
expect 'and goes on from its state' within 20 told 5
expect 'a downgrade installs' dpkg --force-downgrade --force-confdef --force-confold -i "$first"
expect 'a downgrade keeps it too' grep -q 31337 /etc/tracewatch/tracewatch.yaml
pay >>/run/paid.log 2>&1
expect 'and tells' within 20 told 6

systemctl stop tracewatch
pay >>/run/paid.log 2>&1
expect 'root polls for a stopped service' by_hand tracewatch once
expect 'and tells' told 7
expect 'the service still reads its state' starts tracewatch
pay >>/run/paid.log 2>&1
expect 'and goes on from it' within 20 told 8

expect 'an instance can be enabled' systemctl enable tracewatch@one
expect 'it can be removed' dpkg --remove tracewatch
expect 'nothing runs any more' not is_active
expect 'no start of an instance is left' [ ! -L /etc/systemd/system/multi-user.target.wants/tracewatch@one.service ]
expect 'the configuration stays' [ -f /etc/tracewatch/tracewatch.yaml ]
expect 'the state stays' [ -e /var/lib/private/tracewatch/state.json ]
expect 'a purge names the secrets that stay' says 'the secrets stay: /etc/tracewatch/secrets' \
	dpkg --purge tracewatch
for path in /etc/tracewatch/tracewatch.yaml /var/lib/private/tracewatch /usr/lib/tracewatch \
	/lib/systemd/system/tracewatch.service; do
	expect "nothing of ours is left: $path" [ ! -e "$path" ]
done
expect 'the watchlist is the user'"'"'s, and is not lost' [ -f /etc/tracewatch/watchlists/local.yaml ]
expect 'and so are the secrets' [ -f /etc/tracewatch/secrets/RPC_URL ]

verdict
