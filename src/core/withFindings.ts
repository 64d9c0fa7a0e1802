import type { Alert } from '../model/alert.js'
import type { Announcement } from '../model/state.js'
import { type Difference, isAnnounced, retractionOf } from './compare.js'

/** Alerts of one id. `proved`: of an event that not every endpoint tells of. */
export interface Found {
	readonly alerts: readonly Alert[]
	readonly proved?: true
}

/**
 * The difference with these alerts in it, but for those that were announced and still stand. One of them that is
 * `retracted` too is announced anew.
 */
export function withFindings(
	difference: Difference,
	found: readonly Found[],
	retracted: readonly Announcement[],
	announcements: ReadonlyMap<string, Announcement>,
): Difference {
	// Nearly always; the difference may be as large as a stranger likes.
	if (found.length === 0 && retracted.length === 0) return difference
	const news = [...difference.news]
	const gone = retracted.map(retractionOf)
	const now = new Map([...difference.announcements, ...gone].map((entry) => [entry.id, entry]))
	const known = new Set(news.flatMap(({ alerts }) => alerts.map(({ data }) => data.id)))
	for (const { alerts, proved } of found) {
		const data = alerts[0]?.data
		if (data === undefined || known.has(data.id)) continue
		known.add(data.id)
		const before = now.get(data.id) ?? announcements.get(data.id)
		if (before !== undefined && isAnnounced(before)) continue
		const revision = before === undefined ? 0 : before.revision + 1
		const block = { number: BigInt(data.blockNumber), hash: data.blockHash }
		news.push({ alerts, revision })
		const { id, txHash } = data
		now.set(id, { id, block, txHash, alerts, status: 'announced', revision, ...(proved && { proved }) })
	}
	const { payees } = difference
	const retractions = [...difference.retracted, ...gone]
	return { news, retracted: retractions, announcements: [...now.values()], ...(payees && { payees }) }
}
