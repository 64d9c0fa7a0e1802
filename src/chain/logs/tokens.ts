/**
 * The room reads logs: whole receipts near the head, spans by topics, and the words of contracts. Nothing is asked
 * where nobody is told of tokens.
 */

import type { AddressSet, Part, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire.js'
import { readLogFrames } from './logFrames.js'
import type { LogProofs } from './logProofs.js'
import type { AskAnother } from './secondWitness.js'
import { createTokenReader, type TokenPart, type TokenReaderOptions } from './tokenReader.js'
import { readLogReceipt } from './wireLogs.js'

export interface TokenSetting {
	readonly chainId: number
	readonly known: KnownTokens
	/** Whether anybody is told of tokens now: else no log is asked for. */
	readonly areAsked: () => boolean
	/** Contracts of the tokens that anybody is told of now; null: any. Default: any. */
	readonly wanted?: () => ReadonlySet<Address> | null
	/**
	 * Of 500 blocks caught up, so many are read whole although nothing was found to be missing. Default: by what that
	 * costs.
	 */
	readonly mostProved?: number | null
	/** What proves that no log of these blocks is missing. */
	readonly onProofs?: (proofs: LogProofs) => void
}

export interface Tokens {
	areAsked(): boolean
	/** Of a block whose header is known the logs may be asked for beside its traces; null: nothing is begun. */
	begin(rpc: Rpc, question: Begun, signal: AbortSignal): Promise<TokenPart> | null
	/** The part with the token transfers of the same blocks, where anybody is told of tokens. Throws RpcError. */
	addTo(
		part: Part,
		from: {
			readonly rpc: Rpc
			readonly addresses: AddressSet
			readonly headers: readonly Header[]
			/** What was begun for this very span. */
			readonly early: Promise<TokenPart> | null
			readonly askAnother: AskAnother
			/** They were read before. */
			readonly isAgain: boolean
		},
		signal: AbortSignal,
	): Promise<Part>
	/** All token transfers of one transaction, by its receipt. Throws RpcError where it cannot be read. */
	inReceipt(rpc: Rpc, receipt: unknown, block: Header, signal: AbortSignal): Promise<InReceipt>
}

interface InReceipt {
	readonly tokens: readonly TokenEvent[]
	/** Path of the frame that wrote each log; null where nothing moved, or the node does not tell. */
	readonly logFrames: readonly (readonly number[])[] | null
}

const nothing: InReceipt = { tokens: [], logFrames: null }

interface Begun {
	readonly span: Span
	readonly addresses: AddressSet
	/** The newest header that this endpoint has given. */
	readonly newest: Header | null
	readonly askAnother: AskAnother
	/** They were read before. */
	readonly isAgain: boolean
}

export function createTokens(
	setting: TokenSetting | undefined,
	options: Pick<TokenReaderOptions, 'isPrivate' | 'clock' | 'log'>,
): Tokens {
	if (setting === undefined) {
		return { areAsked: () => false, begin: () => null, addTo: async (part) => part, inReceipt: async () => nothing }
	}
	const reader = createTokenReader({ ...setting, ...options })
	return {
		areAsked: setting.areAsked,
		begin(rpc, { span, addresses, newest, askAnother, isAgain }, signal) {
			if (!setting.areAsked() || span.from !== span.to || newest?.number !== span.to) return null
			const begun = reader.read(rpc, { span, addresses, headers: [newest], askAnother, isAgain }, signal)
			// Thrown where it is waited for; nobody waits where the traces have failed.
			begun.catch(() => {})
			return begun
		},
		async addTo(part, { rpc, addresses, headers, early, askAnother, isAgain }, signal) {
			if (!setting.areAsked()) return part
			const question = { span: part.span, addresses, headers, askAnother, isAgain }
			const { tokens, blocks, unproved } = await (early ?? reader.read(rpc, question, signal))
			const doubt = isAgain || unproved.length === 0 ? {} : { unprovedLogs: unproved }
			return { ...part, tokens, blocks: new Map([...part.blocks, ...blocks]), ...doubt }
		},
		async inReceipt(rpc, raw, block, signal) {
			const receipt = await readLogReceipt(raw, { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' })
			if (receipt === null) return nothing
			const { txHash, sender: initiator, logs } = receipt
			const txIndex = block.txHashes.indexOf(txHash)
			const { number, hash } = block
			const events = await reader.eventsOf({ txHash, txIndex, block: { number, hash }, initiator, logs })
			if (events.length === 0) return nothing
			return { tokens: events, logFrames: await readLogFrames(rpc, txHash, logs, signal) }
		},
	}
}
