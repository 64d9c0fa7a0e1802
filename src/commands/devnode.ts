import { once } from 'node:events'
import { describeDevnode } from '../devnode/description.js'
import { type Devnode, startDevnode } from '../devnode/devnode.js'
import { UsageError } from '../errors.js'
import { type Command, exitCodes } from './command.js'

export const devnode: Command = {
	name: 'devnode',
	summary: 'runs a local node for trying watchlists without a provider',
	help: `Usage: tracewatch devnode [--port PORT] [--key KEY] [--block-time SECONDS]

Runs Anvil behind POST http://127.0.0.1:PORT/KEY/evm, which answers as a provider's endpoint with traces does. Prints
the endpoint, a few accounts with coins, and the network for your tracewatch.yaml. The chain lives in memory and is
gone at the end. Needs Anvil: npm install --save-dev @foundry-rs/anvil

  --port PORT           where to listen; 0 takes any free port (default: 8545)
  --key KEY             the endpoint key: letters, digits, "-", "_" (default: dev)
  --block-time SECONDS  mines a block at this pace (default: a block per transaction, at once)

Ends on SIGTERM or SIGINT with 0; with 1 when the port is in use or Anvil is not installed.`,
	options: {
		port: { type: 'string' },
		key: { type: 'string' },
		'block-time': { type: 'string' },
	},
	positionals: [0, 0],
	async run({ values }, io) {
		const port = readPort(values.port)
		const key = readKey(values.key)
		const blockTime = readBlockTime(values['block-time'])
		let node: Devnode
		try {
			const anvilArgs = blockTime === null ? [] : ['--block-time', blockTime]
			node = await startDevnode({ port, key, anvilArgs, signal: io.signal })
		} catch (error) {
			if (io.signal.aborted) return exitCodes.done
			throw error
		}
		try {
			for (const line of await describeDevnode(node, io.signal)) io.out(line)
			if (!io.signal.aborted) await once(io.signal, 'abort')
		} catch (error) {
			if (!io.signal.aborted) throw error
		} finally {
			await node.stop()
		}
		return exitCodes.done
	},
}

type Value = string | boolean | readonly (string | boolean)[] | undefined

function readPort(value: Value): number {
	if (value === undefined) return 8545
	const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
	if (port <= 65_535) return port
	throw new UsageError(`--port must be a number from 0 to 65535, not "${String(value)}"`)
}

function readKey(value: Value): string {
	if (value === undefined) return 'dev'
	if (typeof value === 'string' && /^[\w-]+$/.test(value)) return value
	throw new UsageError('--key may have letters, digits, "-" and "_", and needs at least one of them')
}

function readBlockTime(value: Value): string | null {
	if (value === undefined) return null
	if (typeof value === 'string' && /^\d{1,9}(\.\d{1,3})?$/.test(value) && Number(value) > 0) return value
	throw new UsageError(`--block-time must be a number of seconds above 0, not "${String(value)}"`)
}
