/** A token transfer, as reported by a log of the token's contract. */

import { formatAmount } from '../base/amount.js'
import { tokenFields } from '../model/ownFields.js'
import type { TokenEvent } from '../model/token.js'
import { anchors } from './anchors.js'
import { fact } from './fact.js'
import { contentOf, partiesOf } from './frames.js'
import { partyFacts, retractedWithBlock, signed } from './phrases.js'
import type { KindFields, KindRecord, View } from './record.js'
import { byTransaction } from './standing.js'
import { imitatedToken } from './tokenImitation.js'
import { noTokens, tokenRefusal } from './tokenRules.js'
import { tokenAmount, tokenLines, tokenSentence, tokenWarnings } from './tokenText.js'

export const token: KindRecord<TokenEvent> = {
	kind: 'token',
	isDefault: true,
	seenIn: 'logs',
	books: 'unused',
	isOfNow: false,
	hasDirection: true,
	anchors: [anchors.hash],
	idParts: ({ txHash, trace }) => [txHash, trace],
	content: ({ from, to, contract, amountRaw, tokenId }) => contentOf([from, to, contract, amountRaw, tokenId]),
	announcedContent: ({ from, to, token: moved }) =>
		contentOf([from, to, moved?.address, moved?.amountRaw, moved?.tokenId]),
	// Which logs are read depends on the known tokens; a look may miss the event although its log stays in the block.
	missing: (entry, missing) => byTransaction(entry, missing, true),
	sides: partiesOf,
	refusal: (event, watch, known) => tokenRefusal(watch, event, known),
	fields,
	frameTypes: ['log'],
	own: tokenFields,
	noun: 'a token transfer',
	chosen({ tokens = 'known', direction }, { network, checksum }) {
		const known = network?.tokens ?? noTokens
		const ways = direction === 'both' ? '' : ` ${direction}`
		if (tokens === 'none' || (tokens === 'known' && known.size === 0)) return null
		if (tokens === 'all') return `all tokens${ways}, unknown ones too`
		if (tokens === 'known') return `known tokens${ways}`
		return `${[...tokens].map((one) => known.get(one)?.symbol ?? checksum(one)).join(', ')}${ways}`
	},
	alarm: null,
	sentence: (data) => (data.token === undefined ? '' : tokenSentence(data, data.token)),
	facts: (data) => [
		...partyFacts(data, 'To'),
		...(data.token === undefined ? [] : tokenLines(data, data.token).map(([name, value]) => fact(name, value))),
		fact('Kind', `token transfer, ${data.direction}`),
		fact('Transaction', data.txHash, data.links?.tx),
	],
	warnings: (data) => (data.token === undefined ? [] : tokenWarnings(data.token)),
	retracted: retractedWithBlock,
	amount: (data) => signed(data, data.token === undefined ? '' : tokenAmount(data.token)),
}

function fields(event: TokenEvent, { network, tokenWords, checksum }: View): KindFields {
	const { standard, contract, from, to, amountRaw, tokenId, operator, initiator } = event
	const known = network.tokens?.get(contract)
	const { symbol, decimals } = known ?? tokenWords?.(contract) ?? { symbol: null, decimals: null }
	// Contracts of both standards (ERC-404) have decimals, and an item of theirs has none.
	const amount = decimals === null || standard === 'erc721' ? null : formatAmount(amountRaw, decimals)
	const imitated = known === undefined ? imitatedToken(symbol, network.tokens ?? noTokens, network.symbol) : null
	const of = imitated?.of?.address
	return {
		txHash: event.txHash,
		txIndex: event.txIndex,
		traceAddress: [],
		frameType: 'log',
		// A contract writes the log, so it never belongs to the root frame itself.
		category: 'internal',
		from: checksum(from),
		to: checksum(to),
		value: amount,
		asset: symbol,
		token: {
			standard,
			address: checksum(contract),
			symbol,
			decimals,
			known: known !== undefined,
			amountRaw: amountRaw.toString(),
			amount,
			tokenId: tokenId === null ? null : tokenId.toString(),
			...(imitated !== null && {
				imitates: { symbol: imitated.symbol, address: of === undefined ? null : checksum(of) },
			}),
		},
		...(operator === null || operator === from ? {} : { operator: checksum(operator) }),
		...(initiator === null ? {} : { initiator: checksum(initiator) }),
	}
}
