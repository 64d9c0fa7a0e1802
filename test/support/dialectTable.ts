/** The dialects that every look at a chain is to survive, each with what may be believed in it. */
import type { SourceName } from '../../src/chain/sources/source.js'
import type { Dialect } from './dialectGateway.js'
import { asBesuCalls, asZkSyncCalls } from './dialectTraces.js'

const FILTER = 'trace_filter'
const BLOCK = 'trace_block'
const DEBUG = 'debug_traceBlockByNumber'
const noFilter = ['trace_filter']
export const noTraces = ['trace_filter', 'trace_block', 'trace_transaction']

/** Rows of a filter lose their errors; those of a block and of a transaction keep them. */
function unmarked(method: string, _params: unknown, result: unknown): unknown {
	if (method !== FILTER || !Array.isArray(result)) return undefined
	return result.map(({ error: _error, ...row }) => row)
}

/** A dialect, and the sources that may be believed in it, best first. */
export const dialects: readonly (readonly [string, Dialect, readonly SourceName[]])[] = [
	['Anvil', {}, [FILTER, BLOCK]],
	['both lists must match', { lists: 'both' }, [FILTER, BLOCK]],
	[
		'one block a request',
		{ range: { blocks: 1, code: -32602, message: 'Block range too large; currently limited to 1 blocks' } },
		[FILTER, BLOCK],
	],
	[
		'Reth: 101 blocks',
		{
			clientVersion: 'reth/v2.5.0',
			range: { blocks: 101, code: -32602, message: 'Block range too large; currently limited to 100 blocks' },
			beyondHead: 'refused',
		},
		[FILTER, BLOCK],
	],
	[
		'Anvil: 300 blocks',
		{ range: { blocks: 301, code: -32602, message: 'block range too large, currently limited to 300' } },
		[FILTER, BLOCK],
	],
	[
		'Besu: 1000 blocks',
		{
			clientVersion: 'besu/v26.1.0/linux-x86_64/openjdk-java-21',
			lists: 'both',
			range: { blocks: 1001, code: -32005, message: 'Requested range exceeds maximum RPC range limit' },
			blindTo: ['suicide', 'create'],
			failedResult: 'absent',
			creation: 'all of the transaction',
			rewards: { fields: 'null', valueWei: 0n, author: '0x00000000000000000000000000000000c01bba5e' },
			ots: null,
		},
		[BLOCK],
	],
	[
		'a limit without a number, smaller than the first request',
		{ range: { blocks: 7, code: -32005, message: 'Requested range exceeds maximum RPC range limit' } },
		[FILTER, BLOCK],
	],
	[
		'a provider: 10 blocks, told with HTTP 400',
		{
			range: {
				blocks: 10,
				code: -32600,
				status: 400,
				message:
					'You can make eth_getLogs requests with up to a 10 block range. this block range should work: [0x1, 0xa]',
			},
		},
		[FILTER, BLOCK],
	],
	['five addresses a list', { mostAddresses: 5 }, [BLOCK]],
	[
		'Erigon: nothing for a range beyond the head',
		{ beyondHead: 'nothing', clientVersion: 'erigon/3.4.0' },
		[FILTER, BLOCK],
	],
	['nothing for a single block', { falseEmpty: 'single', clientVersion: 'reth/v1.9.2' }, [BLOCK]],
	['nothing for any range', { falseEmpty: 'always' }, [BLOCK]],
	['a filter blind to self-destructs', { blindTo: ['suicide'] }, [BLOCK]],
	['a filter blind to creations', { blindTo: ['create'] }, [BLOCK]],
	['a filter that ignores its lists', { ignoresLists: true }, [BLOCK]],
	['a filter that does not mark what failed', { twist: unmarked }, [BLOCK]],
	['error objects among the rows', { errorsInside: 1_000 }, [BLOCK]],
	['numbers as hex', { numbers: 'hex' }, [FILTER, BLOCK]],
	['numbers as decimal text', { numbers: 'decimal' }, [FILTER, BLOCK]],
	['checksummed addresses', { checksums: true }, [FILTER, BLOCK]],
	['shuffled and doubled rows', { shuffled: true }, [FILTER, BLOCK]],
	['result absent on failed frames', { failedResult: 'absent' }, [FILTER, BLOCK]],
	['result null on failed frames', { failedResult: 'null' }, [FILTER, BLOCK]],
	['creationMethod unsaid', { creation: 'unsaid' }, [FILTER, BLOCK]],
	['type create2', { creation: 'as type' }, [FILTER, BLOCK]],
	[
		'rewards of nothing, fields null',
		{ rewards: { fields: 'null', valueWei: 0n, author: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' } },
		[FILTER, BLOCK],
	],
	[
		'rewards of 2 coins that nobody pays, fields absent',
		{ rewards: { fields: 'absent', valueWei: 2n * 10n ** 18n, author: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' } },
		[FILTER, BLOCK],
	],
	['no ots', { ots: null }, [FILTER, BLOCK]],
	['ots at level 5', { ots: 5 }, [FILTER, BLOCK]],
	['ots at level 8, unimplemented', { ots: 'unimplemented' }, [FILTER, BLOCK]],
	['tags null', { noTags: 'null' }, [FILTER, BLOCK]],
	['tags an error', { noTags: 'error' }, [FILTER, BLOCK]],
	['no batches', { batch: 1 }, [FILTER, BLOCK]],
	['three calls a batch', { batch: 3 }, [FILTER, BLOCK]],
	['no trace_filter', { lacks: noFilter }, [BLOCK]],
	['no trace_transaction', { lacks: ['trace_transaction'] }, [BLOCK]],
	['no trace_block', { lacks: ['trace_block'] }, [FILTER, DEBUG]],
	['no trace methods', { lacks: noTraces, clientVersion: 'Geth/v1.16.0' }, [DEBUG]],
	['no trace methods, hashes unsaid', { lacks: noTraces, traces: 'without hashes' }, [DEBUG]],
	['no trace methods, bare traces', { lacks: noTraces, traces: 'bare' }, [DEBUG]],
	['no trace methods, flatCallTracer only', { lacks: noTraces, tracers: ['flatCallTracer'] }, [DEBUG]],
	[
		'no trace methods, flatCallTracer only, bare',
		{ lacks: noTraces, tracers: ['flatCallTracer'], traces: 'bare' },
		[DEBUG],
	],
	['no trace methods, callers as Besu names them', { lacks: noTraces, twist: asBesuCalls }, [DEBUG]],
	['no trace methods, failures as zkSync tells them', { lacks: noTraces, twist: asZkSyncCalls }, [DEBUG]],
]
