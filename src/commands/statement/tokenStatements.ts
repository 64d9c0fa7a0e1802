/** `statement --tokens`: selects the tokens and prints their statement. */

import { parseAddress } from '../../config/address.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { KnownTokens } from '../../model/token.js'
import { tokenStatementOf } from '../../statements/tokenStatement.js'
import { type CommandArgs, type ExitCode, exitCodes, type Io } from '../command.js'
import { createProgress } from '../shared/progress.js'
import type { StatementFacts, StatementFormat } from './lines.js'
import { createTokenPrinter } from './tokenLines.js'

/**
 * The contracts of the statement; null: a statement of the coin. Tokens are named by a symbol of the settings, or by a
 * contract, which need not be in the settings.
 */
export function contractsOf(
	{ values: { tokens, token = [] } }: CommandArgs,
	network: { readonly name: string; readonly tokens?: KnownTokens },
): ReadonlySet<Address> | null {
	const named = (Array.isArray(token) ? token : [token]).map(String)
	if (tokens !== true && named.length === 0) return null
	const known = network.tokens ?? new Map()
	if (named.length > 0) return new Set(named.flatMap((word) => contractsNamed(word, known, network.name)))
	if (known.size > 0) return new Set(known.keys())
	throw new PlainError(`${network.name} names no tokens; name one with --token, by its contract`)
}

function contractsNamed(word: string, known: KnownTokens, network: string): readonly Address[] {
	const bySymbol = [...known.values()].flatMap(({ symbol, address }) => (symbol === word ? [address] : []))
	if (bySymbol.length > 0) return bySymbol
	try {
		return [parseAddress(word)]
	} catch {
		const symbols = [...known.values()].map(({ symbol }) => symbol).join(', ')
		throw new UsageError(`--token ${word}: ${network} names ${symbols === '' ? 'no tokens' : symbols}; or a contract`)
	}
}

export interface TokenStatementRun {
	readonly facts: StatementFacts
	readonly span: Span
	readonly contracts: ReadonlySet<Address>
	readonly format: StatementFormat
}

/** `done` when each balance was explained; `failed` when one was not, or when its contract does not return it. */
export async function printTokenStatement(
	{ facts, span, contracts, format }: TokenStatementRun,
	chain: Chain,
	io: Io,
): Promise<ExitCode> {
	const printer = createTokenPrinter(format, facts)
	const progress = createProgress(span)
	let isClosed = true
	let balances = 0
	try {
		for await (const item of tokenStatementOf({ address: facts.address, span, contracts }, chain, io.signal)) {
			if (item.item === 'read') {
				progress.at(item.to)
				continue
			}
			progress.clear()
			for (const line of printer.linesOf(item)) io.out(line, format === 'csv' ? '\r\n' : '\n')
			if (item.item === 'unproved') isClosed = false
			if (item.item === 'closing') {
				balances++
				isClosed &&= item.balanceRaw === item.explainedRaw
			}
		}
	} finally {
		progress.end()
	}
	if (format === 'table' && isClosed) {
		io.out('')
		io.out(`The books of ${balances === 1 ? 'one balance' : `${balances} balances`} close: each difference is 0.`)
	}
	return isClosed ? exitCodes.done : exitCodes.failed
}
