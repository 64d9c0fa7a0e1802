import type { AddressSet } from '../../model/chain.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, malformed } from '../wire.js'
import { eventsIn } from './eventsIn.js'
import { readHitReceipts } from './hitReceipts.js'
import { readLogSpan } from './logSpans.js'

export type AskAnother = <T>(job: (rpc: Rpc, limited: AbortSignal) => Promise<T>) => Promise<T | null>

interface Question {
	readonly addresses: AddressSet
	readonly askAnother?: AskAnother
}

interface SecondWitnessOptions {
	readonly chainId: number
	readonly known: KnownTokens
}

/**
 * Whether a second endpoint tells the same tokens of blocks whose receipts cannot be checked against their root. False
 * where nobody answers, or has left some out. Throws `malformed` where he tells another: then `rpc` is not believed.
 */
export function createSecondWitness({ chainId, known }: SecondWitnessOptions) {
	return async (
		rpc: Rpc,
		/** At least one, in order. */
		headers: readonly Header[],
		tokens: readonly TokenEvent[],
		{ addresses, askAnother }: Question,
	): Promise<boolean> => {
		const [first, last] = [headers[0], headers.at(-1)]
		if (first === undefined || last === undefined) return false
		const numbers = new Set(headers.map(({ number }) => number))
		const span = { from: first.number, to: last.number }
		const seen = await askAnother?.(async (other, limited) => {
			const found = await readLogSpan(other, { span, addresses, known }, limited)
			const own = found.filter(({ block }) => numbers.has(block.number))
			return eventsIn(await readHitReceipts(other, own, headers, limited), addresses, { chainId, known })
		})
		if (seen === undefined || seen === null) return false
		const ours = new Set(tokens.flatMap((one) => (numbers.has(one.block.number) ? [wordsOf(one)] : [])))
		const [more] = seen.filter((one) => !ours.has(wordsOf(one)))
		if (more === undefined) return seen.length === ours.size
		const { number } = more.block
		const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockReceipts' }
		throw malformed(reading, `nothing proves its receipts of block ${number}, and a second endpoint tells other logs`)
	}
}

function wordsOf({ txHash, trace, contract, from, to, amountRaw, tokenId }: TokenEvent): string {
	return [txHash, trace, contract, from, to, amountRaw, tokenId].join(':')
}
