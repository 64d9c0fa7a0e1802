import { ConfigError, PlainError, RpcError, StateError, UsageError } from '../errors.js'

const longestText = 2000
const longestStack = 4000
const longestList = 50
const deepest = 6

/** Converts the facts of a log line to plain JSON data of limited size: amounts as text, errors with their details. */
export function plainFacts(facts: object): Record<string, unknown> {
	if (facts instanceof Error) return { err: plainError(facts) }
	return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, plain(value, 1)]))
}

function plain(value: unknown, depth: number): unknown {
	if (typeof value === 'string') return cut(value, longestText)
	if (typeof value === 'bigint') return value.toString()
	if (typeof value === 'function' || typeof value === 'symbol') return String(value).slice(0, 80)
	if (typeof value !== 'object' || value === null) return value
	if (value instanceof Error) return plainError(value, depth)
	if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString()
	// A URL may contain keys, so only its host is logged.
	if (value instanceof URL) return value.host
	if (depth > deepest) return '…'
	if (value instanceof Map) return plain(Object.fromEntries(value), depth)
	if (value instanceof Set) return plain([...value], depth)
	if (Array.isArray(value)) {
		const left = value.length - longestList
		const items = value.slice(0, longestList).map((item) => plain(item, depth + 1))
		return left > 0 ? [...items, `and ${left} more`] : items
	}
	if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
	return Object.fromEntries(
		Object.entries(value)
			.slice(0, longestList)
			.map(([name, item]) => [name, plain(item, depth + 1)]),
	)
}

/**
 * An error as data: its type, message, facts, system codes and causes. Errors that a user or an endpoint can cause have
 * no stack, because their message explains them.
 */
function plainError(error: Error, depth = 1): Record<string, unknown> {
	const { name, message, stack, cause } = error
	return {
		type: name,
		message: cut(message, longestText),
		...system(error),
		...(error instanceof RpcError ? plainFacts(error.facts) : {}),
		...(error instanceof StateError ? { reason: error.reason } : {}),
		...(error instanceof AggregateError && depth <= deepest ? { errors: plain(error.errors.slice(0, 5), depth) } : {}),
		...(cause === undefined || depth > deepest ? {} : { cause: plain(cause, depth + 1) }),
		...(isExpected(error) || depth > 1 ? {} : { stack: cut(stack ?? '', longestStack) }),
	}
}

/** Fields that Node and its libraries add to errors. */
function system(error: Error): Record<string, unknown> {
	const facts = error as Error & Record<string, unknown>
	const names = ['code', 'errno', 'syscall', 'address', 'port', 'responseCode', 'command'].filter(
		(name) => typeof facts[name] === 'string' || typeof facts[name] === 'number',
	)
	return Object.fromEntries(names.map((name) => [name, facts[name]]))
}

/** Whether the message alone explains the error. */
function isExpected(error: unknown): boolean {
	return [ConfigError, RpcError, StateError, PlainError, UsageError].some((kind) => error instanceof kind)
}

function cut(text: string, length: number): string {
	return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`
}
