/** Which parts of an answer are kept. */

import { isInputRead, longestInput } from '../../core/events/inputs.js'
import type { CalledFunctions } from '../../model/chain.js'

/** Which members of an object are kept. Elements of a list have the list's own shape, or that of `rows`. */
export interface Shape {
	/** Shape of the member of this name; null: it is skipped. */
	of(name: string): Shape | null
	/** Longer texts are cut to this number of characters. */
	readonly longestText: number
	/** Equal objects are shared. */
	readonly shares?: true
	/** A list of this shape is kept as a RowList; this is the shape of its rows. */
	readonly rows?: Shape
	/** For a call: whether its input is kept, by the texts of its parties. Absent: `input` is a member like others. */
	readonly keepsInput?: (from: unknown, to: unknown) => boolean
}

/** Everything, as JSON.parse would give it. */
export const everything: Shape = { of: () => everything, longestText: Number.POSITIVE_INFINITY }

/** An error's text may be as long as an input; only this much is ever used. */
const longestText = 4_096

function shapeOf(members: Readonly<Record<string, () => Shape>>): Shape {
	const names = new Map(Object.entries(members))
	return { of: (name) => names.get(name)?.() ?? null, longestText }
}

const plain = shapeOf({})
const just = () => plain

const waits = { retry_after: just, retryAfter: just, 'retry-after': just, backoff_seconds: just }
const errorData = shapeOf({ ...waits, rate: () => shapeOf(waits), message: just })
const error = shapeOf({ code: just, message: just, data: () => errorData })
/** Of up to a million frames: why it failed, in a sentence. */
const frameError: Shape = { ...error, longestText: 200 }
/** Only that there is one: a reason that differs in each frame costs an attacker little, and would fill the memory. */
const frameReason: Shape = { ...plain, longestText: 0 }
/** One character more shows that an input is too long. */
const inputText: Shape = { ...plain, longestText: longestInput + 1 }

/**
 * Frames as the trace methods and the tracers of debug_trace give them: parties, values, places and failures, without
 * what an attacker can make arbitrarily long: inputs, outputs, code, logs. Only inputs that a kind reads are kept.
 */
function traceShape(calls: CalledFunctions | undefined): { readonly trace: Shape; readonly rowsOrTrace: Shape } {
	const trace: Shape = {
		...shapeOf({
			type: just,
			action: () => trace,
			result: () => rowsOrTrace,
			calls: () => trace,
			error: () => frameError,
			revertReason: () => frameReason,
			traceAddress: just,
			subtraces: just,
			transactionHash: just,
			transactionPosition: just,
			txHash: just,
			blockNumber: just,
			blockHash: just,
			callType: just,
			creationMethod: just,
			from: just,
			to: just,
			value: just,
			input: () => inputText,
			author: just,
			rewardType: just,
			address: just,
			refundAddress: just,
			balance: just,
			// Arbitrum's transfers outside of its EVM.
			beforeEVMTransfers: () => trace,
			afterEVMTransfers: () => trace,
			purpose: just,
		}),
		shares: true,
		keepsInput: (from, to) => isInputRead(from, to, calls),
	}
	const rowsOrTrace: Shape = { ...trace, rows: trace }
	return { trace, rowsOrTrace }
}

const answer = (result: Shape): Shape =>
	shapeOf({
		...waits,
		jsonrpc: just,
		id: just,
		result: () => result,
		error: () => error,
		message: just,
		detail: just,
		rate: () => shapeOf(waits),
	})

const traceMethods = /^(?:trace_(?:block|filter|transaction)|debug_trace(?:BlockByNumber|BlockByHash|Transaction))$/

/** Methods that are asked in one request with traces. */
const besides = new Set(['eth_getBlockByNumber', 'eth_getTransactionReceipt'])
const bulky = new Set(['input', 'output', 'init'])
/** The shapes of answers with traces. */
function tracesWith(calls: CalledFunctions | undefined): { readonly alone: Shape; readonly mixed: Shape } {
	const { trace, rowsOrTrace } = traceShape(calls)
	/** With headers and receipts: everything except what an attacker can make long in a trace. */
	const lean: Shape = {
		of: (name) => (bulky.has(name) ? null : name === 'result' ? leanResult : lean),
		longestText: Number.POSITIVE_INFINITY,
	}
	/** Only lists in a result are rows: headers and receipts are no lists. */
	const leanResult: Shape = { ...lean, rows: trace }
	return { alone: answer(rowsOrTrace), mixed: lean }
}

const usual = tracesWith(undefined)

/** The shape of the answer to these methods; everything if there are others. `calls`: whose inputs are kept. */
export function shapeOfAnswer(methods: Iterable<string>, calls?: CalledFunctions): Shape {
	const names = [...methods]
	const { alone, mixed } = calls === undefined ? usual : tracesWith(calls)
	const others = names.filter((method) => !traceMethods.test(method))
	if (others.length === 0) return alone
	return others.length < names.length && others.every((method) => besides.has(method)) ? mixed : everything
}
