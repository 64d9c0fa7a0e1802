import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../src/model/ports.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { createNotifier } from '../../src/ops/sdNotify.js'
import { temporaryFolder } from '../support/folder.js'

let folder: string
let warnings: string[]
const log: Log = {
	debug() {},
	info() {},
	warn: (_, message) => void warnings.push(message),
	error() {},
	child: () => log,
}
const scrubber = createScrubber()
scrubber.add(['k3y-of-an-endpoint'])

beforeEach(() => {
	folder = temporaryFolder()
	warnings = []
})

/** A notifier whose `systemd-notify` writes down what it was called with. */
function onHelper(script = 'printf "%s\\n" "$NOTIFY_SOCKET" "$@" >> "$0.calls"', more: NodeJS.ProcessEnv = {}) {
	const path = join(folder, 'systemd-notify')
	writeFileSync(path, `#!/bin/sh\n${script}\n`)
	chmodSync(path, 0o755)
	const env = {
		NOTIFY_SOCKET: '/run/systemd/notify',
		PATH: `${folder}:/usr/bin:/bin`,
		SMTP_URL: 'not for children',
		...more,
	}
	const notifier = createNotifier({ env, pid: 42, log, scrubber })
	return {
		notifier,
		async calls() {
			await notifier.flush()
			return readFileSync(`${path}.calls`, 'utf8').split('/run/systemd/notify\n--\n').slice(1)
		},
	}
}

describe('createNotifier', () => {
	test('default: outside of systemd nothing is said', async () => {
		const notifier = createNotifier({ env: {}, pid: 42, log, scrubber })
		notifier.ready('polling')
		notifier.watchdog()
		await notifier.flush()
		expect(notifier.isOn).toBe(false)
		expect(notifier.watchdogMs).toBeNull()
	})

	test('behavior: a reload begins with the time of the monotonic clock', async () => {
		const { notifier, calls } = onHelper()
		const beforeUsec = process.hrtime.bigint() / 1000n
		notifier.reloading()
		const [call = ''] = await calls()
		const usec = BigInt(/^RELOADING=1\nMONOTONIC_USEC=(\d+)\n$/.exec(call)?.[1] ?? 0)
		expect(usec).toBeGreaterThanOrEqual(beforeUsec)
		expect(usec).toBeLessThanOrEqual(process.hrtime.bigint() / 1000n)
	})

	test('behavior: the same status is sent once', async () => {
		const { notifier, calls } = onHelper()
		notifier.ready('a')
		notifier.status('a')
		notifier.status('b')
		notifier.status('b')
		expect(await calls()).toEqual(['READY=1\nSTATUS=a\n', 'STATUS=b\n'])
	})

	test('behavior: a status holds no secret and cannot begin another message', async () => {
		const { notifier, calls } = onHelper()
		notifier.status('https://x/k3y-of-an-endpoint refused\nMAINPID=1\u202e')
		expect(await calls()).toEqual(['STATUS=https://x/[secret] refused MAINPID=1\n'])
	})

	test('default: the helper is called, in order, with nothing of our environment', async () => {
		const { notifier, calls } = onHelper('printf "%s\\n" "$NOTIFY_SOCKET" "$@" "$SMTP_URL" >> "$0.calls"')
		expect(notifier.isOn).toBe(true)
		notifier.ready('polling')
		notifier.reloading()
		notifier.ready()
		notifier.stopping()
		expect(await calls()).toEqual([
			'READY=1\nSTATUS=polling\n\n',
			expect.stringMatching(/^RELOADING=1\nMONOTONIC_USEC=\d+\n\n$/),
			'READY=1\n\n',
			'STOPPING=1\n\n',
		])
	})

	test('behavior: while the helper is busy, of several states the newest is enough', async () => {
		const { notifier, calls } = onHelper()
		notifier.ready()
		for (const text of ['a', 'b', 'c']) {
			notifier.status(text)
			notifier.watchdog()
		}
		expect(await calls()).toEqual(['READY=1\n', 'STATUS=c\n', 'WATCHDOG=1\n'])
	})

	test.each([
		['fails', 'exit 1'],
		['is killed', 'kill -9 $$'],
	])('error: a helper that %s is reported once and stops nothing', async (_, script) => {
		const { notifier } = onHelper(script)
		notifier.ready()
		notifier.status('x')
		await notifier.flush()
		expect(warnings).toEqual(['the service manager could not be notified of our state'])
	})

	test('behavior: a helper that a stop of the unit ends is called once more, and nothing is logged', async () => {
		const { notifier, calls } = onHelper(
			'[ -e "$0.once" ] || { : > "$0.once"; kill -TERM $$; sleep 5; }\n' +
				'printf "%s\\n" "$NOTIFY_SOCKET" "$@" >> "$0.calls"',
		)
		notifier.stopping('stopping')
		expect(await calls()).toEqual(['STOPPING=1\nSTATUS=stopping\n'])
		expect(warnings).toEqual([])
	})

	test('error: a missing helper is reported once', async () => {
		const notifier = createNotifier({
			env: { NOTIFY_SOCKET: '/run/systemd/notify', PATH: folder },
			pid: 42,
			log,
			scrubber,
		})
		notifier.ready()
		notifier.stopping()
		await notifier.flush()
		expect(warnings).toHaveLength(1)
	})

	test.each([
		[{ WATCHDOG_USEC: '120000000' }, 120_000],
		[{ WATCHDOG_USEC: '120000000', WATCHDOG_PID: '42' }, 120_000],
		[{ WATCHDOG_USEC: '120000000', WATCHDOG_PID: '41' }, null],
		[{ WATCHDOG_USEC: '0' }, null],
		[{ WATCHDOG_USEC: 'soon' }, null],
		[{}, null],
	])('behavior: %o makes a watchdog of %s ms', (env, expected) => {
		expect(onHelper('', env).notifier.watchdogMs).toBe(expected)
	})
})
