import { z } from 'zod'
import { parseAmount } from '../../base/amount.js'
import { isNativeCoin } from '../../core/events/nativeTokens.js'
import type { KnownToken, KnownTokens } from '../../model/token.js'
import { parseAddress } from '../address.js'
import { readLine, readWholeNumber } from '../values.js'
import { orNull, section, text } from '../words.js'

/** Schema of `tokens` of a network. */
export const tokensSchema = z
	.array(
		section({
			symbol: text(readLine).meta({ description: 'What alerts call it, such as USDC; the contract is not asked.' }),
			address: text((value) => parseAddress(value)).meta({
				type: ['string', 'number'],
				description: 'Of its contract.',
			}),
			decimals: orNull(text((value) => readWholeNumber(value, 77))).meta({
				type: ['integer', 'string'],
				description: 'Digits after the point, 0 to 77. Default: none, as ERC-721 and ERC-1155 have none.',
			}),
			min_amount: orNull(z.string()).meta({
				type: ['string', 'number'],
				description: 'Smallest transfer to report, in whole tokens, such as 100. Default: above 0.',
			}),
		})
			.transform(({ min_amount: written, ...token }, context): KnownToken => {
				const least = readLeast(written, token.decimals)
				if (typeof least === 'string') context.addIssue({ code: 'custom', path: ['min_amount'], message: least })
				return { ...token, minAmountRaw: typeof least === 'string' ? null : least }
			})
			.meta({ id: 'token', description: 'A token that counts.' }),
	)
	.default([])

/** In the smallest unit; or what is wrong with it. */
function readLeast(written: string | null, decimals: number | null): bigint | string | null {
	if (written === null) return null
	const [, fraction] = /^\d{1,78}(?:\.(?=\d)(\d{0,77}?)0{0,9})?$/.exec(written) ?? ['', null]
	if (fraction === null) return 'must be a number of whole tokens, such as 100 or 0.5'
	if ((fraction ?? '').length > (decimals ?? 0))
		return `has more digits after the point than the token, which has ${decimals ?? 0}`
	return parseAmount(written, decimals ?? 0)
}

/** The tokens by their contract. Tokens that a network must not name are issues. */
export function knownTokens(
	{ chain_id: chainId, tokens }: { readonly chain_id: number; readonly tokens: readonly KnownToken[] },
	context: z.core.$RefinementCtx,
): KnownTokens {
	const known = new Map(tokens.map((token) => [token.address, token]))
	for (const [index, token] of tokens.entries()) {
		const fault = (message: string) =>
			context.addIssue({ code: 'custom', path: ['tokens', index, 'address'], message, params: { between: null } })
		if (tokens.findIndex(({ address }) => address === token.address) < index)
			fault('this token is named already; a network names a token once')
		if (isNativeCoin(chainId, token.address))
			fault('this contract shows the coin of the chain, which is reported as transfers: remove it')
	}
	return known
}
