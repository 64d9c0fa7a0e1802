/** Fields that only the alerts of single kinds have; see alertSchema.ts. */

const text = { type: 'string' } as const
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'EIP-55 spelling.' } as const
const digits = { type: 'string', pattern: '^\\d+$' } as const
const signed = { type: 'string', pattern: '^-?\\d+$' } as const
const count = { type: 'integer', minimum: 0 } as const

export const ownFields = {
	index: { ...digits, description: 'Of a withdrawal: its number over the whole chain.' },
	validatorIndex: { ...digits, description: 'Of a withdrawal.' },
	delegate: {
		...address,
		type: ['string', 'null'],
		description: 'Of a delegation: whose code the address runs from now on; null: cleared.',
	},
	previous: {
		...address,
		type: ['string', 'null'],
		description: 'Of a delegation: the delegate before; null: none.',
	},
	confirmed: {
		type: 'boolean',
		description: 'Of a delegation: false where nobody was asked whether what was signed changed the code; else absent.',
	},
	authorisation: {
		type: ['object', 'null'],
		description: 'Of a delegation: what was signed; null where only the state shows it.',
		required: ['chainId', 'nonce'],
		properties: { chainId: { ...count, description: '0: it holds on every chain.' }, nonce: count },
	},
	transactions: { ...count, description: 'Of income: how many transactions paid it.' },
	balanceWei: { ...digits, description: 'Of a crossed threshold: the balance after the block.' },
	balance: { type: 'string', pattern: '^\\d+(\\.\\d+)?$', description: 'The same in whole coins.' },
	threshold: { type: 'string', pattern: '^\\d+(\\.\\d+)?$', description: 'The threshold, in whole coins.' },
	crossed: { enum: ['below', 'above'], description: 'Which way the threshold was crossed.' },
	fromBlock: { ...count, description: 'Of an unexplained balance: first block of the smallest span found.' },
	toBlock: { ...count, description: 'Its last block.' },
	openingWei: { ...digits, description: 'Balance before fromBlock.' },
	closingWei: { ...digits, description: 'Balance after toBlock.' },
	explainedWei: { ...signed, description: 'What all that is known of moved.' },
	differenceWei: { ...signed, description: 'closing - opening - explained.' },
	difference: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', description: 'The same in whole coins.' },
	endpoints: { type: 'array', items: text, description: 'Hosts that were asked.' },
	reason: { ...text, description: 'Why it is unexplained.' },
} as const
