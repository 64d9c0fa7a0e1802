/**
 * Notifies receivers that a trouble of networks begins and that it ends, once each: what they are sent is posted in the
 * write that records the trouble or removes it.
 */

import { sha256 } from '../../base/sha256.js'
import { type SystemNotice, systemDeliveries } from '../../core/outbox/system.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../../model/trouble.js'

type Kind = NetworkTrouble['kind']

export type Words = Omit<SystemNotice, 'network' | 'chainId' | 'sinceMs'>

export type Notices = ReturnType<typeof createNotices>

export interface NoticesOptions {
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Includes troubles that an earlier run announced and did not end. */
	readonly troubles: TroubleBook
	readonly clock: Clock
	readonly log: Log
}

interface Notice {
	readonly trouble: NetworkTrouble
	readonly isOver: boolean
	readonly words: Words
	readonly nowMs: number
}

export function createNotices({ recipientsOf, troubles, clock, log }: NoticesOptions) {
	/** Recorded troubles that have not ended. */
	const open = (kind: Kind) => troubles.current().open.filter((one): one is NetworkTrouble => one.kind === kind)
	/** Troubles of the kind, as recorded once all of `unposted` is posted. */
	const known = { stalled: open('stalled'), refused: open('refused') }
	const unposted: Notice[] = []
	let isWritable = true
	let before: Promise<void> = Promise.resolve()

	async function post({ trouble, isOver, words, nowMs }: Notice): Promise<void> {
		const { kind, network, chainId, sinceMs, receivers } = trouble
		const isOther = (one: Trouble) => one.kind !== kind || one.network !== network
		const posting = { recipientsOf, nowMs, digest: sha256 }
		await troubles.change(
			({ open, timesAccepted }) => ({
				open: [...open.filter(isOther), ...(isOver ? [] : [trouble])],
				timesAccepted: timesAccepted + (isOver && kind === 'refused' ? 1 : 0),
			}),
			systemDeliveries({ ...words, network, chainId, sinceMs }, receivers, posting),
		)
	}

	async function postAll(): Promise<void> {
		try {
			for (let [next] = unposted; next !== undefined; [next] = unposted) {
				await post(next)
				unposted.shift()
				isWritable = true
			}
		} catch (error) {
			if (isWritable) log.error({ err: error }, 'the receivers cannot be notified until the state can be written again')
			isWritable = false
		}
	}

	return {
		open,
		/** How many refused edits have ended. */
		timesAccepted: () => troubles.current().timesAccepted,
		/**
		 * From now on these troubles of the kind are present, at most one of a network. `wordsOf` is called at once for
		 * each that begins or ends. What cannot be posted is posted at the next call, in order. Never rejects.
		 */
		reconcile(
			kind: Kind,
			present: readonly NetworkTrouble[],
			wordsOf: (trouble: NetworkTrouble, isOver: boolean) => Words,
		): Promise<void> {
			const recorded = known[kind]
			const isIn = (all: readonly NetworkTrouble[]) => (of: NetworkTrouble) =>
				all.some(({ network }) => network === of.network)
			const begun = present.filter((one) => !isIn(recorded)(one))
			const all = [...recorded, ...begun]
			const note = (isOver: boolean) => (trouble: NetworkTrouble) =>
				unposted.push({ trouble, isOver, words: wordsOf(trouble, isOver), nowMs: clock() })
			begun.forEach(note(false))
			all.filter((one) => !isIn(present)(one)).forEach(note(true))
			known[kind] = all.filter(isIn(present))
			before = before.then(postAll)
			return before
		},
	}
}
