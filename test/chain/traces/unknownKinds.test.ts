import { expect, test } from 'vitest'
import { createUnknownKinds } from '../../../src/chain/traces/unknownKinds.js'
import type { Log } from '../../../src/model/ports.js'
import { silent } from '../../support/silent.js'

function listen(): { readonly onUnknown: (type: string) => void; readonly said: [object, string][] } {
	const said: [object, string][] = []
	const log: Log = { ...silent, warn: (facts, message) => void said.push([facts, message]) }
	return { onUnknown: createUnknownKinds(log), said }
}

test('default: an unknown kind of frame is warned of once', () => {
	const { onUnknown, said } = listen()
	for (const type of ['INVALID', 'STOP', 'INVALID', 'STOP']) onUnknown(type)
	expect(said.map(([facts]) => facts)).toEqual([{ type: 'INVALID' }, { type: 'STOP' }])
})

test('error: a node that makes up kinds is heard twenty-one times', () => {
	const { onUnknown, said } = listen()
	for (let number = 0; number < 25_785; number++) onUnknown(`KIND${number}`)
	expect(said).toHaveLength(21)
	expect(said.at(-1)).toEqual([{ kinds: 20 }, 'more than 20 unknown kinds of frames: further ones are not logged'])
})

test('error: the kind that a node names is cut to one short line', () => {
	const { onUnknown, said } = listen()
	onUnknown(`\u001b[31mred\n\u202ereversed ${'x'.repeat(1_000_000)}`)
	const [facts] = said[0] ?? [{}]
	expect(JSON.stringify(facts)).toMatch(/^\{"type":"\[31mred reversed x+…"\}$/)
	expect(JSON.stringify(facts).length).toBeLessThan(60)
})
