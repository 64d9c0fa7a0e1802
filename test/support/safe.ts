/**
 * Real Safe contracts (version 1.5.0, LGPL-3.0, a development package): deployed on Anvil by the factory that deploys
 * them on every chain, so that they stand at their published addresses.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi } from 'ox/Abi'
import { type AbiFunction, encodeData, fromAbi } from 'ox/AbiFunction'
import type { Address, Hex } from '../../src/model/glossary.js'
import type { Hand } from './anvil.js'
import { assemble } from './assembler.js'
import { createAddress } from './puppet.js'

const resolve = createRequire(import.meta.url).resolve

interface Artifact {
	/** Of its creation. */
	readonly bytecode: Hex
	readonly abi: unknown
}

function artifact(path: string): Artifact {
	const file = `@safe-global/safe-smart-account/build/artifacts/contracts/${path}.json`
	return JSON.parse(readFileSync(resolve(file), 'utf8')) as Artifact
}

/** Published addresses: of the package @safe-global/safe-deployments, `v1.5.0`. */
export const safeAt = {
	singleton: '0xff51a5898e281db6dfc7855790607438df2ca44b',
	multiSend: '0x218543288004cd07832472d464648173c77d7eb7',
	multiSendCallOnly: '0xa83c336b20401af773b6219ba5027174338d1836',
	createCall: '0x2ef5ecfbea521449e4de05edb1ce63b75eda90b4',
	signMessage: '0x4ffef8222648872b3de295ba1e49110e61f5b5aa',
	simulateTx: '0x07efa797c55b5dde3698d876b277abb6b893654c',
} as const satisfies Readonly<Record<string, Address>>

const paths: Readonly<Record<keyof typeof safeAt, string>> = {
	singleton: 'Safe.sol/Safe',
	multiSend: 'libraries/MultiSend.sol/MultiSend',
	multiSendCallOnly: 'libraries/MultiSendCallOnly.sol/MultiSendCallOnly',
	createCall: 'libraries/CreateCall.sol/CreateCall',
	signMessage: 'libraries/SignMessageLib.sol/SignMessageLib',
	simulateTx: 'accessors/SimulateTxAccessor.sol/SimulateTxAccessor',
}

/** Safe's singleton factory: 32 bytes of salt, then the code of a creation. */
const factory: Address = '0x914d7fec6aac8cd542e72bca78b30650d45643d7'
const factoryCode = assemble(`
	32 CALLDATASIZE SUB DUP1 32 0 CALLDATACOPY
	0 SWAP1 0 0 CREATE2 0 MSTORE 32 0 RETURN`)

/** Deploys the contracts that are named. Throws if one does not stand at its published address afterwards. */
export async function deploySafes(node: Hand, sender: Address, names: readonly (keyof typeof safeAt)[]): Promise<void> {
	await node.rpc('anvil_setCode', [factory, factoryCode])
	for (const name of names) {
		const data = `0x${'0'.repeat(64)}${artifact(paths[name]).bytecode.slice(2)}`
		await node.send({ from: sender, to: factory, data, gas: 8_000_000n })
		const code = await node.code(safeAt[name], await node.head())
		if (code === '0x') throw new Error(`${name} does not stand at ${safeAt[name]}`)
	}
}

/** A call of a function of a contract, by its ABI. */
function call(path: string, name: string, args: readonly unknown[]): Hex {
	return encodeData(fromAbi(artifact(path).abi as Abi, name) as AbiFunction, args)
}

const nobody: Address = `0x${'0'.repeat(40)}`

/** A proxy of the singleton, as users have them. The first owner signs alone. */
export async function createSafe(node: Hand, sender: Address, owners: readonly Address[]): Promise<Address> {
	const nonce = BigInt(await node.rpc<string>('eth_getTransactionCount', [sender, 'latest']))
	const safe = createAddress(sender, nonce)
	const { bytecode } = artifact('proxies/SafeProxy.sol/SafeProxy')
	const data: Hex = `${bytecode}${safeAt.singleton.slice(2).padStart(64, '0')}`
	await node.send({ from: sender, data, gas: 1_000_000n })
	const own = call(paths.singleton, 'setup', [owners, 1n, nobody, '0x', nobody, nobody, 0n, nobody])
	await node.send({ from: sender, to: safe, data: own, gas: 1_000_000n })
	return safe
}

export interface SafeCall {
	readonly to: Address
	readonly data?: Hex
	/** A delegatecall (operation 1). Default: false. */
	readonly isDelegated?: boolean
}

/** Of an owner who sends it: that shows that it agrees. */
export function execute(owner: Address, { to, data = '0x', isDelegated = false }: SafeCall): Hex {
	const signature: Hex = `0x${owner.slice(2).padStart(64, '0')}${'0'.repeat(64)}01`
	const operation = isDelegated ? 1 : 0
	return call(paths.singleton, 'execTransaction', [to, 0n, data, operation, 0n, 0n, 0n, nobody, nobody, signature])
}

export function executeFromModule({ to, data = '0x', isDelegated = false }: SafeCall): Hex {
	return call(paths.singleton, 'execTransactionFromModule', [to, 0n, data, isDelegated ? 1 : 0])
}

export function enableModule(module: Address): Hex {
	return call(paths.singleton, 'enableModule', [module])
}

export function signMessage(data: Hex): Hex {
	return call(paths.signMessage, 'signMessage', [data])
}

/** For MultiSend: operation, target, value, length and data of each call, packed. */
export function multiSend(calls: readonly SafeCall[]): Hex {
	const packed = calls.map(({ to, data = '0x', isDelegated = false }) => {
		const length = ((data.length - 2) / 2).toString(16).padStart(64, '0')
		return `${isDelegated ? '01' : '00'}${to.slice(2)}${'0'.repeat(64)}${length}${data.slice(2)}`
	})
	return call(paths.multiSend, 'multiSend', [`0x${packed.join('')}`])
}
