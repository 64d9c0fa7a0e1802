/** `data.token` of an alert of kind token, in JSON Schema. */

const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' } as const
const digits = { type: 'string', pattern: '^\\d+$' } as const

export const tokenData = {
	type: 'object',
	description: 'Of an alert of kind token.',
	required: ['standard', 'address', 'symbol', 'decimals', 'known', 'amountRaw', 'amount', 'tokenId'],
	properties: {
		standard: { enum: ['erc20', 'erc721', 'erc1155'] },
		address: { ...address, description: 'EIP-55 spelling; of its contract.' },
		symbol: {
			type: ['string', 'null'],
			description: "The operator's for a known token; else the contract's own word, cleaned, or null.",
		},
		decimals: { type: ['integer', 'null'], minimum: 0, maximum: 78 },
		known: { type: 'boolean', description: 'Whether the settings name it.' },
		amountRaw: { ...digits, description: 'In the smallest unit, as the token tells it; 1 for ERC-721.' },
		amount: {
			type: ['string', 'null'],
			pattern: '^\\d+(\\.\\d+)?$',
			description: 'Null where the decimals are not known.',
		},
		tokenId: { type: ['string', 'null'], pattern: '^\\d+$', description: 'Null for ERC-20.' },
		imitates: {
			type: 'object',
			description: 'Of an unknown token: the token of the settings, or the coin, that it is called like.',
			required: ['symbol', 'address'],
			properties: {
				symbol: { type: 'string', description: "The operator's." },
				address: { ...address, type: ['string', 'null'], description: "Null: the network's coin." },
			},
		},
	},
} as const
