/**
 * Finds secrets in a text and takes them out. Used where another side's words come in, before they are cut to a
 * bearable length (a secret cut in two is found by nobody), and again where a line leaves the process.
 */

import { base64Forms, leastBeginning, literal, restOfWord, spellings, tellingParts } from './secretForms.js'

/** What stands in the place of a secret. */
const secretMark = '[secret]'

/** Shorter secrets cannot be distinguished from ordinary words and numbers, and are not looked for. */
export const shortestSecret = 6

/**
 * Finds, at every place of a text, the longest secret that starts there, in every form that `secretForms.ts` lists.
 * Null when no secret is as long as `shortestSecret`.
 */
export function secretPattern(secrets: Iterable<string>): RegExp | null {
	const long = [...secrets].filter(isLong)
	if (long.length === 0) return null
	const root: Branch = { ends: false, breaks: false, next: new Map() }
	for (const secret of new Set(long.flatMap(tellingParts).filter(isLong).flatMap(slices))) {
		grow(root, Array.from(secret, spellings), leastBeginning(secret))
		for (const form of base64Forms(secret)) grow(root, Array.from(form, literal), leastBeginning(form))
	}
	return new RegExp(`(?=(${print(root)}))`, 'g')
}

export function isLong(secret: string): boolean {
	return secret.length >= shortestSecret
}

/**
 * Takes these secrets out of another side's words: in every form, and those that are too short to be looked for
 * everywhere as they stand.
 */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
	const pattern = secretPattern(secrets)
	const short = secrets.filter((secret) => secret.length >= 3 && !isLong(secret))
	return (text) => short.reduce((said, secret) => said.replaceAll(secret, secretMark), hide(text, pattern))
}

/** The text with `[secret]` for all that the pattern finds; secrets that overlap become one mark. */
export function hide(text: string, pattern: RegExp | null): string {
	if (pattern === null) return text
	let cleaned = ''
	let kept = 0
	let start = -1
	let end = -1
	for (const match of text.matchAll(pattern)) {
		const matchEnd = match.index + (match[1]?.length ?? 0)
		if (match.index >= end) {
			if (start >= 0) {
				cleaned += text.slice(kept, start) + secretMark
				kept = end
			}
			start = match.index
		}
		end = Math.max(end, matchEnd)
	}
	return start < 0 ? text : cleaned + text.slice(kept, start) + secretMark + text.slice(end)
}

/** A key of thousands of characters would nest the pattern too deep to be built. */
function slices(secret: string): string[] {
	const count = Math.ceil(secret.length / 200)
	const starts = Array.from({ length: count }, (_, n) => Math.min(n * 200, Math.max(0, secret.length - shortestSecret)))
	return starts.map((start) => secret.slice(start, start + 200))
}

/** Secrets by their first character, then by their second, …: a plain list of hundreds takes milliseconds a line. */
interface Branch {
	ends: boolean
	/** A secret may break off here. */
	breaks: boolean
	readonly next: Map<string, Branch>
}

function grow(root: Branch, characters: readonly string[], breaksFrom = Number.POSITIVE_INFINITY): void {
	let branch = root
	for (const [at, character] of characters.entries()) {
		const next = branch.next.get(character) ?? { ends: false, breaks: false, next: new Map() }
		branch.next.set(character, next)
		branch = next
		if (at + 1 === breaksFrom) branch.breaks = true
	}
	branch.ends = true
}

function print({ ends, breaks, next }: Branch): string {
	const ways = Array.from(next, ([character, branch]) => character + print(branch))
	if (ways.length === 0) return ''
	if (breaks && !ends) ways.push(restOfWord)
	return ways.length === 1 && !ends ? ways.join('') : `(?:${ways.join('|')})${ends ? '?' : ''}`
}
