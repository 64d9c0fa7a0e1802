/**
 * The fields that only alerts of one kind have: one object a kind gives the type, the JSON Schema and the table of
 * docs/delivery.md. Amounts are decimal text. A field that several kinds have has the same type in each.
 */

import { z } from 'zod'
import type { Hash } from './glossary.js'

export const text = z.string()
export const address = z
	.string()
	.regex(/^0x[0-9a-fA-F]{40}$/)
	.describe('EIP-55 spelling.')
const hashText = z.string().regex(/^0x[0-9a-f]{64}$/)
export const hash = hashText as unknown as z.ZodType<Hash>
export const digits = z.string().regex(/^\d+$/)
export const decimal = z.string().regex(/^\d+(\.\d+)?$/)
export const count = z.int().min(0)
const signedDigits = z.string().regex(/^-?\d+$/)
const signedDecimal = z.string().regex(/^-?\d+(\.\d+)?$/)
const selector = z.string().regex(/^0x[0-9a-f]{8}$/)
const pubkey = z.string().regex(/^0x[0-9a-f]{96}$/)

/** Of a result of zod, without what can be changed. */
export type Fixed<T> = T extends string | number | boolean | null | undefined
	? T
	: T extends readonly (infer E)[]
		? readonly Fixed<E>[]
		: { readonly [K in keyof T]: Fixed<T[K]> }

const related = z.array(text).describe('Ids of other alerts about the same transaction.')
const previous = text
	.nullable()
	.describe('The value before; null: none, or not known. Of a delegation: the delegate; null: none.')
const callType = z.enum(['call', 'callcode', 'delegatecall', 'staticcall']).describe('How it was called.')
const times = count.describe('How many this alert, the last of a flood, stands for.')
const fromBlock = count.describe('First block of the smallest span in which it happened.')
const toBlock = count.describe('Its last block.')

export const noFields = z.object({})

export const deploymentFields = z.object({
	contractAddress: address.describe('The new contract; the same as `to`.'),
	creatorConfirmed: z.boolean().describe('Whether `ots_getContractCreator` names the same creator; absent: no answer.'),
})

export const tokenFields = z.object({
	token: z
		.object({
			standard: z.enum(['erc20', 'erc721', 'erc1155']),
			address: address.describe('Its contract. EIP-55 spelling.'),
			symbol: text.nullable().describe("The operator's for a known token; else the contract's own, cleaned, or null."),
			decimals: z.int().min(0).max(78).nullable(),
			known: z
				.boolean()
				.describe('Whether the settings name it. **Where false, symbol and decimals are only claims.**'),
			amountRaw: digits.describe('In the smallest unit, as the log of the token gives it; 1 for ERC-721.'),
			amount: decimal.nullable().describe('Null where the decimals are not known, and for ERC-721.'),
			tokenId: digits.nullable().describe('Null for ERC-20.'),
			imitates: z
				.object({
					symbol: text.describe("The operator's."),
					address: address.nullable().describe("Null: the network's coin."),
				})
				.exactOptional()
				.describe('Of an unknown token: the token of the settings, or the coin, that it is called like.'),
		})
		.describe(
			'The token: `standard`, `address`, `symbol`, `decimals`, `known`, `amountRaw`, `amount`, `tokenId`, `imitates`.',
		),
	operator: address.describe('Whom an ERC-1155 log names as the one who moved it, where that is not `from`.'),
	more: z
		.int()
		.min(1)
		.describe('On the last of 100 alerts of unknown tokens or empty transfers in a block: how many more came.'),
	moreContracts: z
		.array(address)
		.max(20)
		.describe('The contracts of those: first the ones that no alert of the block names. EIP-55 spelling.'),
})

export const withdrawalFields = z.object({
	index: digits.describe('Number of the withdrawal over the whole chain.'),
	validatorIndex: digits.describe('The validator; of a builder (EIP-7732), its number plus 2^40.'),
})

export const delegationFields = z.object({
	delegate: address.nullable().describe('Whose code the address runs from now on; null: cleared.'),
	previous,
	confirmed: z.boolean().describe('False: signed and included, but no node was asked whether the code changed.'),
	authorisation: z
		.object({ chainId: count.describe('0: valid on every chain.'), nonce: count })
		.nullable()
		.describe('What was signed: `chainId` (0: every chain), `nonce`; null where only the state shows it.'),
})

/** What a change of control changed. `value`: one of the watch's `reads`. */
const changes = [
	'owner',
	'pendingOwner',
	'role',
	'roleAdmin',
	'admin',
	'implementation',
	'beacon',
	'facets',
	'authority',
	'paused',
	'timelock',
	'safe.owner',
	'safe.threshold',
	'safe.module',
	'safe.guard',
	'safe.moduleGuard',
	'safe.fallbackHandler',
	'safe.singleton',
	'initialized',
	'module',
	'value',
] as const
export type ControlChange = (typeof changes)[number]

export const controlFields = z.object({
	change: z.enum(changes).describe('What changed: `owner`, `role`, `implementation` …'),
	action: z
		.enum(['set', 'added', 'removed', 'scheduled', 'executed', 'cancelled'])
		.describe('`set`, `added`, `removed`, `scheduled`, `executed` or `cancelled`.'),
	contract: address.describe('Whose state changed: the watch, or the beacon or admin that it depends on.'),
	previous,
	current: text
		.nullable()
		.describe('Address, hash or decimal number; null: none, or not known. What storage holds, where it was read.'),
	role: hash.nullable().describe('Null: the change is not of a role.'),
	evidence: z.enum(['event', 'storage', 'both']).describe('`event`, `storage` or `both`, when it was sent.'),
	event: text.nullable().describe('Signature of the event; null: only storage showed it.'),
	slot: hash.nullable().describe('Storage slot of the value; null: a function was asked, or no slot is known.'),
	place: text.describe('Name of the value that was read, such as one of `reads`.'),
	contradicted: z.literal(true).describe('An event says otherwise than storage; `current` is what storage holds.'),
	contradicts: text.nullable().describe('Id of the alert of that event; null: it has none.'),
	unseen: z.literal(true).describe('No trace shows the call that changed it: the trace source left one out.'),
	disputed: z.literal(true).describe('Another endpoint shows another value after the same block.'),
	related,
	count: times,
	fromBlock,
	toBlock,
})

export const codeFields = z.object({
	codeAddress: address.describe('Where the foreign code is; of own code, the address itself.'),
	codeHash: hashText.nullable().describe('Its hash after the block; null: it could not be read, or nothing is left.'),
	codeName: text.nullable().describe('Name of a known library.'),
	callType,
	selector: selector.nullable().describe('First four bytes of the call; null: there are fewer.'),
	entrySelector: selector
		.nullable()
		.describe('First four bytes of the call that entered the address; null: there are fewer.'),
	chosenByCaller: z.boolean().describe('True if the call names the code; then every run is reported, else the first.'),
	changed: z
		.array(
			z.object({
				slot: text,
				name: text.nullable().describe('What the slot holds, where that is known.'),
				previous: text,
				current: text,
			}),
		)
		.nullable()
		.describe('What the transaction changed in the storage of the address, at most 50 slots; null: not known.'),
	ownCode: z.boolean().describe('True if the own code of the address changed.'),
	previousHash: hashText.nullable().describe('Of own code: its hash before; null: there was none.'),
	related,
	count: times,
})

/** Numbers are decimal text. A list for an array; a list of arguments for a struct. */
export type CallValue = string | boolean | readonly CallValue[] | readonly CallArgument[]

export interface CallArgument {
	/** Empty where it is not known. */
	readonly name: string
	readonly type: string
	readonly value: CallValue
}

export const callFields = z.object({
	selector: selector.nullable().describe('First four bytes of the call; null: there are fewer.'),
	signature: text.nullable().describe('The function; null where it is not known.'),
	arguments: z
		.array(
			z.object({
				name: text.describe('Empty where it is not known.'),
				type: text,
				value: z
					.any()
					.describe(
						'Numbers as decimal text; a list for arrays; a list of arguments for structs.',
					) as z.ZodType<CallValue>,
			}),
		)
		.nullable()
		.describe('`name`, `type` and `value` of each; null: not known, or above 16 KiB.'),
	callType,
	success: z.boolean().describe('False if it, or a frame above it, failed: only with `failed_calls`.'),
	failure: text.nullable().describe('Why it failed, in words of the node.'),
	count: times,
})

export const requestFields = z.object({
	request: z
		.enum(['withdrawal', 'exit', 'consolidation', 'compounding'])
		.describe('What was asked for. The consensus layer may ignore it; coins move days later.'),
	sourcePubkey: pubkey.describe('Public key of the validator.'),
	targetPubkey: pubkey.nullable().describe('Of the validator that gets the stake; null unless it consolidates.'),
	amountGwei: digits.nullable().describe('Amount of a withdrawal; null for an exit, which withdraws all.'),
})

export const balanceFields = z.object({
	balanceWei: digits.describe('The balance after the block.'),
	balance: decimal.describe('The same in whole coins.'),
	threshold: decimal.describe('The threshold, in whole coins.'),
	crossed: z.enum(['below', 'above']).describe('`below` or `above`; once a crossing, over restarts too.'),
})

export const incomeFields = z.object({ transactions: count.describe('How many transactions paid it.') })

export const unexplainedFields = z.object({
	fromBlock,
	toBlock,
	openingWei: digits.describe('Balance before `fromBlock`.'),
	closingWei: digits.describe('Balance after `toBlock`.'),
	explainedWei: signedDigits.describe('What all known movements sum up to.'),
	differenceWei: signedDigits.describe('closing − opening − explained.'),
	difference: signedDecimal.describe('The same in whole coins.'),
	endpoints: z.array(text).describe('Hosts that were asked.'),
	reason: text.describe('Why it is unexplained.'),
})

/** Own fields of all kinds, of which an alert has those of one. */
const ownFields = z.object({
	...deploymentFields.shape,
	...tokenFields.shape,
	...withdrawalFields.shape,
	...delegationFields.shape,
	...controlFields.shape,
	...codeFields.shape,
	...callFields.shape,
	...requestFields.shape,
	...balanceFields.shape,
	...incomeFields.shape,
	...unexplainedFields.shape,
})

export type OwnData = Fixed<z.infer<typeof ownFields>>
export type TokenData = OwnData['token']
export type SlotChange = NonNullable<OwnData['changed']>[number]
