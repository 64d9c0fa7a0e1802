import { DeadlinePassed, withDeadline } from '../base/deadline.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Doubt, Fared, Part } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import type { Tries } from '../model/ports.js'
import type { Way } from './ways.js'

/** A way to read a block has so long: where everybody waits for it, in earnest, and where nobody does. */
const momentMs = 3_000
const earnestMs = 15_000
const patientMs = 45_000
/** Blocks around it are such as everybody reads. */
const otherMs = 5_000
/** So many blocks after it that cannot be read either: each may take the whole time. */
const mostHostile = 2
/** So many headers in a row that end in an error of the server are no longer about these blocks. */
const mostHeaders = 3

/**
 * Asks for one block by every way: endpoints side by side, and of each its sources; those that are not to be believed
 * are not asked. Resolves to the block as soon as one gives it, else to how each fared.
 */
async function tryWays(
	ways: readonly Way[],
	doubt: Doubt,
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<Part | readonly Fared[]> {
	const enough = new AbortController()
	const stop = () => enough.abort(signal.reason)
	signal.addEventListener('abort', stop, { once: true })
	if (signal.aborted) stop()
	const fared: Fared[] = []
	let found: Part | null = null
	const ofEndpoint = async (own: readonly Way[]) => {
		const able: Way[] = []
		for (const way of own) {
			const why = way.doubtful()
			if (why === null) able.push(way)
			else fared.push({ way: nameOf(way), result: 'unable', why })
		}
		// Those around it first: a node that is busy with the block in doubt answers nothing for a while.
		const listen = (way: Way) => listenTo(way, doubt, addresses, enough.signal)
		const [first, ...others] = able
		const one = first && (await listen(first))
		// Where not even headers come, its other sources would say the same.
		const rest = one !== undefined && isDown(one.after) ? others.map(() => one) : await Promise.all(others.map(listen))
		const heard = one === undefined ? [] : [one, ...rest]
		const tries = able.map(async (way, index) => {
			const came = await tryWay(way, heard[index], doubt, addresses, enough.signal)
			if ('span' in came) {
				found ??= came
				enough.abort()
			} else fared.push(came)
		})
		await Promise.all(tries)
	}
	try {
		const endpoints = [...new Set(ways.map(({ endpoint }) => endpoint))]
		const all = endpoints.map((endpoint) => ofEndpoint(ways.filter((way) => way.endpoint === endpoint)))
		const ends = await Promise.allSettled(all)
		signal.throwIfAborted()
		if (found !== null) return found
		for (const end of ends) if (end.status === 'rejected') throw end.reason
		return fared
	} finally {
		signal.removeEventListener('abort', stop)
	}
}

function nameOf({ endpoint, source }: Way): string {
	return `${endpoint} by ${source}`
}

/** How it does with the blocks around. */
interface Heard {
	/** Null: none of them has transactions. */
	readonly after: Part | RpcError | Down | null
	readonly before: Part | RpcError | Down | null
}

async function listenTo(way: Way, doubt: Doubt, addresses: AddressSet, signal: AbortSignal): Promise<Heard> {
	const next = await readFull(way, doubt.after, addresses, signal, mostHostile)
	const isFurther = next === null || (next instanceof RpcError && isOfBlock(next))
	const further = isFurther ? await readFull(way, doubt.furtherAfter, addresses, signal, mostHostile) : null
	const after = further ?? next
	if (after === null || after instanceof RpcError || isDown(after)) return { after, before: null }
	return { after, before: await readFull(way, doubt.before, addresses, signal) }
}

async function tryWay(
	way: Way,
	heard: Heard | undefined,
	doubt: Doubt,
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<Part | Fared> {
	const name = nameOf(way)
	const { after = null, before = null } = heard ?? {}
	if (isDown(after)) return { way: name, result: 'unheard', why: after.down.message }
	const failed = await read(way, doubt.number, addresses, waitFor(doubt), signal)
	if (!(failed instanceof RpcError)) return failed
	const why = failed.message
	if (isAboutNow(failed)) return { way: name, result: 'unheard', why }
	if (after instanceof RpcError)
		return { way: name, result: isUnable(after) ? 'unable' : 'unheard', why: after.message }
	if (after === null) return { way: name, result: 'unheard', why }
	// Where nothing has happened before it, there is nothing that could be gone by now.
	return { way: name, result: 'fails', afterGood: !(before instanceof RpcError || isDown(before)), why }
}

function waitFor({ wait }: Doubt): number {
	if (wait === 'patient') return patientMs
	return wait === 'moment' ? momentMs : earnestMs
}

/** It does not even give a header. */
interface Down {
	readonly down: RpcError
}

function isDown(came: Part | RpcError | Down | null): came is Down {
	return came !== null && 'down' in came
}

/** The first of these blocks that has transactions; null where none has. */
async function readFull(
	way: Way,
	numbers: readonly bigint[],
	addresses: AddressSet,
	signal: AbortSignal,
	mostFailing = numbers.length,
): Promise<Part | RpcError | Down | null> {
	let last: RpcError | null = null
	let failing = 0
	let failedHeaders = 0
	for (const number of numbers) {
		const header = await limited(way, number, (until) => way.chain().block(number, until), otherMs, signal)
		if (header instanceof RpcError) {
			failedHeaders += 1
			if (!isOfHeader(header) && !(header.kind === 'server' && failedHeaders < mostHeaders)) return { down: header }
			last = header
		} else if (header !== null && header.txHashes.length > 0) {
			const part = await read(way, number, addresses, otherMs, signal)
			if (!(part instanceof RpcError)) return part
			last = part
			failing += 1
			// Another may be in doubt too; the rest would fail alike where it is not that.
			if (!isOfBlock(part) || failing >= mostFailing) return part
		}
	}
	return last
}

async function read(
	way: Way,
	number: bigint,
	addresses: AddressSet,
	ms: number,
	signal: AbortSignal,
): Promise<Part | RpcError> {
	const { endpoint } = way
	const whole = async (until: AbortSignal) => {
		for await (const part of way.chain().walk({ from: number, to: number }, addresses, until)) {
			way.heard()
			return part
		}
		throw new RpcError(`${endpoint} gave no block ${number}`, { kind: 'no-data', endpoint })
	}
	return limited(way, number, whole, ms, signal)
}

async function limited<T>(
	{ endpoint }: Way,
	number: bigint,
	job: (until: AbortSignal) => Promise<T>,
	ms: number,
	signal: AbortSignal,
): Promise<T | RpcError> {
	try {
		return await withDeadline(ms, job, signal)
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError) return error
		if (!(error instanceof DeadlinePassed)) throw error
		return new RpcError(`${endpoint} did not give block ${number} within ${ms / 1_000} s`, {
			kind: 'timeout',
			endpoint,
		})
	}
}

/** Of the moment or of the endpoint's plan, and not of the block. */
function isAboutNow({ kind }: RpcError): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'auth' || kind === 'unsettled'
}

/** The header of another block may be given. */
function isOfHeader({ kind }: RpcError): boolean {
	return kind === 'no-data' || kind === 'malformed' || kind === 'unsettled' || kind === 'too-large'
}

/** A second hostile block among those around it keeps nobody from being heard. */
function isOfBlock({ kind }: RpcError): boolean {
	return kind === 'server' || kind === 'timeout' || kind === 'too-large' || kind === 'malformed' || kind === 'no-data'
}

function isUnable({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'bad-params'
}

/** The hash of a block, by the first endpoint that can tell. Throws the last RpcError when none can. */
async function hashByWays(ways: readonly Way[], number: bigint, signal: AbortSignal): Promise<Hash | null> {
	const first = new Map(ways.toReversed().map((way) => [way.endpoint, way]))
	let failure: unknown = new RpcError(`nobody tells block ${number}`, { kind: 'no-data', endpoint: '' })
	for (const way of [...first.values()].reverse()) {
		const headers = [
			async () => (await way.chain().block(number, signal))?.hash ?? null,
			async () => (await way.chain().block(number + 1n, signal))?.parentHash ?? null,
		]
		for (const ask of headers) {
			try {
				return await ask()
			} catch (error) {
				signal.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				failure = error
			}
		}
	}
	throw failure
}

/** Every way to read a block, as the poll reaches it. */
export function triesOf(ways: readonly Way[]): Tries {
	return {
		tryAll: (doubt, addresses, signal) => tryWays(ways, doubt, addresses, signal),
		hashOf: (number, signal) => hashByWays(ways, number, signal),
	}
}
