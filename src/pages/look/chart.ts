/** A bar chart as SVG in the page: bars above and below an axis, and a sentence that gives the same figures. */

import { type Html, html } from './html.js'

const BAR_WIDTH = 4
const HEIGHT = 64

export interface ChartOptions {
	readonly title: string
	/** What the chart says, in a few words. */
	readonly says: string
	/** One value for each bar, the newest last. */
	readonly above: readonly number[]
	/** Bars below the axis, one for each value. */
	readonly below: readonly number[]
	/** Labels of the time axis, at equal distances; the last one stands at the right edge. */
	readonly times: readonly string[]
	/** Writes the highest value of an axis. */
	readonly label: (value: number) => string
}

export function chart({ title, says, above, below, times, label }: ChartOptions): Html {
	const [most, least] = [Math.max(0, ...above), Math.max(0, ...below)]
	const whole = Math.max(most + least, Number.MIN_VALUE)
	const zero = Math.round((most / whole) * HEIGHT)
	const wide = above.length * BAR_WIDTH
	const bars = (values: readonly number[], isBelow: boolean) =>
		values.flatMap((value, at) => {
			if (value === 0) return []
			const tall = Math.max(1, Math.round((value / whole) * (HEIGHT - 2)))
			const place = html`x="${at * BAR_WIDTH}" y="${isBelow ? zero : zero - tall}"`
			return [html`<rect class="${isBelow ? 'out' : 'in'}" ${place} width="${BAR_WIDTH - 1}" height="${tall}"/>`]
		})
	const scale = [most === 0 ? '0' : `+${label(most)}`, least === 0 ? '0' : `−${label(least)}`]
	const spans = (texts: readonly string[]) => texts.map((text) => html`<span>${text}</span>`)
	const axis = Math.min(HEIGHT - 0.5, Math.max(0.5, zero))
	return html`<figure class="chart"><figcaption id="c-title"><b>${title}</b> ${says}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true">${spans(scale)}</div>
<svg role="img" aria-labelledby="c-title" viewBox="0 0 ${wide} ${HEIGHT}" preserveAspectRatio="none">
<line x1="0" x2="${wide}" y1="${axis}" y2="${axis}"/>${bars(above, false)}${bars(below, true)}</svg>
<div class="times" aria-hidden="true">${spans(times)}</div>
</div></figure>`
}
