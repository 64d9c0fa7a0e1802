// The stage of the demo: a node, receivers, and the built program. However the demo ends, nothing of it is left.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startReceivers } from './receivers.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** Far above what any step takes: a busy machine may pause a process. */
const PATIENCE_MS = 60_000
/** Set, so that the node estimates nothing and takes transactions that are meant to fail. */
const GAS = 3_000_000

/**
 * `watchlist`: its text. `prepare(rpc)`: what is on the chain before the program starts. `more`: lines below the
 * receivers of tracewatch.yaml.
 */
export async function openStage(watchlist, prepare = async () => {}, more = '') {
	if (!existsSync(cli)) fail('The program is not built. Run `npm ci` first.')
	const folder = await mkdtemp(join(tmpdir(), 'tracewatch-demo-'))
	const running = []
	process.on('exit', () => {
		for (const { child } of running) child.kill('SIGKILL')
		rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
	})
	// npm passes a signal on to the shell only: when the shell is gone, this must end too.
	const parent = process.ppid
	setInterval(() => process.ppid === parent || process.exit(1), 500).unref()
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
		process.on(signal, () => process.exit(128 + constants.signals[signal]))

	const start = (file, args, env) => {
		const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
		const one = { child, output: '' }
		running.push(one)
		for (const stream of [child.stdout, child.stderr])
			stream.on('data', (text) => {
				one.output += text
			})
		child.on('error', ({ message }) => fail(`${file} does not start: ${message}`))
		child.on('close', (code) => fail(`${file} ended with ${code}:\n${one.output.slice(-4_000)}`))
		return one
	}

	const anvil = start(anvilPath(), ['--host', '127.0.0.1', '--port', '0'])
	const port = await until('the node listens', () => /Listening on 127\.0\.0\.1:(\d+)/.exec(anvil.output)?.[1])
	const rpcUrl = `http://127.0.0.1:${port}`
	const rpc = async (method, ...params) => {
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
		const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
		const { result, error } = await answer.json()
		if (error !== undefined) fail(`${method}: ${error.message}`)
		return result
	}
	await prepare(rpc)

	const secret = `whsec_${randomBytes(24).toString('base64')}`
	const receivers = await startReceivers(secret, fail)
	await mkdir(join(folder, 'watchlists'))
	await writeFile(join(folder, 'watchlists/local.yaml'), watchlist)
	const config = join(folder, 'tracewatch.yaml')
	const settings = await readFile(new URL('tracewatch.yaml', import.meta.url), 'utf8')
	await writeFile(config, settings.replace('watchlists: watchlists\n', `${more}watchlists: watchlists\n`))
	start(process.execPath, [cli, 'run', '-c', config], {
		DEMO_RPC_URL: rpcUrl,
		DEMO_SMTP_URL: receivers.smtpUrl,
		DEMO_HOOK_URL: receivers.hookUrl,
		DEMO_HOOK_SECRET: secret,
	})

	/** Resolves to what `probe` gives when that is something. */
	async function until(what, probe) {
		for (const limit = Date.now() + PATIENCE_MS; ; ) {
			const found = await probe()
			if (found) return found
			if (Date.now() > limit)
				fail(`Not so after ${PATIENCE_MS / 1000} s: ${what}.\n${running.at(-1).output.slice(-4_000)}`)
			await sleep(50)
		}
	}

	/** Waits until every block is scanned, every balance is compared with the chain, and nothing is left to be sent. */
	const settled = () =>
		until('every block is scanned and every message sent', async () => {
			const head = Number(await rpc('eth_blockNumber'))
			const run = promisify(execFile)(process.execPath, [cli, 'status', '--json', '-c', config])
			const { stdout } = await run.catch((error) => error)
			const { networks = [], receivers = [] } = stdout.startsWith('{') ? JSON.parse(stdout) : {}
			const isRead = networks.some(({ checkpoint, books }) => {
				return checkpoint === head && books?.closedTo === head && books.openCount === 0
			})
			return isRead && receivers.every(({ pending }) => pending === 0)
		})

	/** Sends a transaction; resolves to its receipt. */
	const send = async ({ valueWei = 0n, succeeds = true, ...tx }) => {
		const request = { ...tx, value: hex(valueWei), gas: hex(GAS) }
		const hash = await rpc('eth_sendTransaction', request)
		const receipt = await until(`${hash} is in a block`, () => rpc('eth_getTransactionReceipt', hash))
		if ((receipt.status === '0x1') !== succeeds) fail(`The node does not follow the demo: ${hash} has another end.`)
		return { ...receipt, block: Number(receipt.blockNumber) }
	}

	await settled()
	return { rpc, send, until, settled, ...receivers }
}

export function hex(number) {
	return `0x${number.toString(16)}`
}

export function fail(words) {
	console.error(`\nThe demo went wrong. ${words}`)
	process.exit(1)
}

/** The program itself, not the script of Node around it: signals reach it. */
function anvilPath() {
	const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
	const arch = process.arch === 'x64' ? 'amd64' : process.arch
	try {
		const main = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
		return createRequire(main).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/${name}`)
	} catch {
		fail(`Anvil, the node of the demo, is not installed for ${process.platform} ${process.arch}. Run \`npm ci\` first.`)
	}
}
