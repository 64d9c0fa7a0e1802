import { expect, test } from 'vitest'
import { nodeRefusal } from '../src/version.js'

test('default: a Node that runs the program is not refused', () => {
	for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) expect(nodeRefusal(version)).toBeNull()
})

test('error: an older one is refused in a sentence that says what to do', () => {
	for (const version of ['18.20.4', '20.18.3', '16.0.0']) {
		expect(nodeRefusal(version)).toContain(`needs Node 20.19 or newer, and this is Node ${version}`)
	}
})
