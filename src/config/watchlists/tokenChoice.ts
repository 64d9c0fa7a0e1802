import { quoted } from '../../base/text/quoted.js'
import type { Address } from '../../model/glossary.js'
import type { KnownTokens, TokenChoice } from '../../model/token.js'
import { parseAddress } from '../address.js'
import { suggestion } from '../words.js'

/** The result of reading `tokens` of a watch. The `index` of a fault is its position in the list. */
export interface TokensRead {
	/** Null: `tokens` is not set. */
	readonly choice: TokenChoice | null
	readonly faults: readonly { readonly index: number; readonly message: string }[]
}

/**
 * `written` comes from the schema: a word, or a list of symbols and addresses. `known` null: the network's tokens are
 * unknown, and symbols are not checked.
 */
export function readTokenChoice(written: string | readonly string[] | null, known: KnownTokens | null): TokensRead {
	if (written === null) return { choice: null, faults: [] }
	if (typeof written === 'string') return { choice: written as TokenChoice, faults: [] }
	const chosen = new Set<Address>()
	const faults: { index: number; message: string }[] = []
	for (const [index, one] of written.entries()) {
		try {
			for (const address of addressesOf(one, known)) chosen.add(address)
		} catch (error) {
			if (!(error instanceof RangeError)) throw error
			faults.push({ index, message: `an entry of \`tokens\` ${error.message}` })
		}
	}
	return { choice: chosen, faults }
}

function addressesOf(text: string, known: KnownTokens | null): readonly Address[] {
	if (/^0x/i.test(text)) return [parseAddress(text)]
	if (known === null) return []
	const own = [...known.values()].filter(({ symbol }) => symbol === text)
	if (own.length === 1) return own.map(({ address }) => address)
	if (own.length > 1)
		throw new RangeError(`names ${own.length} tokens by the symbol ${quoted(text)}: write the address`)
	const symbols = [...new Set([...known.values()].map(({ symbol }) => symbol))]
	const near = suggestion(text, symbols)
	const hint = symbols.length === 0 ? '; the network names no tokens' : near
	throw new RangeError(`is no symbol of a token that the network names: ${quoted(text)}${hint}`)
}
