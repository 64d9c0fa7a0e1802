/**
 * The room is the store in a folder: `state.json` (checkpoints, announced alerts, deliveries) written with every step,
 * `coverage.json` (from where on each address is watched) written only when the watches change, so that a step's write
 * does not grow with their number; many books have a file of their own, see `bookFile.ts`. Whoever opens it holds
 * `lockState`.
 */

import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { Low } from 'lowdb'
import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'
import type { Draft } from '../changes.js'
import {
	applyCommit,
	applyDrop,
	applyMerge,
	applyPost,
	applyResolutions,
	applyRetry,
	draftOf,
	mustHave,
} from '../changes.js'
import type { CoverageDoc, StateDoc } from '../document.js'
import { emptyCoverage, emptyState, networkState, summarize, waitingOf } from '../document.js'
import { applyEnrolment } from '../enrolment.js'
import { applyGapMark } from '../gapMarks.js'
import { changesPath, coveragePath, coverageWriter } from './coverageFile.js'
import { diskError } from './diskErrors.js'
import { temporaryOf } from './durable.js'
import { gather } from './gather.js'
import { forgetDays, historyFolder } from './history/days.js'
import { type HistoryWriter, openHistoryWriter } from './history/writer.js'
import { createQueues } from './queues.js'
import { statePath } from './read.js'
import { readWholeState, stateWriter } from './stateFile.js'

export interface FileStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/**
	 * How long what was sent is kept after it left the outbox; 0: not at all. Default: nothing is added, and what is
	 * there stays.
	 */
	readonly historyMs?: number
	/** Up to so many books stand in `state.json`. Default: 1,000. */
	readonly mostBooksInside?: number
}

/** Opens the state of a folder, making both if they are not there. Throws StateError. */
export async function openFileStore(folder: string, options: FileStoreOptions): Promise<Store> {
	const { clock, log, historyMs } = options
	let history: HistoryWriter | null = null
	const keeping = () => (history === null ? null : { writtenTo: history.writtenTo() })
	const { state, coverage, touch, touchBooks } = await openLedgers(folder, options, (doc) => draftOf(doc, keeping()))
	const waiting = () => state.current().history.entries
	if (historyMs === 0) await forgetDays(historyFolder(folder), 0, clock()).catch(() => undefined)
	else if (historyMs !== undefined)
		history = await openHistoryWriter(folder, { keepMs: historyMs, clock, log, waiting })
	const queues = createQueues()
	const listeners = new Set<() => void>()
	let closed = false
	log?.debug(
		{ folder, networks: state.current().networks.size, deliveries: state.current().deliveries.size },
		'state opened',
	)

	async function change<T>(apply: (draft: Draft) => T): Promise<T> {
		if (closed) throw new Error('the state store is closed')
		const result = await state.change(apply)
		if (waiting().length > 0) history?.wake()
		return result
	}

	function announce(count: number): void {
		if (count > 0) for (const listener of listeners) queueMicrotask(listener)
	}

	return {
		// One process has the folder, by its lock.
		acquireLease: async () => true,
		releaseLease: async () => undefined,

		network: async (name) => {
			const record = state.current().networks.get(name)
			return record === undefined ? null : networkState(record, coverage.current().get(name))
		},
		commit: async (step) => {
			const { record, added } = await change((draft) => {
				if (step.books !== undefined) touchBooks(step.network, step.books.keys())
				return applyCommit(draft, step, coverage.current(), clock())
			})
			announce(added)
			return networkState(record, coverage.current().get(step.network))
		},
		enrol: async (network, enrolment) => {
			if (closed) throw new Error('the state store is closed')
			return await coverage.change((draft) => {
				const record = mustHave(network, state.current().networks.get(network))
				touch(network, enrolment.covered.keys())
				draft.doc = applyEnrolment(draft.doc, network, enrolment, record, newToken)
				return networkState(record, draft.doc.get(network))
			})
		},

		post: async (deliveries) => announce(await change((draft) => applyPost(draft, deliveries))),
		claim: async (options) => queues.claim(state.current().deliveries, options),
		resolve: async (resolutions, post = []) => {
			const added = await change((draft) => {
				applyResolutions(draft, resolutions, clock())
				return applyPost(draft, post)
			})
			queues.release(resolutions.map(({ id }) => id))
			announce(added)
		},
		merge: async (ids, digest) => {
			const merged = await change((draft) => applyMerge(draft, ids, digest))
			announce(merged ? 1 : 0)
			return merged
		},
		release: async (ids) => queues.release(ids),
		nextDueMs: async () => queues.nextDueMs(state.current().deliveries),
		onPosted: (listener) => {
			listeners.add(listener)
			return () => listeners.delete(listener)
		},

		deliveries: async (status, queue) =>
			[...state.current().deliveries.values()].filter(
				(delivery) =>
					(status === undefined || delivery.status === status) &&
					(queue === undefined || (delivery.receiver === queue.receiver && delivery.recipient === queue.recipient)),
			),
		aside: async (queue) => queues.aside(state.current().deliveries, queue),
		retry: async (ids, atMs) => {
			const found = await change((draft) => applyRetry(draft, ids, atMs))
			announce(found)
			return found
		},
		drop: async (ids) => {
			const found = await change((draft) => applyDrop(draft, ids, clock()))
			queues.release(ids)
			return found
		},
		markGaps: async (network, numbers, mark) => await change((draft) => applyGapMark(draft, network, numbers, mark)),
		summary: async () => summarize(state.current(), coverage.current()),
		waiting: async (network) => waitingOf(state.current(), network),
		close: async () => {
			closed = true
			await Promise.all([state.idle(), coverage.idle()])
			await history?.close()
		},
	}
}

function newToken(): string {
	return randomBytes(6).toString('hex')
}

async function openLedgers(
	folder: string,
	{ log, mostBooksInside }: FileStoreOptions,
	begin: (doc: StateDoc) => Draft,
) {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 })
		// Writes that a kill cut short.
		for (const path of [statePath(folder), coveragePath(folder), changesPath(folder)])
			await rm(temporaryOf(path), { force: true })
	} catch (error) {
		throw diskError('make', folder, error)
	}
	const found = await readWholeState(folder)
	const stateFile = await stateWriter(folder, found, { log, mostBooksInside })
	const state = new Low(stateFile, found.state ?? emptyState)
	const writer = coverageWriter(folder, found.coverage)
	const coverage = new Low(writer, found.coverage?.coverage ?? emptyCoverage)
	// From now on a missing file is a loss and not a beginning.
	if (found.state === null) await state.write()
	if (found.coverage === null) await coverage.write()
	return {
		touch: writer.touch,
		touchBooks: stateFile.touch,
		state: gather(state, begin, ({ changed, history, ...doc }, before) =>
			changed ? { ...doc, history: history ?? before.history } : before,
		),
		coverage: gather(
			coverage,
			(doc): { doc: CoverageDoc } => ({ doc }),
			({ doc }) => doc,
		),
	}
}
