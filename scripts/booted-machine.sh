# Sourced by booted-systemd.sh and booted-deb.sh: a container over a throw-away copy of this machine's files, in which a
# systemd is really booted. Nothing on the machine changes. Where it cannot run it ends with 77, and says so loudly.
#
#   --root DIR     boot the system in DIR instead of this machine's own, as `debootstrap` makes it
#   --suite NAME   boot a fresh Debian of this name (trixie is 13), which debootstrap makes from the mirror that apt
#                  uses here: one to two minutes, and kept below $TRACEWATCH_ROOTS where that is set
#
# The script that sources this says first what is not tried where it cannot run: $tried.
set -eu

repo="$(cd "$(dirname "$0")/.." && pwd)"
root=/
[ "${1-}" = --root ] && root="$2"
suite=''
[ "${1-}" = --suite ] && suite="$2"

skip() {
	echo "SKIPPED: $tried in a booted systemd: $*" >&2
	exit 77
}

# The files of a fresh Debian in $root.
make_root() {
	command -v debootstrap >/dev/null || skip 'debootstrap is missing (apt-get install debootstrap)'
	mirror="$(apt-get indextargets --format '$(LABEL) $(SITE)' 'Created-By: Packages' | sed -n 's/^Debian //p' | head -1)"
	[ -n "$mirror" ] || skip 'apt knows no mirror of Debian here'
	roots="${TRACEWATCH_ROOTS:-$(mktemp -d)}"
	root="$roots/$suite"
	[ -e "$root/.whole" ] && return
	rm -rf "$root"
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "$suite" "$root" "$mirror" \
		>"$roots/$suite.log" 2>&1 ||
		skip "debootstrap of $suite: $(tail -1 "$roots/$suite.log")"
	touch "$root/.whole"
}

[ "$(id -u)" = 0 ] || skip 'this needs root'
command -v systemd-nspawn >/dev/null || skip 'systemd-nspawn is missing (apt-get install systemd-container)'
[ -z "$suite" ] || make_root
[ -x "$root/lib/systemd/systemd" ] || skip "there is no systemd in $root (apt-get install systemd)"

# make_machine SIZE: the files of the machine in $machine, and a folder for what it is to be given in $work/stage.
make_machine() {
	work="$(mktemp -d)"
	machine="$work/layers/machine"
	mount -t tmpfs -o "size=$1" tmpfs "$work" || skip 'a tmpfs cannot be mounted here'
	trap clean EXIT
	mkdir -p "$work/layers/upper" "$work/layers/scratch" "$machine" "$work/stage"
	mount -t overlay overlay \
		-o "lowerdir=$root,upperdir=$work/layers/upper,workdir=$work/layers/scratch" "$machine" ||
		skip 'an overlay cannot be mounted here'
}

clean() {
	umount "$machine" 2>/dev/null || true
	umount "$work" && rmdir "$work"
	[ -z "$suite" ] || [ -n "${TRACEWATCH_ROOTS-}" ] || rm -rf "$roots"
}

# boot CASES PATH SECONDS: boots the machine, runs test/systemd/CASES in it with that PATH, prints what it says;
# succeeds when all its cases passed. The machine sees the repository as /repo, $work/stage as /stage, and no network.
boot() {
	[ -s "$machine/etc/hosts" ] || echo '127.0.0.1 localhost' >"$machine/etc/hosts"
	cat >"$machine/etc/systemd/system/cases.service" <<-UNIT
		[Unit]
		DefaultDependencies=no
		Requires=basic.target
		After=basic.target
		[Service]
		Type=oneshot
		Environment=PATH=$2
		StandardOutput=append:/cases.log
		StandardError=inherit
		ExecStart=/bin/sh /repo/test/systemd/$1
		ExecStopPost=/bin/systemctl --no-block poweroff
	UNIT
	printf '[Unit]\nRequires=basic.target cases.service\nAllowIsolate=yes\n' \
		>"$machine/etc/systemd/system/cases.target"
	# Nothing of this machine waits for a network that the container has not got.
	ln -sf /dev/null "$machine/etc/systemd/system/systemd-networkd-wait-online.service"
	ln -sf /dev/null "$machine/etc/systemd/system/NetworkManager-wait-online.service"
	: >"$machine/cases.log"
	began=$(date +%s)
	SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout --kill-after=10 "$3" systemd-nspawn --quiet --boot \
		--directory="$machine" --machine="tracewatch-$$" --register=no --keep-unit --private-network --console=pipe \
		--bind-ro="$repo:/repo" --bind-ro="$work/stage:/stage" systemd.unit=cases.target \
		</dev/null >"$work/console.log" 2>&1 || true
	cat "$machine/cases.log"
	grep -qE '^(ALL CASES PASSED|[0-9]+ CASES FAILED)$' "$machine/cases.log" ||
		echo "no verdict after $(($(date +%s) - began)) s of $3"
	[ -s "$machine/cases.log" ] || tail -n 30 "$work/console.log"
	grep -q '^ALL CASES PASSED$' "$machine/cases.log"
}
