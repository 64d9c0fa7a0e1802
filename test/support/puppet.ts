/** The puppet, a contract that performs the actions in its calldata, and the addresses of contracts. */
import { fromCreate, fromCreate2 } from 'ox/ContractAddress'
import type { Address, Hex } from '../../src/model/glossary.js'
import { assemble, initOf } from './assembler.js'

interface Attempt {
	/** Gas limit of the inner frame. Default: all but a 64th, the maximum of the EVM. */
	readonly gas?: number
	/** Whether a failure of the inner frame makes this frame fail too. Default: false. */
	readonly bubble?: boolean
}

/** `inner` lists the actions of the callee, if it is a puppet; `data` is calldata in its place. */
interface Calldata {
	readonly inner?: readonly Action[]
	readonly data?: Hex
}

interface CallAction extends Attempt, Calldata {
	readonly do: 'call' | 'callcode'
	readonly to: Address
	/** Default: 0. */
	readonly valueWei?: bigint
}

/**
 * A call that cannot move value itself: `inner` runs in the caller's context (`delegatecall`), or without changes to
 * the state (`staticcall`).
 */
interface DelegatedCall extends Attempt, Calldata {
	readonly do: 'delegatecall' | 'staticcall'
	readonly to: Address
}

export interface CreateAction extends Attempt {
	readonly do: 'create' | 'create2'
	readonly init: Hex
	/** Value in wei for the new contract. Default: 0. */
	readonly valueWei?: bigint
	/** Only for `create2`: at most 20 bytes. Default: 0. */
	readonly salt?: bigint
}

export type Action =
	| CallAction
	| DelegatedCall
	| CreateAction
	| { readonly do: 'selfdestruct'; readonly heir: Address }
	/** `revert` returns the remaining gas, `invalid` consumes it, `burn` runs until it is used up. */
	| { readonly do: 'revert' | 'invalid' | 'burn' }

/** The code of each action in a puppet's calldata. */
const actionCodes = {
	call: 0,
	callcode: 1,
	delegatecall: 2,
	staticcall: 3,
	create: 4,
	create2: 5,
	selfdestruct: 6,
	revert: 7,
	invalid: 8,
	burn: 9,
} as const

/**
 * Offset of each field of an encoded action, in bytes: code (1), whether failure bubbles (1), gas (4; 0: all), address
 * or salt (20), value (16), length of the data (3), and the data: inner calldata or init code.
 */
const layout = { code: 0, bubble: 1, gas: 2, target: 6, value: 26, length: 42, data: 45 } as const

/**
 * Calldata that makes a puppet perform the actions in order. It stops after a `selfdestruct`, or after a failure that
 * bubbles.
 */
export function encodeActions(actions: readonly Action[]): Hex {
	return `0x${actions.map(encode).join('')}`
}

function encode(action: Action): string {
	const bubble = 'bubble' in action && action.bubble ? 1n : 0n
	const gas = 'gas' in action ? BigInt(action.gas ?? 0) : 0n
	const valueWei = 'valueWei' in action ? (action.valueWei ?? 0n) : 0n
	const data = dataOf(action).slice(2)
	const fields: readonly (readonly [value: bigint, bytes: number])[] = [
		[BigInt(actionCodes[action.do]), 1],
		[bubble, 1],
		[gas, 4],
		[targetOf(action), 20],
		[valueWei, 16],
		[BigInt(data.length / 2), 3],
	]
	return fields.map(([value, bytes]) => fixed(value, bytes)).join('') + data
}

function targetOf(action: Action): bigint {
	if ('to' in action) return BigInt(action.to)
	if ('heir' in action) return BigInt(action.heir)
	return 'salt' in action ? (action.salt ?? 0n) : 0n
}

function dataOf(action: Action): Hex {
	if ('init' in action) return action.init
	if ('data' in action && action.data !== undefined) return action.data
	return 'inner' in action ? encodeActions(action.inner ?? []) : '0x'
}

function fixed(value: bigint, bytes: number): string {
	const digits = value.toString(16).padStart(bytes * 2, '0')
	if (value < 0n || digits.length > bytes * 2) throw new RangeError(`${value} does not fit into ${bytes} bytes`)
	return digits
}

const { data, gas, target, value, length } = layout

/** Code that reads a field of the action at `p`; DUP<n> copies `p`. */
const readTarget = (dup: string) => `${dup} ${target} ADD CALLDATALOAD 96 SHR`
const readValue = (dup: string) => `${dup} ${value} ADD CALLDATALOAD 128 SHR`
/** 0 means all remaining gas. */
const readGas = (dup: string) => `${dup} ${gas} ADD CALLDATALOAD 224 SHR DUP1 ISZERO GAS MUL ADD`
const on = (action: keyof typeof actionCodes) => `DUP1 ${actionCodes[action]} EQ @${action} JUMPI`

/**
 * The puppet accepts payments and performs the actions in its calldata in order (`encodeActions`). Stack before each
 * step: `p` is the offset of the action in the calldata, `n` the length of its data, which is at memory 0.
 */
export const puppetCode = assemble(`
	0
	next:          DUP1 CALLDATASIZE GT ISZERO @end JUMPI
	               DUP1 ${length} ADD CALLDATALOAD 232 SHR
	               DUP1 DUP3 ${data} ADD 0 CALLDATACOPY
	               DUP2 CALLDATALOAD 248 SHR
	               ${on('call')} ${on('callcode')} ${on('delegatecall')} ${on('staticcall')}
	               ${on('create')} ${on('create2')} ${on('selfdestruct')} ${on('revert')} ${on('burn')}
	               INVALID
	call:          POP 0 0 DUP3 0 ${readValue('DUP6')} ${readTarget('DUP7')} ${readGas('DUP8')} CALL @done JUMP
	callcode:      POP 0 0 DUP3 0 ${readValue('DUP6')} ${readTarget('DUP7')} ${readGas('DUP8')} CALLCODE @done JUMP
	delegatecall:  POP 0 0 DUP3 0 ${readTarget('DUP6')} ${readGas('DUP7')} DELEGATECALL @done JUMP
	staticcall:    POP 0 0 DUP3 0 ${readTarget('DUP6')} ${readGas('DUP7')} STATICCALL @done JUMP
	create:        POP DUP1 0 ${readValue('DUP4')} CREATE @done JUMP
	create2:       POP ${readTarget('DUP2')} DUP2 0 ${readValue('DUP5')} CREATE2 @done JUMP
	selfdestruct:  POP ${readTarget('DUP2')} SELFDESTRUCT
	burn:          @burn JUMP
	done:          ISZERO DUP3 CALLDATALOAD 1 BYTE AND @revert JUMPI
	               ADD ${data} ADD @next JUMP
	revert:        0 0 REVERT
	end:           STOP
`)

/** Init code that deploys a puppet. */
export const puppetInit = initOf(puppetCode)

/** The address of a contract made by CREATE. Nonces start at 0 for accounts and at 1 for contracts. */
export function createAddress(from: Address, nonce: bigint): Address {
	return fromCreate({ from, nonce }).toLowerCase() as Address
}

/** The address of a contract made by CREATE2; `salt` is a number of at most 32 bytes. */
export function create2Address(from: Address, salt: bigint, init: Hex): Address {
	const word = `0x${salt.toString(16).padStart(64, '0')}` as const
	return fromCreate2({ from, salt: word, bytecode: init }).toLowerCase() as Address
}
