/** Addresses on pages: whole, never broken in two lines, and linked to the page of their watch. */

import { shortAddress } from '../kinds/phrases.js'
import type { Address } from '../model/glossary.js'
import type { Watch } from '../model/watch.js'
import { type Html, html } from './look/html.js'
import type { PageFacts } from './pageData.js'

/** The watches of an address on a network, one for each watchlist that names it. */
export function watchesOf({ watches }: PageFacts, network: string, address: string): readonly Watch[] {
	return watches.networks.get(network)?.index.get(address.toLowerCase() as Address) ?? []
}

/** The label, or the short address where there is none, as a link to the page of the watch. */
export function watchLink(network: string, watch: { readonly address: string; readonly label: string | null }): Html {
	const name = watch.label === null || watch.label.trim() === '' ? shortAddress(watch.address) : watch.label
	const query = `network=${encodeURIComponent(network)}&address=${watch.address}`
	return html`<a href="/watch?${query}" title="${watch.address}">${name}</a>`
}

/** The whole address; one click selects it. */
export function wholeAddress(address: string): Html {
	return html`<code class="address">${address}</code>`
}

/** The whole address, after a link to the page of its watch where it is watched. */
export function party(facts: PageFacts, network: string, address: string, label: string | null = null): Html {
	const [watch] = watchesOf(facts, network, address)
	if (watch === undefined) return html`${label === null ? null : `${label} `}${wholeAddress(address)}`
	return html`${watchLink(network, { address, label: label ?? watch.label })} ${wholeAddress(address)}`
}

/** A link to the explorer; null without one, or where the URL is no web address. */
export function explorerLink(url: string | undefined, words = 'explorer'): Html | null {
	if (url === undefined || !/^https?:\/\//.test(url)) return null
	return html` <a class="quiet" href="${url}" rel="noopener noreferrer">${words}</a>`
}

export function isAddress(text: string): text is Address {
	return /^0x[\da-f]{40}$/i.test(text)
}
