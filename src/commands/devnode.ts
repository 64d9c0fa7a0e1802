import { once } from 'node:events'
import { formatAmount, parseAmount } from '../base/amount.js'
import { describeDevnode, usual } from '../devnode/description.js'
import { type Devnode, startDevnode } from '../devnode/devnode.js'
import { pay } from '../devnode/pay.js'
import { UsageError } from '../errors.js'
import type { Address } from '../model/glossary.js'
import { type Command, type ExitCode, exitCodes, type Io } from './command.js'

export const devnode: Command = {
	name: 'devnode',
	summary: 'runs a local node for trying watchlists without a provider',
	help: `Usage: tracewatch devnode [--port PORT] [--key KEY] [--block-time SECONDS]
       tracewatch devnode pay ADDRESS [AMOUNT] [--rpc URL]

Runs Anvil behind POST http://127.0.0.1:PORT/KEY/evm, which answers as a provider's endpoint with traces does. Prints
the endpoint, a few accounts with coins, and the network for your tracewatch.yaml. The chain lives in memory and is
gone at the end. Needs Anvil: npm install --save-dev @foundry-rs/anvil

\`pay\` sends coins from the first account of a devnode that runs, in whole coins or with a unit ("250 gwei");
default: 1.

  --port PORT           where to listen; 0 takes any free port (default: 8545)
  --key KEY             the endpoint key: letters, digits, "-", "_" (default: dev)
  --block-time SECONDS  mines a block at this pace (default: a block per transaction, at once)
  --rpc URL             of the devnode that pays (default: http://127.0.0.1:8545/dev/evm)

Ends on SIGTERM or SIGINT with 0; with 1 when the port is in use, Anvil is not installed, or the payment failed.`,
	options: {
		port: { type: 'string' },
		key: { type: 'string' },
		'block-time': { type: 'string' },
		rpc: { type: 'string' },
	},
	positionals: [0, 3],
	async run({ values, positionals }, io) {
		const [act, ...rest] = positionals
		if (act === 'pay') return await payFrom(rest, values.rpc, io)
		if (act !== undefined) throw new UsageError(`\`devnode\` does not take \`${act}\`; there is \`devnode pay\``)
		if (values.rpc !== undefined) throw new UsageError('--rpc goes with `devnode pay`')
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

async function payFrom([to, amount = '1']: readonly string[], rpc: Value, io: Io): Promise<ExitCode> {
	if (to === undefined) throw new UsageError('`devnode pay` needs the address that is paid')
	const payment = { to: readPayee(to), valueWei: readPayment(amount) }
	const url = typeof rpc === 'string' ? rpc : usual
	const { txHash, blockNumber, from } = await pay(url, payment, io.signal)
	const block = blockNumber === null ? 'waiting for its block' : `block ${blockNumber}`
	io.out(`${formatAmount(payment.valueWei, 18)} ETH from ${from} to ${payment.to}: ${txHash}, ${block}`)
	return exitCodes.done
}

function readPayee(text: string): Address {
	if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase() as Address
	throw new UsageError(`an address is 0x and 40 hex digits, not "${text}"`)
}

function readPayment(text: string): bigint {
	try {
		return parseAmount(text, 18, 'ETH')
	} catch (error) {
		if (error instanceof RangeError) throw new UsageError(error.message)
		throw error
	}
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
