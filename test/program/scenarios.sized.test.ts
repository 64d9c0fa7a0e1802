// The whole program in one grid: how it is configured, what the chain does, what fails, where it is killed. Whatever
// row, the alerts that came and were not taken back are what the balances of the chain's last state and the plan of its
// transactions say.
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import { startServer } from '../state/postgres/server.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Books, expectBooksBalance, keepBooks } from '../support/books.js'
import { typed } from '../support/commandLine.js'
import { type Answers, type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { noTraces } from '../support/dialectTable.js'
import { cutJson, status as httpStatus } from '../support/faults.js'
import { type Hit, type HookAnswer, startHookServer } from '../support/hookServer.js'
import { divided, testOnce } from '../support/longRun.js'
import { preload } from '../support/preload.js'
import { planScenario, playBlocks, playScenario, type Scenario } from '../support/scenario.js'
import { eachNth, type Strained, startStrained } from '../support/strained.js'
import { siteOf, watchlist } from './site.js'

interface Configuration {
	readonly network?: string
	readonly dialect?: Dialect
	readonly isInDatabase?: boolean
	readonly isBehindDead?: boolean
}

const configurations: Readonly<Record<string, Configuration>> = {
	'a filter': {},
	'whole blocks without books': { network: 'source: trace_block, proof: off' },
	'traces of geth': { dialect: { lacks: noTraces, clientVersion: 'Geth/v1.16.0' } },
	'a private network, three confirmations': { network: 'private: true, confirmations: 3' },
	'a database, a dead endpoint first': { isInDatabase: true, isBehindDead: true },
}

/** Of each the start, counted from 0, that has seen all of the chain. */
const lastOf = { 'all blocks at once': 0, 'blocks between starts': 2, 'the last blocks replaced': 1 }
const events = ['all blocks at once', 'blocks between starts', 'the last blocks replaced'] as const

interface Failing {
	readonly endpoint?: () => Strained['next']
	/** Of the first messages. */
	readonly receiver?: (hit: Hit) => HookAnswer
}

const faults: Readonly<Record<string, Failing>> = {
	'no fault': {},
	'requests failing, too many, and cut by turns': {
		endpoint: () => {
			const turns = [
				eachNth(10, httpStatus(500, 'no')),
				eachNth(30, httpStatus(429, 'slow down', { 'retry-after': '0' })),
				eachNth(9, cutJson),
			]
			// Each counts every request.
			return () => turns.map((next) => next()).find((fault) => fault !== null) ?? null
		},
	},
	'a receiver that is away or refuses first': { receiver: ({ index }) => (index % 2 === 0 ? 503 : 400) },
}

interface Kill {
	/** Of the steps on disk; with a database, of what is sent too. */
	readonly step?: number
	/** Of the messages that reach the receiver. */
	readonly message?: number
}

/** In the first start; where blocks are replaced, in the start after that, which retracts. */
const kills: Readonly<Record<string, Kill>> = {
	'not killed': {},
	'killed at step 15': { step: 15 },
	'killed at the first message': { message: 1 },
}

/** Each value of a column stands beside each value of every other; the first test holds that. */
const names = [Object.keys(configurations), events, Object.keys(faults), Object.keys(kills)] as const
const rows = Array.from({ length: 15 }, (_, at) => {
	const [configuration, fault] = [at % 5, Math.floor(at / 5)]
	const nths = [configuration, (configuration + fault) % 3, fault, (configuration + fault * 2) % 3]
	return nths.map((nth, column) => names[column]?.[nth] ?? '') as [string, (typeof events)[number], string, string]
})

testOnce('each configuration, event, fault and kill stands in a row with each other one', () => {
	const pairsOf = (row: readonly string[]) => row.flatMap((one, at) => row.slice(at + 1).map((two) => `${one}, ${two}`))
	const due = names.flatMap((column, at) =>
		names.slice(at + 1).flatMap((other) => column.flatMap((one) => other.map((two) => `${one}, ${two}`))),
	)
	expect(due.filter((pair) => !rows.flatMap(pairsOf).includes(pair))).toEqual([])
})

const plan = planScenario({ seed: 3, blocks: 34 })
/** The last ones that the first branch has; the second begins with an empty block instead, and lacks two of them. */
const replaced = 8
/** Empty blocks at the end, so that the last payment is confirmed. */
const confirming = 3
const hourMs = 3_600_000

const server = await startServer()
let databases = 0

let whole: { readonly node: TestAnvil; readonly books: Books; readonly answers: Answers } | null = null
/** A chain that has all blocks. */
async function openWhole() {
	if (whole !== null) return whole
	const node = await startTestAnvil(plan.anvilArgs)
	const scenario = await playScenario(plan, node)
	await node.mine(confirming)
	whole = { node, books: await keepBooks(scenario, node), answers: new Map() }
	return whole
}
afterAll(async () => {
	await whole?.node.stop()
	await fork?.node.stop()
	await server?.stop()
})

let fork: { readonly node: TestAnvil; readonly common: Scenario; branch: unknown } | null = null
/** A chain whose last blocks are replaced when `replace` is called; the books are those of what it is then. */
async function openBranches() {
	if (fork === null) {
		const node = await startTestAnvil(plan.anvilArgs)
		const common = await playScenario({ ...plan, blocks: plan.blocks.slice(0, -replaced) }, node)
		fork = { node, common, branch: await node.rpc('evm_snapshot') }
	}
	const { node, common } = fork
	const goBack = async () => {
		await node.rpc('evm_revert', [fork?.branch])
		if (fork !== null) fork.branch = await node.rpc('evm_snapshot')
	}
	await goBack()
	await playBlocks(plan.blocks.slice(-replaced), node)
	const replace = async (): Promise<Books> => {
		await goBack()
		await node.mine()
		const after = await playBlocks(plan.blocks.slice(-replaced, -2), node)
		await node.mine(confirming + 2)
		const span = { from: 1n, to: await node.head() }
		return await keepBooks({ ...common, span, transactions: [...common.transactions, ...after] }, node)
	}
	return { node, answers: undefined, replace }
}

/** Blocks above `head` are not there yet. */
function hidden(head: bigint, node: TestAnvil): Dialect {
	const cap = `0x${head.toString(16)}`
	return {
		twist(method, params, result) {
			if (method === 'eth_blockNumber') return cap
			if (method !== 'eth_getBlockByNumber') return undefined
			const [tag] = params as [string]
			if (tag === 'latest') return node.rpc(method, [cap, ...params.slice(1)])
			return tag.startsWith('0x') && BigInt(tag) > head ? null : result
		},
	}
}

/** Alerts that came and were not taken back; one that came under two ids of delivery stands there twice. */
function standing(hits: readonly Hit[]): readonly AlertData[] {
	let alerts: AlertData[] = []
	for (const { body } of new Map(hits.map((hit) => [hit.id, hit])).values()) {
		const { type, data } = JSON.parse(body.toString())
		if (type === 'alert.removed') alerts = alerts.filter(({ id }) => id !== data.id)
		else if (type.startsWith('alert.')) alerts.push(data)
	}
	return alerts
}

const table = divided(rows, ([name, event]) => name.startsWith('a private network') && event === events[2])

test.each(table)('%s, %s, %s, %s: the alerts are what the balances say', async (configured, event, failing, killed) => {
	const { network = '', dialect = {}, isInDatabase = false, isBehindDead = false } = configurations[configured] ?? {}
	const { endpoint, receiver } = faults[failing] ?? {}
	const { step = 0, message = 0 } = kills[killed] ?? {}
	const branches = event === 'the last blocks replaced' ? await openBranches() : null
	const { node, answers } = branches ?? (await openWhole())
	const gateway = await startDialectGateway(node.url, dialect, answers)
	const far = await startStrained(gateway.url, null)
	if (endpoint !== undefined) far.next = endpoint()
	const hook = await startHookServer()
	onTestFinished(async () => {
		await far.close()
		await gateway.close()
		await hook.close()
	})
	const state = isInDatabase ? await server?.fresh(`scenario${databases++}`) : 'state'
	const site = siteOf({
		'tracewatch.yaml': `networks:
  - {name: local, chain_id: 31337, rpc: [${isBehindDead ? '"http://127.0.0.1:9", ' : ''}"${far.url}"], ${network}}
receivers:
  - {name: hook, type: webhook, url: "${hook.origin}"}
state: ${state}
`,
		'watchlists/a.yaml': watchlist(
			plan.watched.map((address) => `{address: "${address}", kinds: [transfer, deployment], from_block: 1}`),
		),
	})
	const killedStart = branches === null ? 0 : 1
	/** Where nothing waits for a receiver, the starts beside the one that may be killed are in this process. */
	const areAllBuilt = isInDatabase || receiver !== undefined
	/** Each start is an hour later, so that what waits for a receiver is due. */
	const start = (nth: number) => {
		site.write('clock', String(areAllBuilt ? nth * hourMs : 0))
		const isKilled = nth === killedStart && step > 0
		return site.start(['once'], {
			...preload('setClock', ...(isInDatabase ? ['smallFigures'] : []), ...(isKilled ? ['killAt'] : [])),
			// Of one that was killed.
			SMALL_FIGURES: 'LEASE_MS=3000',
			SET_CLOCK: join(site.folder, 'clock'),
			KILL_AT: String(step),
			...(isInDatabase ? { KILL_SENDS: '' } : {}),
			KILL_COUNT: join(site.folder, 'count'),
		})
	}

	let books = branches === null ? (await openWhole()).books : undefined
	let status: { readonly receivers: readonly Readonly<Record<string, number>>[] }
	let nth = 0
	for (; ; nth++) {
		const isHidden = event === 'blocks between starts' && nth < 2
		gateway.dialect = isHidden ? { ...dialect, ...hidden(BigInt(10 + nth * 12), node) } : dialect
		if (branches !== null && nth === 1) books = await branches.replace()
		const running = areAllBuilt || nth === killedStart ? start(nth) : null
		const before = hook.hits.length
		hook.answer = (hit) => {
			if (nth === killedStart && hit.index + 1 === before + message) running?.process.kill('SIGKILL')
			return receiver !== undefined && hit.index < 3 ? receiver(hit) : 204
		}
		const { code, stderr } = await (running?.ended ?? typed(['once'], { cwd: site.folder }))
		if (nth === killedStart && step + message > 0) expect(code, stderr).toBe(null)
		else expect([0, 75], stderr).toContain(code)
		expect(nth, stderr).toBeLessThan(8)
		if (nth < lastOf[event] || code !== 0) continue
		status = JSON.parse((await typed(['status', '--json'], { cwd: site.folder })).stdout)
		const [row] = status.receivers
		if (['pending', 'held', 'parked'].every((word) => row?.[word] === 0)) break
	}

	if (books === undefined) throw new Error('nothing was replaced')
	const inBlock = new Map(books.due.map(({ txHash, block }) => [txHash, block]))
	const alerts = standing(hook.hits)
	// A transaction that moved to another block is the same alert, with the block that it was seen in.
	expectBooksBalance(
		alerts.map((alert) => ({ ...alert, blockNumber: Number(inBlock.get(alert.txHash) ?? alert.blockNumber) })),
		books,
	)
	expect(status).toMatchObject({ receivers: [{ dead: 0 }], networks: [{ gaps: [] }] })
})
