// What is in effect is what a restart would use, also where files change again while they are copied.
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import type { Parts } from '../../src/daemon/parts.js'
import { followEdits, type InEffect } from '../../src/daemon/reload.js'
import { StateError } from '../../src/errors.js'
import type { Store } from '../../src/model/ports.js'
import type { WatchlistCopies } from '../../src/model/state.js'
import type { WatchSet } from '../../src/model/watch.js'
import { createTroubleBook } from '../../src/notify/delivery/troubles.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { createNotifier } from '../../src/ops/sdNotify.js'
import { readCopies } from '../../src/state/file/watchlistCopies.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder, writeFiles } from '../support/folder.js'
import { silent } from '../support/silent.js'
import { START_MS, standingClock } from '../support/standingClock.js'

/** A list of addresses of one digit each. */
const list = (digits: string) => Array.from(digits, (digit) => `0x${digit.repeat(40)}\n`).join('')
const wrong = '0x12\n'
const digitsOf = (watches: WatchSet) => [...watches].map((watch) => watch.address.at(-1)).join('')

/** Copies as the store does; a test says what happens at each. */
type Keep = (copies: WatchlistCopies, copy: Store['keepWatchlists']) => Promise<void>

/** A daemon that watches address 1; only what follows edits runs, and nothing notices an edit but SIGHUP. */
async function started() {
	const folder = temporaryFolder()
	const edit = (text: string) => writeFileSync(join(folder, 'watchlists/many.csv'), text)
	writeFiles(folder, {
		'tracewatch.yaml': `networks: [{name: base, chain_id: 8453, rpc: ["http://127.0.0.1:9"]}]
receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9"}]
`,
		'watchlists/a.yaml': 'network: base\nreceivers: [hook]\naddresses_from: many.csv\n',
		'watchlists/many.csv': list('1'),
	})
	const state = join(folder, 'state')
	const load = () => loadConfig('tracewatch.yaml', { env: {}, cwd: folder, lastGood: () => readCopies(state) })
	const config = await load()
	const kept = await openFileStore(state, { clock: standingClock, log: silent })
	const logged: string[] = []
	const note = (level: string) => (facts: { readonly cause?: string }, words: string) =>
		void logged.push(`${level}: ${words}${facts.cause === undefined ? '' : ` (${facts.cause})`}`)
	const log = { ...silent, info: note('info'), warn: note('warn'), error: note('error') }
	const stop = new AbortController()
	const inEffect: InEffect = { watches: config.watches, loadedAtMs: START_MS, isRefused: false, isConfigChanged: false }
	let hangUp = () => {}
	/** What was in effect at each poll that was asked for. */
	const nudges: string[] = []
	/** Follows edits until `end`, or until the test is over. */
	function follow(keep: Keep) {
		const store = { ...kept, keepWatchlists: (copies: WatchlistCopies) => keep(copies, kept.keepWatchlists) }
		const receivers = [{ name: 'hook', recipients: null }]
		const parts = {
			...{ store, pollers: [{ nudge: () => nudges.push(digitsOf(inEffect.watches)) }] },
			troubles: createTroubleBook({ store, receivers, clock: standingClock, log }),
			setWatches: () => undefined,
		} as unknown as Parts
		const following = followEdits(
			{
				...{ config, parts, log, inEffect },
				metrics: createMetrics({ version: '1.2.3', networks: ['base'], summary: store.summary, process: false }),
				notifier: createNotifier({ env: {}, pid: 1, log, scrubber: { clean: (text) => text } }),
				onHangup: (reload) => {
					hangUp = reload
					return () => undefined
				},
			},
			stop.signal,
		)
		const end = async () => {
			stop.abort()
			await following
		}
		onTestFinished(end)
		return end
	}
	return {
		...{ edit, follow, nudges },
		editSettings: () => appendFileSync(join(folder, 'tracewatch.yaml'), '# edited'),
		inEffect: () => digitsOf(inEffect.watches),
		sighup: () => hangUp(),
		abort: () => stop.abort(),
		isStopped: () => stop.signal.aborted,
		remove: () => rmSync(join(folder, 'watchlists/many.csv')),
		isCopied: async () => (await readCopies(state)) !== null,
		/** The watches of a restart that finds wrong watchlists. */
		async restarted() {
			edit(wrong)
			return digitsOf((await load()).watches)
		},
		said: (words: string) => logged.filter((line) => line.includes(words)),
	}
}

const IN_EFFECT = 'info: watchlists are read again and in effect'
const REFUSED = 'error: the watchlists are wrong and change nothing'
const NOT_COPIED = 'warn: the watchlists in effect cannot be copied into the state'

const copiedAsItIs: Keep = (copies, copy) => copy(copies)

/** Each copy is made by the next of these; after the last, as it is. */
function inTurn(...turns: readonly Keep[]): Keep {
	const left = [...turns]
	return (copies, copy) => (left.shift() ?? copiedAsItIs)(copies, copy)
}

test('default: an edit is copied before it takes effect', async () => {
	const daemon = await started()
	const before: string[] = []
	daemon.follow(async (copies, copy) => {
		before.push(daemon.inEffect())
		await copy(copies)
	})
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(1)
	expect(before).toEqual(['1', '1'])
	expect(daemon.nudges).toEqual(['12'])
	expect(await daemon.restarted()).toBe('12')
})

test('behavior: a good edit does not take effect that a wrong one replaces before it is copied', async () => {
	const daemon = await started()
	const wrongMeanwhile: Keep = async (copies, copy) => {
		daemon.edit(list('12') + wrong)
		await copy(copies)
	}
	daemon.follow(inTurn(copiedAsItIs, wrongMeanwhile))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.said(REFUSED)).toHaveLength(1)
	expect([daemon.inEffect(), daemon.nudges, daemon.said(NOT_COPIED)]).toEqual(['1', [], []])
	expect(await daemon.restarted()).toBe('1')
})

test('behavior: an edit that is undone while it is copied, and made again, takes effect', async () => {
	const daemon = await started()
	const undoneMeanwhile: Keep = async (copies, copy) => {
		daemon.edit(list('1'))
		await copy(copies).finally(() => daemon.edit(list('12')))
	}
	daemon.follow(inTurn(copiedAsItIs, undoneMeanwhile))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(1)
	expect(daemon.said(NOT_COPIED)).toEqual([])
	expect(daemon.nudges).toEqual(['12'])
	expect(await daemon.restarted()).toBe('12')
})

test('behavior: a file that is gone while it is copied counts as changed', async () => {
	const daemon = await started()
	const goneMeanwhile: Keep = async (copies, copy) => {
		daemon.remove()
		await copy(copies)
	}
	daemon.follow(inTurn(copiedAsItIs, goneMeanwhile))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.said(REFUSED)).toHaveLength(1)
	expect([daemon.inEffect(), daemon.said(NOT_COPIED)]).toEqual(['1', []])
	expect(await daemon.restarted()).toBe('1')
})

test('behavior: files that change during each of four copies take effect without one, with a warning', async () => {
	const daemon = await started()
	let digits = '12'
	const grownMeanwhile: Keep = async (copies, copy) => {
		digits += digits.length + 1
		daemon.edit(list(digits))
		await copy(copies)
	}
	daemon.follow(inTurn(copiedAsItIs, grownMeanwhile, grownMeanwhile, grownMeanwhile, grownMeanwhile))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list(digits))
	daemon.sighup()
	await expect.poll(() => daemon.said(NOT_COPIED)).toHaveLength(1)
	await expect.poll(() => daemon.nudges[0]).toBe('12345')
	// What was written during the last copy is an edit like any other.
	await expect.poll(() => daemon.nudges[1]).toBe('123456')
	expect(daemon.said(IN_EFFECT)).toHaveLength(2)
	expect(await daemon.restarted()).toBe('123456')
})

test('behavior: an edit that is noticed after it was read is not read once more', async () => {
	const daemon = await started()
	const noticedMeanwhile: Keep = async (copies, copy) => {
		daemon.edit(list('123'))
		// Both are looked at in the same rhythm.
		daemon.editSettings()
		await expect.poll(() => daemon.said('configuration changed on disk')).toHaveLength(1)
		await copy(copies)
	}
	daemon.follow(inTurn(copiedAsItIs, noticedMeanwhile))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.nudges).toEqual(['123'])
	daemon.sighup()
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(2)
	expect(daemon.said(IN_EFFECT)).toEqual([`${IN_EFFECT} (SIGHUP)`, `${IN_EFFECT} (SIGHUP)`])
})

test('error: an edit that the state cannot take is in effect all the same, and copied at the next SIGHUP', async () => {
	const daemon = await started()
	let attempts = 0
	const full: Keep = async () => {
		attempts += 1
		throw new StateError('disk', 'the disk is full')
	}
	daemon.follow(inTurn(copiedAsItIs, full))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(1)
	expect(daemon.said(NOT_COPIED)).toEqual([
		expect.stringMatching(/would use an earlier copy, or none\. To do: .* SIGHUP/),
	])
	expect([daemon.inEffect(), attempts]).toEqual(['12', 1])
	daemon.sighup()
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(2)
	expect(await daemon.restarted()).toBe('12')
})

test('behavior: watchlists that change while the start copies them are read again at once', async () => {
	const daemon = await started()
	daemon.follow(
		inTurn(async (copies, copy) => {
			daemon.edit(list('2'))
			await copy(copies).finally(() => daemon.edit(list('1')))
		}),
	)
	await expect.poll(() => daemon.said(IN_EFFECT)).toHaveLength(1)
	expect(daemon.said(NOT_COPIED)).toEqual([])
	expect(await daemon.restarted()).toBe('1')
})

test('behavior: a stop during a copy lets it end, and nothing takes effect after it', async () => {
	const daemon = await started()
	const stopped: Keep = async (copies, copy) => {
		daemon.abort()
		await copy(copies)
	}
	const end = daemon.follow(inTurn(copiedAsItIs, stopped))
	await expect.poll(daemon.isCopied).toBe(true)
	daemon.edit(list('12'))
	daemon.sighup()
	await expect.poll(daemon.isStopped).toBe(true)
	await end()
	expect([daemon.inEffect(), daemon.nudges, daemon.said('')]).toEqual(['1', [], []])
	expect(await daemon.restarted()).toBe('12')
})
