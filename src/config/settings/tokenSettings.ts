import { parseAmount } from '../../base/amount.js'
import { isNativeCoin } from '../../core/events/nativeTokens.js'
import type { Problem } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { KnownToken, KnownTokens } from '../../model/token.js'
import { parseAddress } from '../address.js'
import { readLine, readWholeNumber } from '../values.js'
import { mostProblems } from '../words.js'
import { readFileWhole } from '../yaml/openFile.js'
import { reason, type Source, shown } from '../yaml/sourceFile.js'
import type { TokensWritten } from './tokenSchema.js'

/** Where the tokens of one network are configured. */
export interface TokensPlace {
	readonly chainId: number
	readonly written: TokensWritten
	/** Absolute path of `token_list`; null: none. */
	readonly listPath: string | null
	readonly source: Source
	/** Path of the network in the source. */
	readonly at: readonly PropertyKey[]
	readonly cwd: string
}

/**
 * Reads the tokens that a network names: those of its list, overridden by its own. Problems are returned, not thrown.
 */
export async function readTokens(
	place: TokensPlace,
): Promise<{ readonly tokens: KnownTokens; readonly problems: readonly Problem[] }> {
	const { chainId, written, listPath, source, at, cwd } = place
	const problems: Problem[] = []
	const tokens = new Map<Address, KnownToken>()
	if (listPath !== null) {
		const fault = (message: string) =>
			problems.push(source.problem([...at, 'token_list'], `\`token_list\`: ${message}`))
		try {
			const bytes = await readFileWhole(listPath, MOST_BYTES)
			const list = listedTokens(bytes, chainId)
			for (const token of list.tokens) if (!isNativeCoin(chainId, token.address)) tokens.set(token.address, token)
			const file = shown(listPath, cwd)
			for (const message of list.problems.slice(0, mostProblems)) problems.push({ file, line: 1, column: 1, message })
		} catch (error) {
			fault(`the file ${shown(listPath, cwd)} cannot be read: ${reason(error)}`)
		}
	}
	const own = new Set<Address>()
	for (const [index, entry] of written.tokens.entries()) {
		const fault = (key: string, message: string) =>
			problems.push(source.problem([...at, 'tokens', index, key], message))
		const { symbol, address, decimals, min_amount: least } = entry
		if (own.has(address)) fault('address', 'this token is named already; a network names a token once')
		own.add(address)
		if (isNativeCoin(chainId, address)) {
			fault('address', 'this contract shows the coin of the chain, which is reported as transfers: remove it')
		}
		const parsed = readLeast(least, symbol, decimals)
		if ('message' in parsed) fault('min_amount', parsed.message)
		tokens.set(address, { symbol, address, decimals, minAmountRaw: 'raw' in parsed ? parsed.raw : null })
	}
	return { tokens, problems }
}

/** Reads `100`, or `100 USDC`, and returns it in the smallest unit. */
function readLeast(
	text: string | null,
	symbol: string,
	decimals: number | null,
): { readonly raw: bigint | null } | { readonly message: string } {
	if (text === null) return { raw: null }
	const number = text.trim().toLowerCase().endsWith(symbol.toLowerCase())
		? text.trim().slice(0, -symbol.length).trim()
		: text.trim()
	if (!/^\d+(\.\d+)?$/.test(number))
		return { message: '`min_amount` must be a number of whole tokens, such as 100 or 0.5' }
	const fraction = number.split('.')[1]?.replace(/0+$/, '') ?? ''
	if (fraction.length > (decimals ?? 0)) {
		return { message: `\`min_amount\` has more digits after the point than the token, which has ${decimals ?? 0}` }
	}
	return { raw: parseAmount(number, decimals ?? 0) }
}

/** The largest lists in use have about ten thousand entries. */
const MOST_BYTES = 32 * 2 ** 20

/** Reads the entries for this chain and skips those of other chains unchecked. */
function listedTokens(
	bytes: Uint8Array,
	chainId: number,
): { readonly tokens: readonly KnownToken[]; readonly problems: readonly string[] } {
	let list: unknown
	try {
		list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
	} catch {
		return { tokens: [], problems: ['the file is not JSON in UTF-8'] }
	}
	const entries = typeof list === 'object' && list !== null ? (list as { tokens?: unknown }).tokens : undefined
	if (!Array.isArray(entries)) return { tokens: [], problems: ['the file has no list `tokens`: it is no token list'] }
	const tokens: KnownToken[] = []
	const problems: string[] = []
	for (const [index, entry] of (entries as readonly unknown[]).entries()) {
		const { chainId: own, address, symbol, decimals } = (entry ?? {}) as Readonly<Record<string, unknown>>
		if (own !== chainId) continue
		try {
			tokens.push({
				address: parseAddress(String(address)),
				symbol: readLine(String(symbol ?? '')),
				decimals: decimals === undefined ? null : readWholeNumber(String(decimals), 77),
				minAmountRaw: null,
			})
		} catch (error) {
			if (!(error instanceof RangeError)) throw error
			problems.push(`token ${index} of the list: its address, symbol or decimals ${error.message}`)
		}
	}
	return { tokens, problems }
}
