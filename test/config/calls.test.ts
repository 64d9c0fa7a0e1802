// `calls` of watches: what is read, and what is said of what is wrong.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeConfig } from '../../src/config/describe.js'
import { loadConfig } from '../../src/config/load.js'
import { ConfigError } from '../../src/errors.js'
import { temporaryFolder } from '../support/folder.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
})

function write(watch: string, { head = '', more = '' } = {}): void {
	const network = `networks:\n  - name: local\n    chain_id: 1\n    rpc: ["http://h"]\n`
	const settings = `${network}receivers:\n  - {name: hook, type: webhook, url: "http://h"}\n`
	writeFileSync(join(folder, 'tracewatch.yaml'), settings)
	const entry = `  - address: "0x${'2'.repeat(40)}"\n${watch}`
	writeFileSync(
		join(folder, 'watchlists/a.yaml'),
		`network: local\nreceivers: [hook]\n${head}watches:\n${entry}${more}`,
	)
}
const load = () => loadConfig('tracewatch.yaml', { env: {}, cwd: folder })

async function problems(): Promise<string> {
	try {
		await load()
		return ''
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		return error.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n')
	}
}

async function chosen() {
	const { calls } = (await load()).watches.at(0) ?? {}
	return [calls?.failed, [...(calls?.functions ?? [])].map(([selector, { signature }]) => [selector, signature])]
}

describe('the keys `calls` and `failed_calls` of a watch', () => {
	// Selectors as the reference of Solidity contracts lists them.
	test('default: signatures and selectors', async () => {
		write('    calls: ["pause()", "transferOwnership(address)", 0x6A761202]\n    failed_calls: true\n')
		expect(await chosen()).toEqual([
			true,
			[
				['0x8456cb59', 'pause()'],
				['0xf2fde38b', 'transferOwnership(address)'],
				['0x6a761202', null],
			],
		])
	})

	test('behavior: the description names failed calls and the values that are read', async () => {
		write(
			'    kinds: [call, control]\n    calls: ["pause()"]\n    failed_calls: true\n    reads: ["governor()", slot 7]\n',
		)
		const address = `0x${'2'.repeat(40)}`
		expect(describeConfig(await load(), folder)).toContain(
			`  ${address} on local: calls of pause() (failed ones too), ` +
				'changes of who rules it and of governor(), slot 7, if it has code → hook',
		)
	})

	// Selectors are those of the canonical forms: pause(uint256), f((uint256,address)[]), f(address).
	test('behavior: a signature may use short names of types, and is reported in full', async () => {
		write('    calls: ["pause(uint)", "f((uint,address)[] x)", "f(address payable to)"]\n')
		expect(await chosen()).toEqual([
			false,
			[
				['0x136439dd', 'pause(uint256)'],
				['0xdc26ad17', 'f((uint256,address)[])'],
				['0xfc68521a', 'f(address)'],
			],
		])
	})

	test('default: a watch says nothing', async () => {
		write('')
		expect((await load()).watches.at(0)).not.toHaveProperty('calls')
	})

	test('behavior: a signature may name the arguments', async () => {
		write('    calls: ["sweep(address to, uint256)"]\n')
		expect(await chosen()).toEqual([false, [[expect.any(String), 'sweep(address,uint256)']]])
		const [inputs] = [...((await load()).watches.at(0)?.calls?.functions.values() ?? [])].map((one) => one.inputs)
		expect(inputs?.map(({ name, type }) => [name, type])).toEqual([
			['to', 'address'],
			[undefined, 'uint256'],
		])
	})

	test('behavior: options of the whole watchlist hold for a watch that has none of its own', async () => {
		write('', { head: 'calls: ["pause()"]\nfailed_calls: true\n' })
		expect(await chosen()).toEqual([true, [['0x8456cb59', 'pause()']]])
		write('    calls: ["unpause()"]\n', { head: 'calls: ["pause()"]\nfailed_calls: true\n' })
		expect(await chosen()).toEqual([true, [['0x3f4ba83a', 'unpause()']]])
	})
})

describe('error: a wrong value of `calls` is refused with its place', () => {
	test.each([
		['[pause]', 'a.yaml:5: an entry of `calls` must be a signature such as pause() or a selector'],
		['["pause(uint)x"]', 'a.yaml:5: an entry of `calls` must be a function such as pause() or'],
		['["pause(foo)"]', 'a.yaml:5: an entry of `calls` must be a function such as pause() or'],
		['["pause()"]\n    kinds: [transfer]', 'a.yaml:5: `kinds` leaves out call, so `calls` would send no alert'],
	])('calls: %s', async (calls, message) => {
		write(`    calls: ${calls}\n`)
		expect(await problems()).toContain(message)
	})

	test('for the whole watchlist: one watch has calls, and another does not: right', async () => {
		const head = 'failed_calls: true\nkinds: [transfer, call]\n'
		write('    calls: ["pause()"]\n', { head, more: `  - {address: "0x${'3'.repeat(40)}"}\n` })
		expect(await problems()).toBe('')
	})

	test('failed_calls without calls', async () => {
		write('    failed_calls: true\n')
		expect(await problems()).toContain('a.yaml:5: `failed_calls` does nothing without `calls`')
	})
})
