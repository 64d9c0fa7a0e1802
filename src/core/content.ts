import type { AlertData, ChainEvent } from '../model/alert.js'

/**
 * What an id does not say: who the other side was, and how much moved. A transaction that is mined again on another
 * state may do the same thing with another amount, under the same id; what was said of it is then no longer true.
 */
export function contentOf(event: ChainEvent): string {
	if (event.kind !== 'token') return textOf([event.from, event.to, event.valueWei])
	const { from, to, contract, amountRaw, tokenId } = event
	return textOf([from, to, contract, amountRaw, tokenId])
}

/** The same of what was said. */
export function contentSaid({ from, to, valueWei, token }: AlertData): string {
	if (token === undefined) return textOf([from, to, valueWei])
	return textOf([from, to, token.address, token.amountRaw, token.tokenId])
}

function textOf(parts: readonly (string | bigint | null | undefined)[]): string {
	return parts.join(' ').toLowerCase()
}
