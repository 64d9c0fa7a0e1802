import { formatAmount } from '../../base/amount.js'
import type { Address } from '../../model/glossary.js'
import type { TokenEvent } from '../../model/token.js'
import { zeroAddress } from '../events/tokenLogs.js'
import { type ExplainContext, type ExplainedFrame, wordsOn } from './explainFrames.js'

/** A transfer, and the log of the transaction that reports it. */
export interface ExplainedLog extends Omit<ExplainedFrame, 'branch' | 'traceAddress'> {
	readonly log: number
}

/** The token transfers that a transaction's logs report, in order, each with its meaning for the watches. */
export function explainTokens(events: readonly TokenEvent[], context: ExplainContext): readonly ExplainedLog[] {
	return events.map((event) => {
		const { lines, isSent } = wordsOn([event], context)
		return { log: Number(event.trace.split('_')[1]), text: textOf(event, context), verdicts: lines, isSent }
	})
}

const standards = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' } as const

/** `log_0  ERC-20  100 USDC  0x… → 0x…` */
function textOf(event: TokenEvent, { network, watches, checksum }: ExplainContext): string {
	const { trace, standard, contract, amountRaw, tokenId, from, to } = event
	const known = network.tokens?.get(contract)
	const amount = known?.decimals == null ? String(amountRaw) : formatAmount(amountRaw, known.decimals)
	const what = `${known?.symbol ?? `unknown token ${checksum(contract)}`}${tokenId === null ? '' : ` #${tokenId}`}`
	const who = (address: Address) => {
		if (address === zeroAddress) return 'the zero address'
		const label = watches.get(address)?.find((watch) => watch.label !== null)?.label
		return label == null ? checksum(address) : `${label} ${checksum(address)}`
	}
	return `${trace}  ${standards[standard]}  ${amount} ${what}  ${who(from)} → ${who(to)}`
}
