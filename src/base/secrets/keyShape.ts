/**
 * Tells keys from words, so that a key in a URL is hidden and a word stays readable: `/treasury` and `eth-mainnet`
 * appear in every second line, and `xoT7…` must not. Measured against four dictionaries: none of their words, alone or
 * joined by hyphens, is taken for a key. Of random texts of 16 characters 1 in 1,000 is missed, of 24 characters 1 in
 * 30,000.
 */

/** Shorter texts are never keys. */
const shortestKey = 6

/** From this length on, letters alone can make a text a key. */
const longText = 16

/**
 * How surprising each pair of letters is in English, German, Spanish and Italian words, in bits, at most 9. The row is
 * the first letter, the column the second, a to z. Random letters take 4.7 bits each.
 */
const pairBits = [
	'95448657687343959343568976',
	'35982979399399399357499978',
	'39593992394599299585599979',
	'38862978299677299468488969',
	'56556657588452769234767687',
	'39993479299499399374499978',
	'39992945397475499357499969',
	'37992889397565399454496959',
	'46354659997453469534759995',
	'29992999499999299999299999',
	'37992896397475389454497959',
	'37762779297367379965579958',
	'24892999399847349978499979',
	'37433638496885498843678986',
	'66557657697342559344566888',
	'39992694399499349365499979',
	'89999999899899999999099999',
	'26652768396655379554578968',
	'47383775397656448932587979',
	'38792895299788399364598967',
	'55454558587443759334989997',
	'29991999299999399899669989',
	'27972894298685389568699979',
	'48493895298889439983568558',
	'35454767597444449435595897',
	'28893988299787499997396973',
] as const
const randomBits = 4.7

/** Characters that passwords contain and names do not. */
const oddCharacters = /["'\\%<>{}|^`$]/

const knownShapes = [
	// The token of a Telegram bot.
	/^(?:bot)?\d+:\S/,
	// A UUID, and bytes in hex.
	/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
	/^[0-9a-f]{16,}$/i,
]

/** Whether a text looks like a key, judged by its length, its characters and their order. Words and dates do not. */
export function looksLikeKey(text: string): boolean {
	if (text.length < shortestKey) return false
	if (oddCharacters.test(text) || knownShapes.some((shape) => shape.test(text))) return true
	const isLong = text.length >= longText
	return surprise(text, isLong) > (isLong ? 3 : 9)
}

/** How unlike words a text is, in bits: below 0 for nearly all words, above 10 for nearly all keys. */
function surprise(text: string, isLong: boolean): number {
	// `Zürich` is read as `Zurich`.
	const plain = text.normalize('NFD').replace(/\p{M}/gu, '')
	// Names use one kind of separator, and only between two words.
	const separators = plain.match(/[-_]+/g) ?? []
	const odd =
		new Set(separators.join('')).size > 1 || separators.some((each) => each.length > 1) || /^[-_]|[-_]$/.test(plain)
	const pieces = plain.split(/[^A-Za-z0-9]+/).map((piece) => surpriseOfPiece(piece, isLong))
	return pieces.reduce((sum, bits) => sum + bits, odd ? 4 : 0)
}

/** The piece holds only letters and digits. `isLong`: it is from a text of at least 16 characters. */
function surpriseOfPiece(piece: string, isLong: boolean): number {
	// `sendMessage2` is `send`, `Message`, `2`.
	const runs = piece.match(/\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
	const [only = ''] = runs
	if (runs.length === 1 && !isNumber(only)) {
		// A short piece may be an abbreviation: `grpc`, `zksync`.
		return piece.length < longText ? Math.min(0, surpriseOfLetters(only)) : surpriseOfLetters(only)
	}
	let bits = 0
	for (const [at, run] of runs.entries()) {
		const before = runs[at - 1]
		if (isNumber(run)) {
			// In names, a number such as a year stands at one end.
			const isAtEnd = at === 0 || (at === runs.length - 1 && !isNumber(only))
			bits += Math.max(0, run.length - 4) + (isAtEnd ? 0 : !isLong ? 5 : piece.length < 4 ? 0 : 10)
		} else bits += surpriseOfLetters(run) + (before === undefined || isNumber(before) ? 0 : 3)
	}
	return bits
}

function surpriseOfLetters(run: string): number {
	const letters = Array.from(run.toLowerCase(), (letter) => letter.charCodeAt(0) - 97)
	let bits = 0
	for (const [at, letter] of letters.entries()) {
		const before = letters[at - 1]
		if (before !== undefined) bits += Number(pairBits[before]?.[letter]) - randomBits
	}
	// Abbreviations such as `USDC` and `NYC`.
	return /^[A-Z]{2,4}$/.test(run) ? Math.min(0, bits) : bits
}

function isNumber(run: string): boolean {
	return /^\d/.test(run)
}
