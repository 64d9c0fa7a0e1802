/**
 * The fallback for one block that a walk could not read. It asks every source of every endpoint for the block, and for
 * blocks around it, to tell an unreadable block from an endpoint that is down.
 */

import { withDeadline } from '../base/waits/deadline.js'
import { linkedAbort } from '../base/waits/linkedAbort.js'
import { whyUnread } from '../core/gaps.js'
import { RpcError, type RpcErrorKind } from '../errors.js'
import type { AddressSet, ClientOutcome, Part, SuspectBlock } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import type { BlockFallback } from '../model/ports.js'
import type { SourceClient } from './sourceClients.js'

/** Deadline of each source for the block: 3 s soon after another gap, longer where no alert waits. */
const waitMs: Readonly<Record<SuspectBlock['wait'], number>> = { short: 3_000, normal: 30_000, long: 45_000 }
/** Deadline for each ordinary block around it. */
const otherMs = 5_000
/** A block that an attacker has filled arrives slowly: while data came in the last 4 s, wait, at most 60 s in all. */
const comingMs = 4_000
const longestMs = 60_000
/** Stop after 2 failing blocks after it: an attacker may have filled those too. */
const mostHostile = 2
/** After 3 headers in a row that end in a server error, the endpoint is taken to be down. */
const mostHeaders = 3

export function createBlockFallback(clients: readonly SourceClient[]): BlockFallback {
	return {
		tryAll: (suspect, addresses, signal) => tryAll(clients, suspect, addresses, signal),
		hashOf: (number, signal) => hashOf(clients, number, signal),
	}
}

/**
 * Asks endpoints at the same time, the sources of one endpoint one after the other. Skips a source that is known to be
 * wrong; where no other is left, it is asked only for how it fails, and its block is not taken. Resolves to the block
 * as soon as a source gives it, else to the result of each source.
 */
async function tryAll(
	clients: readonly SourceClient[],
	suspect: SuspectBlock,
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<Part | readonly ClientOutcome[]> {
	const enough = linkedAbort(signal)
	const outcomes: ClientOutcome[] = []
	let found: Part | null = null
	const ofEndpoint = async (own: readonly SourceClient[]) => {
		const doubts = new Map(own.map((client) => [client, client.doubtful()]))
		const trusted = own.filter((client) => doubts.get(client) === null)
		const able = trusted.length > 0 ? trusted : own
		const noteDoubt = (client: SourceClient) =>
			outcomes.push({ client: nameOf(client), result: 'unable', why: doubts.get(client) ?? '' })
		for (const client of own) if (!able.includes(client)) noteDoubt(client)
		// Ask for the blocks around it first: a node that is busy with the failing block answers nothing else for a while.
		const listen = (client: SourceClient) => listenTo(client, suspect, addresses, enough.signal)
		const [first, ...others] = able
		const one = first && (await listen(first))
		// Without headers, the other sources of the endpoint would fail alike.
		const rest = one !== undefined && isDown(one.after) ? others.map(() => one) : await Promise.all(others.map(listen))
		const heard = one === undefined ? [] : [one, ...rest]
		const ms = waitMs[suspect.wait]
		let late: string | null = null
		// One after the other: a second request would keep a node busy that is already working on the block.
		for (const [index, client] of able.entries()) {
			if (enough.signal.aborted) return
			if (late !== null && suspect.wait !== 'long') {
				outcomes.push({ client: nameOf(client), result: 'unanswered', why: late })
				continue
			}
			const came = await tryClient(client, heard[index], { suspect, addresses, ms }, enough.signal)
			if ('span' in came && able !== trusted) {
				noteDoubt(client)
				continue
			}
			if ('span' in came) {
				found ??= came
				enough.abort()
				return
			}
			if (came.isLate) late = 'not asked: another source took too long'
			outcomes.push(came.outcome)
		}
	}
	try {
		const endpoints = [...new Set(clients.map(({ endpoint }) => endpoint))]
		const all = endpoints.map((endpoint) => ofEndpoint(clients.filter((client) => client.endpoint === endpoint)))
		const ends = await Promise.allSettled(all)
		signal.throwIfAborted()
		if (found !== null) return found
		for (const end of ends) if (end.status === 'rejected') throw end.reason
		return outcomes
	} finally {
		enough.release()
	}
}

function nameOf({ endpoint, source }: SourceClient): string {
	return `${endpoint} by ${source}`
}

interface Heard {
	/** A block that shows whether the source works now. Null: none of them has transactions. */
	readonly after: Part | RpcError | Down | null
	readonly before: Part | RpcError | Down | null
}

async function listenTo(
	client: SourceClient,
	suspect: SuspectBlock,
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<Heard> {
	const next = await readFull(client, suspect.after, { addresses, mostFailing: mostHostile }, signal)
	const isFurther = next === null || (next instanceof RpcError && mayBeHostile(next))
	const further = isFurther
		? await readFull(client, suspect.furtherAfter, { addresses, mostFailing: mostHostile }, signal)
		: null
	const after = further ?? next
	const isFound = after !== null && !(after instanceof RpcError || isDown(after))
	if (isFound) return { after, before: await readFull(client, suspect.before, { addresses }, signal) }
	if (suspect.longFailing === undefined || isDown(after)) return { after, before: null }
	const { later } = suspect.longFailing
	const last = later === null ? null : await read(client, { number: later, addresses, ms: otherMs }, signal)
	if (last instanceof RpcError) return { after: last, before: null }
	const before = await readFull(client, suspect.before, { addresses }, signal)
	return { after: before ?? last, before }
}

interface BlockAttempt {
	readonly suspect: SuspectBlock
	readonly addresses: AddressSet
	readonly ms: number
}

async function tryClient(
	client: SourceClient,
	heard: Heard | undefined,
	{ suspect, addresses, ms }: BlockAttempt,
	signal: AbortSignal,
): Promise<Part | { readonly outcome: ClientOutcome; readonly isLate: boolean }> {
	const name = nameOf(client)
	const { after = null, before = null } = heard ?? {}
	if (isDown(after)) return { outcome: { client: name, result: 'unanswered', why: after.down.message }, isLate: false }
	const came = await read(client, { number: suspect.number, addresses, ms }, signal)
	const failed = came instanceof RpcError ? came : misfitOf(came, suspect, client.endpoint)
	if (failed === null) {
		const part = came as Part
		if (part.unread === undefined) return part
		const outcome = { client: name, result: 'fails', afterGood: true, why: whyUnread(part.unread), part } as const
		return { outcome, isLate: false }
	}
	const isLate = failed.kind === 'timeout'
	const why = failed.message
	const unanswered = { outcome: { client: name, result: 'unanswered', why }, isLate } as const
	if (failed.kind === 'unsupported') return { outcome: { client: name, result: 'unable', why }, isLate }
	if (failed.facts.ofHeader) {
		const outcome = { client: name, result: 'fails', afterGood: true, why, certain: true } as const
		return { outcome, isLate }
	}
	if (isAboutNow(failed) || after === null) return unanswered
	if (after instanceof RpcError) {
		const fails = { client: name, result: 'fails', afterGood: false, why, everywhere: true } as const
		if (isRead(failed) && isRead(after)) return { outcome: fails, isLate }
		const result = isUnable(after) ? 'unable' : 'unanswered'
		return { outcome: { client: name, result, why: after.message }, isLate }
	}
	// No block with transactions before it (`before` is null) also counts as good: the node can have pruned nothing.
	const afterGood = !(before instanceof RpcError || isDown(before))
	return { outcome: { client: name, result: 'fails', afterGood, why }, isLate }
}

/** Null if the block has the parent that it must have. */
function misfitOf(part: Part, { number, parentHash }: SuspectBlock, endpoint: string): RpcError | null {
	if (parentHash === undefined || part.parentHash === undefined || part.parentHash === parentHash) return null
	const words = `${endpoint} says that block ${number} does not follow block ${number - 1n}`
	return new RpcError(words, { kind: 'unsettled', endpoint })
}

/** The endpoint does not even give a header. */
interface Down {
	readonly down: RpcError
}

function isDown(came: Part | RpcError | Down | null): came is Down {
	return came !== null && 'down' in came
}

/** The first of these blocks that has transactions; null where none has. */
async function readFull(
	client: SourceClient,
	numbers: readonly bigint[],
	{ addresses, mostFailing = numbers.length }: { readonly addresses: AddressSet; readonly mostFailing?: number },
	signal: AbortSignal,
): Promise<Part | RpcError | Down | null> {
	let last: RpcError | null = null
	let failing = 0
	let failedHeaders = 0
	for (const number of numbers) {
		const header = await limited(
			client,
			{ number, ms: otherMs },
			(until) => client.chain().block(number, until),
			signal,
		)
		if (header instanceof RpcError) {
			failedHeaders += 1
			if (!isOfHeader(header) && !(header.kind === 'server' && failedHeaders < mostHeaders)) return { down: header }
			last = header
		} else if (header !== null && header.txHashes.length > 0) {
			const part = await read(client, { number, addresses, ms: otherMs }, signal)
			if (!(part instanceof RpcError)) return part
			last = part
			failing += 1
			// This block may be unreadable too. Other errors are the endpoint's, and the remaining blocks would fail alike.
			if (!mayBeHostile(part) || failing >= mostFailing) return part
		}
	}
	return last
}

async function read(
	client: SourceClient,
	{ number, addresses, ms }: { readonly number: bigint; readonly addresses: AddressSet; readonly ms: number },
	signal: AbortSignal,
): Promise<Part | RpcError> {
	const { endpoint } = client
	const whole = async (until: AbortSignal) => {
		for await (const part of client.chain().walk({ from: number, to: number }, addresses, until)) {
			client.heard()
			const { unread = [], unreadLogs, last } = part
			const isInPart = unread.length > 0 && unread.length < last.txHashes.length
			if (isInPart) return part
			if (unreadLogs !== undefined) throw new RpcError(unreadLogs, { kind: 'no-data', endpoint })
			if (unread.length === 0) return part
			const forNow = unread.some(({ mayPass }) => mayPass === true)
			throw new RpcError(`${endpoint}: ${whyUnread(unread)}`, { kind: 'server', endpoint, ...(forNow && { forNow }) })
		}
		throw new RpcError(`${endpoint} gave no block ${number}`, { kind: 'no-data', endpoint })
	}
	return limited(client, { number, ms }, whole, signal)
}

async function limited<T>(
	{ endpoint, allowance, sinceProgressMs }: SourceClient,
	{ number, ms: usualMs }: { readonly number: bigint; readonly ms: number },
	job: (until: AbortSignal) => Promise<T>,
	signal: AbortSignal,
): Promise<T | RpcError> {
	const ms = allowance(usualMs)
	const beganMs = performance.now()
	const asLongAsItComes = (until: AbortSignal, atLeast: (ms: number) => void) => {
		const look = setInterval(() => {
			const isComing = sinceProgressMs() < comingMs && performance.now() - beganMs < longestMs
			if (isComing) atLeast(comingMs - sinceProgressMs())
		}, comingMs / 8)
		return job(until).finally(() => clearInterval(look))
	}
	const tooSlow = () =>
		new RpcError(`${endpoint} did not give block ${number} within ${Math.round(ms / 1_000)} s`, {
			kind: 'timeout',
			endpoint,
		})
	try {
		return await withDeadline(ms, asLongAsItComes, tooSlow, signal)
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError) return error
		throw error
	}
}

/** The cause is the current load or the endpoint's plan, not the block. */
function isAboutNow({ kind }: RpcError): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'auth'
}

/** The endpoint may still give the header of another block. */
function isOfHeader({ kind }: RpcError): boolean {
	return kind === 'too-large' || isOfAnswer(kind)
}

/** A second failing block among those around it is no proof against the endpoint. */
function mayBeHostile({ kind }: RpcError): boolean {
	return kind === 'server' || kind === 'timeout' || kind === 'too-large' || isOfAnswer(kind)
}

function isOfAnswer(kind: RpcErrorKind): boolean {
	return kind === 'malformed' || kind === 'no-data' || kind === 'unsettled'
}

/** It answered wrongly, or refused the request; it is neither down nor too slow. */
function isRead({ kind, facts: { status, forNow } }: RpcError): boolean {
	if (kind === 'malformed' || kind === 'unsettled') return true
	if (kind === 'server') return forNow !== true && (status === undefined || status < 500)
	return (kind === 'no-data' || kind === 'bad-params') && status !== undefined && status < 500
}

function isUnable({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'bad-params'
}

/** How many further headers are asked for the parent of the next block. */
const mostNext = 8n

/** From its header, or the parent hash in the next header that is there; null where some endpoint has neither. */
async function hashOf(clients: readonly SourceClient[], number: bigint, signal: AbortSignal): Promise<Hash | null> {
	const first = new Map(clients.toReversed().map((client) => [client.endpoint, client]))
	let failure: RpcError | null = new RpcError(`no endpoint knows block ${number}`, { kind: 'no-data', endpoint: '' })
	for (const client of [...first.values()].reverse()) {
		for (let at = number; at <= number + mostNext; at++) {
			try {
				const block = await client.chain().block(at, signal)
				if (block !== null) return at === number ? block.hash : block.parentHash
				if (at > number) failure = null
			} catch (error) {
				signal.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				if (at > number) break
				failure &&= error
			}
		}
	}
	if (failure !== null) throw failure
	return null
}
