/**
 * The room reads logs: whole receipts near the head, spans by topics, and the symbols and decimals of contracts. It
 * asks for nothing while no watch wants token alerts, and none has code.
 */

import type { AddressSet, Part, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire/wire.js'
import type { Wanted } from './eventsIn.js'
import { readLogFrames } from './logFrames.js'
import type { LogProofs } from './logProofs.js'
import { readLogReceipt } from './proofs/wireLogs.js'
import type { AskAnother } from './secondWitness.js'
import { createTokenReader, type TokenPart, type TokenReaderOptions } from './tokenReader.js'

export interface TokenSetting {
	readonly chainId: number
	readonly known: KnownTokens
	/** Whether any watch wants token alerts now; else only the logs of contracts are asked for. */
	readonly areAsked: () => boolean
	/** Contracts of the tokens that watches want now; null: all. Default: all. */
	readonly wanted?: () => ReadonlySet<Address> | null
	/**
	 * How many of 500 blocks to read whole while catching up, although nothing was found to be missing. Default: by what
	 * that costs.
	 */
	readonly mostProved?: number | null
	/** Called with the number of blocks by proof that no log of them is missing. */
	readonly onProofs?: (proofs: LogProofs) => void
}

export interface Tokens {
	areAsked(addresses: AddressSet): boolean
	/** For a block whose header is known, starts to read logs while its traces are read; null: not started. */
	begin(rpc: Rpc, question: Begun, signal: AbortSignal): Promise<TokenPart> | null
	/** Adds what logs show of the same blocks to the part, if any watch wants it. Throws RpcError. */
	addTo(
		part: Part,
		from: {
			readonly rpc: Rpc
			readonly addresses: AddressSet
			readonly headers: readonly Header[]
			/** The result of `begin` for the same span. */
			readonly early: Promise<TokenPart> | null
			readonly askAnother: AskAnother
			/** The blocks were read before. */
			readonly isReread: boolean
		},
		signal: AbortSignal,
	): Promise<Part>
	/** All token transfers of one transaction, from its receipt. Throws RpcError where it cannot be read. */
	inReceipt(rpc: Rpc, receipt: unknown, block: Header, signal: AbortSignal): Promise<InReceipt>
}

interface InReceipt {
	readonly tokens: readonly TokenEvent[]
	/** Path of the frame that wrote each log; null where no token moved, or the node does not tell. */
	readonly logFrames: readonly (readonly number[])[] | null
}

const noAddresses: AddressSet = new Set<Address>()
const noContracts: ReadonlySet<Address> = new Set<Address>()

const nothing: InReceipt = { tokens: [], logFrames: null }

interface Begun {
	readonly span: Span
	readonly addresses: AddressSet
	/** The newest header that this endpoint has given. */
	readonly newest: Header | null
	readonly askAnother: AskAnother
	/** The blocks were read before. */
	readonly isReread: boolean
}

export function createTokens(
	setting: TokenSetting | undefined,
	options: Pick<TokenReaderOptions, 'isPrivate' | 'clock' | 'log'>,
): Tokens {
	if (setting === undefined) {
		return { areAsked: () => false, begin: () => null, addTo: async (part) => part, inReceipt: async () => nothing }
	}
	const reader = createTokenReader({ ...setting, ...options })
	const wantedOf = (addresses: AddressSet): Wanted => ({
		addresses: setting.areAsked() ? addresses : noAddresses,
		contracts: addresses.logsOf ?? noContracts,
	})
	const areAsked = (addresses: AddressSet) => setting.areAsked() || (addresses.logsOf?.size ?? 0) > 0
	return {
		areAsked,
		begin(rpc, { span, addresses, newest, askAnother, isReread }, signal) {
			if (!areAsked(addresses) || span.from !== span.to || newest?.number !== span.to) return null
			const question = { span, ...wantedOf(addresses), headers: [newest], askAnother, isReread }
			const begun = reader.read(rpc, question, signal)
			// An error is thrown where the result is awaited; it is not awaited if the traces have failed.
			begun.catch(() => {})
			return begun
		},
		async addTo(part, { rpc, addresses, headers, early, askAnother, isReread }, signal) {
			if (!areAsked(addresses)) return part
			const question = { span: part.span, ...wantedOf(addresses), headers, askAnother, isReread }
			const { tokens, control, blocks, unproved } = await (early ?? reader.read(rpc, question, signal))
			const doubt =
				isReread || unproved.length === 0 ? {} : { unprovedLogs: [...(part.unprovedLogs ?? []), ...unproved] }
			const read = { ...(setting.areAsked() && { tokens }), ...(addresses.logsOf !== undefined && { control }) }
			return { ...part, ...read, blocks: new Map([...part.blocks, ...blocks]), ...doubt }
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
