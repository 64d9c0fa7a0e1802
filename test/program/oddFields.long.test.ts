// Fields of headers and receipts that contradict each other, or are null: what the daemon tells of such blocks.
import { expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import { bloomOf, type Json, type OddChain, watched, withdrawalsRootOf } from '../support/oddChain.js'
import { startOddSite, told } from './site.js'

const same = (one: Json) => one

/** What is changed in each header, in each receipt, in the receipts of a block and in its traces. */
function edited(
	header: (block: Json) => Json,
	receipt: (one: Json) => Json = same,
	{ receipts = (all: Json[]): unknown => all, traces = (all: Json[]): unknown => all } = {},
): OddChain['edit'] {
	return (method, _params, result) => {
		if (result === null || result === undefined) return result
		if (method === 'eth_getBlockByNumber') return header(result as Json)
		if (method === 'eth_getBlockReceipts') return receipts((result as Json[]).map(receipt))
		if (method === 'debug_traceBlockByNumber') return traces(result as Json[])
		return method === 'eth_getTransactionReceipt' ? receipt(result as Json) : result
	}
}

type Options = Omit<NonNullable<Parameters<typeof startOddSite>[0]>, 'prepare'>

const start = (prepare: (chain: OddChain) => void, options: Options = {}) =>
	startOddSite({ network: 'proof: off', ...options, prepare })

test('numbers that the chain leaves out are passed, said once, and later payments are announced', async () => {
	const paid: (string | null)[] = []
	const { chain, tells, running, site } = await start(
		(one) => {
			paid.push(one.mine({}))
			one.skip(1)
			paid.push(one.mine({}))
		},
		{ kinds: 'transfer, unexplained', network: 'proof: auto', watch: ', from_block: 1' },
	)
	await tells(...paid.map((one) => `transfer ${one}`))
	chain.skip(2)
	paid.push(chain.mine({}))
	chain.mine()
	chain.skip(1)
	paid.push(chain.mine({}))
	await tells(...paid.map((one) => `transfer ${one}`))
	await running.stop()
	site.start(['run'])
	paid.push(chain.mine({}))
	const all = paid.map((one) => `transfer ${one}`)
	expect(await tells(...all)).toEqual(new Set(all))
	const said = running.output().match(/"block":"\d+","msg":"the chain has no block of this number/g) ?? []
	expect([said.length, new Set(said).size]).toEqual([4, 4])
	const { stdout } = await typed(['status'], { cwd: site.folder })
	expect(stdout).not.toMatch(/gap/)
})

const isEmpty = ({ gasUsed }: Json) => gasUsed === '0x0'
const odd: Readonly<Record<string, (block: Json) => Json>> = {
	'null lists on empty blocks': (block) => ({
		...block,
		...(isEmpty(block) && { transactions: null, uncles: null, withdrawals: null }),
	}),
	'no list on empty blocks, and no root': ({ transactionsRoot: _, transactions, ...block }) => ({
		...block,
		...(!isEmpty(block) && { transactions }),
	}),
	'another root of an empty list': (block) => ({
		...block,
		...(isEmpty(block) && { transactionsRoot: `0x${'c5'.repeat(32)}` }),
	}),
	'an empty list beside gas': (block) => ({ ...block, transactions: [] }),
	'an empty list beside a root': ({ gasUsed: _, ...block }) => ({ ...block, transactions: [] }),
	'null in place of a list': (block) => ({ ...block, transactions: null }),
	'an object in place of a list, of empty blocks too': (block) => ({ ...block, transactions: {} }),
	'an entry that is no hash': (block) => ({ ...block, transactions: [...(block.transactions as unknown[]), 'soon'] }),
	'text in place of a list, of empty blocks too': (block) => ({ ...block, transactions: 'soon' }),
	'decimal numbers, and nothing optional': ({ logsBloom: _, receiptsRoot: __, difficulty: ___, ...block }) => ({
		...block,
		timestamp: Number(block.timestamp),
		gasUsed: String(Number(block.gasUsed)),
	}),
	'a timestamp in milliseconds': (block) => ({ ...block, timestamp: Number(block.timestamp) * 1_000 }),
	'a timestamp in nanoseconds': (block) => ({
		...block,
		timestamp: String(BigInt(String(block.timestamp)) * 10n ** 9n),
	}),
}

const oddTraces: Readonly<Record<string, (all: Json[]) => unknown>> = {
	'an empty error beside each result': (all) => all.map((one) => ({ ...one, error: '' })),
	'entries that are null': (all) => [null, ...all, null],
	'an entry of another block': (all) => [...all, ...all.map((one) => ({ ...one, txHash: `0x${'7a'.repeat(32)}` }))],
	'each entry twice': (all) => [...all, ...all],
}

test('odd headers, null lists from the first start, and odd traces: each payment is announced', async () => {
	const all = new Set<string>()
	const { chain, tells } = await start((one) => {
		one.edit = edited(odd['null lists on empty blocks'] as (block: Json) => Json)
	})
	const pays = async (name: string) => {
		chain.mine()
		const payment = `transfer ${chain.mine({})}`
		all.add(payment)
		expect(await tells(payment), name).toEqual(all)
	}
	for (const [name, header] of Object.entries(odd)) {
		chain.edit = edited(header)
		await pays(name)
	}
	for (const [name, traces] of Object.entries(oddTraces)) {
		chain.edit = edited(same, same, { traces })
		await pays(name)
	}
	// Without receipts of blocks, the list is taken from the trace.
	const hollow = edited((block) => ({ ...block, transactions: [] }))
	chain.edit = (method, params, result) =>
		method === 'eth_getBlockReceipts' ? undefined : hollow(method, params, result)
	await pays('the trace')
})

const full = `0x${'ff'.repeat(256)}`
const zero = `0x${'00'.repeat(256)}`
const stray = bloomOf([`0x${'d4'.repeat(20)}`])
const or = (one: string) => `0x${(BigInt(one) | BigInt(stray)).toString(16).padStart(512, '0')}`

/** Of receipts of blocks: what they lack is given by hash. */
const lacking: readonly ((all: Json[]) => unknown)[] = [() => null, () => [], (all) => all.map(() => null)]

const blooms: Readonly<Record<string, readonly [(one: Json) => Json, (one: Json) => Json]>> = {
	'a wrong length': [(one) => ({ ...one, logsBloom: '0x00' }), ({ logsBloom: _, ...one }) => one],
	null: [
		(one) => ({ ...one, logsBloom: null }),
		(one) => ({ ...one, logsBloom: null, logs: (one.logs as []).length === 0 ? null : one.logs }),
	],
	'no bit': [(one) => ({ ...one, logsBloom: zero }), (one) => ({ ...one, logsBloom: zero })],
	'every bit': [(one) => ({ ...one, logsBloom: full }), (one) => ({ ...one, logsBloom: full })],
	'bits of no log': [(one) => ({ ...one, logsBloom: or(String(one.logsBloom)) }), (one) => one],
}

const withLogs = (logsOf: (logs: Json[]) => unknown) =>
	edited(same, (one) => ({ ...one, logs: logsOf(one.logs as Json[]) }))
/** What receipts give of their logs: the rest is in `eth_getLogs`. */
const withoutLogs = [withLogs(() => null), withLogs((logs) => logs.map(({ logIndex: _, ...log }) => log))]

test('receipts by hash only, without logs, and blooms that fit no logs: coins and tokens are announced', async () => {
	const { chain, tells, site } = await start(() => {}, { kinds: 'transfer, token' })
	const edits = [
		...lacking.map((receipts) => edited(same, same, { receipts })),
		...withoutLogs,
		...Object.values(blooms).map(([header, receipt]) => edited(header, receipt)),
	]
	for (const edit of edits) {
		chain.edit = edit
		const coins = chain.mine({})
		const tokens = chain.mine({ tokens: true })
		await tells(`transfer ${coins}`, `transfer ${tokens}`, `token ${tokens}`)
	}
	const { stdout } = await typed(['status'], { cwd: site.folder })
	expect(stdout).toContain('tokens not proved: that no log of 9 blocks')
})

test('withdrawals that cannot be read: the others and payments are announced, and it is said', async () => {
	const { chain, tells, hook, site } = await startOddSite({ kinds: 'transfer, withdrawal' })
	await tells(`transfer ${chain.mine({})}`)
	const paying = chain.head() + 1
	const whole = { index: '0x5', validatorIndex: '0x1', address: watched, amount: '0x2' }
	const root = { withdrawalsRoot: withdrawalsRootOf(whole) }
	const fields: readonly Json[] = [
		// From here on, lists are known to make the root.
		{ withdrawals: [whole], ...root },
		{ withdrawals: [{ ...whole, index: '0x6' }, { validatorIndex: '0x1', address: watched, amount: '0x3' }, null] },
		{ withdrawals: { none: 'listed' } },
		{ withdrawals: null, ...root },
		{ withdrawals: undefined, ...root },
	]
	chain.edit = (method, _params, result) => {
		if (method !== 'eth_getBlockByNumber' || !result) return result
		return { ...result, ...fields[Number((result as Json).number) - paying] }
	}
	for (const _ of fields) await tells(`transfer ${chain.mine({})}`)
	const found = (kind: string) => told(hook.hits).flatMap(({ data }) => (data?.kind === kind ? [data] : []))
	await hook.until(() => found('withdrawal').length > 1)
	const seen = found('withdrawal').map(({ blockNumber, valueWei, index }) => [blockNumber, valueWei, index])
	const paid = [
		[paying, '2000000000', '5'],
		[paying + 1, '2000000000', '6'],
	]
	expect(new Set(seen)).toEqual(new Set(paid))
	const { stdout } = await typed(['status'], { cwd: site.folder })
	expect(stdout).toContain(`withdrawals not proved: 4 blocks from ${paying + 1} to ${paying + 4}`)
	expect(stdout).not.toMatch(/gap/)
})

const stakedIn = { index: '0x5', validatorIndex: '0x1', address: `0x${'d4'.repeat(20)}`, amount: '0x2' }
const falseLists: readonly (readonly [string, string, readonly Json[]])[] = [
	['an empty list of withdrawals', 'proof: auto', []],
	['a list of another withdrawal', 'proof: off', [{ ...stakedIn, address: watched }]],
]

test.each(falseLists)(
	'%s beside a root, in one block and in every block, %s: gaps say so, later payments are announced',
	async (_, network, withdrawals) => {
		const kinds = 'transfer, withdrawal, unexplained'
		const { chain, tells, hook, site, running } = await startOddSite({ kinds, network })
		const rooted = { withdrawalsRoot: withdrawalsRootOf(stakedIn) }
		const paying = chain.head() + 1
		const gaps = () =>
			new Set(told(hook.hits).flatMap(({ type, data }) => (type === 'system.gap' ? [Number(data.fromBlock)] : [])))
		/** From this block on, as far as this one, lists are false. */
		let [from, to] = [paying + 1, paying + 1]
		chain.edit = (method, _params, result) => {
			const number = Number((result as Json | null)?.number)
			if (method !== 'eth_getBlockByNumber' || number < paying) return result
			const isFalse = number >= from && number <= to
			return { ...Object(result), ...rooted, withdrawals: isFalse ? withdrawals : [stakedIn] }
		}
		const paid = [chain.mine({})]
		await tells(`transfer ${paid[0]}`)
		paid.push(chain.mine({}))
		// Nothing follows it yet.
		await hook.until(() => gaps().has(from))
		paid.push(chain.mine({}))
		await tells(`transfer ${paid[2]}`)
		;[from, to] = [chain.head() + 1, Number.POSITIVE_INFINITY]
		paid.push(chain.mine({}), chain.mine({}))
		await hook.until(() => gaps().has(from) && gaps().has(from + 1))
		const said = told(hook.hits).filter(({ type }) => type === 'system.gap')
		for (const one of said) expect(JSON.stringify(one)).toMatch(/the withdrawals of block \d+ do not make the root/)
		expect((await typed(['status'], { cwd: site.folder })).stdout).not.toContain('is well')
		;[from, to] = [0, 0]
		await running.stop()
		site.start(['run'])
		const all = paid.map((one) => `transfer ${one}`)
		expect(await tells(...all)).toEqual(new Set(all))
	},
)
