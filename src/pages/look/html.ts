/** HTML templates. Every inserted value is escaped, unless it is itself the result of a template. */

import { escapeHtml } from '../../base/text/escapeHtml.js'

const made = Symbol('html')

export interface Html {
	readonly [made]: string
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
	return { [made]: strings.reduce((text, string, at) => text + textOf(parts[at - 1]) + string) }
}

export function textOf(part: Part): string {
	if (part == null || part === false) return ''
	if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
	return made in part ? part[made] : part.map(textOf).join('')
}
