// A stranger makes the storage of one watched contract long to read: the others' is reported, and the rest is said.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { preload } from '../support/preload.js'
import { linked, mapped, ruledCode, writing } from '../support/ruledContract.js'
import { createSafe, deploySafes, execute } from '../support/safe.js'
import { startStrained } from '../support/strained.js'
import { hookServer, other, polled, settings, siteOf, told, treasury, watchlist } from './site.js'

const implementation: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const someone = (n: number): Address => `0x${(0xa11ce00000 + n).toString(16).padStart(40, '0')}`
const place = (n: number): Address => `0x${`c0de0${n}`.padStart(40, '0')}`
const [ruled, writer, token] = [place(1), place(2), place(3)]
const [before, after] = [someone(901), someone(902)]

/** Credits the second word of its input to the address in the first, in the mapping at slot 1 and at slot 2. */
const tokenCode = assemble(`
	0 CALLDATALOAD 0 MSTORE
	1 32 MSTORE 32 CALLDATALOAD 64 0 KECCAK256 SSTORE
	2 32 MSTORE 32 CALLDATALOAD 64 0 KECCAK256 SSTORE STOP`)
const word = (value: number | bigint) => BigInt(value).toString(16).padStart(64, '0')

type Pairs = readonly (readonly [slot: bigint | Hex, value: bigint | Hex])[]

interface Hard {
	/** Makes the contract, before it is watched. */
	readonly make: (node: TestAnvil) => Promise<Address>
	/** A transaction that touches it. */
	readonly touch: Hex
	/** What is reported of it. */
	readonly told: readonly string[]
	/** Part of what health says after a minute; null: nothing. */
	readonly says: string | null
}

const firstOwner = other
const owners = [firstOwner, ...Array.from({ length: 29 }, (_, n) => someone(n))]
const at = (n: number) => owners[n] as Address
const modules = Array.from({ length: 230 }, (_, n) => someone(1_000 + n))

/** A real Safe whose first owner signs alone. Writes its storage without an event, as foreign code may. */
async function safeOf(node: TestAnvil, members: readonly Address[], storage: Pairs = []) {
	await deploySafes(node, treasury, ['singleton'])
	const safe = await createSafe(node, treasury, members)
	for (let from = 0; from < storage.length; from += 60)
		await node.send({ from: firstOwner, to: safe, data: silently(...storage.slice(from, from + 60)), gas: 9_000_000n })
	return safe
}
const silently = (...pairs: Pairs) => execute(firstOwner, { to: writer, data: writing(...pairs), isDelegated: true })

const rows: readonly (readonly [string, Hard])[] = [
	[
		'a token whose 201 tiny transfers form a list in mapping 1 and in 2',
		{
			async make(node) {
				const to = token
				await node.rpc('anvil_setCode', [to, tokenCode])
				await node.automine(false)
				// To address 1 as much as 2 is a number, and so on.
				for (let n = 1; n <= 201; n++)
					await node.send({ from: other, to, data: `0x${word(n)}${word(n === 201 ? 1 : n + 1)}`, gas: 100_000n })
				await node.mine(1)
				await node.automine(true)
				return to
			},
			touch: `0x${word(7)}${word(8)}`,
			told: [],
			says: null,
		},
	],
	[
		'a Safe of 30 owners',
		{
			make: (node) => safeOf(node, owners),
			// The owner in the middle is replaced.
			touch: silently([mapped(at(14), 2n), after], [mapped(after, 2n), at(16)], [mapped(at(15), 2n), 0n]),
			told: [`safe.owner removed ${at(15)}`, `safe.owner added ${after}`],
			says: null,
		},
	],
	[
		'a Safe whose owners become a ring without an end',
		{
			make: (node) => safeOf(node, [firstOwner, someone(1)]),
			// The last owner names the first one, before which another one is put.
			touch: silently([mapped(1n, 2n), after], [mapped(after, 2n), firstOwner], [mapped(someone(1), 2n), firstOwner]),
			told: [`safe.owner added ${after}`],
			says: null,
		},
	],
	[
		'a Safe whose owners are a ring at its first look',
		{
			make: (node) => safeOf(node, [firstOwner, someone(1)], [[mapped(someone(1), 2n), firstOwner]]),
			touch: silently([mapped(1n, 2n), after], [mapped(after, 2n), firstOwner]),
			told: [`safe.owner added ${after}`],
			says: null,
		},
	],
	[
		'a Safe of 230 modules, of which 200 are read',
		{
			make: (node) => safeOf(node, [firstOwner], linked(modules, 1n)),
			touch: silently([mapped(1n, 1n), after], [mapped(after, 1n), modules[0] as Address]),
			told: [`safe.module added ${after}`],
			says: 'owners or modules are more than 200',
		},
	],
]

/** Each question costs the daemon processor time. */
const seldom = { interval: 250 }

test.each(rows)(
	'behavior: %s, 300 ms away: the storage of another watch is reported',
	async (_, hard) => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		for (const address of [ruled, writer]) await node.rpc('anvil_setCode', [address, ruledCode])
		const contract = await hard.make(node)
		await node.send({ from: treasury, to: ruled, data: writing([implementation, before]), gas: 100_000n })
		const far = await startStrained(node.url, null)
		onTestFinished(() => far.close())
		far.delayMs = 300
		const hook = await hookServer()
		const here = siteOf({
			'tracewatch.yaml': settings(far.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n'),
			'watchlists/a.yaml': watchlist([contract, ruled].map((one) => `{address: "${one}", kinds: [control]}`)),
			clock: '0',
		})
		const env = { ...preload('setClock'), SET_CLOCK: join(here.folder, 'clock'), PASS_TIME: '' }
		const running = here.start(['run'], env)
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		await polled(running)
		await node.mine(1)
		const rulersOf = async (address: Address) => {
			const url = `http://127.0.0.1:${String(port)}/watch?network=local&address=${address}&format=json`
			const { rulers }: ReturnType<typeof JSON.parse> = await (await fetch(url)).json()
			return JSON.stringify(rulers?.rulings ?? null).toLowerCase()
		}
		await expect.poll(() => rulersOf(ruled), seldom).toContain(before)
		if (hard.told.length > 0) await expect.poll(() => rulersOf(contract), seldom).toContain('safe.owner')

		await node.automine(false)
		await node.send({ from: firstOwner, to: contract, data: hard.touch, gas: 500_000n })
		await node.send({ from: treasury, to: ruled, data: writing([implementation, after]), gas: 100_000n })
		await node.mine(1)
		const reported = () =>
			told(hook.hits).flatMap(({ data }) =>
				data?.kind === 'control' && data.evidence === 'storage'
					? [`${data.change} ${data.action} ${String(data.current ?? data.previous).toLowerCase()}`]
					: [],
			)
		const expected = [`implementation set ${after}`, ...hard.told]
		await hook.until(() => expected.every((one) => reported().includes(one)))
		expect(new Set(reported())).toEqual(new Set(expected))

		here.write('clock', '130000')
		running.process.kill('SIGUSR2')
		await node.mine(1)
		const health = async () => (await fetch(`http://127.0.0.1:${String(port)}/healthz`)).text()
		if (hard.says === null) expect(await health()).not.toContain('what rules the contract')
		else await expect.poll(health, seldom).toContain(hard.says)
		expect((await running.stop()).code).toBe(0)
	},
	60_000,
)
