import type { KnownTokens } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, malformed } from '../wire/wire.js'
import { eventsIn, type LogEvent, type Wanted } from './eventsIn.js'
import { readLogSpan } from './logSpans.js'
import { readHitReceipts } from './proofs/hitReceipts.js'

export type AskAnother = <T>(job: (rpc: Rpc, limited: AbortSignal) => Promise<T>) => Promise<T | null>

interface Question extends Wanted {
	readonly askAnother?: AskAnother
}

interface SecondWitnessOptions {
	readonly chainId: number
	readonly known: KnownTokens
}

/** Whether a second endpoint gives the same events. Throws `malformed` where it has one that `rpc` lacks. */
export function createSecondWitness({ chainId, known }: SecondWitnessOptions) {
	return async (
		rpc: Rpc,
		/** At least one, in order. */
		headers: readonly Header[],
		events: readonly LogEvent[],
		{ addresses, contracts, askAnother }: Question,
	): Promise<boolean> => {
		const [first, last] = [headers[0], headers.at(-1)]
		if (first === undefined || last === undefined) return false
		const numbers = new Set(headers.map(({ number }) => number))
		const span = { from: first.number, to: last.number }
		const seen = await askAnother?.(async (other, limited) => {
			const found = await readLogSpan(other, { span, addresses, contracts, known }, limited)
			const own = found.filter(({ block }) => numbers.has(block.number))
			const txs = await readHitReceipts(other, own, headers, limited)
			return eventsIn(txs, { addresses, contracts }, { chainId, known })
		})
		if (seen === undefined || seen === null) return false
		const ours = new Set(events.flatMap((one) => (numbers.has(one.block.number) ? [wordsOf(one)] : [])))
		const [more] = seen.filter((one) => !ours.has(wordsOf(one)))
		if (more === undefined) return seen.length === ours.size
		const { number } = more.block
		const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockReceipts' }
		throw malformed(reading, `nothing proves its receipts of block ${number}, and a second endpoint returns other logs`)
	}
}

function wordsOf(event: LogEvent): string {
	if (event.kind === 'control') {
		const { txHash, logIndex, contract, change, action, role, previous, current } = event
		return [txHash, logIndex, contract, change, action, role, previous, current].join(':')
	}
	const { txHash, trace, contract, from, to, amountRaw, tokenId } = event
	return [txHash, trace, contract, from, to, amountRaw, tokenId].join(':')
}
