// A statement of a long span: what it takes does not hang on how long it is, and it ends with 0.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type BusyChain, busy, startBusyNode, token } from '../support/busyNode.js'
import { siteOf } from './site.js'

const MB = 1_048_576
const loopWatch = fileURLToPath(new URL('../support/loopWatch.mjs', import.meta.url))
const perBlock = 100

async function statementOf(chain: BusyChain, args: readonly string[]) {
	const node = await startBusyNode(chain)
	onTestFinished(() => node.close())
	const here = siteOf({
		'tracewatch.yaml': `
networks:
  - name: busy
    chain_id: 1
    rpc: [${node.url}]
    schedule: "*/12 * * * * *"
    tokens: [{symbol: TOK, address: "${token}", decimals: 6}]
receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9/x"}]
watchlists: watchlists
state: state
`,
		'watchlists/busy.yaml': `network: busy\nreceivers: [hook]\nwatches: [{address: "${busy}"}]\n`,
	})
	const file = join(here.folder, 'taken.json')
	const watching = { NODE_OPTIONS: `--import ${loopWatch}`, LOOP_WATCH: file, LOOP_WATCH_AFTER_MS: '0' }
	const span = ['--from', '1', '--to', String(chain.blocks)]
	const { code, stdout, stderr } = await here.run(['statement', busy, ...span, ...args], watching)
	expect(code, stderr).toBe(0)
	const { peakBytes } = JSON.parse(readFileSync(file, 'utf8')) as { readonly peakBytes: number }
	return { node, peakBytes, lines: stdout.trimEnd().split(/\r?\n/) }
}

// Measured at rest: 116, 130 and 138 MB; before less was read at once 160, 233 and 393. Of tokens 166 and 158.
test.each([
	{ args: [], heads: 3, ends: 4 },
	{ args: ['--format', 'csv'], heads: 1, ends: 2 },
	{ args: ['--format', 'json'], heads: 0, ends: 1 },
	{ args: ['--tokens', '--format', 'csv'], heads: 1, ends: 2 },
])('$args: memory is the same for 5,000, 20,000 and 60,000 movements', { timeout: 600_000 }, async (format) => {
	const peaks: number[] = []
	for (const movements of [5_000, 20_000, 60_000]) {
		const chain = { blocks: movements / perBlock, transactions: perBlock }
		const { lines, peakBytes } = await statementOf(chain, format.args)
		expect(lines.length).toBeGreaterThanOrEqual(movements + format.heads + 1 + format.ends)
		peaks.push(peakBytes)
	}
	console.log(`statement ${format.args.join(' ')}: ${peaks.map((bytes) => Math.round(bytes / MB)).join(', ')} MB`)
	const [, middle = 0, last = 0] = peaks
	expect(last).toBeLessThan(220 * MB)
	// Three times as much to say; it was 1.7 of it.
	expect(last / middle).toBeLessThan(1.35)
})

test('a year of blocks, mostly empty and dense at its end, closes to 0', { timeout: 600_000 }, async () => {
	const chain = { blocks: 2_628_000, transactions: 40, every: 5_000, denseFrom: 2_627_801 }
	const { node, peakBytes, lines } = await statementOf(chain, ['--format', 'json'])
	const said = lines.map((line) => JSON.parse(line))
	const movements = said.filter(({ type }) => type === 'movement')
	expect(movements).toHaveLength(node.busyBlocks * 40)
	expect(said[0]).toMatchObject({ type: 'opening', balanceWei: String(node.balanceWei(0)) })
	expect(said.at(-1)).toMatchObject({
		type: 'closing',
		balanceWei: String(node.balanceWei(chain.blocks)),
		explainedWei: String(node.balanceWei(chain.blocks)),
		differenceWei: '0',
		closed: true,
	})
	expect(said.filter(({ type }) => type === 'unexplained' || type === 'unproved')).toEqual([])
	// Each balance on the way is the node's.
	const after = new Map<number, string>(movements.map(({ blockNumber, balanceWei }) => [blockNumber, balanceWei]))
	expect(after.size).toBe(node.busyBlocks)
	for (const [block, wei] of after) expect(wei).toBe(String(node.balanceWei(block)))
	console.log(`a year: ${Math.round(peakBytes / MB)} MB`)
	expect(peakBytes).toBeLessThan(220 * MB)
})
