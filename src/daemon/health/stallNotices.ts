/**
 * Sends the notices that a network stalls and that it recovers. A trouble is recorded before its beginning is posted,
 * and removed after its end is posted; the next run ends what a kill leaves open.
 */

import { sha256 } from '../../base/sha256.js'
import { type SystemNotice, systemDeliveries } from '../../core/outbox/system.js'
import { StateError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../../model/trouble.js'

export interface StallNotices {
	/** The stall that is recorded and not yet ended. */
	stallOf(network: string): NetworkTrouble | undefined
	note(notice: StallNotice): void
	/** Ends the stalls of networks that are no longer configured. */
	forgetOthers(networks: readonly string[]): void
	/** Posts the waiting notices in order, once the state can be written. */
	post(): Promise<void>
}

type StallNotice = SystemNotice & { readonly type: 'system.stalled' | 'system.recovered' }

export interface StallNoticeOptions {
	/** Names of the receivers of a network's watches. */
	readonly receiversOf: (network: string) => readonly string[]
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	readonly store: Pick<Store, 'post'>
	readonly troubles: TroubleBook
	readonly clock: Clock
	readonly log: Log
}

interface Waiting {
	readonly trouble: NetworkTrouble
	readonly notice: StallNotice
	readonly nowMs: number
}

export function createStallNotices(options: StallNoticeOptions): StallNotices {
	const { receiversOf, recipientsOf, store, troubles, clock, log } = options
	const waiting: Waiting[] = []
	let troubled = false

	const stalls = () => troubles.current().open.filter(isStall)
	const stallOf = (network: string) => stalls().find((trouble) => trouble.network === network)

	function note(notice: StallNotice): void {
		const { type, network, chainId, checkpoint, sinceMs } = notice
		// The recovery goes to the receivers of the stall.
		const receivers = (type === 'system.recovered' ? stallOf(network)?.receivers : undefined) ?? receiversOf(network)
		const at = checkpoint === null ? null : String(checkpoint)
		waiting.push({
			trouble: { kind: 'stalled', network, chainId, sinceMs, receivers, checkpoint: at, announced: false },
			notice,
			nowMs: clock(),
		})
	}

	async function postOne({ trouble, notice, nowMs }: Waiting): Promise<void> {
		const leave = (instead: readonly Trouble[]) =>
			troubles.change((all) => ({ ...all, open: [...othersThan(trouble.network, all.open), ...instead] }))
		const post = ({ sinceMs, receivers }: NetworkTrouble) =>
			store.post(systemDeliveries({ ...notice, sinceMs }, receivers, { recipientsOf, nowMs, digest: sha256 }))
		if (notice.type === 'system.stalled') {
			const own = stallOf(trouble.network) ?? trouble
			if (own === trouble) await troubles.change((all) => ({ ...all, open: [...all.open, trouble] }))
			await post(own)
			await leave([{ ...own, announced: true }])
		} else if (stallOf(trouble.network) !== undefined) {
			await post(trouble)
			await leave([])
		}
	}

	return {
		stallOf,
		note,
		forgetOthers(networks) {
			for (const { network, chainId, sinceMs } of stalls()) {
				if (networks.includes(network)) continue
				const reason = `${network} is no longer configured: it is not scanned`
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
					log.error({ err: error }, 'the receivers cannot be notified until the state can be written again')
				troubled = true
			}
		},
	}
}

function isStall(trouble: Trouble): trouble is NetworkTrouble {
	return trouble.kind === 'stalled'
}

function othersThan(network: string, open: readonly Trouble[]): readonly Trouble[] {
	return open.filter((each) => !(isStall(each) && each.network === network))
}
