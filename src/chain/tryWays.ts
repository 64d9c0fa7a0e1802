import { DeadlinePassed, withDeadline } from '../base/deadline.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Doubt, Fared, Part } from '../model/chain.js'
import type { Way } from './ways.js'

/** How long each source may take for a block: a moment soon after another gap, with patience where nobody waits. */
const waitMs: Readonly<Record<Doubt['wait'], number>> = { moment: 3_000, earnest: 30_000, patient: 45_000 }
/** Blocks around it are such as everybody reads. */
const otherMs = 5_000
/** What a stranger has filled comes for long: as long as it does it is waited for, up to so long. */
const [comingMs, longestMs] = [4_000, 60_000]
/** So many blocks after it that cannot be read either: each may take the whole time. */
const mostHostile = 2
/** So many headers in a row that end in an error of the server are no longer about these blocks. */
const mostHeaders = 3

/**
 * Asks for one block by every way: endpoints side by side, and of each its sources; those that are not to be believed
 * are not asked. Resolves to the block as soon as one gives it, else to how each fared.
 */
export async function tryWays(
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
		const ms = waitMs[doubt.wait]
		let late: string | null = null
		// In turn: a node that is busy with the block would only be busier, and would answer nothing else.
		for (const [index, way] of able.entries()) {
			if (enough.signal.aborted) return
			if (late !== null && doubt.wait !== 'patient') {
				fared.push({ way: nameOf(way), result: 'unheard', why: late })
				continue
			}
			const came = await tryWay(way, heard[index], { doubt, addresses, ms }, enough.signal)
			if ('span' in came) {
				found ??= came
				enough.abort()
				return
			}
			if (came.isLate) late = 'not asked: another way took too long'
			fared.push(came.fared)
		}
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
	const isFurther = next === null || (next instanceof RpcError && mayBeHostile(next))
	const further = isFurther ? await readFull(way, doubt.furtherAfter, addresses, signal, mostHostile) : null
	const after = further ?? next
	if (after === null || after instanceof RpcError || isDown(after)) return { after, before: null }
	return { after, before: await readFull(way, doubt.before, addresses, signal) }
}

interface Trial {
	readonly doubt: Doubt
	readonly addresses: AddressSet
	readonly ms: number
}

async function tryWay(
	way: Way,
	heard: Heard | undefined,
	{ doubt, addresses, ms }: Trial,
	signal: AbortSignal,
): Promise<Part | { readonly fared: Fared; readonly isLate: boolean }> {
	const name = nameOf(way)
	const { after = null, before = null } = heard ?? {}
	if (isDown(after)) return { fared: { way: name, result: 'unheard', why: after.down.message }, isLate: false }
	const failed = await read(way, doubt.number, addresses, ms, signal)
	if (!(failed instanceof RpcError)) return failed
	const isLate = failed.kind === 'timeout'
	const why = failed.message
	const unheard = { fared: { way: name, result: 'unheard', why }, isLate } as const
	if (isAboutNow(failed) || after === null) return unheard
	if (after instanceof RpcError) {
		const result = isUnable(after) ? 'unable' : 'unheard'
		return { fared: { way: name, result, why: after.message }, isLate }
	}
	// Where nothing has happened before it, there is nothing that could be gone by now.
	const afterGood = !(before instanceof RpcError || isDown(before))
	return { fared: { way: name, result: 'fails', afterGood, why }, isLate }
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
			if (!mayBeHostile(part) || failing >= mostFailing) return part
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
	{ endpoint, patience, sinceProgressMs }: Way,
	number: bigint,
	job: (until: AbortSignal) => Promise<T>,
	usualMs: number,
	signal: AbortSignal,
): Promise<T | RpcError> {
	const ms = patience(usualMs)
	const beganMs = performance.now()
	const asLongAsItComes = (until: AbortSignal, atLeast: (ms: number) => void) => {
		const look = setInterval(() => {
			const isComing = sinceProgressMs() < comingMs && performance.now() - beganMs < longestMs
			if (isComing) atLeast(comingMs - sinceProgressMs())
		}, comingMs / 8)
		return job(until).finally(() => clearInterval(look))
	}
	try {
		return await withDeadline(ms, asLongAsItComes, signal)
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError) return error
		if (!(error instanceof DeadlinePassed)) throw error
		return new RpcError(`${endpoint} did not give block ${number} within ${Math.round(ms / 1_000)} s`, {
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
function mayBeHostile({ kind }: RpcError): boolean {
	return kind === 'server' || kind === 'timeout' || kind === 'too-large' || kind === 'malformed' || kind === 'no-data'
}

function isUnable({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'bad-params'
}
