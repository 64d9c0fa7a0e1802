/** Blocks that a node fails at, whatever is asked of them; others it answers well. */
import { type Dialect, Refused } from './dialectGateway.js'

export interface FailingBlocks {
	readonly twist: NonNullable<Dialect['twist']>
	readonly numbers: Set<bigint>
	/** Hashes of their transactions. */
	readonly hashes: Set<string>
	/** Also whoever asks for their headers is refused. */
	headersToo: boolean
	/** What is said. */
	error: { code: number; message: string }
	/** Nothing is said at all: whoever asks waits for ever. */
	hangs: boolean
}

export function failingBlocks(): FailingBlocks {
	const blocks: FailingBlocks = {
		numbers: new Set(),
		hashes: new Set(),
		headersToo: false,
		error: { code: -32000, message: 'internal error' },
		hangs: false,
		twist(method, params) {
			if (!isHit(blocks, method, params)) return undefined
			if (blocks.hangs) return new Promise(() => undefined)
			throw new Refused({ error: blocks.error })
		},
	}
	return blocks
}

function isHit({ numbers, hashes, headersToo }: FailingBlocks, method: string, params: readonly unknown[]): boolean {
	const [first] = params
	if (method === 'trace_filter') {
		const { fromBlock, toBlock } = first as { fromBlock: string; toBlock: string }
		return [...numbers].some((number) => BigInt(fromBlock) <= number && number <= BigInt(toBlock))
	}
	if (typeof first !== 'string') return false
	if (method.startsWith('eth_getBlock')) return headersToo && isQuantity(first) && numbers.has(BigInt(first))
	if (/^(?:trace_block|debug_traceBlockByNumber)$/.test(method)) return isQuantity(first) && numbers.has(BigInt(first))
	return hashes.has(first)
}

const isQuantity = (text: string) => /^0x[0-9a-f]+$/.test(text) && text.length < 20
