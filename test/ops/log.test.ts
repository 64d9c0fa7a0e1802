import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConfigError, PlainError, RpcError, StateError, UsageError } from '../../src/errors.js'
import { createLog, isJournal, type LogOptions } from '../../src/ops/log.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { mountMemory } from '../state/file/mounts.js'
import { temporaryFolder } from '../support/folder.js'

/** A log that keeps what it wrote. */
function keepingLog(options: Partial<LogOptions> & { secrets?: readonly string[] } = {}) {
	const written: string[] = []
	const scrubber = createScrubber()
	scrubber.add(options.secrets ?? [])
	const destination = { write: (line: string) => void written.push(line) }
	const log = createLog({ scrubber, destination, pretty: false, journal: false, ...options })
	return { log, written, last: () => JSON.parse(written.at(-1) ?? 'null') }
}

describe('createLog', () => {
	test('default: an event is one line of JSON, with level, time and facts', () => {
		const { log, written, last } = keepingLog()
		log.info({ network: 'ethereum', blocks: 3 }, 'polled')
		expect(written).toHaveLength(1)
		expect(written[0]).toMatch(/^\{.*\}\n$/)
		expect(last()).toEqual({ level: 'info', time: expect.any(String), network: 'ethereum', blocks: 3, msg: 'polled' })
		expect(Date.parse(last().time)).toBeGreaterThan(0)
	})

	test('error: on a full disk nothing is thrown, and the lines are written once there is room', async () => {
		const mount = await mountMemory(temporaryFolder(), 64 << 10)
		if (mount === null) return
		onTestFinished(() => mount.unmount())
		const file = join(mount.folder, 'log')
		const ballast = join(mount.folder, 'ballast')
		const fd = openSync(file, 'a')
		onTestFinished(() => closeSync(fd))
		const log = createLog({ scrubber: createScrubber(), destination: fd, pretty: false, journal: false })
		expect(() => {
			for (;;) appendFileSync(ballast, Buffer.alloc(4096))
		}).toThrow('ENOSPC')
		for (let line = 0; line < 3; line++) log.info({ line }, 'no room')
		rmSync(ballast)
		log.info({ line: 3 }, 'room')
		const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
		expect(lines.map((line) => JSON.parse(line).line)).toEqual([0, 1, 2, 3])
	})

	test('default: debug lines are not written', () => {
		const { log, written } = keepingLog()
		log.debug({}, 'nothing')
		expect(written).toEqual([])
	})

	test('behavior: level debug writes them', () => {
		const { log, last } = keepingLog({ level: 'debug' })
		log.debug({}, 'something')
		expect(last()).toMatchObject({ level: 'debug', msg: 'something' })
	})

	test('behavior: amounts are exact text, maps and sets are data, a URL is its host', () => {
		const { log, last } = keepingLog()
		log.info(
			{
				valueWei: 2n ** 64n,
				deep: { blocks: [1n, 2n] },
				map: new Map([['a', 1n]]),
				set: new Set([1n]),
				url: new URL('https://user:pass@node.example.org:8545/key'),
				at: new Date(0),
			},
			'x',
		)
		expect(last()).toMatchObject({
			valueWei: '18446744073709551616',
			deep: { blocks: ['1', '2'] },
			map: { a: '1' },
			set: ['1'],
			url: 'node.example.org:8545',
			at: '1970-01-01T00:00:00.000Z',
		})
	})

	test('behavior: a child carries its facts on every line', () => {
		const { log, last } = keepingLog()
		log.child({ network: 'ethereum', chainId: 1n }).child({ part: 2 }).warn({ x: 1 }, 'y')
		expect(last()).toMatchObject({ level: 'warn', network: 'ethereum', chainId: '1', part: 2, x: 1, msg: 'y' })
	})

	test('behavior: any facts give exactly one line of JSON, no longer than the journal takes', () => {
		const { log, written } = keepingLog()
		fc.assert(
			fc.property(
				fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withMap: true, withDate: true })),
				(facts) => {
					written.length = 0
					log.info({ facts }, 'any')
					expect(written).toHaveLength(1)
					expect(written[0]?.indexOf('\n')).toBe((written[0]?.length ?? 0) - 1)
					expect(() => JSON.parse(written[0] ?? '')).not.toThrow()
				},
			),
		)
	})

	test('behavior: a line that is too long keeps its message and says so', () => {
		const { log, written, last } = keepingLog()
		log.error({ rows: Array.from({ length: 40 }, () => 'x'.repeat(1500)) }, 'too much')
		expect(written[0]?.length).toBeLessThan(16_384)
		expect(last()).toMatchObject({ level: 'error', msg: 'too much', cutFromCharacters: expect.any(Number) })
	})

	test('behavior: circular facts end', () => {
		const { log, last } = keepingLog()
		const circle: { self?: object } = {}
		circle.self = circle
		log.info({ circle }, 'round')
		expect(last()).toMatchObject({ msg: 'round' })
	})

	test('behavior: characters that turn a line around or move a cursor are taken out', () => {
		const { log, written } = keepingLog()
		log.warn({ label: 'a\u202eb\u009bc\u2066d\u200be' }, 'x\u2028y\u001b[31m')
		expect(written[0]).toContain('"abcde"')
		expect(written[0]).toContain('"xy[31m"')
	})
})

describe('secrets', () => {
	const secret = 'k3y-of-the-endpoint'

	test.each([
		['in the message', {}, `asked ${secret}`],
		['in a fact', { url: `https://node.example.org/${secret}/evm` }, 'x'],
		['in the name of a fact', { [secret]: 1 }, 'x'],
		['in an error', { err: new Error(`fetch failed: ${secret}`) }, 'x'],
		['in the cause of a cause', { err: new Error('a', { cause: new Error('b', { cause: new Error(secret) }) }) }, 'x'],
		['in base64', { auth: `Basic ${Buffer.from(`u:${secret}`).toString('base64')}` }, 'x'],
	])('behavior: no secret %s', (_, facts, message) => {
		const { log, written } = keepingLog({ secrets: [secret] })
		log.error(facts, message)
		expect(written[0]).toContain('[secret]')
		expect(written[0]).not.toContain(secret)
		expect(written[0]).not.toContain(Buffer.from(secret).toString('base64').slice(2, -4))
		expect(() => JSON.parse(written[0] ?? '')).not.toThrow()
	})

	test.each(['123456', '":1,"a', 'true,"a', '2099-01', '}},{{"'])(
		'behavior: a secret that looks like JSON (%s) leaves the line whole',
		(odd) => {
			const { log, last } = keepingLog({ secrets: [odd] })
			log.info({ pid: 123456, list: [1, true], odd, nested: { a: 1, a2: '1' } }, `x ${odd}`)
			expect(last()).toMatchObject({ odd: '[secret]', msg: 'x [secret]' })
			expect(JSON.stringify(last())).not.toContain(odd)
		},
	)

	test('behavior: pretty lines are clean as well', () => {
		const { log, written } = keepingLog({ secrets: [secret], pretty: true })
		log.error({ err: new Error(secret) }, `m ${secret}`)
		expect(written.join('')).toContain('m [secret]')
		expect(written.join('')).not.toContain(secret)
	})
})

describe('errors', () => {
	test.each([
		new ConfigError([{ file: 'a.yaml', line: 1, column: 2, message: 'wrong' }]),
		new RpcError('node.example.org did not answer', { kind: 'timeout', endpoint: 'node.example.org' }),
		new StateError('disk', 'the disk is full'),
		new PlainError('port 9464 is in use'),
		new UsageError('no such option'),
	])('behavior: $name comes without a stack', (err) => {
		const { log, last } = keepingLog()
		log.error({ err }, 'x')
		expect(last().err).toMatchObject({ type: err.name, message: err.message })
		expect(last().err).not.toHaveProperty('stack')
	})

	test('behavior: an error that no one expected comes with its stack', () => {
		const { log, last } = keepingLog()
		log.error({ err: new TypeError('x is not a function') }, 'x')
		expect(last().err).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('log.test.ts') })
	})

	test('behavior: the facts of an endpoint error and the codes under it', () => {
		const { log, last } = keepingLog()
		const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', port: 1 })
		const cause = Object.assign(new AggregateError([refused, refused], 'all failed'), { code: 'ECONNREFUSED' })
		const facts = { kind: 'network', endpoint: 'node.example.org', method: 'eth_chainId' } as const
		log.warn({ err: new RpcError('node.example.org refused', facts, { cause }) }, 'x')
		expect(last().err).toEqual({
			type: 'RpcError',
			message: 'node.example.org refused',
			...facts,
			cause: {
				type: 'AggregateError',
				message: 'all failed',
				code: 'ECONNREFUSED',
				errors: [1, 2].map(() => ({ type: 'Error', message: refused.message, code: 'ECONNREFUSED', port: 1 })),
			},
		})
	})

	test('behavior: an error given as the facts themselves is reported the same way', () => {
		const { log, last } = keepingLog()
		log.error(new PlainError('so'), 'x')
		expect(last()).toMatchObject({ err: { type: 'PlainError', message: 'so' }, msg: 'x' })
	})

	test('behavior: an error that causes itself ends', () => {
		const { log, last } = keepingLog()
		const err = new Error('round')
		err.cause = err
		log.error({ err }, 'x')
		expect(last().err).toMatchObject({ message: 'round' })
	})
})

describe('the journal', () => {
	test.each([
		['error', '<3>'],
		['warn', '<4>'],
		['info', '<6>'],
		['debug', '<7>'],
	] as const)('default: a line of level %s begins with %s', (level, prefix) => {
		const { log, written } = keepingLog({ journal: true, level: 'debug' })
		log[level]({ a: 1 }, 'x')
		expect(written).toEqual([`${prefix}x a=1\n`])
	})

	test('default: text, on one line, with facts that can be distinguished; a secret stays hidden', () => {
		const { log, written } = keepingLog({ journal: true, secrets: ['Canary-0123456789'] })
		const facts = {
			network: 'eth',
			label: 'a b=c "d"',
			block: 12n,
			key: 'Canary-0123456789',
			err: new Error('no\nway'),
			'three\n<3>lines': 1,
		}
		log.warn(facts, 'two\nlines \u001b[2J')
		const [line = ''] = written
		expect(written).toHaveLength(1)
		expect(line).toMatch(
			/^<4>two lines \[2J network=eth label="a b=c \\"d\\"" block=12 key="\[secret\]" err=\{.*\} three <3>lines=1\n$/,
		)
		for (const part of ['\n', '\u001b', 'Canary', '"time"']) expect(line.trimEnd()).not.toContain(part)
	})

	test('behavior: JSON, where it is asked for', () => {
		const { log, written } = keepingLog({ journal: true, json: true })
		log.info({ a: 1 }, 'x')
		expect(written[0]).toMatch(/^<6>\{.*\}\n$/)
	})

	test('behavior: pretty lines have no prefix', () => {
		const { log, written } = keepingLog({ journal: true, pretty: true })
		log.info({}, 'x')
		expect(written.join('')).not.toContain('<6>')
	})

	test('behavior: pretty lines show the level, and obey no control character of a label', () => {
		const { log, written } = keepingLog({ pretty: true })
		log.warn({ label: '\u001b[2J\u0007 C:\\u001b' }, 'x\u001b[31m')
		const lines = written.join('')
		expect(lines).toContain('WARN')
		expect(lines).toContain('[2J C:')
		// Colours of our own are allowed; they are never followed by what was in the facts.
		expect(lines).not.toContain('\u001b[2J')
		expect(lines).not.toContain('\u001b[31m')
		expect(lines).not.toContain('\u0007')
	})

	test('behavior: only the stream that systemd names is the journal', () => {
		const { dev, ino } = fstatSync(1, { bigint: true })
		expect(isJournal(1, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe(true)
		expect(isJournal(1, { JOURNAL_STREAM: `${dev}:${ino}0` })).toBe(false)
		expect(isJournal(1, {})).toBe(false)
		expect(isJournal(987, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe(false)
	})
})

describe('a file descriptor', () => {
	test('behavior: a line is in the file when the call returns', () => {
		const path = join(tmpdir(), `tracewatch-log-${process.pid}`)
		const fd = openSync(path, 'w')
		try {
			keepingLog({ destination: fd }).log.info({}, 'at once')
			expect(readFileSync(path, 'utf8')).toContain('at once')
		} finally {
			closeSync(fd)
			rmSync(path)
		}
	})
})
