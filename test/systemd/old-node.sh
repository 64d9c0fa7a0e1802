# Sourced by cases.sh: a Node that is too old for the program, as distributions had them.
#
# A unit that is started again and again tells nobody why; what is refused is said once, and kept.
old_node() {
	mv /usr/local/bin/node /usr/local/bin/node.new
	for major in 14 18; do
		[ -x /stage/node-$major ] || { echo "NOT PROVED HERE: no Node $major could be installed" && continue; }
		ln -sf /stage/node-$major /usr/local/bin/node
		tracewatch check >/run/old.log 2>&1
		expect "Node $major: is a wrong configuration" is $? 78
		expect "Node $major: a sentence says what to do" sh -c \
			"[ \$(wc -l </run/old.log) = 1 ] && grep -q 'needs Node 20.19 .*this is Node $major.*: install' /run/old.log"
		expect "Node $major: the start fails" not starts $unit
	done
	if [ -L /usr/local/bin/node ]; then
		sleep 6
		expect 'old Node: as a wrong configuration' has ExecMainStatus 78
		expect 'old Node: without a loop' has NRestarts 0
		expect 'old Node: the journal says it' logged $unit 'needs Node 20.19 or newer, and this is Node 18'
	fi
	mv /usr/local/bin/node.new /usr/local/bin/node
	expect 'old Node: with a newer one it starts' starts $unit
	systemctl stop $unit
}
