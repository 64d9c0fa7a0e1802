/** A chain port over a gateway in front of a real node, with a clock that the test moves. */
import { createChain } from '../../../src/chain/chain.js'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import type { SourceName } from '../../../src/chain/sources/source.js'
import type { AddressSet, Part, Span } from '../../../src/model/chain.js'
import type { Chain, Log } from '../../../src/model/ports.js'
import { type Answers, type Dialect, type DialectGateway, startDialectGateway } from '../../support/dialectGateway.js'
import { never } from '../../support/pool.js'
import { silent } from '../../support/silent.js'

export interface Session {
	readonly gateway: DialectGateway
	/** One more for each further dialect. */
	readonly gateways: readonly DialectGateway[]
	readonly chain: Chain
	/** HTTP requests that have ended, by their method; `batch` for several methods. */
	readonly requests: string[]
	/** Moves the clock. */
	later(ms: number): void
	/** As a poll does it: the head first. */
	walk(span: Span, addresses: AddressSet): Promise<readonly Part[]>
}

export interface SessionOptions {
	readonly anvilUrl: string
	/** An endpoint for each, in order of preference. */
	readonly dialects: readonly Dialect[]
	/** What the node has answered to other sessions, on a chain that does not change. Default: it is asked each time. */
	readonly answers?: Answers
	readonly source?: SourceName | 'auto'
	readonly log?: Log
	/** When a block has settled. Default: none is taken to have. */
	readonly settle?: number
}

export async function withSession<T>(options: SessionOptions, job: (session: Session) => Promise<T>): Promise<T> {
	const { anvilUrl, dialects, answers, source = 'auto', log = silent, settle } = options
	const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(anvilUrl, dialect, answers)))
	const [gateway] = gateways
	if (gateway === undefined) throw new Error('a session needs a dialect')
	let nowMs = 1_700_000_000_000
	const clock = () => nowMs
	const requests: string[] = []
	const rpcs = gateways.map(({ url }) => createRpc({ url, onRequest: ({ method }) => requests.push(method) }))
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock, log, wait: async () => {} })
	const chain = createChain({ endpoints, source, clock, log, ...(settle !== undefined && { settle }) })
	try {
		return await job({
			gateway,
			gateways,
			chain,
			requests,
			later(ms) {
				nowMs += ms
			},
			async walk(span, addresses) {
				const parts: Part[] = []
				await chain.head(never)
				for await (const part of chain.walk(span, addresses, never)) parts.push(part)
				return parts
			},
		})
	} finally {
		await chain.close()
		for (const one of gateways) await one.close()
	}
}
