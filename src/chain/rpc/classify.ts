/**
 * The meaning of a node's refusal: by its text, then by the HTTP status, then by the code. The same code has opposite
 * meanings on different nodes (-32005 is "slower" on Nethermind, "a smaller range" on Besu), so the text comes first.
 */

import { retryAfterMs as readRetryAfter } from '../../base/net/retryAfter.js'
import type { RpcErrorKind } from '../../errors.js'
import { blockLimitIn } from './blockLimit.js'

/** Longest wait that an endpoint can ask for. */
const LONGEST_WAIT_MS = 3_600_000

export interface Refusal {
	/** The node's words; empty when it had none. */
	readonly text: string
	/** HTTP status. */
	readonly status: number
	/** JSON-RPC error code. */
	readonly code: number | null
	/** The method asked, or `batch`. */
	readonly method: string
	/** The `Retry-After` header. */
	readonly retryAfter: string | null
	/** `data` of the JSON-RPC error. */
	readonly data: unknown
	readonly nowMs: number
}

export interface Verdict {
	readonly kind: RpcErrorKind
	/** Blocks per request, where the node named a number or a range that would work. */
	readonly limit?: number
	readonly retryAfterMs?: number
}

export function classify(refusal: Refusal): Verdict {
	const kind =
		kindOfText(refusal.text) ??
		kindOfStatus(refusal.status, refusal.method) ??
		kindOfCode(refusal.code) ??
		kindOfPlainStatus(refusal.status, refusal.method)
	const limit = kind === 'too-large' ? blockLimitIn(startOf(refusal.text)) : null
	const waits = kind === 'rate' || kind === 'quota' || kind === 'server' || kind === 'timeout'
	const retryAfterMs = waits ? readRetryAfter(refusal.retryAfter, refusal.data, refusal.nowMs, LONGEST_WAIT_MS) : null
	return { kind, ...(limit !== null && { limit }), ...(retryAfterMs !== null && { retryAfterMs }) }
}

/** The kind by the text alone; null when no known phrase is in it. */
export function kindOfText(text: string): RpcErrorKind | null {
	const start = startOf(text)
	if (refusesBatch(start)) return 'too-large'
	return texts.find(([pattern]) => pattern.test(start))?.[1] ?? null
}

/** Megabytes are no message. A contract writes what follows a revert, and could write "too many requests" there. */
function startOf(text: string): string {
	return text.slice(0, 2_000).replace(/(execution reverted|vm e(?:xecution error|xception)).*/is, '$1')
}

/**
 * The number of calls that a batch may have, when the text refuses one; null when it is not about batches. Without a
 * number: infinite if a smaller batch may be taken, else 1. dRPC "Batch of more than 3 requests are not allowed on free
 * tier"; Besu "Number of requests exceeds max batch size"; Erigon "batch limit 100 exceeded"; jsonrpsee (Reth) "Batched
 * requests are not supported by this server" (-32005).
 */
export function batchLimitIn(text: string): number | null {
	const start = startOf(text)
	if (!refusesBatch(start)) return null
	const named =
		/(?:more than|limit(?:ed)?(?: is| of| to)?|max(?:imum)?(?: allowed| batch| size| is| of)*)[ :]{1,2}(\d[\d,]*)/i
	const limit = named.exec(start)?.[1]?.replaceAll(',', '')
	if (limit !== undefined) return Math.max(1, Number(limit))
	return /exceed|too (?:large|big|many)/i.test(start) ? Number.POSITIVE_INFINITY : 1
}

function refusesBatch(text: string): boolean {
	return (
		/\bbatch(?:es|ed|ing)?\b/i.test(text) &&
		/not (?:allowed|supported|enabled|permitted)|disabled|exceed|too (?:large|big|many)|limit|maximum|more than/i.test(
			text,
		)
	)
}

/** Not where a proxy writes the method before the words about a block: "trace_block: block not found". */
const methodNotOffered = new RegExp(
	String.raw`\b(?:method|module|namespace|tracer|[a-z]+_\w+)\b(?:(?!\b(?:block|header|transaction|state)\b).)*` +
		'not (?:found|available|enabled|supported)',
	'i',
)

/**
 * The first match decides, so the order matters: "limited to" means a range unless requests are limited, "not
 * supported" means a method unless it is a range.
 */
const texts: readonly (readonly [RegExp, RpcErrorKind])[] = [
	// Quota used up.
	[/monthly capacity/i, 'quota'], // Alchemy: "Monthly capacity limit exceeded"
	[/reached the free tier/i, 'quota'], // seen by erpc
	[/daily (?:request|credit)|credit limit/i, 'quota'], // Infura: "daily request count exceeded, request rate limited"
	[/payment required/i, 'quota'],

	// Rate limits.
	[/requests? limited to|request limit reached/i, 'rate'], // QuickNode: "requests limited to 15/sec"
	[/too many requests|rate[ -]?limit/i, 'rate'], // most gateways
	[/compute units per second|throughput/i, 'rate'], // Alchemy; Infura
	[/under too much load/i, 'rate'],
	[/(?:exceeded|reached) the quota/i, 'rate'], // erpc counts both as a rate: they pass within minutes

	// Requests or answers that are too large.
	[/try with this block range/i, 'too-large'], // Infura: "query returned more than 10000 results. Try with …"
	[/this block range should work/i, 'too-large'], // Alchemy
	// Reth, Anvil, Chainstack
	[/range (?:is )?(?:too (?:large|wide|big)|exceeds|greater than|limit exceeded)/i, 'too-large'],
	[/range exceeds maximum rpc range limit/i, 'too-large'], // Besu, with -32005
	[/range [\d,]+ exceeds/i, 'too-large'], // Infura: "range N exceeds limit of N", with -32602
	[/too many logs|narrow your filter/i, 'too-large'], // Erigon: "query returns too many logs, narrow your filter: N"
	[/exceeds? max(?:imum)? (?:topics|addresses)|too many (?:topics|addresses)/i, 'too-large'], // geth
	[/exceeds the range/i, 'too-large'], // "exceeds the range allowed for your plan (A > B)"
	[/too large, max is/i, 'too-large'], // "eth_getLogs range is too large, max is 10k blocks"
	[/max(?:imum)? (?:block )?range/i, 'too-large'], // "Max range: N"; "exceed max block range: N"
	[/requested too many blocks/i, 'too-large'], // "… from X to Y, maximum is set to N"
	[/maximum allowed number of requested blocks/i, 'too-large'],
	[/limited to (?:an? )?[\d.,]+/i, 'too-large'], // QuickNode "limited to a 10,000 range"; Reth "limited to N blocks"
	[/limit the query to/i, 'too-large'], // "please limit the query to at most N blocks"
	[/up to an? [\d.,]+k? block range/i, 'too-large'], // Alchemy
	[/blocks distance/i, 'too-large'], // "maximum [from, to] blocks distance: N"
	[/ranges? over [\d.,]+k? blocks/i, 'too-large'], // dRPC: "… are not supported on freetier"
	// "query exceeds max results"; "query must be smaller than size N"
	[/query (?:exceeds|must be smaller)/i, 'too-large'],
	[/(?:returned|return) more than|query exceeds limit/i, 'too-large'], // "query returned more than N results"
	[/range threshold exceeded|exceeded max allowed/i, 'too-large'],
	[/response size should not/i, 'too-large'], // "… greater than N bytes"
	[/(?:response|request|content|body|entity) (?:is )?too (?:large|big)/i, 'too-large'], // Reth "Response is too big"
	[/less number of address/i, 'too-large'], // "specify less number of address"

	// Only old state is refused, in the words of a plan: PublicNode and Infura with 403, Chainstack.
	[/\barchive (?:requests?|state)\b/i, 'no-data'],

	// Not offered here at all.
	[/unsupported method|not whitelisted|unimplemented|not implemented/i, 'unsupported'], // Reth's ots_search*
	[/is not included in your (?:current )?plan|not available on (?:the|your)/i, 'unsupported'],
	// geth, Erigon: "the method trace_filter does not exist/is not available"; Besu "Method not enabled"
	[methodNotOffered, 'unsupported'],
	[/\b(?:method|module|namespace|tracer|[a-z]+_\w+)\b.*(?:does not exist|disabled)/i, 'unsupported'],

	// The tip changed during the request: Erigon "first run for txIndex 0 error: nonce too high".
	[/nonce too (?:high|low)/i, 'unsettled'],

	// This block is not available.
	// geth; Reth 4444 "pruned history unavailable: …"
	[/missing trie node|prun(?:ed|ing)|earliest available/i, 'no-data'],
	[/could not be found|unknown block|is greater than latest block/i, 'no-data'], // Nethermind; geth; Besu >= 26.1
	// geth, Reth: "block range extends beyond current head block"; Cosmos
	[/beyond current head|current blockchain height/i, 'no-data'],
	[/null round/i, 'no-data'], // Lotus
	// Nethermind; Reth; Besu; geth "state histories haven't been fully indexed yet"
	[/no state (?:available|found)|\bstate (?:is )?unavailable|state histories/i, 'no-data'],
	// Reth "block not found: …"; geth "historical state <root> is not available"; zkSync; Cosmos
	[
		/\b(?:block|header|transaction|state|height)\b.{0,90}(?:not (?:yet )?(?:found|available)|doesn't exist)/i,
		'no-data',
	],
	// geth in a reorganisation; Avalanche; op-geth before Bedrock
	[/genesis is not traceable|unfinalized data|after last accepted block|no historical rpc/i, 'no-data'],

	[/time(?:d)?[ -]?out|deadline exceeded/i, 'timeout'], // Besu "Timeout expired", Nethermind "Request timed out"

	[/unauthori[sz]ed|unauthenticated|must (?:be )?authenticate/i, 'auth'],
	[
		/(?:invalid|missing|wrong|unknown|expired) (?:api|access|endpoint|auth\w*|project)[ -]?(?:key|token|id)?\b/i,
		'auth',
	],
	[/\bkey\b.{0,20}(?:is )?(?:not valid|invalid|required|missing|disabled|expired)/i, 'auth'],

	[/greater than to ?block|to block is greater/i, 'bad-params'], // each node's words for from > to
	[/invalid (?:params|parameters?|argument|request|trace filter mode)|unknown (?:field|variant)/i, 'bad-params'],
	[/max allowed page size/i, 'bad-params'], // Erigon ots
	// geth and most others; OpenEthereum and Nethermind, with -32015; Hardhat
	[/execution reverted|vm execution error|vm exception/i, 'bad-params'],

	[/no backend is currently healthy|method handler crashed/i, 'server'], // proxies; old Erigon

	// Vague ones, when nothing above matched.
	[/has exceeded/i, 'rate'], // "Your app has exceeded …"
	[/upgrade (?:your|to)/i, 'quota'],
	[/not supported/i, 'unsupported'],
]

/** Only statuses that are clear by themselves: with a JSON-RPC error in a 400 or 500, its code decides. */
function kindOfStatus(status: number, method: string): RpcErrorKind | null {
	switch (status) {
		case 401:
		case 407:
			return 'auth'
		case 402:
			return 'quota'
		case 403:
			return refusedKeyOrMethod(method)
		case 408:
		case 504:
		case 522:
		case 524:
			return 'timeout'
		case 413:
			return 'too-large'
		case 405:
		case 415:
		case 501:
			return 'unsupported'
		case 429:
			return 'rate'
		case 502:
		case 503:
			return 'server'
		default:
			return status >= 300 && status < 400 ? 'malformed' : null
	}
}

/** For a status that neither text nor code explains. */
function kindOfPlainStatus(status: number, method: string): RpcErrorKind {
	if (status === 404) return refusedKeyOrMethod(method)
	return status >= 400 && status < 500 ? 'bad-params' : 'server'
}

/** Cloudflare refuses methods with 403, others keys, and a wrong key may be a path not found; every node has eth_*. */
function refusedKeyOrMethod(method: string): RpcErrorKind {
	return /^(?:eth|net|web3)_|^batch$/.test(method) ? 'auth' : 'unsupported'
}

function kindOfCode(code: number | null): RpcErrorKind | null {
	switch (code) {
		case -32005: // the convention; Besu and Infura, who mean a range, say so in the text
		case -32007: // QuickNode
		case 429:
			return 'rate'
		case 402:
			return 'quota'
		case 401:
		case 403:
			return 'auth'
		case -32601:
		case -32604: // Besu: method not enabled
		case -32004:
		case -32006:
			return 'unsupported'
		case -32600:
		case -32602:
		case -32700:
			return 'bad-params'
		case -32001: // Reth: block not found
		case -32002: // Nethermind: no state
		case -32014: // Goldsky: missing data
		case -39001: // Nethermind: unknown block
		case 4444: // pruned history
			return 'no-data'
		case -32008: // jsonrpsee: response too big
		case -32012: // Goldsky: range too large
		case 3000: // block range is too wide
			return 'too-large'
		case -32015: // Goldsky: node timeout
		case -32016: // Nethermind: timeout; Goldsky, who means the key, says so in the text
		case 30: // dRPC: free tier timeout
			return 'timeout'
		default:
			return null
	}
}
