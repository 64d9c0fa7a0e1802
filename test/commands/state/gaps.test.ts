import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { answerControl } from '../../../src/daemon/controlAnswer.js'
import { createHealth } from '../../../src/daemon/health/health.js'
import { serveControl } from '../../../src/ops/controlSocket.js'
import { addressOf, blockOf, commitOf, coverageOf, gapOf } from '../../state/samples.js'
import { typed } from '../../support/commandLine.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { standingClock } from '../../support/standingClock.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	const network = (name: string, id: number) => `{name: ${name}, chain_id: ${id}, rpc: [https://rpc.example.org/]}`
	const networks = `networks: [${network('ethereum', 1)}, ${network('gnosis', 100)}]`
	const receivers = 'receivers: [{name: hook, type: webhook, url: "https://hook.example.org/"}]'
	writeFileSync(join(folder, 'tracewatch.yaml'), `${networks}\n${receivers}\n`)
})

async function opened() {
	return await openFileStore(join(folder, 'state'), { clock: standingClock })
}

async function stored(): Promise<void> {
	const store = await opened()
	const two = new Map([gapOf(90), gapOf(95, { reason: 'a.example by trace_block: bad \u001b[31m' })].map(byNumber))
	await store.commit(commitOf({ checkpoint: blockOf(100), gaps: two }))
	const one = new Map([byNumber(gapOf(95))])
	await store.commit(commitOf({ network: 'gnosis', chainId: 100, checkpoint: blockOf(100), gaps: one }))
	await store.close()
}

const byNumber = (gap: ReturnType<typeof gapOf>) => [gap.block.number, gap] as const

const run = (...words: readonly string[]) => typed(['gaps', ...words], { cwd: folder })

async function healthOf(): Promise<{ ok: boolean; reason: string | null }> {
	const store = await opened()
	const networks = ['ethereum', 'gnosis'].map((network) => ({ network, ok: true, status: 'ok', reason: null }))
	const health = createHealth({
		config: { receivers: [] },
		pollers: [],
		vitals: { networks: () => networks as never },
		summary: () => store.summary(),
		inEffect: { isRefused: false, isConfigChanged: false },
		troubles: { open: () => [] },
	})
	const { ok, reason } = await health()
	await store.close()
	return { ok, reason }
}

describe('gaps', () => {
	test('default: without any, and before the first block', async () => {
		const out = ['no block was scanned yet, so there is no gap']
		expect(await run()).toMatchObject({ code: 0, out })
		const store = await opened()
		await store.commit(commitOf({ checkpoint: blockOf(100) }))
		await store.close()
		expect(await run('list', '--network', 'gnosis')).toMatchObject({ code: 0, out })
		expect(await run()).toMatchObject({ code: 0, out: ['every block up to the checkpoint was read'] })
		expect(await run('list', '--json')).toMatchObject({ code: 0, out: [] })
	})

	test('default: lists them, without control characters', async () => {
		await stored()
		const { out } = await run()
		expect(out.map((line) => line.replace(/since .*/, 'since …'))).toEqual([
			'ethereum 90  open, cannot be read since …',
			'  it fails',
			'ethereum 95  open, cannot be read since …',
			expect.stringMatching(/^ {2}a\.example by trace_block: bad ?\S*$/),
			'gnosis 95  open, cannot be read since …',
			'  it fails',
		])
		expect(out.join('')).not.toContain('\u001b')
		const { out: json } = await run('list', '--json', '--network', 'gnosis')
		expect(json.map((line) => JSON.parse(line))).toMatchObject([{ network: 'gnosis', block: 95, acceptedAt: null }])
	})

	test('behavior: of a network that was taken out of the configuration, the gaps are listed and accepted', async () => {
		await stored()
		const path = join(folder, 'tracewatch.yaml')
		writeFileSync(path, readFileSync(path, 'utf8').replace(/, \{name: gnosis[^}]*\}/, ''))
		expect((await run('list', '--network', 'gnosis')).out[0]).toMatch(/^gnosis 95 {2}open/)
		expect(await run('accept', '95', '--network', 'gnosis')).toMatchObject({ code: 0 })
	})

	test('behavior: blocks that a backfill is still to read are listed, and are no gap yet', async () => {
		const store = await opened()
		await store.commit(commitOf({ checkpoint: blockOf(100) }))
		const covered = new Map([[addressOf(1), coverageOf(29)]])
		const backfill = { id: 'a', span: { from: 29n, to: 60n }, addresses: [addressOf(1)] }
		await store.enrol('ethereum', { covered, backfills: [backfill] })
		await store.close()
		expect((await run()).out).toEqual([
			'ethereum 29 to 60  not read yet for 1 address (`from_block`)',
			'every block up to the checkpoint was read, but for these',
		])
		for (const block of ['30', '101']) {
			const { code, stderr } = await run('accept', block)
			expect(code).toBe(1)
			expect(stderr).toContain(`block ${block} is not a gap: it was read, or not asked for yet`)
		}
	})

	test('behavior: an accepted gap is healthy, and `status` continues naming it', async () => {
		await stored()
		expect((await healthOf()).reason).toMatch(/^ethereum: block 90 and 1 more cannot be read .*; gnosis: block 95 /)
		const accepted = '1 block accepted as not covered: what happened there was not sent'
		expect(await run('accept', '90')).toMatchObject({ code: 0, out: [accepted] })
		expect((await healthOf()).reason).toMatch(/^ethereum: block 95 cannot be read/)
		const all = '2 blocks accepted as not covered: what happened there was not sent'
		expect(await run('accept', '--all', '--network', 'ethereum')).toMatchObject({ code: 0, out: [all] })
		expect(await run('accept', '95', '--network', 'gnosis')).toMatchObject({ code: 0, out: [accepted] })
		expect(await healthOf()).toEqual({ ok: true, reason: null })
		const { out } = await typed(['status'], { cwd: folder })
		expect(out.filter((line) => /^ {2}GAP: block \d+ .* accepted as not covered 2/.test(line))).toHaveLength(3)
		const { networks } = JSON.parse((await typed(['status', '--json'], { cwd: folder })).out.join('\n'))
		expect(networks[0].gaps[0]).toMatchObject({ fromBlock: 90, acceptedAt: expect.stringMatching(/^2.*Z$/) })
	})

	test('behavior: a running daemon does it', async () => {
		await stored()
		const store = await opened()
		const close = await serveControl(
			join(folder, 'state'),
			answerControl(
				store,
				async () => ({ ok: true, reason: null, networks: [] }),
				(text) => text,
			),
		)
		onTestFinished(close)
		onTestFinished(() => store.close())
		const retried = await run('retry', '90')
		expect(retried.out).toEqual(['1 block will be asked for at the next poll'])
		expect((await run('accept', '--all')).code).toBe(0)
		const [one, two] = (await store.summary()).networks.get('ethereum')?.gaps ?? []
		expect(one).toMatchObject({ acceptedAtMs: expect.any(Number), wantedAtMs: expect.any(Number) })
		expect(two).toMatchObject({ acceptedAtMs: expect.any(Number) })
	})

	test('behavior: a span at which the running daemon is stuck is in both forms of the list', async () => {
		await stored()
		const store = await opened()
		const look = { network: 'gnosis', look: 'second', fromBlock: 60, toBlock: 61 } as const
		const stuck = [{ ...look, reason: 'gnosis: blocks 60 to 61 could not be read a second time: pruned' }]
		const health = async () => ({ ok: false, reason: 'x', networks: [], stuck })
		const answer = answerControl(store, health, (text) => text)
		onTestFinished(await serveControl(join(folder, 'state'), answer))
		onTestFinished(() => store.close())
		expect((await run('list', '--network', 'gnosis')).out.at(-1)).toBe(stuck[0]?.reason)
		expect((await run('list', '--network', 'ethereum')).out.join('\n')).not.toContain('second time')
		const { out } = await run('list', '--json', '--network', 'gnosis')
		expect(out.map((line) => JSON.parse(line)).slice(1)).toEqual(stuck)
	})

	test.each([
		[
			'no gap',
			['accept', '91'],
			1,
			/^block 91 is not a gap: it was read, or not asked for yet; `gaps list` shows the gaps$/,
		],
		['no number', ['accept', 'x'], 2, /^`x` is not a block number$/],
		['a gap of two networks', ['retry', '95'], 2, /is a gap of ethereum and of gnosis; say --network/],
		['neither blocks nor --all', ['accept'], 2, /name blocks, or say --all/],
		['blocks and --all', ['accept', '95', '--all'], 2, /name blocks, or say --all/],
		['blocks for list', ['list', '95'], 2, /takes no blocks/],
		['an act that is none', ['forget', '95'], 2, /list, accept, retry; see `tracewatch gaps --help`$/],
		['a network that is none', ['--network', 'base'], 2, /there is no network `base`/],
	] as const)('error: %s changes nothing and says what to do', async (_, words, code, said) => {
		await stored()
		const found = await run(...words)
		expect(found).toMatchObject({ code, stdout: '' })
		expect(found.stderr).toMatch(said)
		expect(found.err).toHaveLength(1)
		expect((await run('--json')).out.map((line) => JSON.parse(line).acceptedAt)).toEqual([null, null, null])
	})
})
