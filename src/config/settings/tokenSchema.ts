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
	token_list: orNull(text(readLine)).meta({
		description:
			'File in the Token Lists schema (tokenlists.org), JSON; its tokens of this chain are known too. ' +
			'Relative to this file. Default: none.',
	}),
	abi: orNull(text(readLine)).meta({
		description:
			'Folder of ABI files (*.json: lists of functions, or what Foundry and Hardhat write): names of functions for ' +
			'`calls` of watches, and arguments of their calls. Relative to this file. Default: none.',
	}),
	log_proof: text(readLogProof)
		.default(null)
		.meta({
			type: ['integer', 'string'],
			description:
				'Of each 500 blocks of a poll of more than 3, how many are read whole to prove that no log of them is ' +
				'missing, where their headers do not rule it out; or all; or auto: 16 where a second endpoint gives the ' +
				'same, else all. Default: auto.',
		}),
} as const

function readLogProof(value: string): number | null {
	if (value === 'auto') return null
	return value === 'all' ? Number.POSITIVE_INFINITY : readWholeNumber(value)
}

export type TokensWritten = z.output<z.ZodObject<typeof tokenKeys>>
