import { parseAddress } from '../../config/address.js'
import { openChain, watchesOn } from '../../daemon/openNetwork.js'
import { PlainError, RpcError, UsageError } from '../../errors.js'
import { statementOf } from '../../statements/statement.js'
import { type Command, type CommandArgs, configOption, type ExitCode, exitCodes } from '../command.js'
import { bomOption, withBom } from '../shared/bom.js'
import { networkOf } from '../shared/network.js'
import { openConfig } from '../shared/openConfig.js'
import { openLog } from '../shared/openLog.js'
import { createProgress } from '../shared/progress.js'
import { spanOf } from '../shared/span.js'
import { createStatementPrinter } from './coinLines.js'
import type { StatementFormat } from './lines.js'
import { contractsOf, printTokenStatement } from './tokenStatements.js'

export const statement: Command = {
	name: 'statement',
	summary: 'every movement of an address with its fee and the balance after it',
	help: `Usage: tracewatch statement ADDRESS --network NAME --from BLOCK --to BLOCK [--format FORMAT]
                            [--tokens] [--token TOKEN]... [--bom] [-c FILE]

Prints the balance of an address before block FROM, every movement of the blocks FROM to TO, both included, with its fee
and the balance after it, and the balance after block TO as the node gives it: transfers at any depth, fees of its own
transactions (of failed ones too), withdrawals from staking, priority fees of blocks that it made, coins that a layer 2
mints. It ends with the difference between what the node says and what the movements come to: 0 when the books close.
Each block that moves the address is checked against the balance after it, so a difference is named with its block.

The address need not be on a watchlist. The node must have the state of these blocks: most keep that of the last 128, an
archive node all of it. Lines come as blocks are read; a long span needs no memory. Nothing is written or sent.

  --network NAME      as in tracewatch.yaml; may be left out when there is only one
  --from, --to BLOCK  decimal or 0x-hex; --to also takes latest
  --tokens            of the tokens that the network names, instead of its coin: balanceOf before, every transfer that
                      their logs tell of, balanceOf after, and the difference, for each token (of ERC-1155 each id)
  --token TOKEN       of this one, by its symbol or contract; may be repeated
  --format FORMAT     table (default), csv (amounts as plain decimals), json (one object a line, also in wei)
  --bom               with csv: marks it as UTF-8, so that Excel reads umlauts in labels
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 the books close, 1 they do not, or the node has forgotten the state of these blocks, 2 wrong usage, 75 an
endpoint failed for now, 78 the configuration is wrong.`,
	options: {
		...configOption,
		network: { type: 'string' },
		from: { type: 'string' },
		to: { type: 'string' },
		format: { type: 'string' },
		tokens: { type: 'boolean' },
		token: { type: 'string', multiple: true },
		...bomOption,
	},
	positionals: [1, 1],
	async run(args, given) {
		const address = addressOf(args)
		const format = formatOf(args)
		const io = withBom(args, given)
		const spanIn = spanOf(args)
		const config = await openConfig(args, io)
		const network = networkOf(args, config)
		if (network.isPrivate) {
			throw new PlainError(
				`${network.name} is private: a statement asks for balances by address, which shows the address to the provider`,
			)
		}
		const contracts = contractsOf(args, network)
		const asked = contracts === null ? { withSent: true } : { areTokensAsked: () => true }
		const ways = openChain(network, { clock: Date.now, log: openLog(io, 2), isStream: true, ...asked })
		try {
			const head = await ways.chain.head(io.signal)
			const span = spanIn(head.latest.number)
			const facts = { network, address, watches: watchesOn(config.watches, network.name) }
			if (contracts !== null) return await printTokenStatement({ facts, span, contracts, format }, ways.chain, io)
			const printer = createStatementPrinter(format, facts)
			const progress = createProgress(span)
			let code: ExitCode = exitCodes.failed
			try {
				for await (const item of statementOf(address, span, ways, io.signal)) {
					if (item.item === 'read') {
						progress.at(item.to)
						continue
					}
					progress.clear()
					for (const line of printer.linesOf(item)) io.out(line, format === 'csv' ? '\r\n' : '\n')
					if (item.item === 'closing' && item.balanceWei === item.explainedWei) code = exitCodes.done
				}
			} finally {
				progress.end()
			}
			return code
		} catch (error) {
			throw withHint(error)
		} finally {
			await ways.chain.close()
		}
	},
}

const FORGOTTEN =
	'The node has forgotten the state of these blocks: most keep that of the last 128 blocks, an archive node keeps all'

/** Adds advice to an error about pruned state. */
export function withHint(error: unknown): unknown {
	return error instanceof RpcError && isForgotten(error) ? new PlainError(`${error.message}. ${FORGOTTEN}`) : error
}

/**
 * Whether the node does not have the state, so that a retry is useless. A temporary failure is recognised by its cause.
 */
function isForgotten({ kind, cause }: RpcError): boolean {
	if (kind !== 'no-data') return false
	if (!(cause instanceof RpcError)) return true
	return !['timeout', 'too-large'].includes(cause.kind) && (cause.facts.status ?? 0) < 500
}

function addressOf({ positionals: [text = ''] }: CommandArgs) {
	try {
		return parseAddress(text)
	} catch (error) {
		throw new UsageError(`\`${text}\` ${error instanceof Error ? error.message : String(error)}`)
	}
}

function formatOf({ values: { format = 'table' } }: CommandArgs): StatementFormat {
	if (format === 'table' || format === 'json' || format === 'csv') return format
	throw new UsageError(`--format takes table, csv or json, not \`${String(format)}\``)
}
