// A node that gives a self-destruct without heir and amount: without books, balances show what it moved, and for whom.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { smallFigures } from '../support/preload.js'
import type { Site } from '../support/program.js'
import { hookServer, other, polled, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

const lacksDebug = ['debug_traceBlockByNumber', 'debug_traceTransaction']
/** One request for balances covers 20 addresses in place of 2,000; these are more. */
const env = smallFigures('MOST_ADDRESSES=20')
const many = Array.from({ length: 21 }, (_, at) => `{address: "0xee${`${at}`.padStart(38, '0')}"}`)

interface Case {
	readonly title: string
	readonly lacks: readonly string[]
	readonly more: readonly string[]
	/** Of the watched contract that paid 9 wei, and of the watch that another contract paid 8 wei. */
	readonly alerts: readonly string[]
	readonly status: string
}

const unproved = 'self-destruct not proved: 2 blocks'
const cases: readonly Case[] = [
	{
		title: 'no other source: both differences are unexplained',
		lacks: lacksDebug,
		more: [],
		alerts: ['alert.unexplained -9', 'alert.unexplained 8'],
		status: '',
	},
	{
		title: 'more watches than one request holds: a source that gives heir and amount names them',
		lacks: [],
		more: many,
		alerts: ['alert.transfer 8', 'alert.transfer 9'],
		status: '',
	},
	{
		title: 'more watches and no other source: status says what is not proved',
		lacks: lacksDebug,
		more: many,
		alerts: [],
		status: unproved,
	},
]

const named = cases.map((one) => [one.title, one] as const)

test.each(named)('a self-destruct with heir and balance 0x0, %s', async (_, given) => {
	const { lacks, more, alerts, status } = given
	const { node, gateway } = await blankNode(lacks)
	const payer = await ending(node, other, 9n)
	const foreign = await ending(node, vault, 8n)
	const hook = await hookServer()
	const kinds = 'kinds: [transfer, unexplained]'
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, '    proof: off\n'),
		'watchlists/a.yaml': watchlist([`{address: "${payer}", ${kinds}}`, `{address: ${vault}, ${kinds}}`, ...more]),
	})
	const running = here.start(['run'], env)
	await polled(running)
	for (const to of [payer, foreign]) await node.receipt(await node.send({ from: stranger, to }))
	await node.send({ from: treasury, to: vault, valueWei: 4n })
	const said = () => told(hook.hits).map(({ type, data }) => `${type} ${data.differenceWei ?? data.valueWei}`)
	await hook.until(() => [...alerts, 'alert.transfer 4'].every((one) => said().includes(one)))
	expect(new Set(said())).toEqual(new Set([...alerts, 'alert.transfer 4']))
	await expect.poll(() => unprovedIn(here), { interval: 250 }).toBe(status)
})

const inSpans: readonly Omit<Case, 'title'>[] = [
	{ lacks: lacksDebug, more: [], alerts: ['alert.unexplained 8'], status: '' },
	{ lacks: [], more: many, alerts: ['alert.transfer 8'], status: '' },
	{ lacks: lacksDebug, more: many, alerts: [], status: 'self-destruct not proved: block' },
]

test.each(inSpans)(
	'an heir printed as 0x0, in a span read by a filter: $alerts $status',
	async ({ lacks, more, alerts, status }) => {
		const { node, gateway } = await blankNode(lacks)
		const contract = await ending(node, vault, 8n)
		const hook = await hookServer()
		const here = siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, '    proof: off\n    source: trace_filter\n'),
			'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer, unexplained]}`, ...more]),
		})
		expect(await typed(['once'], { cwd: here.folder })).toMatchObject({ code: 0 })
		await node.mine(5)
		await node.receipt(await node.send({ from: stranger, to: contract }))
		await node.send({ from: stranger, to: `0x${'0'.repeat(40)}`, valueWei: 1n })
		await node.mine(60)
		here.start(['run'], env)
		const said = () => told(hook.hits).map(({ type, data }) => `${type} ${data.differenceWei ?? data.valueWei}`)
		await hook.until(() => alerts.every((one) => said().includes(one)))
		await expect.poll(() => unprovedIn(here), { interval: 250 }).toBe(status)
		expect(new Set(said())).toEqual(new Set(alerts))
	},
)

async function unprovedIn(here: Site): Promise<string> {
	const { stdout } = await typed(['status'], { cwd: here.folder })
	return /self-destruct not proved: (?:\d+ )?blocks?/.exec(stdout)?.[0] ?? ''
}

async function blankNode(lacks: readonly string[]) {
	const node = await startTestAnvil()
	const gateway = await startDialectGateway(node.url, { lacks, blankEnds: true })
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	return { node, gateway }
}

/** Deploys a contract that pays all that it has when it is called: PUSH20 heir, SELFDESTRUCT. */
async function ending(node: TestAnvil, heir: Address, valueWei: bigint): Promise<Address> {
	const data = `0x7573${heir.slice(2)}ff6000526016600af3`
	const { contractAddress } = await node.receipt(await node.send({ from: treasury, valueWei, data }))
	if (contractAddress === null) throw new Error('no contract came to be')
	return contractAddress
}
