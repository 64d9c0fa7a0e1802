/** What contracts of tokens say of themselves: asked once, and believed by nobody. */

import { fitWords } from '../../base/outgoing.js'
import { RpcError } from '../../errors.js'
import type { Address, Hex } from '../../model/glossary.js'
import type { TokenWords } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { hexBytes } from '../wire.js'

export interface TokenWordsReader {
	/** Of those that could be asked in time. Throws what `ask` throws. */
	read(
		contracts: ReadonlySet<Address>,
		ask: (job: (rpc: Rpc, signal: AbortSignal) => Promise<void>) => Promise<void>,
	): Promise<ReadonlyMap<Address, TokenWords>>
}

const SYMBOL = '0x95d89b41'
const DECIMALS = '0x313ce567'
/** Kept in memory; the oldest make room. */
const MOST_KEPT = 10_000
/** At once; the rest of a storm of them goes without. */
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

/** A contract that reverts has answered: it has no such word. */
export function isNoAnswer(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return false
	return !/revert|invalid opcode|out of gas|execution|stack|bad jump/i.test(answer.message)
}

/** Text, or 32 bytes as old tokens have it (MKR); null where it is neither. */
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

/** Small enough to be a place in the answer. */
function wordAt(bytes: Buffer, at: number): number | null {
	if (at + 32 > bytes.length) return null
	return bytes.subarray(at, at + 28).every((byte) => byte === 0) ? bytes.readUInt32BE(at + 28) : null
}

function upToZero(bytes: Buffer): Buffer {
	const end = bytes.indexOf(0)
	return end === -1 ? bytes : bytes.subarray(0, end)
}

const LONGEST = 32

/**
 * On one line, without what hides or turns round, cut; letters beyond ASCII by their numbers, since a Cyrillic С looks
 * like a C, and quotes and backslashes alike.
 */
function cleaned(bytes: Buffer | null): string | null {
	if (bytes === null) return null
	const words = fitWords(bytes.subarray(0, 255).toString('utf8').replaceAll('\0', '')).trim()
	let text = ''
	for (const letter of withoutLinks(words.normalize('NFC'))) {
		// Quotes would end those that it stands in, and what came then would be our words.
		const shown = /^[ !#-[\]-~]$/.test(letter) ? letter : `\\u{${letter.codePointAt(0)?.toString(16)}}`
		if (text.length + shown.length > LONGEST) return `${text}…`
		text += shown
	}
	return text === '' ? null : text
}

/** A gift calls itself `claim at gift.example`, and mail programs make a link of that by themselves. */
function withoutLinks(words: string): string {
	return words.replaceAll(/\.(?=\p{L}{2})/gu, '[.]').replaceAll('://', '[://]')
}

/** Null where it is more than any number has digits. */
export function decimalsIn(answer: unknown): number | null {
	const data: Hex | null = hexBytes(answer)
	if (data === null || data.length < 2 + 64) return null
	const number = BigInt(data.slice(0, 2 + 64))
	return number <= 78n ? Number(number) : null
}
