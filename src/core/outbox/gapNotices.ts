import type { Gap } from '../../model/state.js'
import type { Network } from '../../model/watch.js'
import { isAcceptanceNews, isOpen } from '../gaps.js'
import type { SystemNotice } from './system.js'

interface Facts {
	readonly network: Pick<Network, 'name' | 'chainId'>
	/** The gaps before the commit. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	readonly changes: readonly Gap[]
	/** Gaps that were read. */
	readonly closes: readonly Gap[]
	readonly checkpoint: bigint
	readonly head: bigint
	readonly nowMs: number
}

/** Notices of gaps that open, are accepted or close. A gap that was only suspected causes none. */
export function gapNotices({
	network,
	gaps,
	changes,
	closes,
	checkpoint,
	head,
	nowMs,
}: Facts): readonly SystemNotice[] {
	const common = { network: network.name, chainId: network.chainId, head }
	const opened = changes.filter((gap) => isOpen(gap) && !isOpenIn(gaps, gap))
	const accepted = changes.filter(({ block: { number }, isAcceptanceAnnounced }) => {
		const before = gaps.get(number)
		return isAcceptanceAnnounced === true && before !== undefined && isAcceptanceNews(before)
	})
	return [
		...opened.map(({ block: { number }, openedAtMs, tries, reason, transactions }): SystemNotice => {
			const words =
				transactions === undefined
					? `block ${number} of ${network.name} cannot be read, and was tried ${tries} times: ${reason}. ` +
						'It is asked for again, and what happened in it is sent when it was read; the blocks after it are watched'
					: `block ${number} of ${network.name} was read but for ${reason}. ` +
						'It is asked for again, and what happened there is sent when it was read; all else is watched'
			const at = { checkpoint: number > checkpoint ? number : checkpoint, sinceMs: openedAtMs ?? nowMs }
			return { type: 'system.gap', ...common, ...at, reason: words, blocks: { from: number, to: number } }
		}),
		...accepted.map(({ block: { number }, acceptedAtMs = nowMs }): SystemNotice => {
			const at = new Date(acceptedAtMs).toISOString()
			const words =
				`block ${number} of ${network.name} was accepted as not covered: what happened in it was not sent. ` +
				'It is still asked for at least once an hour; if it is read, what happened in it is sent'
			const facts = { checkpoint, sinceMs: acceptedAtMs, acceptedAt: at, reason: words }
			return { type: 'system.gap', ...common, ...facts, blocks: { from: number, to: number } }
		}),
		...closes.filter(isOpen).map(({ block: { number }, openedAtMs }): SystemNotice => {
			const minutes = Math.round((nowMs - (openedAtMs ?? nowMs)) / 60_000)
			const pause = minutes === 0 ? 'less than a minute' : minutes === 1 ? '1 minute' : `${minutes} minutes`
			const words = `block ${number} of ${network.name} was read after ${pause}; what happened in it is sent late`
			const at = { checkpoint, sinceMs: openedAtMs ?? nowMs }
			return { type: 'system.recovered', ...common, ...at, reason: words, blocks: { from: number, to: number } }
		}),
	]
}

function isOpenIn(gaps: ReadonlyMap<bigint, Gap>, { block }: Gap): boolean {
	const before = gaps.get(block.number)
	return before !== undefined && isOpen(before)
}
