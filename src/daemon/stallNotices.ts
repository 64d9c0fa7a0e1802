/**
 * On their way to the receivers: that a network stalls, and that it goes on. That something is to be ended is written
 * down before it is told, and that it is ended after that was told: whatever a kill leaves is ended by the next run.
 */

import { hash } from '../base/hash.js'
import { type SystemNotice, systemDeliveries } from '../core/system.js'
import { StateError } from '../errors.js'
import type { Delivery } from '../model/delivery.js'
import type { Clock } from '../model/glossary.js'
import type { Log, Store } from '../model/ports.js'
import type { Trouble, TroubleBook } from '../model/trouble.js'

export interface StallNotices {
	/** What was told, or begun to be, and is not ended. */
	stallOf(network: string): Trouble | undefined
	note(notice: StallNotice): void
	/** Ends the stalls of networks that are configured no more. */
	forgetOthers(networks: readonly string[]): void
	/** As soon as the state can be written, in the order they happened. */
	post(): Promise<void>
}

type StallNotice = SystemNotice & { readonly type: 'system.stalled' | 'system.recovered' }

export interface StallNoticeOptions {
	/** Names of the receivers that the watches of a network are sent to. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	readonly store: Pick<Store, 'post'>
	readonly troubles: TroubleBook
	readonly clock: Clock
	readonly log: Log
}

interface Waiting {
	readonly trouble: Trouble
	readonly isOver: boolean
	readonly deliveries: readonly Delivery[]
}

export function createStallNotices(options: StallNoticeOptions): StallNotices {
	const { receiversOf, recipientsOf, store, troubles, clock, log } = options
	const waiting: Waiting[] = []
	let troubled = false

	const stalls = () => troubles.current().open.filter(({ kind }) => kind === 'stalled')
	const stallOf = (network: string) => stalls().find((trouble) => trouble.network === network)

	function note(notice: StallNotice): void {
		const { type, network, chainId, checkpoint, sinceMs } = notice
		const isOver = type === 'system.recovered'
		// Its end goes to whom it was announced.
		const receivers = (isOver ? stallOf(network)?.receivers : undefined) ?? receiversOf(network)
		const at = checkpoint === null ? null : String(checkpoint)
		waiting.push({
			trouble: { kind: 'stalled', network, chainId, sinceMs, receivers, checkpoint: at, announced: false },
			isOver,
			deliveries: systemDeliveries(notice, receivers, { recipientsOf, nowMs: clock(), digest: hash }),
		})
	}

	async function postOne({ trouble, isOver, deliveries }: Waiting): Promise<void> {
		const isSame = ({ kind, network }: Trouble) => kind === trouble.kind && network === trouble.network
		const leave = (instead: readonly Trouble[]) =>
			troubles.change((all) => ({ ...all, open: [...all.open.filter((each) => !isSame(each)), ...instead] }))
		if (!isOver) await leave([trouble])
		await store.post(deliveries)
		await leave(isOver ? [] : [{ ...trouble, announced: true }])
	}

	return {
		stallOf,
		note,
		forgetOthers(networks) {
			for (const { network, chainId, sinceMs } of stalls()) {
				if (networks.includes(network)) continue
				const reason = `${network} is configured no more: nothing of it is scanned`
				note({ type: 'system.recovered', network, chainId, checkpoint: null, head: null, reason, sinceMs })
			}
		},
		async post() {
			try {
				for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
					await postOne(next)
					waiting.shift()
					troubled = false
				}
			} catch (error) {
				if (!(error instanceof StateError)) throw error
				if (!troubled)
					log.error({ err: error }, 'the receivers cannot be told of it until the state can be written again')
				troubled = true
			}
		},
	}
}
