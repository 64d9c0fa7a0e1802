/** What counts of an answer. */

/** Which members of an object are wanted. The elements of a list have its own shape, or what it says of rows. */
export interface Shape {
	/** Shape of the member of this name; null: not wanted. */
	of(name: string): Shape | null
	/** Characters after which a text is cut. */
	readonly longestText: number
	/** Objects that say the same are made one. */
	readonly shares?: true
	/** A list of this shape is one of rows, and is kept as a RowList: their shape. */
	readonly rows?: Shape
}

/** Everything, as JSON.parse would give it. */
export const everything: Shape = { of: () => everything, longestText: Number.POSITIVE_INFINITY }

/** An error's text may be as long as an input; nobody reads more than this of it. */
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
/** Of one frame of a million: why it failed, in a sentence. */
const frameError: Shape = { ...error, longestText: 200 }

/**
 * Frames as the trace methods and the tracers of debug_trace tell them: parties, amounts, places and failures. Not what
 * a stranger can make as long as he likes: inputs, outputs, code, logs.
 */
const trace: Shape = {
	...shapeOf({
		type: just,
		action: () => trace,
		result: () => rowsOrTrace,
		calls: () => trace,
		error: () => frameError,
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
		author: just,
		rewardType: just,
		address: just,
		refundAddress: just,
		balance: just,
		// Arbitrum's movements outside of its EVM.
		beforeEVMTransfers: () => trace,
		afterEVMTransfers: () => trace,
		purpose: just,
	}),
	shares: true,
}
const rowsOrTrace: Shape = { ...trace, rows: trace }

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

const traceAnswer = answer(rowsOrTrace)
const traceMethods = /^(?:trace_(?:block|filter|transaction)|debug_trace(?:BlockByNumber|BlockByHash|Transaction))$/

/** What goes with traces in one request. */
const besides = new Set(['eth_getBlockByNumber', 'eth_getTransactionReceipt'])
const bulky = new Set(['input', 'output', 'init'])
/** Of traces, headers and receipts together: all but what a stranger can make long in a trace. */
const lean: Shape = {
	of: (name) => (bulky.has(name) ? null : name === 'result' ? leanResult : lean),
	longestText: Number.POSITIVE_INFINITY,
}
/** Headers and receipts are no lists. */
const leanResult: Shape = { ...lean, rows: trace }

/** The shape of the answer to calls of these methods. Where they are of other kinds nothing is left out. */
export function shapeOfAnswer(methods: Iterable<string>): Shape {
	const names = [...methods]
	const others = names.filter((method) => !traceMethods.test(method))
	if (others.length === 0) return traceAnswer
	return others.length < names.length && others.every((method) => besides.has(method)) ? lean : everything
}
