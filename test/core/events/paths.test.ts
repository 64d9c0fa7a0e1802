import { expect, test } from 'vitest'
import { createPathMap } from '../../../src/core/events/paths.js'

test('values are found by their path, and on the way down to another', () => {
	const map = createPathMap<string>()
	map.set([], 'root')
	map.set([0, 2], 'deep')
	expect([map.get([]), map.get([0, 2]), map.get([0]), map.get([1])]).toEqual(['root', 'deep', undefined, undefined])
	expect(map.findAbove([0, 2, 1], () => true)).toBe('root')
	expect(map.findAbove([0, 2, 1], (value) => value === 'deep')).toBe('deep')
	expect(map.findAbove([0, 2], (value) => value === 'deep')).toBeUndefined()
	expect(map.findAbove([], () => true)).toBeUndefined()
	expect(map.findAbove([7, 7], (value) => value === 'deep')).toBeUndefined()
})
