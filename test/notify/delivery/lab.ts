/** A state on disk of its own, a clock to be moved, and receivers that are lists of what they were handed. */
import { afterEach, beforeEach } from 'vitest'
import { statusOf } from '../../../src/core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Receiver, Store } from '../../../src/model/ports.js'
import { makeFolder, removeFolder } from '../../state/file/folder.js'
import { openFileStore } from '../../support/fileStore.js'
import { idOf, startMs } from '../samples.js'

export interface Lab {
	readonly folder: string
	readonly store: Store
	nowMs: number
	readonly clock: () => number
	/** `3 parked` for each delivery kept, in order. */
	statuses(): Promise<readonly string[]>
	/** Closes and opens: what is only in memory is gone. */
	reopen(): Promise<void>
	/**
	 * A sleep that moves the clock, and no sooner than everything that is due is done; `done` when nothing is kept but
	 * the dead.
	 */
	sleeper(done: AbortController): (ms: number, signal: AbortSignal) => Promise<void>
}

/** Fresh for each test of the file. */
export function useLab(): Lab {
	const current: { folder: string; store: Store | null } = { folder: '', store: null }
	let underWay = 0
	/** The same store; what it is asked for counts as under way until it is done. */
	const counted = (store: Store): Store =>
		new Proxy(store, {
			get(target, name: keyof Store) {
				const member = target[name] as unknown
				if (typeof member !== 'function') return member
				return (...args: unknown[]) => {
					const result: unknown = member.apply(target, args)
					if (!(result instanceof Promise)) return result
					underWay += 1
					return result.finally(() => {
						underWay -= 1
					})
				}
			},
		})
	const lab: Lab = {
		get folder() {
			return current.folder
		},
		get store() {
			if (current.store === null) throw new Error('no test is under way')
			return current.store
		},
		nowMs: startMs,
		clock: () => lab.nowMs,
		statuses: async () =>
			(await lab.store.deliveries()).map((one) => `${Number(`0x${one.id.slice(-8)}`)} ${statusOf(one)}`),
		async reopen() {
			await lab.store.close()
			current.store = counted(await openFileStore(current.folder, { clock: lab.clock }))
		},
		sleeper: (done) => async (ms, signal) => {
			const isBusy = async () =>
				(await lab.store.deliveries('pending')).some(({ nextAttemptAtMs }) => nextAttemptAtMs <= lab.nowMs)
			const turn = () => new Promise((resolve) => setTimeout(resolve, 5))
			await turn()
			// What is being written shows in nothing that can be asked for, and may take long.
			while (!signal.aborted && (underWay > 0 || (await isBusy()))) await turn()
			if (!signal.aborted) lab.nowMs += ms
			if ((await lab.store.deliveries()).every(({ status }) => status === 'dead')) done.abort()
		},
	}
	beforeEach(async () => {
		lab.nowMs = startMs
		current.folder = await makeFolder()
		current.store = counted(await openFileStore(current.folder, { clock: lab.clock }))
	})
	afterEach(async () => {
		await current.store?.close()
		await removeFolder(current.folder)
	})
	return lab
}

export interface Scripted extends Receiver {
	/** Ids of the deliveries handed to it, in order. */
	readonly got: readonly string[]
	readonly closed: boolean
}

type Answer = (delivery: Delivery, index: number, signal: AbortSignal) => Outcome | Promise<Outcome>

export function scripted(
	name: string,
	answer: Answer = () => ({ result: 'delivered' }),
	recipients: readonly string[] | null = null,
): Scripted {
	const got: string[] = []
	const receiver = {
		name,
		recipients,
		got,
		closed: false,
		deliver: async (delivery: Delivery, signal: AbortSignal) => {
			got.push(delivery.id)
			return answer(delivery, got.length - 1, signal)
		},
		close: async () => {
			receiver.closed = true
		},
	}
	return receiver
}

export const retry: Outcome = { result: 'retry', code: 'failed', reason: 'host answered 503' }

export const ids = (...numbers: readonly number[]): readonly string[] => numbers.map(idOf)
