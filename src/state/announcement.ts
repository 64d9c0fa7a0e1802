/**
 * Announcements as both stores write them. One number, `turn`, stands for status and revision: every announcement and
 * every retraction of an id adds one, so that an even one is announced and an odd one retracted. What version 0.1.0
 * wrote reads alike.
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
