import type { Alert } from '../model/alert.js'
import type { Announcement } from '../model/state.js'
import { type Difference, isAnnounced } from './compare.js'

/** Alerts of one id. `proved`: of an event that not every endpoint tells of. */
export interface Found {
	readonly alerts: readonly Alert[]
	readonly proved?: true
}

/** The difference with these alerts in it, but for those that were announced and still stand. */
export function withFindings(
	difference: Difference,
	found: readonly Found[],
	retracted: readonly Announcement[],
	announcements: ReadonlyMap<string, Announcement>,
): Difference {
	const news = [...difference.news]
	const changed = [...difference.announcements]
	const now = new Map(changed.map((entry) => [entry.id, entry]))
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
		changed.push({
			id: data.id,
			block,
			txHash: data.txHash,
			alerts,
			status: 'announced',
			revision,
			...(proved && { proved }),
		})
	}
	const gone = retracted.map((entry): Announcement => ({ ...entry, status: 'retracted', revision: entry.revision + 1 }))
	const { payees } = difference
	const retractions = [...difference.retracted, ...gone]
	return { news, retracted: retractions, announcements: [...changed, ...gone], ...(payees && { payees }) }
}
