/** What a fault means: in words, and for batches. */

import { kindOfText } from './classify.js'
import type { Fault } from './envelope.js'

/** As the end of a sentence that begins with the endpoint. */
export function faultInWords({ broken, text, code }: Fault, status: number, method: string): string {
	const said = text === '' ? '' : `: "${text}"`
	if (broken !== null) return `gave an answer to ${method} that cannot be believed: ${broken}${said}`
	const where = code === null ? `HTTP ${status}` : `HTTP ${status}, code ${code}`
	if (status < 300 || status > 399) return `refused ${method}${said} (${where})`
	return `sends ${method} to another address (${where}), which is not followed: write that address into \`rpc\``
}

/** A single answer to a batch that says nothing of rates, keys or limits: this node takes no batches. */
export function refusesBatches({ text, code, broken }: Fault): boolean {
	const kind = kindOfText(text) ?? 'bad-params'
	return (kind === 'bad-params' || kind === 'unsupported') && (broken !== null || code === -32600)
}
