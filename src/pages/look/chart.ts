/** Bar charts as SVG in the page, with axes, and a sentence that gives the same figures. */

import { grouped } from './figures.js'
import { type Html, html } from './html.js'

const barWidth = 4
const height = 64

export interface ChartOptions {
	readonly id: string
	readonly title: string
	/** What the chart says, in a few words. */
	readonly says: string
	/** One value for each bar, the newest last; null: not known. */
	readonly values: readonly (number | null)[]
	/** Bars below the axis, one for each value. Absent: none. */
	readonly below?: readonly number[]
	/** Labels of the time axis, at equal distances; the last one stands at the right edge. */
	readonly times: readonly string[]
	/** Writes the highest value of an axis; default: a grouped whole number. */
	readonly label?: (value: number) => string
}

export function chart({ id, title, says, values, below, times, label = grouped }: ChartOptions): Html {
	const most = Math.max(0, ...values.map((value) => value ?? 0))
	const least = Math.max(0, ...(below ?? []))
	const whole = Math.max(most + least, Number.MIN_VALUE)
	const zero = below === undefined ? height : Math.round((most / whole) * height)
	const wide = values.length * barWidth
	const bar = (at: number, value: number, isBelow: boolean) => {
		if (value === 0) return []
		const tall = Math.max(1, Math.round((value / whole) * (height - 2)))
		const y = isBelow ? zero : zero - tall
		const kind = isBelow ? html` class="out"` : null
		return [html`<rect${kind} x="${at * barWidth}" y="${y}" width="${barWidth - 1}" height="${tall}"/>`]
	}
	const line = (y: number) => html`<line x1="0" x2="${wide}" y1="${y}" y2="${y}"/>`
	const scale =
		below === undefined
			? [label(most === 0 ? 1 : most), '0']
			: [most === 0 ? '0' : `+${label(most)}`, least === 0 ? '0' : `−${label(least)}`]
	return html`<figure class="chart"><figcaption id="${id}"><b>${title}</b> ${says}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true">${scale.map((text) => html`<span>${text}</span>`)}</div>
<svg role="img" aria-labelledby="${id}" viewBox="0 0 ${wide} ${height}" preserveAspectRatio="none">
${line(0.5)}${line(height / 2)}${line(Math.min(height - 0.5, zero))}
${values.flatMap((value, at) => bar(at, value ?? 0, false))}${
	below?.flatMap((value, at) => bar(at, value, true)) ?? null
}</svg>
<div class="times" aria-hidden="true">${times.map((text) => html`<span>${text}</span>`)}</div>
</div></figure>`
}
