/**
 * Secrets that give themselves away: each holds a mark that stands nowhere else and is found in whatever form it
 * leaves.
 */
import { createChance } from './chance.js'

export interface Canaries {
	/** A secret with everything awkward around its mark; the same for the same name. */
	odd(name: string): string
	/** The same without the characters beyond ASCII. */
	ascii(name: string): string
	/** Letters and digits only, for places that take no others. */
	plain(name: string): string
	/** `whsec_` and a key. */
	signing(name: string): string
	/** Which of them a text gives away, with a few characters around, in any form; empty when none. */
	in(text: string): readonly string[]
}

/** Of a mark, so much is too much: what is cut off at some length must not show the half of it. */
const windowLength = 10
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

export function createCanaries(seed = 7): Canaries {
	const chance = createChance(seed)
	const marks = new Map<string, string>()
	/** A part of a mark, as it may stand in a text, and whose it is. */
	const traces = new Map<string, string>()

	function mark(name: string): string {
		const known = marks.get(name)
		if (known !== undefined) return known
		const made = Array.from({ length: 20 }, () => letters[chance.number(letters.length)]).join('')
		marks.set(name, made)
		for (const form of [made, ...base64Forms(made), Buffer.from(made).toString('hex')]) {
			for (let at = 0; at + windowLength <= form.length; at++) traces.set(form.slice(at, at + windowLength), name)
		}
		return made
	}

	return {
		ascii: (name) => `"%${mark(name)}'&<\\+ /`,
		odd: (name) => `ü"%${mark(name)}'&<é\\+ /`,
		plain: mark,
		signing: (name) => `whsec_${Buffer.from(`${mark(name)}${mark(name)}`).toString('base64')}`,
		in(text) {
			const found = new Map<string, string>()
			for (let at = 0; at + windowLength <= text.length; at++) {
				const name = traces.get(text.slice(at, at + windowLength))
				if (name !== undefined && !found.has(name)) found.set(name, text.slice(Math.max(0, at - 120), at + 60))
			}
			return [...found].map(([name, around]) => `${name}: …${around}…`)
		},
	}
}

/** Base64 of something longer that holds this text, at each of the three places where it may begin. */
function base64Forms(text: string): readonly string[] {
	const bytes = Buffer.from(text)
	return [0, 1, 2].map((before) => {
		const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
		// Characters that hold bits of the neighbours are left out.
		return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
	})
}

/** A text as others may repeat it: as it is, escaped for URLs, JSON and HTML, and in base64 at every place. */
export function repeated(text: string): readonly string[] {
	const base64 = ['', 'x', 'xy'].map((before) => Buffer.from(before + text).toString('base64'))
	return [
		text,
		encodeURIComponent(text),
		encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
		new URLSearchParams({ '': text }).toString(),
		JSON.stringify(text),
		JSON.stringify(JSON.stringify(text)),
		text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
		text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
		...base64,
		...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
	]
}
