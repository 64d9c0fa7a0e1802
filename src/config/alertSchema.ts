/**
 * JSON Schema of a webhook's body: the Standard Webhooks envelope around an alert, a digest, or a message about the
 * system. The fields are those of the public contract. Later versions may add fields, so unknown fields are allowed
 * everywhere.
 */
import { allKinds, allRecords } from '../kinds/all.js'
import { address, count, digits, text } from '../kinds/schemaPieces.js'

const time = { type: 'string', format: 'date-time' } as const
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const
const link = { type: 'string', format: 'uri' } as const

const delivered = {
	deliveryId: {
		type: 'string',
		pattern: '^[^.]+$',
		description: 'Equals the header webhook-id; the same over retries and restarts.',
	},
	test: { const: true, description: 'Only in samples sent by `test-send`.' },
	insteadOf: {
		type: 'string',
		description: 'Receiver that did not accept this message, where a fallback is sent it instead.',
	},
} as const

const network = {
	network: { ...text, description: 'Name from the settings.' },
	chainId: { ...count, description: '0 in samples only, which are on no chain.' },
} as const

/** Fields that only some kinds have. */
const own: Readonly<Record<string, object>> = Object.assign({}, ...allRecords.map(({ schema }) => schema))
const anchors = new Set(allRecords.flatMap((record) => record.anchors))

const folded = {
	type: 'object',
	description: 'Further alerts of the watch that this one stands for, since too many deliveries wait.',
	required: ['count', 'fromBlock', 'toBlock', 'sums'],
	properties: {
		count: { ...count, description: 'How many, without this one.' },
		fromBlock: count,
		toBlock: count,
		sums: {
			type: 'array',
			items: {
				type: 'object',
				required: ['direction', 'asset', 'count', 'amountRaw', 'amount'],
				properties: {
					direction: { enum: ['in', 'out', 'self'] },
					asset: { type: ['string', 'null'], description: 'Null: unknown tokens, which share a sum.' },
					contract: { ...address, description: 'Of a known token.' },
					count,
					amountRaw: { type: ['string', 'null'], description: 'In the smallest unit.' },
					amount: { type: ['string', 'null'], description: 'In whole coins or tokens.' },
				},
			},
		},
	},
} as const

const alert = {
	type: 'object',
	description: 'One event on one watched address.',
	required: [
		'id',
		'network',
		'chainId',
		'blockNumber',
		'blockHash',
		'blockTimestamp',
		'txHash',
		'txIndex',
		'traceAddress',
		'kind',
		'frameType',
		'category',
		'from',
		'to',
		'value',
		'asset',
		'watch',
		'direction',
		'finality',
		'detectedAt',
		'lagSeconds',
		'late',
	],
	properties: {
		id: {
			type: 'string',
			pattern: `^\\d+:(${[...anchors].join('|')}):[a-z0-9_-]+:(${allKinds.join('|')}):0x[0-9a-f]{40}$`,
			description:
				'chainId:anchor:place:kind:address, the same on every run and every machine. Of a frame the anchor is the ' +
				'transaction and the place its trace; the document on deliveries has those of the other kinds.',
		},
		...delivered,
		...network,
		blockNumber: count,
		blockHash: hash,
		blockTimestamp: time,
		txHash: {
			...hash,
			description:
				'Of what belongs to no transaction (a reward, a withdrawal, a balance, income): the hash of its block.',
		},
		txIndex: { type: ['integer', 'null'], minimum: 0, description: 'Null where there is no transaction.' },
		traceAddress: { type: 'array', items: count, description: 'Path from the root call; empty for the root.' },
		kind: { enum: allKinds },
		frameType: {
			enum: [...new Set(allRecords.flatMap(({ frameTypes }) => frameTypes))],
			description: 'From log on: no frame shows it. log is of tokens; balance also of what is unexplained.',
		},
		category: { enum: ['external', 'internal'], description: 'external for the root call.' },
		from: { ...address, type: ['string', 'null'], description: 'EIP-55 spelling; null for a reward.' },
		to: address,
		initiator: { ...address, description: 'Who sent the transaction, where it is known; never of a reward.' },
		valueWei: { type: 'string', pattern: '^\\d+$', description: 'Exact; not of a token.' },
		value: {
			type: ['string', 'null'],
			pattern: '^\\d+(\\.\\d+)?$',
			description: 'Whole coins or tokens, exact; null for a token whose decimals are not known.',
		},
		asset: {
			type: ['string', 'null'],
			description: 'Symbol of the coin or token; null for a token that has none.',
		},
		lookalike: {
			type: 'object',
			description: 'The other side imitates an address that the watch has paid, or another watch.',
			required: ['of', 'label', 'prefix', 'suffix'],
			properties: {
				of: address,
				label: { type: ['string', 'null'] },
				prefix: { ...count, description: 'Hex digits that agree at the front.' },
				suffix: { ...count, description: 'Hex digits that agree at the end.' },
			},
		},
		...own,
		watch: {
			type: 'object',
			required: ['address', 'label', 'tags', 'watchlist'],
			properties: {
				address,
				label: { type: ['string', 'null'] },
				tags: { type: 'array', items: text },
				watchlist: { ...text, description: 'Name of the file.' },
			},
		},
		counterpartyLabel: { ...text, description: 'Label of the other side, where that is watched too.' },
		direction: { enum: ['in', 'out', 'self'], description: 'Seen from the watch.' },
		finality: { enum: ['latest', 'safe', 'finalized'] },
		detectedAt: time,
		lagSeconds: { type: 'number', minimum: 0, description: 'From the block to its detection.' },
		late: { type: 'boolean' },
		lateReason: { ...text, description: 'Only when late.' },
		folded,
		links: {
			type: 'object',
			description: 'Where an explorer is set.',
			required: ['tx', 'to', 'block'],
			properties: { tx: link, from: link, to: link, block: link },
		},
	},
	// A movement of coins has its amount in wei, a movement of tokens has its token.
	anyOf: [
		{ type: 'object', required: ['valueWei'], properties: { valueWei: digits } },
		{ type: 'object', required: ['token'], properties: { token: own['token'] } },
	],
} as const

const system = {
	type: 'object',
	description:
		'A network has stalled or recovered; or some of its blocks cannot be read, or were read after all; or ' +
		'watchlists were edited wrongly, or are right again.',
	required: ['id', 'network', 'chainId', 'checkpoint', 'head', 'reason'],
	properties: {
		id: text,
		...delivered,
		...network,
		checkpoint: { type: ['integer', 'null'], description: 'Last block scanned.' },
		head: { type: ['integer', 'null'] },
		reason: { ...text, description: 'One sentence.' },
		fromBlock: { ...count, description: 'Of a gap, and of its end: first block that could not be read.' },
		toBlock: { ...count, description: 'Its last block.' },
		acceptedAt: { ...time, description: 'Of a gap: when a person accepted that these blocks may stay unread.' },
		ends: {
			enum: ['refused'],
			description: 'Of a recovery: the watchlists are right again. Absent: a stall is over, or a gap was read.',
		},
	},
} as const

const undelivered = {
	type: 'object',
	description: 'A receiver accepts nothing, or refuses messages; sent to its fallback.',
	required: ['id', 'receiver', 'recipient', 'state', 'count', 'reason', 'since'],
	properties: {
		id: text,
		...delivered,
		receiver: { ...text, description: 'Name from the settings.' },
		recipient: { type: ['string', 'null'], description: 'Mail address, where it is about one of several.' },
		state: {
			enum: ['parked', 'dead', 'failing'],
			description:
				'parked: refused, kept and tried again, and each sent to the fallback too; dead: given up, each sent there; ' +
				'failing: every attempt has failed for five minutes, and its deliveries are kept and retried.',
		},
		count: { ...count, description: 'Deliveries in that state.' },
		reason: { ...text, description: 'What the other side says.' },
		since: time,
		ends: { const: 'undelivered', description: 'Of a recovery: nothing is left of what the receiver refused.' },
	},
} as const

const envelope = (types: readonly string[], data: object, title: string) => ({
	type: 'object',
	title,
	required: ['type', 'timestamp', 'data'],
	properties: { type: { enum: types }, timestamp: time, data },
})

const digestedTypes = [...allKinds.map((kind) => `alert.${kind}`), 'alert.removed']
const alertTypes = [...digestedTypes, 'test']
const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
/** Adds the fields of a delivery. An alert inside a digest names the delivery that it would have been. */
const withDelivery = (name: string) => ({
	allOf: [ref(name), { type: 'object', required: ['deliveryId'], properties: delivered }],
})

export const alertSchema = {
	$schema: 'http://json-schema.org/draft-07/schema#',
	title: 'Alert of tracewatch',
	description: 'Body of a webhook. `type` says which form `data` has.',
	oneOf: [
		envelope(alertTypes, withDelivery('alert'), 'an alert, its removal, or a test'),
		envelope(
			['alert.digest'],
			{
				type: 'object',
				required: ['id', 'deliveryId', 'alerts'],
				properties: {
					id: text,
					...delivered,
					alerts: {
						type: 'array',
						minItems: 2,
						description: 'As they would have come one by one, each with the deliveryId that it would have had.',
						items: envelope(digestedTypes, withDelivery('alert'), 'one alert'),
					},
				},
			},
			'many alerts at once',
		),
		envelope(
			['system.stalled', 'system.gap', 'system.refused', 'system.recovered'],
			withDelivery('system'),
			'a word of the system',
		),
		envelope(['system.undelivered', 'system.recovered'], withDelivery('undelivered'), 'word of a receiver'),
	],
	definitions: { alert, system, undelivered },
}
