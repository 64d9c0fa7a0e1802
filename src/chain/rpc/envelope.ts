/** Reads JSON-RPC 2.0 answers with distrust: HTTP 200 proves nothing. Pure. */

import type { Body } from './body.js'

/** Why there is no result. */
export interface Fault {
	/** The node's words; empty when it had none. */
	readonly text: string
	readonly code: number | null
	/** `data` of the error, which may have further details. */
	readonly data: unknown
	/** What is wrong with an answer that is neither result nor error; null for a well-formed error. */
	readonly broken: string | null
}

export type Answer = { readonly result: unknown } | { readonly fault: Fault }

export type Reading =
	/** In the order of the ids. */
	| { readonly each: readonly Answer[] }
	/** One answer for the whole request. `single`: well-formed JSON for one call, although a batch was sent. */
	| { readonly whole: Fault; readonly single: boolean }

/** A body with a good status. `ids` has one id for a plain call; with `batch` the answer must be a list. */
export function readAnswers(body: Body, ids: readonly number[], batch: boolean): Reading {
	const parsed = 'value' in body ? body : parseJson(body.text)
	if (parsed === null) return { whole: notJson('text' in body ? body.text : ''), single: false }
	if (!batch) return { each: ids.map((id) => readOne(parsed.value, id)) }
	// A single result answers another request, and says nothing about batches.
	if (isRecord(parsed.value) && parsed.value.result !== undefined && (parsed.value.error ?? null) === null) {
		return { whole: brokenFault('a list was asked for, and one answer came'), single: false }
	}
	if (!Array.isArray(parsed.value)) return { whole: faultOf(parsed.value), single: true }
	return readBatch(parsed.value, ids)
}

/** A body with an error status: its JSON-RPC error, or its plain text, or a page's title. */
export function readErrorBody(body: Body): Fault {
	const parsed = 'value' in body ? body : parseJson(body.text)
	if (parsed === null) return { text: plainText('text' in body ? body.text : ''), code: null, data: null, broken: null }
	const value = Array.isArray(parsed.value) ? parsed.value.find((item) => isRecord(item) && item.error) : parsed.value
	return { ...faultOf(value), broken: null }
}

function readBatch(items: readonly unknown[], ids: readonly number[]): Reading {
	const byId = new Map<number, Answer>()
	// An item with the id null could not be read by the node: its fault is given to the calls without an answer.
	let stray: Answer | null = null
	for (const item of items) {
		const id = isRecord(item) ? idOf(item) : undefined
		if (id === null || id === undefined) stray = { fault: faultOf(item) }
		else if (typeof id !== 'number' || !ids.includes(id)) {
			return { whole: brokenFault('an answer in the batch has an id that was not asked'), single: false }
		} else if (byId.has(id)) byId.set(id, { fault: brokenFault('the batch answers one id twice') })
		else byId.set(id, readOne(item, id))
	}
	const missing = stray ?? { fault: brokenFault('the batch leaves this call without an answer') }
	return { each: ids.map((id) => byId.get(id) ?? missing) }
}

function readOne(value: unknown, id: number): Answer {
	if (!isRecord(value)) return { fault: brokenFault('the answer is not a JSON-RPC object') }
	const hasError = value.error !== undefined && value.error !== null
	const hasResult = value.result !== undefined
	if (hasError && hasResult && value.result !== null) {
		return { fault: brokenFault('the answer holds both a result and an error') }
	}
	// An error may come without an id: the node could not read ours, or a gateway answered in its place.
	if (idOf(value) !== id && !(hasError && (value.id ?? null) === null)) {
		if (hasError || hasResult) return { fault: brokenFault('the answer has the id of another request') }
	}
	if (hasError || !hasResult) return { fault: faultOf(value) }
	return { result: value.result }
}

/** Some gateways give the number back as a text. */
function idOf({ id }: Readonly<Record<string, unknown>>): unknown {
	return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
}

/** The error in an object, in the standard's form or in a gateway's: `{"error": "text"}`, `{"message": "text"}`. */
function faultOf(value: unknown): Fault {
	if (!isRecord(value)) return brokenFault('the answer is not a JSON-RPC object')
	const error = value.error ?? null
	if (typeof error === 'string') return { text: error, code: null, data: value, broken: null }
	if (isRecord(error)) {
		const code = numberOf(error.code)
		const data = error.data ?? null
		// A text in `data` completes the message; hex is a revert reason of the EVM.
		const more = typeof data === 'string' && !data.startsWith('0x') ? data : ''
		const text = [error.message, more].filter((part) => typeof part === 'string' && part !== '').join(': ')
		return { text, code: Number.isSafeInteger(code) ? code : null, data, broken: null }
	}
	const message = value.message ?? value.detail ?? ''
	return {
		...brokenFault('the answer holds neither a result nor an error'),
		text: typeof message === 'string' ? message : '',
		data: value,
	}
}

/** For a number or a text; other values are no code. */
function numberOf(raw: unknown): number {
	return typeof raw === 'number' || (typeof raw === 'string' && raw.length < 20) ? Number(raw) : Number.NaN
}

function notJson(body: string): Fault {
	const start = body.trimStart().slice(0, 1)
	if (body.trim() === '') return brokenFault('the answer is empty')
	if (start === '<') return brokenFault('the answer is a web page, not JSON')
	if (start === '{' || start === '[') return brokenFault('the answer is cut off: its JSON does not end')
	// Ankr's gateway answers in plain text, whose words may be known.
	return { ...brokenFault('the answer is not JSON'), text: plainText(body) }
}

function brokenFault(broken: string): Fault {
	return { text: '', code: null, data: null, broken }
}

function plainText(body: string): string {
	const text = body.trimStart().startsWith('<') ? (/<title[^<>]*>([^<]*)/i.exec(body)?.[1] ?? '') : body
	return text.trim()
}

function parseJson(text: string): { readonly value: unknown } | null {
	try {
		return { value: JSON.parse(text) }
	} catch {
		return null
	}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}
