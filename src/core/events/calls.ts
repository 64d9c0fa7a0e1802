import type { Called } from '../../kinds/call.js'
import type { CalledFunctions, CallType, Frame, LentCode, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { cutMark } from './inputs.js'

/** `0x` and four bytes. */
const selectorLetters = 10

/** Code that a contract runs as its own: it was given the whole input of the call, unchanged. */
interface OwnCode {
	readonly code: Address
	readonly above: OwnCode | null
}

/** A frame and what the frames below it inherit. */
export interface Level {
	/** The contract whose storage and balance the frame uses. */
	readonly context: Address | null
	readonly input: string | undefined
	/** Why the frame is undone: its own error, or that of a frame above it; null: it is not. */
	readonly error: string | null
	readonly isStatic: boolean
	readonly ownCode: OwnCode | null
	/** Where the code of the frame stands. */
	readonly code: Address | null
	/** The frame that entered the context; null for frames that are no calls. */
	readonly entry: Frame | null
}

/** Whether a frame may be a call that is reported, provided that the frames above it succeeded. */
export function isCalled(frame: Omit<Frame, 'traceAddress'>, calls: CalledFunctions | undefined): boolean {
	const contract = calls === undefined ? null : contextOf(frame)
	const selector = selectorOf(frame.input)
	return contract !== null && selector !== null && calls?.isReported(contract, selector, frame.error !== null) === true
}

/** Whether a frame may be foreign code that a contract ran in its own storage. */
export function isLent(
	{ callType, from, to, error }: Omit<Frame, 'traceAddress'>,
	lent: LentCode | undefined,
): boolean {
	if (lent === undefined || !isBorrowed(callType) || from === null || to === null || from === to) return false
	return error === null && lent.isJudged(from, to)
}

/**
 * The calls of a transaction to the contracts whose inputs are known, in the order of the trace: frames that enter a
 * contract, and delegatecalls of a contract to itself or to its own code, if they name another function than the frame
 * above. A proxy and its implementation are one call. Own code is code to which a frame above handed on its whole
 * input; what other code does in the storage of the contract is no call to the contract.
 */
export function* callsIn(tx: TxTrace): Generator<Called> {
	if (tx.txHash === null || tx.frames.every(({ input }) => input === undefined)) return
	const root = tx.frames[0]
	const initiator = root?.traceAddress.length === 0 ? root.from : null
	for (const { frame, level, above } of levelsIn(tx)) {
		const selector = selectorOf(frame.input)
		const { callType, to } = frame
		if (callType === null || level.context === null || level.isStatic || selector === null || to === null) continue
		if (callType !== 'call' && !isOwnCall(frame, level.context, above)) continue
		const failure = failureOf(frame, above, tx)
		yield {
			kind: 'call',
			contract: level.context,
			selector,
			input: frame.input ?? '',
			callType,
			failure,
			frameType: frame.type,
			from: frame.from,
			to,
			// A delegatecall repeats the value of the frame above.
			valueWei: callType === 'call' ? frame.valueWei : 0n,
			txHash: tx.txHash,
			txIndex: tx.txIndex,
			traceAddress: frame.traceAddress,
			trace: frame.traceAddress.length === 0 ? 'root' : frame.traceAddress.join('_'),
			block: tx.block,
			initiator,
		}
	}
}

/** The frames of a transaction, each with what it inherits, in the order of the trace. */
export function* levelsIn({ frames }: Pick<TxTrace, 'frames'>): Generator<{
	readonly frame: Frame
	readonly level: Level
	readonly above: Level | null
}> {
	/** The frames above the current one; the index is the depth. */
	const levels: Level[] = []
	for (const frame of frames) {
		levels.length = Math.min(levels.length, frame.traceAddress.length)
		const above = levels.at(-1) ?? null
		const level = levelOf(frame, above)
		levels.push(level)
		yield { frame, level, above }
	}
}

function levelOf(frame: Frame, above: Level | null): Level {
	const context = contextOf(frame) ?? (frame.type === 'call' ? null : frame.to)
	const isLent = isBorrowed(frame.callType) && above !== null && above.context === context
	const isForwarded = isLent && frame.to !== null && isSame(frame.input, above.input)
	return {
		context,
		input: frame.input,
		error: frame.error ?? above?.error ?? null,
		isStatic: frame.callType === 'staticcall' || above?.isStatic === true,
		ownCode: isForwarded ? { code: frame.to, above: above.ownCode } : isLent ? above.ownCode : null,
		code: frame.to,
		entry: isLent ? above.entry : frame.type === 'call' ? frame : null,
	}
}

/** The contract whose storage a call uses; null for other frames. A staticcall is here no call. */
function contextOf({ type, callType, from, to }: Omit<Frame, 'traceAddress'>): Address | null {
	if (type !== 'call') return null
	return isBorrowed(callType) ? from : callType === 'call' ? to : null
}

export function isBorrowed(callType: CallType | null): boolean {
	return callType === 'delegatecall' || callType === 'callcode'
}

function isOwnCall({ to, input }: Frame, context: Address, above: Level | null): boolean {
	if (above === null || above.context !== context || selectorOf(above.input) === selectorOf(input)) return false
	if (to === context) return true
	for (let own = above.ownCode; own !== null; own = own.above) if (own.code === to) return true
	return false
}

function failureOf({ error }: Frame, above: Level | null, { succeeded }: TxTrace): string | null {
	if (error !== null) return error
	if (above?.error != null) return `undone, because a call above it failed: ${above.error}`
	return succeeded === false ? 'undone, because the transaction failed' : null
}

/** Null: the input is too short to name a function, or is not known. */
function selectorOf(input: string | undefined): string | null {
	return input !== undefined && input.length >= selectorLetters ? input.slice(0, selectorLetters) : null
}

/** Of inputs that were cut, only the common part is compared. */
export function isSame(one: string | undefined, other: string | undefined): boolean {
	if (one === undefined || other === undefined) return false
	if (one === other) return true
	if (one.endsWith(cutMark)) return other.startsWith(one.slice(0, -1))
	return other.endsWith(cutMark) && one.startsWith(other.slice(0, -1))
}
