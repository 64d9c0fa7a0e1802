/** The envelope: JSON-RPC 2.0 requests read strictly, answers written. */

/** Error codes of JSON-RPC 2.0, section 5.1. */
export const codes = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** Ours, from the range left to servers: the key in the path is not known. */
	unauthorized: -32001,
} as const

/** Null only where a request said null, or said nothing that could be read. */
export type Id = string | number | null

export interface Call {
	/** Absent: a notification, which is not answered (nor carried out: Anvil drops it). */
	readonly id?: Id
	readonly method: string
	readonly params?: unknown
}

/** An error as JSON-RPC writes it. */
export class RpcFault extends Error {
	override readonly name = 'RpcFault'
	readonly code: number
	readonly data: unknown

	constructor(code: number, message: string, data?: unknown) {
		super(message)
		this.code = code
		this.data = data
	}
}

/** Reads one request. @throws RpcFault (-32600) that says what is wrong with it. */
export function readCall(value: unknown): Call {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw refused('a request must be an object')
	}
	const { jsonrpc, id, method, params } = value as Record<string, unknown>
	if (jsonrpc !== '2.0') throw refused('"jsonrpc" must be "2.0"')
	if (typeof method !== 'string' || method === '') throw refused('"method" must be a name')
	if (params !== undefined && (typeof params !== 'object' || params === null)) {
		throw refused('"params" must be an array')
	}
	const rest = params === undefined ? {} : { params }
	if (id === undefined) return { method, ...rest }
	if (!isId(id)) throw refused('"id" must be a string or a whole number of at most 2^53 - 1')
	return { id, method, ...rest }
}

/** The id to answer a request with, also when the rest of it cannot be read. */
export function idOf(value: unknown): Id {
	const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
	return isId(id) ? id : null
}

/** A number beyond 2^53 would come back changed, so it is not taken. */
function isId(id: unknown): id is Id {
	return id === null || typeof id === 'string' || Number.isSafeInteger(id)
}

export function writeRequest({ id, method, params }: Call): string {
	return JSON.stringify({ jsonrpc: '2.0', id, method, params: params ?? [] })
}

export function writeResult(id: Id, result: unknown): string {
	return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function writeFault(id: Id, { code, message, data }: RpcFault): string {
	return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
}

function refused(why: string) {
	return new RpcFault(codes.invalidRequest, `Invalid request: ${why}`)
}
