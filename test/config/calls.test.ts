// `calls` of watches and `abi` of networks: what is read, and what is said of what is wrong.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { ConfigError } from '../../src/errors.js'
import { temporaryFolder } from '../support/folder.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	mkdirSync(join(folder, 'abi'))
})

const safe = [
	{
		type: 'function',
		name: 'execTransaction',
		inputs: [
			{ name: 'to', type: 'address' },
			{ name: 'value', type: 'uint256' },
			{ name: 'data', type: 'bytes' },
			{ name: 'operation', type: 'uint8' },
			...['safeTxGas', 'baseGas', 'gasPrice'].map((name) => ({ name, type: 'uint256' })),
			{ name: 'gasToken', type: 'address' },
			{ name: 'refundReceiver', type: 'address' },
			{ name: 'signatures', type: 'bytes' },
		],
	},
	{ type: 'event', name: 'AddedOwner', inputs: [{ name: 'owner', type: 'address' }] },
	{ type: 'function', name: 'pause', inputs: [] },
	{ type: 'function', name: 'pause', inputs: [{ name: 'until', type: 'uint256' }] },
	{
		type: 'function',
		name: 'batch',
		inputs: [{ name: 'calls', type: 'tuple[]', components: [{ name: 'to', type: 'address' }, { type: 'bytes' }] }],
	},
]

function write(watch: string, { abi = '    abi: abi\n', head = '' } = {}): void {
	const network = `networks:\n  - name: local\n    chain_id: 1\n    rpc: ["http://h"]\n${abi}`
	const settings = `${network}receivers:\n  - {name: hook, type: webhook, url: "http://h"}\n`
	writeFileSync(join(folder, 'tracewatch.yaml'), settings)
	const entry = `  - address: "0x${'2'.repeat(40)}"\n${watch}`
	writeFileSync(join(folder, 'watchlists/a.yaml'), `network: local\nreceivers: [hook]\n${head}watches:\n${entry}`)
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

describe('what is read', () => {
	// Selectors as the reference of Solidity contracts lists them.
	test('default: signatures and selectors, without ABI files', async () => {
		write('    calls: ["pause()", "transferOwnership(address)", 0x6A761202]\n    failed_calls: true\n', { abi: '' })
		expect(await chosen()).toEqual([
			true,
			[
				['0x8456cb59', 'pause()'],
				['0xf2fde38b', 'transferOwnership(address)'],
				['0x6a761202', null],
			],
		])
		expect((await load()).networks[0]).not.toHaveProperty('abi')
	})

	// Selectors are those of the canonical forms: pause(uint256), f((uint256,address)[]), f(address).
	test('behavior: a signature may use short names of types, and is reported in full', async () => {
		write('    calls: ["pause(uint)", "f((uint,address)[] x)", "f(address payable to)"]\n', { abi: '' })
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

	test('behavior: names of the ABI files, each of its functions; a selector gets its signature', async () => {
		writeFileSync(join(folder, 'abi/safe.json'), JSON.stringify({ abi: safe, bytecode: '0x' }))
		write('    calls: [pause, 0x6a761202, batch]\n')
		const signature = 'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)'
		const [failed, functions] = await chosen()
		expect(failed).toBe(false)
		expect(functions).toEqual([
			['0x8456cb59', 'pause()'],
			['0x136439dd', 'pause(uint256)'],
			['0x6a761202', signature],
			[expect.any(String), 'batch((address,bytes)[])'],
		])
		const { functions: read } = (await load()).watches.at(0)?.calls ?? {}
		expect(
			read
				?.get('0x6a761202')
				?.inputs?.map(({ name }) => name)
				.slice(0, 3),
		).toEqual(['to', 'value', 'data'])
	})

	test('behavior: options of the whole watchlist hold for a watch that has none of its own', async () => {
		write('', { head: 'calls: ["pause()"]\nfailed_calls: true\n' })
		expect(await chosen()).toEqual([true, [['0x8456cb59', 'pause()']]])
		write('    calls: ["unpause()"]\n', { head: 'calls: ["pause()"]\nfailed_calls: true\n' })
		expect(await chosen()).toEqual([true, [['0x3f4ba83a', 'unpause()']]])
	})
})

describe('error: what is wrong', () => {
	test.each([
		[
			'[pauze]',
			'a.yaml:5: an entry of `calls` is no signature, no selector and no function of the ABI files: `pauze`; did',
		],
		['["pause(uint)x"]', 'a.yaml:5: an entry of `calls` must be a function such as pause() or'],
		['["pause(foo)"]', 'a.yaml:5: an entry of `calls` must be a function such as pause() or'],
		['["pause()"]\n    kinds: [transfer]', 'a.yaml:5: `kinds` leaves out call, so `calls` would send no alert'],
	])('calls: %s', async (calls, message) => {
		writeFileSync(join(folder, 'abi/safe.json'), JSON.stringify(safe))
		write(`    calls: ${calls}\n`)
		expect(await problems()).toContain(message)
	})

	test('failed_calls without calls', async () => {
		write('    failed_calls: true\n')
		expect(await problems()).toContain('a.yaml:5: `failed_calls` does nothing without `calls`')
	})

	test('a file of `abi` that cannot be read is the only problem of a watch that names its functions', async () => {
		writeFileSync(join(folder, 'abi/safe.json'), 'not JSON')
		write('    calls: [pause]\n')
		expect((await problems()).split('\n')).toEqual([expect.stringContaining('it is not JSON')])
	})

	test.each([
		['[{"type":"function","inputs":[]}]', 'the file abi/safe.json cannot be read: a function in it has no name'],
		['not JSON', 'the file abi/safe.json cannot be read: it is not JSON in UTF-8'],
		['{}', 'the file abi/safe.json cannot be read: it has no list of functions'],
		['[{"type":"function","name":"f","inputs":[{"type":"fo"}]}]', 'the file abi/safe.json cannot be read: must be a'],
	])('a file of `abi`: %s', async (content, message) => {
		writeFileSync(join(folder, 'abi/safe.json'), content)
		write('')
		expect(await problems()).toContain(`tracewatch.yaml:5: \`abi\`: ${message}`)
	})

	test('a folder of `abi` that is not there', async () => {
		write('', { abi: '    abi: nowhere\n' })
		expect(await problems()).toContain('`abi`: the folder nowhere cannot be read: it does not exist')
	})
})
