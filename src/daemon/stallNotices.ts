/**
 * On their way to the receivers: that a network stalls, and that it goes on. That something is to be ended is written
 * down before it is told, and that it is ended after that was told: whatever a kill leaves is ended by the next run.
 */

import { sha256 } from '../base/sha256.js'
import { type SystemNotice, systemDeliveries } from '../core/system.js'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { Log, Store } from '../model/ports.js'
import type { NetworkTrouble, Trouble, TroubleBook } from '../model/trouble.js'

export interface StallNotices {
	/** What was told, or begun to be, and is not ended; by another instance, too. */
	stallOf(network: string): NetworkTrouble | undefined
	/** Something noted is not posted yet. */
	isWaiting(network: string): boolean
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
		// Its end goes to whom it was announced.
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
			const own = await begin(trouble)
			if (own === null) return
			await post(own)
			await leave([{ ...own, announced: true }])
		} else if (stallOf(trouble.network) !== undefined) {
			await post(trouble)
			await leave([])
		}
	}

	/** Null where another instance has told it; one that has just begun to may not come to it: the same is told. */
	async function begin(trouble: NetworkTrouble): Promise<NetworkTrouble | null> {
		let own: NetworkTrouble | null = trouble
		await troubles.change((all) => {
			const stall = all.open.filter(isStall).find(({ network }) => network === trouble.network)
			own = stall === undefined ? trouble : stall.announced && stall.sinceMs !== trouble.sinceMs ? null : stall
			return own === trouble ? { ...all, open: [...all.open, trouble] } : all
		})
		return own
	}

	return {
		stallOf,
		isWaiting: (network) => waiting.some(({ trouble }) => trouble.network === network),
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

function isStall(trouble: Trouble): trouble is NetworkTrouble {
	return trouble.kind === 'stalled'
}

function othersThan(network: string, open: readonly Trouble[]): readonly Trouble[] {
	return open.filter((each) => !(isStall(each) && each.network === network))
}
