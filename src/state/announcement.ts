/**
 * Stored form of announcements, for both stores. One number, `turn`, encodes status and revision: each announcement and
 * each retraction of an id adds one, so an even turn is announced and an odd one retracted. The form of version 0.1.0
 * has the same meaning.
 */

import type { BlockRef } from '../model/chain.js'
import type { Announcement } from '../model/state.js'

export type StoredAnnouncement = Pick<Announcement, 'txHash' | 'alerts' | 'proved'> & { readonly turn: number }

export function storedOf({ txHash, alerts, revision, proved }: Announcement): StoredAnnouncement {
	return { txHash, alerts, turn: revision, ...(proved && { proved }) }
}

export function announcementOf(
	id: string,
	block: BlockRef,
	{ txHash, alerts, turn, proved }: StoredAnnouncement,
): Announcement {
	return {
		id,
		block,
		txHash,
		alerts,
		status: turn % 2 === 0 ? 'announced' : 'retracted',
		revision: turn,
		...(proved && { proved }),
	}
}
