/** The questions of `doctor` about one recent block that concern the books: balances and its access list. */

import { blockCall, needBlock } from '../../chain/blocks/batchedCalls.js'
import { mayPay, withdrawalRulesOf } from '../../chain/blocks/withdrawals.js'
import type { Rpc } from '../../chain/rpc/rpc.js'
import { readAccessList } from '../../chain/state/accessList.js'
import { createBalanceReader } from '../../chain/state/balances.js'
import type { Header } from '../../chain/wire/wire.js'
import { RpcError } from '../../errors.js'
import type { Block } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { AccessLists, Balances } from './doctorReport.js'

export interface BlockReport {
	readonly balances: Balances
	readonly accessLists: AccessLists
	/** Whether its transactions may set the code of plain addresses (EIP-7702). */
	readonly takesAuthorisations: boolean
	/** Whether blocks like it may pay withdrawals of staked coins. */
	readonly mayPayWithdrawals: boolean
}

/** Throws only the signal's reason. */
export async function examineBlock(
	rpc: Rpc,
	head: bigint,
	{ keepsBooks, chainId }: { readonly keepsBooks: boolean; readonly chainId: number },
	signal: AbortSignal,
): Promise<BlockReport> {
	const block = await blockAt(rpc, head, signal)
	const balances = keepsBooks ? (block === null ? 'no' : await balancesAt(rpc, block, signal)) : 'not asked'
	const accessLists = block === null ? 'not known' : await accessListOf(rpc, block, signal)
	return {
		balances,
		accessLists,
		takesAuthorisations: block?.takesAuthorisations ?? false,
		mayPayWithdrawals: block !== null && mayPay(withdrawalRulesOf(chainId), block),
	}
}

async function blockAt(rpc: Rpc, number: bigint, signal: AbortSignal): Promise<Header | null> {
	try {
		const { method, params } = blockCall(number)
		return needBlock(await rpc.call(method, params, signal), number, rpc.endpoint)
	} catch (error) {
		if (error instanceof RpcError) return null
		throw error
	}
}

/** Any address serves. The zero address exists on every chain. */
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/** How balances can be asked for at this block. */
async function balancesAt(rpc: Rpc, block: Block, signal: AbortSignal): Promise<Balances> {
	try {
		const reader = createBalanceReader({ log: silent })
		await reader.read(rpc, [ZERO_ADDRESS], block, signal)
		return reader.strategyOf(rpc)?.ask ?? 'no'
	} catch (error) {
		if (error instanceof RpcError) return 'no'
		throw error
	}
}

async function accessListOf(rpc: Rpc, block: Block, signal: AbortSignal): Promise<AccessLists> {
	if (block.accessListHash === undefined) return 'none'
	try {
		await readAccessList(rpc, block, signal)
		return 'checked'
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		if (error.kind === 'malformed') return 'wrong'
		return ['no-data', 'unsupported', 'bad-params'].includes(error.kind) ? 'not given' : 'not known'
	}
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
