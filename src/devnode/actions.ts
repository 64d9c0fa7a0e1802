/** What a puppet can be made to do; see contracts.ts for the puppet itself. */
import type { Address, Hex } from '../model/glossary.js'

interface Attempt {
	/** Most gas the inner frame may use. Default: all but a 64th, as the EVM has it. */
	readonly gas?: number
	/** Whether a failure of the inner frame fails this one too. Default: false, it is swallowed. */
	readonly bubble?: boolean
}

/** A call; `inner` is what the callee does, if it is a puppet. */
export interface CallAction extends Attempt {
	readonly do: 'call' | 'callcode'
	readonly to: Address
	/** Default: 0. */
	readonly valueWei?: bigint
	readonly inner?: readonly Action[]
}

/** A call without value of its own: `inner` is done in the caller's name, or without any change. */
export interface LentAction extends Attempt {
	readonly do: 'delegatecall' | 'staticcall'
	readonly to: Address
	readonly inner?: readonly Action[]
}

export interface CreateAction extends Attempt {
	readonly do: 'create' | 'create2'
	readonly init: Hex
	/** Endowment. Default: 0. */
	readonly valueWei?: bigint
	/** Only for `create2`: at most 20 bytes. Default: 0. */
	readonly salt?: bigint
}

export type Action =
	| CallAction
	| LentAction
	| CreateAction
	| { readonly do: 'selfdestruct'; readonly heir: Address }
	/** `revert` gives the rest of the gas back, `invalid` takes it all, `burn` runs until there is none. */
	| { readonly do: 'revert' | 'invalid' | 'burn' }

/** Number of each action in a puppet's calldata. */
export const actionCodes = {
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
 * Where each field of an encoded action starts, in bytes: number (1), whether failure bubbles (1), gas (4; 0: all),
 * address or salt (20), value (16), length of what follows (3), and the inner calldata or init code itself.
 */
export const layout = { code: 0, bubble: 1, gas: 2, target: 6, value: 26, length: 42, data: 45 } as const

/**
 * Calldata that makes a puppet do these, in order; after a `selfdestruct` or a failure that bubbles nothing is done.
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
	return 'inner' in action ? encodeActions(action.inner ?? []) : '0x'
}

function fixed(value: bigint, bytes: number): string {
	const digits = value.toString(16).padStart(bytes * 2, '0')
	if (value < 0n || digits.length > bytes * 2) throw new RangeError(`${value} does not fit into ${bytes} bytes`)
	return digits
}
