import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect } from 'vitest'
import { check } from '../../src/commands/check.js'
import type { Command, Io } from '../../src/commands/command.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { temporaryFolder } from '../support/folder.js'
import { testInFull, testOnce } from '../support/longRun.js'

let folder: string

beforeEach(() => {
	folder = temporaryFolder()
})

async function run(
	command: Command,
	args: { positionals?: string[]; config?: string; all?: boolean; env?: NodeJS.ProcessEnv } = {},
) {
	const out: string[] = []
	const err: string[] = []
	const io: Io = {
		out: (line) => out.push(line),
		err: (line) => err.push(line),
		env: args.env ?? {},
		cwd: folder,
		isTty: false,
		signal: new AbortController().signal,
		scrubber: createScrubber(),
	}
	const values = {
		...(args.config === undefined ? {} : { config: args.config }),
		...(args.all === undefined ? {} : { all: args.all }),
	}
	const code = await command.run({ values, positionals: args.positionals ?? [] }, io)
	return { code, out: out.join('\n'), err: err.join('\n') }
}

const unnoticed = 'has no `fallback`; if it stops accepting messages, alerts wait and no one is notified'

describe('check', () => {
	const settings = `networks:
  - name: base
    chain_id: 8453
    rpc: ["https://one.example.org/CANARY-key-8fK2xQ9vZ3", "https://two.example.org:8443"]
    confirmations: 12
    explorer: "https://basescan.org"
  - name: gnosis
    chain_id: 100
    rpc: ["http://127.0.0.1:8545"]
    schedule: "0 */5 * * * *"
    confirmations: finalized
    settle: 64
    symbol: xDAI
    source: trace_block
receivers:
  - name: mail
    type: email
    smtp: "smtp://mail.example.org"
    from: Watch <watch@example.org>
    to: [a@example.org, b@example.org]
  - {name: hook, type: webhook, url: "https://hooks.example.org/CANARY-path-8fK2xQ9vZ3"}
  - {name: idle, type: webhook, url: "https://idle.example.org"}
http: 127.0.0.1:9464
`
	const watchlists = {
		'a.yaml': `network: base
receivers: [mail, hook]
watches:
  - {address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e, label: Treasury, min_value: 0.5}
  - address: 0x00000000219ab540356cbb839cbe05303d7705fa
    kinds: [deployment]
    direction: out
    from_block: 7
    receivers: [hook]
`,
		'b.yaml': `network: gnosis
receivers: [hook]
watches:
  - {address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e, kinds: [transfer], direction: in, min_value: 1 wei}
`,
	}

	beforeEach(() => {
		mkdirSync(join(folder, 'watchlists'))
		writeFileSync(join(folder, 'tracewatch.yaml'), settings)
		for (const [name, content] of Object.entries(watchlists)) writeFileSync(join(folder, 'watchlists', name), content)
	})

	testInFull('says that no books are kept of more than 100,000 watches', async () => {
		const lines = Array.from({ length: 100_001 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`)
		const named = 'network: gnosis\nreceivers: [hook]\nkinds: [transfer, income]\naddresses_from: many.csv\n'
		writeFileSync(join(folder, 'watchlists', 'b.yaml'), named)
		const words = 'keeps no books, for there are more than 100,000 watches'
		writeFileSync(join(folder, 'watchlists', 'many.csv'), lines.slice(1).join('\n'))
		expect((await run(check)).out).not.toContain(words)
		writeFileSync(join(folder, 'watchlists', 'many.csv'), lines.join('\n'))
		const { out, err } = await run(check)
		expect(out).toContain(words)
		expect(err).toContain('none are kept of that many addresses: watch fewer')
	})

	testOnce('says in plain words who is notified of what', async () => {
		const { code, out, err } = await run(check)
		expect(out.split('\n')).toEqual([
			'tracewatch.yaml; state in state; metrics and health at 127.0.0.1:9464',
			'',
			'Networks',
			'  base (chain 8453): asks one.example.org, then two.example.org:8443',
			'    polls every 12s, up to 12 blocks behind the newest; ' + 'each block is looked at again once it is finalized',
			'    keeps books: a balance change that no event explains is reported',
			'    names no tokens: only watches that set `tokens` report any',
			'  gnosis (chain 100): asks 127.0.0.1:8545, by trace_block',
			'    polls every 5m, up to the newest finalized block; each block is looked at again 64 blocks later',
			'    keeps books: a balance change that no event explains is reported',
			'    names no tokens: only watches that set `tokens` report any',
			'',
			'Receivers',
			'  mail: mail from Watch <watch@example.org> to a@example.org, b@example.org, through mail.example.org:587',
			'  hook: webhook at hooks.example.org, not signed',
			'  idle: webhook at idle.example.org, not signed',
			'',
			'Watches',
			'  Treasury 0x742d35Cc6634C0532925a3b844Bc454e4438f44e on base: ' +
				'transfers in and out of at least 0.5 ETH, deployments, foreign code that it runs, ' +
				'requests to the consensus layer, withdrawals from staking, delegations, ' +
				'changes of who rules it, if it has code, what is unexplained → mail, hook',
			'  0x00000000219ab540356cBB839Cbe05303d7705Fa on base: deployments by it, from block 7 on → hook',
			'  0x742d35Cc6634C0532925a3b844Bc454e4438f44e on gnosis: transfers in → hook',
			'',
			'Not reported as events: deposits that a layer 2 mints. Where books are kept, ' +
				'balance changes without a reported movement come as unexplained.',
			'',
			'configuration is right: 2 networks, 3 watches, 3 receivers',
		])
		expect(err.split('\n')).toEqual([
			`warning: tracewatch.yaml:16:11: \`mail\` ${unnoticed}`,
			`warning: tracewatch.yaml:21:12: \`hook\` ${unnoticed}`,
			'warning: tracewatch.yaml:22:12: no watch names the receiver `idle`',
		])
		expect(code).toBe(0)
	})

	testOnce('behavior: for Arbitrum it says what is moved outside of the EVM', async () => {
		writeFileSync(join(folder, 'tracewatch.yaml'), settings.replace('chain_id: 8453', 'chain_id: 42161'))
		const { out } = await run(check)
		expect(out).toContain(
			'deposits, retryable tickets and their refunds move coins outside of the EVM: these are not reported (base)',
		)
	})

	testOnce('behavior: of a long watchlist the first rows are named and the rest counted; all with --all', async () => {
		const long = (count: number) =>
			'network: base\nreceivers: [idle]\nwatches:\n' +
			`${Array.from({ length: count }, (_, index) => `  - address: "0x${String(index).padStart(40, '0')}"\n`).join('')}`
		const linesOf = async (all: boolean) =>
			(await run(check, { all })).out.split('\n').filter((line) => line.includes('→ idle'))
		writeFileSync(join(folder, 'watchlists/long.yaml'), long(200))
		expect(await linesOf(false)).toHaveLength(200)
		writeFileSync(join(folder, 'watchlists/long.yaml'), long(201))
		const { out } = await run(check)
		expect(out.split('\n').filter((line) => line.includes('→ idle'))).toHaveLength(10)
		expect(out).toContain('\n  … and 191 more in long.yaml; --all names them\n')
		expect(await linesOf(true)).toHaveLength(201)
	})

	testOnce('reads the file that -c names', async () => {
		mkdirSync(join(folder, 'other'))
		writeFileSync(join(folder, 'other/mine.yaml'), `${settings}watchlists: ../watchlists\n`)
		expect((await run(check, { config: 'other/mine.yaml' })).out).toContain('other/mine.yaml; state in other/state')
	})

	testOnce('error: every problem of every file, and 78', async () => {
		writeFileSync(join(folder, 'tracewatch.yaml'), settings.replace('chain_id: 100', 'chain_id: gnosis'))
		writeFileSync(join(folder, 'watchlists/a.yaml'), watchlists['a.yaml'].replace('[mail, hook]', '[mial]'))
		const { code, out, err } = await run(check)
		expect([code, out]).toEqual([78, ''])
		expect(err.split('\n')).toEqual([
			'tracewatch.yaml:8:15: `chain_id` must be a whole number such as 12, not `gnosis`',
			'watchlists/a.yaml:2:13: no receiver `mial` is in the settings; did you mean `mail`?',
			'configuration is wrong: 2 problems',
		])
	})

	testOnce('error: no configuration at all', async () => {
		rmSync(join(folder, 'tracewatch.yaml'))
		const { code, err } = await run(check)
		expect(code).toBe(78)
		expect(err).toContain('tracewatch setup')
	})
})
