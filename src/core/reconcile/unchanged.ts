import type { Announcement } from '../../model/state.js'

type Announcements = ReadonlyMap<string, Announcement>

/**
 * Whether a judgement of announcements still holds: between the two states, none of those that it depends on changed,
 * and none that it changes. A forgotten announcement did not change.
 */
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
