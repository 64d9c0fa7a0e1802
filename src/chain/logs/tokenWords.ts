/** Symbols and decimals that token contracts claim: asked once, and never trusted. */

import { defanged } from '../../base/text/defang.js'
import { fitWords } from '../../base/text/outgoing.js'
import { RpcError } from '../../errors.js'
import type { Address, Hex } from '../../model/glossary.js'
import type { TokenWords } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { hexBytes } from '../wire/wire.js'

export interface TokenWordsReader {
	/** The words of the contracts that answered in time. Throws what `ask` throws. */
	read(
		contracts: ReadonlySet<Address>,
		ask: (job: (rpc: Rpc, signal: AbortSignal) => Promise<void>) => Promise<void>,
	): Promise<ReadonlyMap<Address, TokenWords>>
}

const SYMBOL = '0x95d89b41'
const DECIMALS = '0x313ce567'
/** Entries in memory; the oldest are dropped first. */
const MOST_KEPT = 10_000
/** Contracts in one request; further ones get no words this time. */
const MOST_ASKED = 50

export function createTokenWords(): TokenWordsReader {
	const kept = new Map<Address, TokenWords>()

	async function ask(rpc: Rpc, contracts: readonly Address[], signal: AbortSignal): Promise<void> {
		const calls = contracts.flatMap((to) =>
			[SYMBOL, DECIMALS].map((data) => ({ method: 'eth_call', params: [{ to, data, gas: '0x186a0' }, 'latest'] })),
		)
		const answers = await rpc.batch(calls, signal)
		for (const [at, contract] of contracts.entries()) {
			const [symbol, decimals] = [answers[2 * at], answers[2 * at + 1]]
			if (isNoAnswer(symbol) || isNoAnswer(decimals)) continue
			kept.set(contract, { symbol: symbolIn(symbol), decimals: decimalsIn(decimals) })
		}
		for (const oldest of kept.keys()) {
			if (kept.size <= MOST_KEPT) break
			kept.delete(oldest)
		}
	}

	return {
		async read(contracts, askOne) {
			const lacking = [...contracts].filter((contract) => !kept.has(contract)).slice(0, MOST_ASKED)
			if (lacking.length > 0) await askOne((rpc, signal) => ask(rpc, lacking, signal))
			return new Map(
				[...contracts].flatMap((contract) => {
					const words = kept.get(contract)
					return words === undefined ? [] : [[contract, words] as const]
				}),
			)
		},
	}
}

/** A contract that reverts has answered: it does not have that function. */
export function isNoAnswer(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return false
	return !/revert|invalid opcode|out of gas|execution|stack|bad jump/i.test(answer.message)
}

/** ABI text, or 32 bytes as in old tokens (MKR); null where it is neither. */
export function symbolIn(answer: unknown): string | null {
	const data = hexBytes(answer)
	if (data === null || data.length < 2 + 64) return null
	const bytes = Buffer.from(data.slice(2), 'hex')
	return cleaned(textIn(bytes) ?? (bytes.length === 32 ? upToZero(bytes) : null))
}

function textIn(bytes: Buffer): Buffer | null {
	const start = wordAt(bytes, 0)
	const length = start === null || start % 32 !== 0 ? null : wordAt(bytes, start)
	if (start === null || length === null || start + 32 + length > bytes.length) return null
	return bytes.subarray(start + 32, start + 32 + length)
}

/** Null if it is too large to be a place in the answer. */
function wordAt(bytes: Buffer, at: number): number | null {
	if (at + 32 > bytes.length) return null
	return bytes.subarray(at, at + 28).every((byte) => byte === 0) ? bytes.readUInt32BE(at + 28) : null
}

function upToZero(bytes: Buffer): Buffer {
	const end = bytes.indexOf(0)
	return end === -1 ? bytes : bytes.subarray(0, end)
}

const MOST_LETTERS = 32
/** In characters, of which a letter beyond ASCII takes up to ten. */
const LONGEST = 64

/**
 * The text on one line, without invisible letters or ones that reverse the direction, cut to 32 letters. Letters
 * beyond ASCII are shown by their numbers, since a Cyrillic С looks like a C; so are quotes and backslashes.
 */
function cleaned(bytes: Buffer | null): string | null {
	if (bytes === null) return null
	const words = fitWords(bytes.subarray(0, 255).toString('utf8').replaceAll('\0', '')).trim()
	let text = ''
	for (const [at, letter] of [...defanged(words.normalize('NFC'))].entries()) {
		// A quote in the symbol would end the quotes around it, and what follows would pass for our own words.
		const shown = /^[ !#-[\]-~]$/.test(letter) ? letter : `\\u{${letter.codePointAt(0)?.toString(16)}}`
		if (at === MOST_LETTERS || text.length + shown.length > LONGEST) return `${text}…`
		text += shown
	}
	return text === '' ? null : text
}

/** Null above 78, the most digits of a 256-bit number. */
export function decimalsIn(answer: unknown): number | null {
	const data: Hex | null = hexBytes(answer)
	if (data === null || data.length < 2 + 64) return null
	const number = BigInt(data.slice(0, 2 + 64))
	return number <= 78n ? Number(number) : null
}
