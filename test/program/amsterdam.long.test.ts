// Blocks of Amsterdam by an independent maker of access lists (EIP-7928), as an operator sees them.

import { expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { accountOf, addressOf, openAmsterdam, serveAmsterdam, type Twist } from '../support/amsterdam.js'
import { hideLeaves } from '../support/hiding.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { hookServer, inProcess, settings, siteOf, told, watchlist } from './site.js'

const sponsor = accountOf(0)
const first: Address = '0x00000000000000000000000000000000000d0001'
const second: Address = '0x00000000000000000000000000000000000d0002'
const nobody: Address = '0x0000000000000000000000000000000000000000'
const heir: Address = '0x00000000000000000000000000000000000d0003'

/** A node for each twist, and a program that watches these addresses. */
async function openProgram(
	chain: Awaited<ReturnType<typeof openAmsterdam>>,
	watched: readonly Address[],
	{ isPrivate = true, twists = [() => undefined] as readonly Twist[] } = {},
) {
	const nodes = await Promise.all(twists.map((twist) => serveAmsterdam(chain, twist)))
	onTestFinished(async () => {
		await Promise.all(nodes.map((node) => node.close()))
	})
	const hook = await hookServer()
	const urls = nodes.map(({ url }) => url)
	const here = siteOf({
		'tracewatch.yaml': settings(urls, { hook: hook.origin }, `    private: ${isPrivate}\n`),
		'watchlists/a.yaml': watchlist(watched.map((address) => `{address: "${address}"}`)),
	})
	const once = async () => {
		const ended = await here.run(['once'])
		expect(ended.stderr + ended.stdout).not.toContain('"level":"error"')
		expect(ended.code).toBe(0)
		return ended
	}
	const alerts = (kind: string): readonly AlertData[] =>
		told(hook.hits).flatMap(({ type, data }) => (type === `alert.${kind}` ? [data] : []))
	/** The first look, at which nothing is reported. */
	const looked = async () => expect((await inProcess(here).run(['once'])).code).toBe(0)
	const status = async (...args: readonly string[]) => (await inProcess(here).run(['status', ...args])).stdout
	const books = async () => JSON.parse(await status('--json')).networks[0].books
	return { nodes, looked, once, alerts, status, books }
}

const hosts = (nodes: readonly { readonly url: string }[]) => nodes.map(({ url }) => new URL(url).host)
const lower = (text: string | null | undefined) => (text == null ? text : text.toLowerCase())
const lacksLists: Twist = (method) => (method === 'eth_getBlockAccessList' ? null : undefined)
const honest: Twist = () => undefined

test.each([
	['a private network with two endpoints, of which the first has no lists', true, [lacksLists, honest]],
	['a public network', false, [honest]],
] as [string, boolean, Twist[]][])(
	'delegations while the program is down are reported after the start: %s',
	async (_title, isPrivate, twists) => {
		const [set, both, cleared, changed, bySelf] = [1, 2, 3, 4, 5].map(accountOf) as [
			typeof sponsor,
			...(typeof sponsor)[],
		]
		const owners = [set, both, cleared, changed, bySelf] as (typeof sponsor)[]
		const chain = await openAmsterdam([sponsor, ...owners])
		const give = (of: typeof sponsor | undefined, to: Address, by = sponsor) => ({
			...{ by, to: heir, delegate: [{ of: of as typeof sponsor, to }] },
		})
		// The contract that is made and destroyed later, and the puppet that makes it.
		const puppet = createAddress(addressOf(sponsor), 0n)
		const made = [createAddress(puppet, 1n), createAddress(puppet, 2n)] as const
		await chain.mine([{ by: sponsor, data: puppetInit }])
		await chain.mine([give(cleared, first)])
		const watched = [...owners.map(addressOf), ...made]
		const { looked, once, alerts, books, nodes } = await openProgram(chain, watched, { isPrivate, twists })
		await looked()
		expect(alerts('delegation')).toEqual([])

		const { hashes } = await chain.mine([
			give(set, first),
			give(both, first),
			give(both, nobody),
			give(changed, first),
			// It moves coins as well, and pays for its own.
			{ ...give(bySelf, second, bySelf), to: addressOf(set), wei: 5n },
		])
		const later = await chain.mine([
			give(cleared, nobody),
			give(changed, second),
			{
				...{ by: sponsor, to: puppet },
				data: encodeActions([
					{ do: 'create', init: puppetInit },
					{ do: 'create', init: puppetInit },
					{ do: 'call', to: made[1], data: encodeActions([{ do: 'selfdestruct', heir }]) },
				]),
			},
		])
		expect(chain.chain.at(-1)?.state.get(made[0])?.code).not.toBe('0x')
		expect(chain.chain.at(-1)?.state.get(addressOf(changed as typeof sponsor))?.code).toBe(`0xef0100${second.slice(2)}`)
		for (let n = 0; n < 31; n++) await chain.mine()
		await once()

		const seen = alerts('delegation').map(({ watch, delegate, previous, txHash, confirmed, authorisation }) => {
			return [lower(watch?.address), lower(delegate), lower(previous), txHash, confirmed, authorisation]
		})
		const signed = (nonce: number) => ({ chainId: 31337, nonce })
		const row = (of: typeof sponsor | undefined, ...rest: readonly unknown[]) => [
			addressOf(of as typeof sponsor),
			...rest,
		]
		// Of a private network nothing is asked by address: what stood before these blocks is not known.
		const before = isPrivate ? null : first
		const expected = [
			row(set, first, null, hashes[0], undefined, signed(0)),
			row(both, first, null, hashes[1], undefined, signed(0)),
			row(both, null, first, hashes[2], undefined, signed(1)),
			row(changed, first, null, hashes[3], undefined, signed(0)),
			row(bySelf, second, null, hashes[4], undefined, signed(1)),
			row(cleared, null, before, later.hashes[0], undefined, signed(1)),
			row(changed, second, before, later.hashes[1], undefined, signed(1)),
		]
		expect(seen.toSorted()).toEqual(expected.toSorted())
		expect(alerts('unexplained')).toEqual([])
		expect(await books()).toMatchObject({ reason: null, closedTo: chain.chain.length - 1 })
		const asked = nodes.flatMap((node) => node.asked).join('\n')
		if (isPrivate) for (const address of watched) expect(asked).not.toContain(address.slice(2))
		await once()
		expect(alerts('delegation')).toHaveLength(expected.length)
	},
)

/** Private, and not. */
const modes = [true, false]

/** What the watch sends itself in the block, beside what is hidden: each moves its fee alone. */
const feesOnly = {
	'nothing of its own': () => [],
	'a payment of nothing': (by: typeof sponsor) => [{ by, to: heir }],
	'a failed payment': (by: typeof sponsor, puppet: Address) => [
		{ by, to: puppet, wei: 3n, data: encodeActions([{ do: 'revert' }]) },
	],
	'both, and a blob': (by: typeof sponsor, puppet: Address) => [
		{ by, to: heir, blobs: 1 },
		{ by, to: puppet, wei: 3n, data: encodeActions([{ do: 'revert' }]) },
		{ by, to: heir },
	],
}

test('errors that cancel out in a block are reported, whatever fees the watch pays in it', async () => {
	const owner = accountOf(7)
	const watch = addressOf(owner)
	const chain = await openAmsterdam([sponsor, owner])
	const puppet = createAddress(addressOf(sponsor), 0n)
	await chain.mine([{ by: sponsor, data: puppetInit, wei: 100n }])
	// The watch runs the puppet, so that a stranger's transaction moves its coins, too.
	await chain.mine([{ by: sponsor, to: heir, delegate: [{ of: owner, to: puppet }] }])
	const hides = () => hideLeaves(() => true).dialect.twist as Twist
	const programs = await Promise.all(
		modes.map((isPrivate) => openProgram(chain, [watch], { isPrivate, twists: [hides()] })),
	)
	const both = () => Promise.all(programs.map(({ once }) => once()))
	for (const { looked } of programs) await looked()
	await chain.mine([{ by: sponsor, to: watch, wei: 1n }])
	for (const { looked } of programs) await looked()
	const pays = (by: Address, to: Address) => ({
		...{ by: sponsor, to: by },
		data: encodeActions([{ do: 'call', to, valueWei: 7n }]),
	})
	const expected: unknown[] = []
	for (const own of Object.values(feesOnly)) {
		const openingWei = String(await chain.balance(watch))
		const sent = own(owner, puppet)
		const { number } = await chain.mine([pays(puppet, watch), ...sent, pays(watch, heir)])
		const moved = [
			['0', '7', '0'],
			[String(sent.length + 1), '-7', '0'],
		]
		expected.push({ number, differenceWei: '0', openingWei, closingWei: String(await chain.balance(watch)), moved })
	}
	await both()
	// The second look, at the settled blocks, sees no more.
	for (let n = 0; n < 14; n++) await chain.mine()
	await both()
	const pattern = /transaction (\d+)(?: \S+)? moved (-?\d+) wei, reported: (-?\d+)/g
	for (const { alerts } of programs) {
		const found = alerts('unexplained').map(({ fromBlock, differenceWei, openingWei, closingWei, reason }) => {
			const moved = [...(reason ?? '').matchAll(pattern)].map(([, ...parts]) => parts)
			return { number: fromBlock, differenceWei, openingWei, closingWei, moved }
		})
		expect(found).toEqual(expected)
		expect(alerts('removed')).toEqual([])
	}
})

test('fees of the watch alone, failed and of blobs too, are no difference', async () => {
	const owner = accountOf(7)
	const chain = await openAmsterdam([sponsor, owner])
	const puppet = createAddress(addressOf(sponsor), 0n)
	await chain.mine([{ by: sponsor, data: puppetInit, wei: 100n }])
	const programs = await Promise.all(modes.map((isPrivate) => openProgram(chain, [addressOf(owner)], { isPrivate })))
	for (const { looked } of programs) await looked()
	for (const own of Object.values(feesOnly)) {
		await chain.mine([{ by: sponsor, to: addressOf(owner), wei: 1n }, ...own(owner, puppet)])
		await chain.mine([...own(owner, puppet), { by: owner, to: heir, wei: 2n }], [{ to: addressOf(owner), gwei: 9n }])
		await chain.mine(own(owner, puppet))
	}
	await Promise.all(programs.map(({ once }) => once()))
	for (const { alerts, books } of programs) {
		expect(alerts('unexplained')).toEqual([])
		expect(alerts('transfer')).toHaveLength(8)
		expect(await books()).toMatchObject({ reason: null, unprovedCount: 0, closed: 1 })
	}
})

test('a list with other balances is called false by status, with the endpoint; no unused source is named', async () => {
	const owner = accountOf(7)
	const chain = await openAmsterdam([sponsor, owner])
	await chain.mine([{ by: sponsor, to: addressOf(owner), wei: 1n }])
	const lies: Twist = (method, _params, result) =>
		method === 'eth_getBlockAccessList'
			? (result as object[]).map((one) => ({ ...one, balanceChanges: [] }))
			: undefined
	const twists = [lacksLists, lies]
	const { looked, once, books, nodes, status } = await openProgram(chain, [addressOf(owner)], { twists })
	await looked()
	await chain.mine([{ by: sponsor, to: addressOf(owner), wei: 1n }])
	const { stdout, stderr } = await once()
	const { reason } = await books()
	expect(reason).toContain('is false')
	expect(reason).toContain('contradicts the header')
	expect(reason).toContain(hosts(nodes)[1])
	expect(reason).not.toContain('not given')
	expect((await status()).replace(/\s+/g, ' ')).toContain(reason)
	const sources = (stdout + stderr)
		.split('\n')
		.flatMap((line) => (line.includes('"sources"') ? [JSON.parse(line).sources] : []))
	expect(sources).not.toEqual([])
	expect(sources.flat()).not.toContain('trace_filter')
})
