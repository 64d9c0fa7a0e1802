/** Numbers, amounts and times as the pages show them. */

import { utc } from '../../base/utc.js'
import { type Html, html } from './html.js'

/** `23840113` is `23,840,113`. Takes the digits of a whole number, with or without a sign. */
export function grouped(digits: string | number | bigint): string {
	return String(digits).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `1234567.5` is `1,234,567.5`: all its decimals, never rounded. */
export function amount(text: string): string {
	return text.replace(/^\d+/, grouped)
}

/** Milliseconds since 1970 or ISO 8601; null: it has not happened yet. */
type Moment = number | string | null

export function time(at: Moment): Html {
	if (at === null) return html`never`
	const iso = utc(new Date(at).getTime())
	const [day = '', clock = ''] = iso.replace('Z', '').split('T')
	return html`<time datetime="${iso}"><span>${day}</span> <span>${clock} UTC</span></time>`
}

/** A time relative to `nowMs`; its title is the exact time. */
export function ago(at: Moment, nowMs: number): Html {
	if (at === null) return html`never`
	const ms = new Date(at).getTime()
	const iso = utc(ms)
	const exact = iso.replace('T', ' ').replace('Z', ' UTC')
	return html`<time class="ago" datetime="${iso}" title="${exact}">${relative(nowMs - ms)}</time>`
}

/** `4 s ago`, `in 3 min`, `2 h ago`, `12 d ago`: one unit, rounded down. */
function relative(passedMs: number): string {
	const seconds = Math.floor(Math.abs(passedMs) / 1_000)
	const [count, unit] =
		seconds < 60
			? [seconds, 's']
			: seconds < 7_200
				? [Math.floor(seconds / 60), 'min']
				: seconds < 172_800
					? [Math.floor(seconds / 3_600), 'h']
					: [Math.floor(seconds / 86_400), 'd']
	return passedMs < 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`
}
