import { RpcError } from '../../errors.js'
import { noteWithdrawals, type WithdrawalLists } from '../blocks/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import { type Header, isObject, readBlock } from '../wire/wire.js'
import type { HeadAnswer } from './heads.js'

/** The head, and the blocks of its tags, where the endpoint has them or has not been probed yet. */
export async function readHead(
	rpc: Rpc,
	capabilities: { readonly safeTag: boolean; readonly finalizedTag: boolean } | null,
	lists: WithdrawalLists,
	signal: AbortSignal,
): Promise<HeadAnswer> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const asks = { safe: capabilities?.safeTag ?? true, finalized: capabilities?.finalizedTag ?? true }
	const tags = ['latest', ...(asks.safe ? ['safe'] : []), ...(asks.finalized ? ['finalized'] : [])]
	const calls = tags.map((tag) => ({ method: reading.method, params: [tag, false] }))
	const answers = await rpc.batch(calls, signal)
	const blockBy = (tag: string): Header | null => {
		const answer = answers[tags.indexOf(tag)]
		if (answer instanceof RpcError && (tag === 'latest' || !isAboutTag(answer))) throw answer
		return isObject(answer) && !(answer instanceof RpcError) ? readBlock(answer, reading) : null
	}
	const latest = blockBy('latest')
	if (latest === null) throw new RpcError(`${rpc.endpoint} has no head`, { kind: 'no-data', ...reading })
	noteWithdrawals(lists, latest, rpc.endpoint)
	return { latest, safe: blockBy('safe')?.number ?? null, finalized: blockBy('finalized')?.number ?? null }
}

/** Nodes without a tag refuse it in many ways: Nethermind -39001, geth and Erigon "finalized block not found". */
function isAboutTag({ kind, facts }: RpcError): boolean {
	return (
		kind === 'no-data' ||
		kind === 'bad-params' ||
		kind === 'unsupported' ||
		(kind === 'server' && (facts.status ?? 500) < 500)
	)
}
