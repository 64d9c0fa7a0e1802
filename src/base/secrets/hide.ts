/**
 * The room recognises secrets. This file finds them in a text and replaces them. Called where untrusted text comes in,
 * before it is cut to a maximum length (half a secret would not be recognised), and again where a line leaves the
 * process.
 */

import { base64Forms, leastBeginning, literal, restOfWord, spellings, tellingParts } from './secretForms.js'

/** Replaces each secret. */
const secretMark = '[secret]'

/** Shorter secrets cannot be distinguished from ordinary words and numbers, and are not searched for. */
export const shortestSecret = 6

/**
 * Returns a pattern that finds, at every position of a text, the longest secret that starts there, in every form that
 * `secretForms.ts` lists. Null when no secret has at least `shortestSecret` characters.
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
 * Returns a function that hides these secrets in untrusted text. Secrets of at least `shortestSecret` characters are
 * found in every form, secrets of 3 to 5 characters only as they are written.
 */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
	const pattern = secretPattern(secrets)
	const short = secrets.filter((secret) => secret.length >= 3 && !isLong(secret))
	return (text) => short.reduce((said, secret) => said.replaceAll(secret, secretMark), hide(text, pattern))
}

/** Replaces everything that the pattern finds by `[secret]`. Overlapping secrets become one `[secret]`. */
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

/** Splits a secret into slices of 200 characters: a key of thousands would nest the pattern too deep to compile. */
function slices(secret: string): string[] {
	const count = Math.ceil(secret.length / 200)
	const starts = Array.from({ length: count }, (_, n) => Math.min(n * 200, Math.max(0, secret.length - shortestSecret)))
	return starts.map((start) => secret.slice(start, start + 200))
}

/** A trie of the secrets. Trying hundreds of secrets one after the other would take milliseconds for each line. */
interface Branch {
	ends: boolean
	/** The text may break off here and still count as this secret. */
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
