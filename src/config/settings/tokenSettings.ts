import { parseAmount } from '../../base/amount.js'
import { isNativeCoin } from '../../core/events/nativeTokens.js'
import type { Problem } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { KnownToken, KnownTokens } from '../../model/token.js'
import type { Source } from '../yaml/sourceFile.js'
import type { TokensWritten } from './tokenSchema.js'

/** Where the tokens of one network are configured. */
export interface TokensPlace {
	readonly chainId: number
	readonly written: TokensWritten['tokens']
	readonly source: Source
	/** Path of the network in the source. */
	readonly at: readonly PropertyKey[]
}

/** Reads the tokens that a network names. Problems are returned, not thrown. */
export function readTokens({ chainId, written, source, at }: TokensPlace): {
	readonly tokens: KnownTokens
	readonly problems: readonly Problem[]
} {
	const problems: Problem[] = []
	const tokens = new Map<Address, KnownToken>()
	for (const [index, entry] of written.entries()) {
		const fault = (key: string, message: string) =>
			problems.push(source.problem([...at, 'tokens', index, key], message))
		const { symbol, address, decimals, min_amount: least } = entry
		if (tokens.has(address)) fault('address', 'this token is named already; a network names a token once')
		if (isNativeCoin(chainId, address)) {
			fault('address', 'this contract shows the coin of the chain, which is reported as transfers: remove it')
		}
		const parsed = readLeast(least, symbol, decimals)
		if ('message' in parsed) fault('min_amount', parsed.message)
		tokens.set(address, { symbol, address, decimals, minAmountRaw: 'raw' in parsed ? parsed.raw : null })
	}
	return { tokens, problems }
}

/** Reads `100`, or `100 USDC`, and returns it in the smallest unit. */
function readLeast(
	text: string | null,
	symbol: string,
	decimals: number | null,
): { readonly raw: bigint | null } | { readonly message: string } {
	if (text === null) return { raw: null }
	const number = text.trim().toLowerCase().endsWith(symbol.toLowerCase())
		? text.trim().slice(0, -symbol.length).trim()
		: text.trim()
	if (!/^\d+(\.\d+)?$/.test(number))
		return { message: '`min_amount` must be a number of whole tokens, such as 100 or 0.5' }
	const fraction = number.split('.')[1]?.replace(/0+$/, '') ?? ''
	if (fraction.length > (decimals ?? 0)) {
		return { message: `\`min_amount\` has more digits after the point than the token, which has ${decimals ?? 0}` }
	}
	return { raw: parseAmount(number, decimals ?? 0) }
}
