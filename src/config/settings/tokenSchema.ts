import { z } from 'zod'
import { parseAddress } from '../address.js'
import { readLine, readWholeNumber } from '../values.js'
import { orNull, section, text } from '../words.js'

/** The keys of a network that name tokens. Amounts stay text until the decimals are known. */
export const tokenKeys = {
	tokens: z
		.array(
			section({
				symbol: text(readLine).meta({ description: 'What alerts call it, such as USDC; the contract is not asked.' }),
				address: text(parseAddress).meta({ type: ['string', 'number'], description: 'Of its contract.' }),
				decimals: orNull(text((value) => readWholeNumber(value, 77))).meta({
					type: ['integer', 'string'],
					description: 'Digits after the point. Default: none, as ERC-721 and ERC-1155 have none.',
				}),
				min_amount: orNull(z.string()).meta({
					type: ['string', 'number'],
					description: 'Smallest transfer to tell, in whole tokens, such as 100. Default: above 0.',
				}),
			}).meta({ id: 'token', description: 'A token that counts.' }),
		)
		.default([])
		.meta({ description: 'Tokens whose transfers are reported, under symbols of your own. Default: none.' }),
} as const

export type TokensWritten = z.output<z.ZodObject<typeof tokenKeys>>
