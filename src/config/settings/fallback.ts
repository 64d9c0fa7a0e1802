import { quoted } from '../../base/quoted.js'
import type { Problem } from '../../errors.js'
import { at } from '../names.js'
import type { Source } from '../source.js'
import { suggestion } from '../words.js'

/**
 * Fallbacks of receivers that lead nowhere: to none that there is, or round in a circle. Looks at whatever was read.
 */
export function fallbackProblems(source: Source, value: unknown): readonly Problem[] {
	const list = at(value, 'receivers')
	const receivers = (Array.isArray(list) ? list : []).map((receiver: unknown, index) => ({
		index,
		name: at(receiver, 'name'),
		fallback: at(receiver, 'fallback'),
	}))
	const byName = new Map(receivers.map((receiver) => [receiver.name, receiver]))
	const names = [...byName.keys()].filter((name) => typeof name === 'string')
	const circled = new Set<unknown>()
	return receivers.flatMap(({ index, name, fallback }) => {
		if (typeof fallback !== 'string') return []
		const fault = (message: string) => [source.problem(['receivers', index, 'fallback'], message)]
		if (!byName.has(fallback)) {
			const others = names.filter((other) => other !== name)
			return fault(`no receiver ${quoted(fallback)} is in the settings${suggestion(fallback, others)}`)
		}
		if (fallback === name) return fault('a receiver cannot be its own `fallback`')
		if (circled.has(name)) return []
		const circle = circleFrom(name)
		if (circle === null) return []
		for (const member of circle) circled.add(member)
		return fault(
			`these fallbacks go round in a circle: ${[...circle, name].map((one) => quoted(String(one))).join(', ')}`,
		)
	})

	/** The names from this one back to it; null when the way ends, or goes round elsewhere. */
	function circleFrom(start: unknown): readonly unknown[] | null {
		const way = [start]
		for (;;) {
			const next = byName.get(way.at(-1))?.fallback
			if (next === start) return way
			if (typeof next !== 'string' || way.includes(next)) return null
			way.push(next)
		}
	}
}
