// The walk of examples/tokens, as its README has it: on a new Anvil, by the program.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { headline } from '../../src/notify/text/sentence.js'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { openSite } from '../support/program.js'

const folder = join(import.meta.dirname, '../../examples/tokens')
const usual = 'http://127.0.0.1:8545'
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

interface Told {
	readonly blockNumber: number
	readonly direction: string
	readonly value: string
	readonly initiator: string
	readonly token: { readonly symbol: string; readonly address: string; readonly known: boolean }
	readonly lookalike?: { readonly of: string }
}

test('default: the example of token transfers reports what its README says of each block', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	await promisify(execFile)(process.execPath, [join(folder, 'play.js'), node.url])
	const watchlist = read('watchlists/treasury.yaml')
	const site = openSite({
		'tracewatch.yaml': read('tracewatch.yaml').replace(usual, node.url),
		'watchlists/treasury.yaml': watchlist,
		'all.yaml': read('tracewatch.yaml').replace(usual, node.url).replace('watchlists: watchlists', 'watchlists: all'),
		'all/treasury.yaml': watchlist.replace('tokens: known', 'tokens: all'),
	})
	onTestFinished(() => site.close())
	const supplier = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
	const replay = async (file: string, format: string) => {
		const range = ['--network', 'local', '--from', '1', '--to', '10']
		const { stdout, stderr, code } = await typed(['replay', '-c', file, ...range, '--format', format], {
			cwd: site.folder,
		})
		expect(code, stderr).toBe(0)
		return stdout.trimEnd().split(/\r?\n/)
	}
	const told = async (file: string) =>
		(await replay(file, 'json'))
			.map((line) => (JSON.parse(line) as { data: Told }).data)
			.map(({ blockNumber, direction, value, token, lookalike }) =>
				[blockNumber, direction, value, token.symbol, token.known, lookalike?.of === supplier].join(' '),
			)
	const known = [
		'4 in 100 USDC true false',
		'5 out 25 USDC true false',
		'6 in 0.000001 USDC true true',
		'10 out 10 USDC true false',
	]
	expect(await told('tracewatch.yaml')).toEqual(known)
	expect(await told('all.yaml')).toEqual([
		...known.slice(0, 3),
		'7 out 0 USDC true true',
		'8 out 25 USDC false true',
		'9 in 1000 claim at gift[.]example false false',
		...known.slice(3),
	])
	const subjects = (await replay('all.yaml', 'json')).map((line) => headline(JSON.parse(line))).join('\n')
	for (const subject of read('README.md').match(/^\[local\] .*$/gm) ?? ['none']) expect(subjects).toContain(subject)
	// Where one word says what moved, a counterfeit is none of the operator's.
	const rows = (await replay('all.yaml', 'table')).map((line) => line.split(/ {2,}/))
	const assets = rows.slice(1).map(([block, , , , , asset]) => [block, asset])
	expect(assets).toContainEqual(['8', 'unknown "USDC" 0xA15BB66138824a1c7167f5E85b957d04Dd34E468'])
	expect(assets.filter(([, asset]) => asset === 'USDC')).toHaveLength(5)
})
