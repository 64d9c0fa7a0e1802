import type { CallType, Frame, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { isBorrowed, isSame, type Level, levelsIn } from './calls.js'
import { cutMark } from './inputs.js'

/** A contract ran code in its own storage, by delegatecall or callcode. */
export interface BorrowedCode {
	readonly traceAddress: readonly number[]
	readonly callType: CallType | null
	readonly input: string
	/** Whose storage and balance the code used. */
	readonly contract: Address
	readonly code: Address
	/**
	 * Who chose the code, as far as the frames show it. `caller`: its address stands in the input of the frame above, as
	 * in a Safe's execTransaction. `unknown`: it may stand in the part of that input that was cut. `forwarded`: the
	 * contract handed on its whole input, which does not name the code, as a proxy does. `contract`: neither.
	 */
	readonly chosenBy: 'caller' | 'unknown' | 'forwarded' | 'contract'
	/** The code that ran the call: that of the contract, or code that the contract was running already. */
	readonly caller: Address
	/** The call that entered the contract. */
	readonly entry: Frame
	readonly level: Level
	readonly above: Level
}

/**
 * The code that contracts ran in their own storage, in the order of the trace: only what took effect, and not what a
 * contract ran of itself. Where inputs are not known, the caller may have chosen the code.
 */
export function* borrowedCodeIn(tx: TxTrace): Generator<BorrowedCode> {
	if (tx.succeeded === false) return
	for (const { frame, level, above } of levelsIn(tx)) {
		const { to: code, input, traceAddress, callType } = frame
		const contract = level.context
		if (!isBorrowed(callType) || code === null || contract === null || code === contract) continue
		if (level.error !== null || level.isStatic || above?.context !== contract) continue
		const { code: caller, entry } = above
		if (caller === null || entry === null) continue
		yield {
			traceAddress,
			callType,
			input: input ?? '',
			contract,
			code,
			chosenBy: above.input === undefined ? 'unknown' : choiceOf(input ?? '', above.input, code),
			caller,
			entry,
			level,
			above,
		}
	}
}

function choiceOf(input: string, above: string, code: Address): BorrowedCode['chosenBy'] {
	if (namesAddress(above, code)) return 'caller'
	if (above.endsWith(cutMark)) return 'unknown'
	return isSame(input, above) ? 'forwarded' : 'contract'
}

/** Whether the 20 bytes stand in the input, at any byte. */
function namesAddress(input: string, address: Address): boolean {
	const digits = address.slice(2)
	for (let at = input.indexOf(digits, 2); at >= 0; at = input.indexOf(digits, at + 1)) if (at % 2 === 0) return true
	return false
}
