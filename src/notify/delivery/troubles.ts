/**
 * What receivers are notified of: a trouble of a network, of an edit or of a receiver begins, and it ends, once each.
 * The messages are posted in the write that records it.
 */

import { sha256 } from '../../base/sha256.js'
import type { Posting } from '../../core/outbox/posting.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Receiver, Store } from '../../model/ports.js'
import type { NetworkTrouble, Trouble, UndeliveredTrouble } from '../../model/trouble.js'

export type TroubleBook = ReturnType<typeof createTroubleBook>

export interface TroubleBookOptions {
	readonly store: Pick<Store, 'troubles' | 'changeTroubles'>
	/** Those of earlier configurations are notified of nothing. */
	readonly receivers: readonly Pick<Receiver, 'name' | 'recipients'>[]
	readonly clock: Clock
	readonly log: Log
}

type Kind = Trouble['kind']
type TroubleOf<K extends Kind> = K extends 'undelivered' ? UndeliveredTrouble : NetworkTrouble

const keyOf = (one: Trouble) =>
	JSON.stringify(
		one.kind === 'undelivered' ? [one.receiver, one.state === 'failing', one.sinceMs] : [one.kind, one.network],
	)

export function createTroubleBook({ store, receivers, clock, log }: TroubleBookOptions) {
	const recipients = new Map(receivers.map((one) => [one.name, one.recipients]))
	const recipientsOf = (receiver: string) => recipients.get(receiver) ?? null
	/** Includes what earlier runs recorded, and what is not written yet. */
	let troubles = store.troubles()
	let written = troubles
	let unposted: readonly Delivery[] = []
	let isWritable = true
	let before: Promise<void> = Promise.resolve()

	async function write(): Promise<void> {
		if (troubles === written) return
		const [next, posts] = [troubles, unposted]
		try {
			await store.changeTroubles(next, posts)
			written = next
			unposted = unposted.slice(posts.length)
			isWritable = true
		} catch (error) {
			if (isWritable) log.error({ err: error }, 'the receivers cannot be notified until the state can be written again')
			isWritable = false
		}
	}

	/** Troubles of the kind that have not ended. */
	function open<K extends Kind>(kind: K): readonly TroubleOf<K>[] {
		return troubles.open.filter((one): one is Trouble & TroubleOf<K> => one.kind === kind)
	}

	/**
	 * From now on these are the troubles of the kind, at most one of a network. `postsOf` is called at once for each
	 * that begins, changes or ends. What cannot be written is written with the next call. Never rejects.
	 */
	function reconcile<K extends Kind>(
		kind: K,
		present: readonly TroubleOf<K>[],
		postsOf: (trouble: TroubleOf<K>, isOver: boolean) => readonly Delivery[],
	): Promise<void> {
		const recorded = open(kind)
		const find = (all: readonly Trouble[], of: Trouble) => all.find((one) => keyOf(one) === keyOf(of))
		const isNews = (one: Trouble, known = find(recorded, one)) =>
			known === undefined || (kind === 'undelivered' && known !== one)
		const news = present.filter((one) => isNews(one))
		const ended = recorded.filter((one) => find(present, one) === undefined)
		const changed = [...news, ...ended]
		if (changed.length > 0) {
			const posts = changed.flatMap((one) =>
				one.kind !== 'undelivered' || one.announced ? postsOf(one, ended.includes(one)) : [],
			)
			unposted = [...unposted, ...posts.filter(({ receiver }) => recipients.has(receiver))]
			const others = troubles.open.filter((one) => find(changed, one) === undefined)
			const accepted = kind === 'refused' ? ended.length : 0
			troubles = { open: [...others, ...news], timesAccepted: troubles.timesAccepted + accepted }
		}
		before = before.then(write)
		return before
	}

	return {
		open,
		reconcile,
		/** How many refused edits have ended. */
		timesAccepted: () => troubles.timesAccepted,
		/** As of now. */
		posting: (): Posting => ({ recipientsOf, nowMs: clock(), digest: sha256 }),
	}
}
