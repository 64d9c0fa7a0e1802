// Ordinary code is never reported, however often it runs: many calls of each kind, a block full at a time.

import { expect, test } from 'vitest'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { hex, type TestAnvil } from '../../support/anvil.js'
import { assemble, initOf } from '../../support/assembler.js'
import { sized } from '../../support/longRun.js'
import { create2Address, encodeActions, puppetCode } from '../../support/puppet.js'
import { word } from '../../support/ruledContract.js'
import { createSafe, deploySafes, execute, multiSend, safeAt } from '../../support/safe.js'
import { soaked } from '../../support/soak.js'
import { lower, openCodeBench } from './codeBench.js'

/** Calls of each kind. */
const count = soaked(sized(6, 100), 1_000)
/** Of all kinds together, in one block. */
const together = sized(60, 110)

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
const [proxy, beaconed, clone, diamond, linked, puppet, stranger] = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map(
	at,
) as [Address, Address, Address, Address, Address, Address, Address]
const [implementation, beacon, library, caller, payee] = ['b1', 'b2', 'b3', 'd1', 'e1'].map(at) as [
	Address,
	Address,
	Address,
	Address,
	Address,
]
const facets = ['f1', 'f2', 'f3'].map(at)

/** Writes into slot 1000 how long its input is. */
const writes = assemble('CALLDATASIZE 1000 SSTORE STOP')
const forwards = 'CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0'
const implementationSlot: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const beaconSlot: Hex = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
const askImplementation = `0x5c60da1b${'0'.repeat(56)}`

const codes: Readonly<Record<Address, Hex>> = {
	[implementation]: writes,
	[library]: writes,
	[beacon]: assemble(`${implementation} 0 MSTORE 32 0 RETURN`),
	[caller]: puppetCode,
	[proxy]: assemble(`${forwards} ${implementationSlot} SLOAD GAS DELEGATECALL STOP`),
	[beaconed]: assemble(`
		${askImplementation} 0 MSTORE 32 0 4 0 ${beaconSlot} SLOAD GAS STATICCALL POP
		CALLDATASIZE 0 32 CALLDATACOPY 0 0 CALLDATASIZE 32 0 MLOAD GAS DELEGATECALL STOP`),
	[clone]: `0x363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`,
	// Answers `facetAddresses()`; else the first byte of the input chooses the facet.
	[diamond]: assemble(`
		0 CALLDATALOAD 224 SHR 0x52ef6b2c EQ @list JUMPI ${forwards} 0 CALLDATALOAD 248 SHR SLOAD GAS DELEGATECALL STOP
		list: 32 0 MSTORE 3 32 MSTORE 1 SLOAD 64 MSTORE 2 SLOAD 96 MSTORE 3 SLOAD 128 MSTORE 160 0 RETURN`),
	// A function of the library, with an argument of its own.
	[linked]: assemble(`0x12345678 0 MSTORE 0 0 36 28 ${library} GAS DELEGATECALL STOP`),
	[puppet]: puppetCode,
	[stranger]: puppetCode,
	...Object.fromEntries(facets.map((one) => [one, writes])),
}
const slots: readonly (readonly [Address, Hex, Address])[] = [
	[proxy, implementationSlot, implementation],
	[beaconed, beaconSlot, beacon],
	...facets.map((one, index) => [diamond, word(BigInt(index + 1)), one] as const),
]

/** Its constructor runs the library. */
const init: Hex = `${assemble(`0 0 0 0 ${library} GAS DELEGATECALL POP`)}${initOf('0x00').slice(2)}`

/** Kinds of calls, each with the delegatecalls that one of them makes. */
const kinds: readonly (readonly [name: string, delegatecalls: number, (n: number) => readonly [Address, Hex]])[] = [
	['proxy', 1, (n) => [proxy, word(BigInt(n))]],
	['beacon', 1, (n) => [beaconed, word(BigInt(n))]],
	['clone (EIP-1167)', 1, (n) => [clone, word(BigInt(n))]],
	['diamond', 1, (n) => [diamond, `0x0${(n % 3) + 1}${'0'.repeat(62)}`]],
	['linked library', 1, (n) => [linked, word(BigInt(n))]],
	['address of the library at the end of the input', 1, (n) => [linked, `${word(BigInt(n))}${library.slice(2)}`]],
	['address of the implementation in the input', 1, () => [clone, word(implementation)]],
	[
		'multicall of the watch to itself',
		1,
		() => [
			puppet,
			encodeActions([{ do: 'delegatecall', to: puppet, inner: [{ do: 'call', to: payee, data: '0x01' }] }]),
		],
	],
	[
		'under a staticcall',
		1,
		() => [
			caller,
			encodeActions([{ do: 'staticcall', to: stranger, inner: [{ do: 'delegatecall', to: beacon, data: '0x01' }] }]),
		],
	],
	[
		'constructor of a watch',
		1,
		(n) => [puppet, encodeActions([{ do: 'create2', init: initNumbered(n), salt: BigInt(n) }])],
	],
]

/** Another contract each time. */
function initNumbered(n: number): Hex {
	return `${init}${n.toString(16).padStart(4, '0')}`
}

const made = Array.from({ length: count }, (_, n) => create2Address(puppet, BigInt(n), initNumbered(n)))

test(
	`default: ${count} calls of each kind, and as many transactions of a Safe with MultiSend`,
	async () => {
		let safe: Address = at('00')
		const stage = await openCodeBench({
			async prepare(node, sender) {
				for (const one of Object.entries(codes)) await node.rpc('anvil_setCode', one)
				for (const [address, slot, value] of slots) await node.rpc('anvil_setStorageAt', [address, slot, word(value)])
				await deploySafes(node, sender, ['singleton', 'multiSend'])
				safe = await createSafe(node, sender, [sender, payee])
				await node.automine(false)
				return [safe, proxy, beaconed, clone, diamond, linked, puppet, stranger, ...made]
			},
		})
		const { node, sender, send } = stage
		const first = (await node.head()) + 1n
		const paying = multiSend([{ to: payee }, { to: payee, data: '0x12345678' }])
		const ofSafe = execute(sender, { to: safeAt.multiSend, data: paying, isDelegated: true })
		let sent = 0
		for (let n = 0; n < count; n++) {
			const calls = kinds.map(([, , callOf]) => callOf(n))
			for (const [to, data] of [...calls, [safe, ofSafe] as const]) {
				await node.rpc('eth_sendTransaction', [{ from: sender, to, data, gas: hex(200_000n) }])
				sent++
				if (sent % together === 0) await node.mine()
			}
		}
		expect(await stage.told()).toEqual([])
		// The proxy of a Safe runs the singleton, and this MultiSend.
		const ran = kinds.reduce((sum, [, delegatecalls]) => sum + delegatecalls, 2)
		expect(await ranFrom(first, node)).toEqual({ succeeded: sent, delegatecalls: count * ran })

		await send(stranger, encodeActions([{ do: 'delegatecall', to: library, data: '0x01' }]))
		expect((await stage.told()).map(({ codeAddress }) => lower(codeAddress))).toEqual([library])
	},
	sized(60_000, 900_000),
)

/** What the node says of the blocks from this one on. */
async function ranFrom(first: bigint, node: TestAnvil) {
	let succeeded = 0
	let delegatecalls = 0
	for (let number = first; number <= (await node.head()); number++) {
		const receipts = await node.rpc<readonly { status: string }[]>('eth_getBlockReceipts', [hex(number)])
		const rows = await node.rpc<readonly { action: { callType?: string } }[]>('trace_block', [hex(number)])
		succeeded += receipts.filter(({ status }) => status === '0x1').length
		delegatecalls += rows.filter(({ action }) => action.callType === 'delegatecall').length
	}
	return { succeeded, delegatecalls }
}
