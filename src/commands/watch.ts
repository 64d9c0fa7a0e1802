import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress, toChecksum } from '../config/address.js'
import { type Config, loadConfig } from '../config/load.js'
import { isAlert } from '../core/outbox/messageKinds.js'
import { openParts } from '../daemon/parts.js'
import { ConfigError, UsageError } from '../errors.js'
import type { Delivery } from '../model/delivery.js'
import type { Address } from '../model/glossary.js'
import type { Store } from '../model/ports.js'
import { sentence } from '../notify/text/sentence.js'
import { version } from '../version.js'
import { type Command, type CommandArgs, exitCodes, type Io, paragraphs, readBy } from './command.js'
import { chainIdOf } from './shared/chainId.js'
import { readingOf } from './shared/openConfig.js'
import { openLog } from './shared/openLog.js'
import { readBlock } from './shared/span.js'
import { isUnread } from './shared/unread.js'

export const watch: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Polls the node every two seconds and prints each payment, deployment and other alert of the address,
decided as the daemon does: payments inside of contracts too, and a line when the chain takes one back. Keeps no
state; ends with Ctrl-C.`),
			)
			.argument('<address>', 'to watch', readBy(parseAddress))
			.requiredOption('--rpc <url>', 'the node; it must offer trace_filter, trace_block or debug_traceBlockByNumber')
			.option('--from <block>', 'also what happened since this block; default: from now on', readBy(readBlock))
			.option('--symbol <text>', "of the chain's coin", 'ETH')
			.option('--json', 'one envelope a line, as a webhook gets it'),
	async run(args, io) {
		const address = parseAddress(args.positionals[0] ?? '')
		const folder = await mkdtemp(join(tmpdir(), 'tracewatch-watch-'))
		try {
			await follow(address, await openSite(address, args, folder, io), args.values.json === true, io)
		} catch (error) {
			if (!io.signal.aborted) throw error
		} finally {
			await rm(folder, { recursive: true, force: true })
		}
		return exitCodes.done
	},
}

const everyMs = 2_000
/** The receiver of this command. Its deliveries are removed from the state and printed; nothing is sent. */
const terminal = 'terminal'

/** Runs the daemon's own parts on a temporary state, so that it finds the same alerts as the daemon. */
async function follow(address: Address, config: Config, asJson: boolean, io: Io): Promise<void> {
	const parts = await openParts({ config, log: openLog(io, 2), version, scrubber: io.scrubber })
	const [poller] = parts.pollers
	try {
		let isFollowed = false
		while (poller !== undefined && !io.signal.aborted) {
			const result = await poller.tick(io.signal)
			if (result === 'done' && !isFollowed) {
				isFollowed = true
				const { checkpoint } = poller.status().lastReport ?? {}
				io.err(`${toChecksum(address)} is watched; scanned up to block ${checkpoint}. Ctrl-C ends it.`)
			}
			await printNew(parts.store, asJson, io)
			if (isUnread()) return
			await sleep(everyMs, undefined, { signal: io.signal })
		}
	} finally {
		await parts.closers.close()
	}
}

async function printNew(store: Store, asJson: boolean, io: Io): Promise<void> {
	const fresh = await store.deliveries()
	for (const { message } of fresh) io.out(asJson ? JSON.stringify(message) : lineOf(message))
	if (fresh.length > 0) await store.drop(fresh.map(({ id }) => id))
}

function lineOf({ type, data }: Delivery['message']): string {
	if (!isAlert(data)) return JSON.stringify(data)
	const time = data.blockTimestamp.replace('.000Z', 'Z')
	return `${time}  block ${data.blockNumber}  ${sentence({ type, data })}  ${data.txHash}`
}

/**
 * Writes the configuration into a temporary folder, so that it is checked and its secrets are hidden as usual. The URL
 * and its key stay in memory: a kill leaves the folder on the disk.
 */
async function openSite(address: Address, { values }: CommandArgs, folder: string, io: Io): Promise<Config> {
	const { rpc, from, symbol } = values
	if (typeof rpc !== 'string' || !URL.canParse(rpc) || !/^https?:/.test(rpc)) {
		throw new UsageError('--rpc must be a URL that begins with http:// or https://, such as https://host/path')
	}
	const site = {
		networks: [
			{
				name: 'chain',
				chain_id: String(await chainIdOf(rpc, io.signal)),
				rpc: ['${RPC_URL}'],
				schedule: '*/2 * * * * *',
				stall_after: 'never',
				symbol: String(symbol),
			},
		],
		receivers: [{ name: terminal, type: 'webhook', url: 'http://127.0.0.1:9/' }],
		watchlists: ['watchlist.yaml'],
		state: 'state',
	}
	const list = {
		network: 'chain',
		receivers: [terminal],
		watches: [{ address, ...(from !== undefined && { from_block: String(from) }) }],
	}
	// JSON is valid YAML.
	await writeFile(join(folder, 'watchlist.yaml'), JSON.stringify(list), { mode: 0o600 })
	await writeFile(join(folder, 'tracewatch.yaml'), JSON.stringify(site), { mode: 0o600 })
	try {
		return await loadConfig(join(folder, 'tracewatch.yaml'), { ...readingOf(io), env: { RPC_URL: rpc }, cwd: folder })
	} catch (error) {
		// The problem's file and line are in files that the user has never seen.
		if (!(error instanceof ConfigError)) throw error
		throw new UsageError(error.problems.map(({ message }) => message).join('; '), { cause: error })
	}
}
