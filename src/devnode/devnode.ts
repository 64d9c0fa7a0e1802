/** The room `devnode` is the embedded node: Anvil behind an endpoint with a key, like those of real providers. */

import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PlainError } from '../errors.js'
import { startAnvil } from './anvil.js'
import { createGateway } from './gateway.js'
import { connectUpstream } from './upstream.js'

export interface Devnode {
	/** The full URL of the endpoint: `http://<host>:<port>/<key>/evm`. */
	readonly url: string
	/** The URL of Anvil itself, without key and gateway. */
	readonly anvilUrl: string
	readonly port: number
	readonly key: string
	/** Closes the server and stops Anvil if it was started here; resolves when both have ended. */
	stop(): Promise<void>
}

export interface DevnodeOptions {
	/** 0: any free port. Default: 0. */
	readonly port?: number
	/** Letters, digits, `-` and `_`. Default: `dev`. */
	readonly key?: string
	/** Default: 127.0.0.1. */
	readonly host?: string
	readonly anvilArgs?: readonly string[]
	/** URL of a running Anvil. It is used instead of a new one, and not stopped. */
	readonly anvilUrl?: string
	/** Aborting during the start stops Anvil and rejects. */
	readonly signal?: AbortSignal
}

/**
 * @throws PlainError when Anvil is not installed, the port is in use, or the key has characters that are not allowed.
 */
export async function startDevnode(options: DevnodeOptions = {}): Promise<Devnode> {
	const { port = 0, key = 'dev', host = '127.0.0.1', anvilArgs = [], signal } = options
	if (!/^[\w-]+$/.test(key)) {
		throw new PlainError('The endpoint key may have letters, digits, "-" and "_", and needs at least one of them.')
	}
	const anvil = options.anvilUrl === undefined ? await startAnvil({ args: anvilArgs, ...(signal && { signal }) }) : null
	const anvilUrl = anvil?.url ?? (options.anvilUrl as string)
	const node = connectUpstream(anvilUrl)
	const server = createGateway({ key, node })
	const closeBehind = async () => {
		await node.close()
		await anvil?.stop()
	}
	try {
		await listen(server, port, host)
	} catch (error) {
		await closeBehind()
		throw error
	}
	const bound = (server.address() as AddressInfo).port
	const stop = async () => {
		const closed = server.listening ? once(server, 'close') : null
		server.close()
		server.closeAllConnections()
		await closed
		await closeBehind()
	}
	const shownHost = host.includes(':') ? `[${host}]` : host
	return { url: `http://${shownHost}:${bound}/${key}/evm`, anvilUrl, port: bound, key, stop }
}

async function listen(server: Server, port: number, host: string) {
	server.listen(port, host)
	try {
		await once(server, 'listening')
	} catch (error) {
		const code = error instanceof Error && 'code' in error ? error.code : null
		if (code === 'EADDRINUSE') {
			const way = 'Choose another with --port (0 takes any free one), or end the program that uses it.'
			throw new PlainError(`Port ${port} on ${host} is in use. ${way}`, { cause: error })
		}
		throw new PlainError(`Cannot listen on port ${port} of ${host}: ${String(code ?? error)}`, { cause: error })
	}
}
