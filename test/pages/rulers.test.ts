// The page of a watch that has code says who rules it, in HTML and JSON.
import { expect, test } from 'vitest'
import type { Contract } from '../../src/model/contract.js'
import { hash } from '../core/build.js'
import { addressOf } from '../state/samples.js'
import { manyWatches, pageFacts, servePages, shownState } from './facts.js'

const [own, owner, admin] = [addressOf(1), addressOf(2), addressOf(99)]
const entry: Contract = {
	...{ since: 5n, readAt: 1_234n, codeHash: hash(1), isSafe: false },
	values: { 'owner()': owner, admin, 'admin owner()': addressOf(77) },
}
const path = `/watch?network=ethereum&address=${own}`
const factsOf = (contract: Contract | null) =>
	pageFacts({
		watches: manyWatches(3),
		state: (network) =>
			network === 'ethereum' ? shownState({ contracts: new Map(contract === null ? [] : [[own, contract]]) }) : null,
	})

test('default: each value with what shows it, and a link where it is watched too', async () => {
	const url = await servePages(() => factsOf(entry))
	const text = await (await fetch(`${url}${path}`)).text()
	expect(text).toContain('Who rules it')
	expect(text).toMatch(/As read after block 1.234\./)
	for (const part of [owner, admin, addressOf(77), 'owner()', 'slot 0xb5312768']) expect(text).toContain(part)
	expect(text).toContain(`/watch?network=ethereum&amp;address=${owner}`)
	const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}${path}&format=json`)).json()
	expect(found.rulers).toMatchObject({ readAt: 1_234, isSafe: false })
	expect(found.rulers.rulings.map(({ change, value }: Record<string, string>) => [change, value])).toEqual([
		['admin', admin],
		['owner', addressOf(77)],
		['owner', owner],
	])
})

test('default: a watch without code, or of which nothing was read, has no such section', async () => {
	for (const contract of [null, { ...entry, values: {} }]) {
		const url = await servePages(() => factsOf(contract))
		expect(await (await fetch(`${url}${path}`)).text()).not.toContain('Who rules it')
		const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}${path}&format=json`)).json()
		expect(found.rulers).toBeNull()
	}
})
