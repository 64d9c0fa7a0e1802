import { quoted } from '../../base/text/quoted.js'
import type { Problem } from '../../errors.js'
import { at } from '../names.js'
import { suggestion } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'

/**
 * Finds fallbacks of receivers that name no existing receiver, or the receiver itself. Two may name each other: a
 * message to a fallback is not passed on to its own fallback. `value` is the unchecked data of the file.
 */
export function fallbackProblems(source: Source, value: unknown): readonly Problem[] {
	const list = at(value, 'receivers')
	const receivers = (Array.isArray(list) ? list : []).map((receiver: unknown, index) => ({
		index,
		name: at(receiver, 'name'),
		fallback: at(receiver, 'fallback'),
	}))
	const names = receivers.map(({ name }) => name).filter((name) => typeof name === 'string')
	return receivers.flatMap(({ index, name, fallback }) => {
		if (typeof fallback !== 'string') return []
		const fault = (message: string) => [source.problem(['receivers', index, 'fallback'], message)]
		if (!names.includes(fallback)) {
			const others = names.filter((other) => other !== name)
			return fault(`no receiver ${quoted(fallback)} is in the settings${suggestion(fallback, others)}`)
		}
		if (fallback === name) return fault('a receiver cannot be its own `fallback`')
		return []
	})
}
