/** Reads JSON-RPC 2.0 requests strictly and writes responses. */

/** Error codes of JSON-RPC 2.0, section 5.1. */
export const codes = {
	parse: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internal: -32603,
	/** Our own, from the range reserved for servers: the key in the path is wrong. */
	unauthorized: -32001,
} as const

/** Null only when a request has the id null, or no readable id. */
export type Id = string | number | null

export interface Call {
	/** Absent: a notification. It gets no response and is not executed (Anvil drops it). */
	readonly id?: Id
	readonly method: string
	readonly params?: unknown
}

/** A JSON-RPC error. */
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

/** Reads one request. @throws RpcFault (-32600) that names the mistake. */
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

/** The id of a request, also when the rest of the request is invalid. */
export function idOf(value: unknown): Id {
	const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
	return isId(id) ? id : null
}

/** A number beyond 2^53 - 1 could not be returned exactly, so it is refused. */
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
