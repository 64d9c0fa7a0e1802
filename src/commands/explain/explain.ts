/** The room prints a transaction: its call tree, and why each frame counts for a watch or not. */

import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import { revertReason } from '../../chain/wire/revertReason.js'
import { toChecksum } from '../../config/address.js'
import { type ExplainContext, explain as explained } from '../../core/alerts/explainFrames.js'
import { explainSigned } from '../../core/alerts/explainSigned.js'
import { type ExplainedLog, explainTokens } from '../../core/alerts/explainTokens.js'
import { openChain, watchesOn } from '../../daemon/openNetwork.js'
import { PlainError, RpcError } from '../../errors.js'
import type { Accounts } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { type Command, configOption, exitCodes, type Io, paragraphs, readBy } from '../command.js'
import { networkOf } from '../shared/network.js'
import { openConfig } from '../shared/openConfig.js'
import { openLog } from '../shared/openLog.js'
import { whileWaiting } from '../shared/progress.js'
import { rememberedOf } from '../shared/remembered.js'
import { codeKnowledge } from './explainCode.js'

export const explain: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Draws the call tree of a transaction, and says of each frame whether it counts for a watch,
and why: failed, under a failed call, a delegatecall, below min_value, not watched; and the same of the tokens that
its logs show, each below the frame that wrote it where the node gives that (callTracer with logs), else after the
tree; of the delegations (EIP-7702) that it authorises; and of foreign code that a watch ran, by which rule it is
quiet or reported: by what the daemon learnt before the block, and what the chain says. Of a failed transaction it
shows the reason, where the node gives it (Otterscan level 8).`),
			)
			.argument('<txhash>', 'as in an alert, `txHash`', readBy(readHash))
			.option('--network <name>', 'as in tracewatch.yaml; may be left out when there is only one')
			.option(...configOption),
	async run(args, io) {
		const txHash = readHash(args.positionals[0] ?? '')
		const config = await openConfig(args, io)
		const network = networkOf(args, config)
		const watches = watchesOn(config.watches, network.name)
		const { chain, accounts, codes, contracts } = openChain(network, {
			clock: Date.now,
			log: openLog(io, 2),
			tokensWanted: () => null,
		})
		try {
			const found = await whileWaiting(
				() => `asking ${network.name}`,
				() => chain.transaction(txHash, io.signal),
			)
			if (found === null) throw new PlainError(`${network.name} has no mined transaction ${txHash}`)
			const { trace, block, tokens, logFrames, failureData } = found
			const how = trace.succeeded === false ? 'failed' : trace.succeeded ? 'succeeded' : 'was mined'
			const time = utc(Number(block.timestampS) * 1_000)
			io.out(`${txHash} ${how} in block ${block.number} of ${network.name}, ${time}`)
			const reason = failureData === null ? null : revertReason(failureData)
			if (reason !== null) io.out(`reason: ${fitWords(reason)}`)
			io.out('')
			const head = async () => (await chain.head(io.signal)).latest
			const asked = { trace, block, head, watches, remembered: () => rememberedOf(config, network, io) }
			const code = await codeKnowledge(asked, { codes, contracts, accounts, chain }, io.signal).catch(unlessRefused(io))
			const context = { network, watches, checksum: toChecksum, ...(code && { code }) }
			const logs = explainTokens(tokens, context)
			const below = byFrame(logs, logFrames)
			for (const frame of explained(trace, context)) {
				const indent = frame.branch.replace(/├─ $/, '│  ').replace(/└─ $/, '   ')
				draw(frame, frame.branch, indent, io)
				const path = frame.traceAddress.join('_')
				for (const one of below.get(path) ?? []) draw(one, `${indent}   `, `${indent}   `, io)
				below.delete(path)
			}
			const rest = [...below.values()].flat()
			if (rest.length > 0) io.out('\ntokens, by its logs:')
			for (const one of rest) draw(one, '', '', io)
			await drawSigned({ txHash, block }, accounts, context, io)
			return exitCodes.done
		} finally {
			await chain.close()
		}
	},
}

/** Without the codes, the rest of the transaction is explained all the same. */
function unlessRefused(io: Io) {
	return (error: unknown): null => {
		if (!(error instanceof RpcError)) throw error
		io.err(`foreign code is not judged: ${fitWords(error.message)}`)
		return null
	}
}

/** Groups logs by the path of the frame that wrote them, or under `not known`. */
function byFrame(logs: readonly ExplainedLog[], paths: readonly (readonly number[])[] | null) {
	const below = new Map<string, ExplainedLog[]>()
	for (const one of logs) {
		const path = paths?.[one.log]?.join('_') ?? 'not known'
		below.set(path, [...(below.get(path) ?? []), one])
	}
	return below
}

/** Prints the transaction's signed authorisations (EIP-7702). If the node does not provide them, says so. */
async function drawSigned(
	{ txHash, block }: { readonly txHash: Hash; readonly block: BlockRef },
	accounts: Accounts,
	context: ExplainContext,
	io: Io,
): Promise<void> {
	try {
		const signed = await accounts.signed(txHash, io.signal)
		if (signed.length > 0) io.out('\nauthorisations (EIP-7702), whether the transaction failed or not:')
		for (const one of signed) {
			const isWatched = context.watches.has(one.authority)
			const applied = isWatched ? await accounts.authorisations(block, one.authority, io.signal) : []
			const own = applied.filter((other) => other.txHash === txHash)
			draw(explainSigned(one, own, context), '', '', io)
		}
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		io.err(`its authorisations (EIP-7702) are not shown: ${error.message}`)
	}
}

type Explained = Pick<ExplainedLog, 'text' | 'verdicts' | 'isSent'>

function draw({ text, verdicts, isSent }: Explained, before: string, indent: string, io: Io): void {
	io.out(`${before}${fitWords(text)}`)
	for (const words of verdicts) io.out(`${indent}   ${isSent ? '*' : '-'} ${fitWords(words)}`)
}

function readHash(text: string): Hash {
	if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase() as Hash
	throw new RangeError('takes a transaction hash (0x and 64 hex digits); that of an alert is its `txHash`')
}
