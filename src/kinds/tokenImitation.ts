import type { TokenData } from '../model/ownFields.js'
import type { KnownToken, KnownTokens } from '../model/token.js'

/** Letters of other alphabets, small capitals, signs and digits that look like these letters. */
const alike: readonly (readonly [letter: string, others: string])[] = [
	['A', 'АΑꓮᎪᴀ'],
	['B', 'ВΒ8ꓐᏴʙ'],
	['C', 'СϹꓚᏟᴄ'],
	['D', 'ԀꓓᎠᴅĐ'],
	['E', 'ЕΕꓰᎬᴇ'],
	['F', 'Ϝꓝꜰ'],
	['G', 'ԌꓖᏀɢ'],
	['H', 'НΗꓧᎻʜĦ'],
	['I', 'ІΙ1|!ꓲɪ'],
	['J', 'ЈꓙᎫᴊ'],
	['K', 'КΚꓗᏦᴋ'],
	['L', 'ꓡᏞʟŁ'],
	['M', 'МΜꓟᎷᴍ'],
	['N', 'Νꓠɴ'],
	['O', 'ОΟ0ꓳՕᴏØ'],
	['P', 'РΡꓑᏢᴘ'],
	['Q', 'Ԛꞯ'],
	['R', 'ꓣᎡᏒʀ'],
	['S', 'Ѕ5$ꓢՏᏚꜱ'],
	['T', 'ТΤꓔᎢᴛŦ₮'],
	['U', 'ꓴՍᴜ'],
	['V', 'ѴꓦᏙᴠ'],
	['W', 'ԜꓪᎳᴡ'],
	['X', 'ХΧꓫ'],
	['Y', 'УΥҮꓬᎽʏ'],
	['Z', 'ΖꓜᏃᴢ'],
]
const letterOf = new Map(
	alike.flatMap(([letter, others]) => [...others].map((other) => [other.toUpperCase(), letter] as const)),
)

const seen = new WeakMap<KnownTokens, ReadonlyMap<string, KnownToken>>()

/**
 * The operator's token, or the coin of the network, whose symbol an unknown token imitates; null: none. Symbols are
 * equal if a person would confuse them: case, characters other than letters, and similar-looking letters are ignored.
 */
export function imitatedToken(
	symbol: string | null,
	known: KnownTokens,
	coin: string,
): { readonly symbol: string; readonly of: KnownToken | null } | null {
	const name = asSeen(symbol ?? '')
	if (name === '') return null
	const token = bySeen(known).get(name)
	if (token !== undefined) return { symbol: token.symbol, of: token }
	return name === asSeen(coin) ? { symbol: coin, of: null } : null
}

function bySeen(known: KnownTokens): ReadonlyMap<string, KnownToken> {
	const before = seen.get(known)
	if (before !== undefined) return before
	const all = new Map([...known.values()].map((token) => [asSeen(token.symbol), token] as const))
	seen.set(known, all)
	return all
}

/** The Latin capitals that a symbol looks like. Foreign symbols are stored with escapes such as `\u{441}`. */
function asSeen(symbol: NonNullable<TokenData['symbol']>): string {
	const letters = symbol.replaceAll(/\\u\{([0-9a-f]{1,6})\}/g, (_, hex: string) => letter(Number.parseInt(hex, 16)))
	const upper = letters.normalize('NFKD').toUpperCase()
	return [...upper]
		.map((one) => letterOf.get(one) ?? one)
		.join('')
		.replaceAll(/[^A-Z]/g, '')
}

function letter(code: number): string {
	return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
