import type { Announcement } from '../../model/state.js'

type Announcements = ReadonlyMap<string, Announcement>

/** Whether nothing that a judgement depends on or changes was changed meanwhile; forgotten ones did not change. */
export function isUnchanged(
	before: Announcements,
	now: Announcements,
	{
		concerns,
		changes,
	}: { readonly concerns: (entry: Announcement) => boolean; readonly changes: readonly Announcement[] },
): boolean {
	if (before === now) return true
	const own = new Set(changes.map(({ id }) => id))
	for (const [id, entry] of now) {
		const known = before.get(id)
		if (known === entry) continue
		if (own.has(id) || concerns(entry) || (known !== undefined && concerns(known))) return false
	}
	return true
}
