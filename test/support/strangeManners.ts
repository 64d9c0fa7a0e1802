// How a strange node behaves: each of it some node is known to do (docs/nodes.md), in mixtures that none has.
import { randomOf } from './random.js'

export interface StrangeManners {
	readonly traces: 'filter' | 'block' | 'debug'
	readonly both: 'either' | 'each'
	/** Blocks in a question; 0: any. */
	readonly range: number
	readonly beyond: 'refused' | 'empty' | 'part'
	readonly tags: 'told' | 'null' | 'refused'
	/** How it refuses. */
	readonly refusal: 'object' | 'status' | 'words'
	readonly numbers: 'number' | 'decimal' | 'hex'
	readonly addresses: 'lower' | 'checksum'
	/** Times that the head's traces are null, or refused. */
	readonly early: number
	readonly earlyAs: 'null' | 'empty' | 'nonce'
	/** Calls in a batch; 0: none at all. */
	readonly batch: number
	readonly reversed: boolean
	readonly gzip: boolean
	readonly receipts: 'block' | 'each'
	readonly failed: 'kept' | 'null' | 'absent'
	readonly subtraces: boolean
	readonly rewards: 'none' | 'zero' | 'phantom'
	readonly hashes: boolean
	readonly tracer: 'callTracer' | 'flatCallTracer'
	readonly balances: 'hash' | 'number' | 'none'
	/** Now and then it says that its head is the block before. */
	readonly headGoesBack: boolean
}

export function strangeManners(seed: number): StrangeManners {
	const random = randomOf(seed * 7919 + 1)
	const pick = <T>(...all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
	return {
		traces: pick('filter', 'filter', 'block', 'debug'),
		both: pick('either', 'each'),
		range: pick(0, 1, 10, 100),
		beyond: pick('refused', 'empty', 'part'),
		tags: pick('told', 'null', 'refused'),
		refusal: pick('object', 'status', 'words'),
		numbers: pick('number', 'decimal', 'hex'),
		addresses: pick('lower', 'checksum'),
		early: pick(0, 0, 1, 2),
		earlyAs: pick('null', 'empty', 'nonce'),
		batch: pick(0, 1, 3, 10, 100),
		reversed: pick(true, false),
		gzip: pick(true, false),
		receipts: pick('block', 'each'),
		failed: pick('kept', 'null', 'absent'),
		subtraces: pick(true, false),
		rewards: pick('none', 'zero', 'phantom'),
		hashes: pick(true, false),
		tracer: pick('callTracer', 'callTracer', 'flatCallTracer'),
		balances: pick('hash', 'number', 'none'),
		headGoesBack: pick(true, false, false),
	}
}
