/** Checks an alert of a change of control that storage showed: what the value was before its blocks, and is after. */

import { readContracts } from '../../audit/contracts/readContracts.js'
import { toChecksum } from '../../config/address.js'
import type { AlertId } from '../../core/alerts/alertId.js'
import { placeOf, shownValue } from '../../core/control/places.js'
import { PlainError } from '../../errors.js'
import { changesInWords } from '../../kinds/controlText.js'
import type { AlertData } from '../../model/alert.js'
import type { BlockRef } from '../../model/chain.js'
import type { ContractState, ContractValues } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'

/** One value that differs. */
interface Moved {
	readonly what: string
	readonly was: string | null
	readonly is: string | null
}

/** Throws RpcError; kind `no-data` when the node does not have the state (any more). */
export async function changedControl(
	/** `sent`: the alert as it was sent; null when no record of it is kept. */
	{ id, sent }: { readonly id: AlertId; readonly sent: AlertData | null },
	{ before, after }: { readonly before: BlockRef; readonly after: BlockRef },
	contracts: ContractState | null,
	signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly isConfirmed: boolean }> {
	if (contracts === null) throw new PlainError('the network is private: the state of one address is not asked for')
	const reads = sent?.change === 'value' && sent.place !== undefined ? [sent.place] : []
	const read = async (block: BlockRef): Promise<ContractValues> => {
		const found = await readContracts([{ address: id.address, known: null, reads }], block, contracts, signal)
		return found.get(id.address)?.values ?? {}
	}
	const moved = differences(await read(before), await read(after))
	const words = (value: string | null) => (value === null ? 'none' : spelled(value))
	const lines = moved.map(({ what, was, is }) => `${what}: ${words(was)} before, ${words(is)} after`)
	const isSame = ({ was, is }: Moved) =>
		sent === null || [was, is].some((one) => one !== null && one === (sent.current ?? sent.previous)?.toLowerCase())
	return {
		lines: lines.length === 0 ? ['by its storage and its functions nothing that rules it changed'] : lines,
		isConfirmed: moved.some(isSame),
	}
}

function differences(before: ContractValues, after: ContractValues): readonly Moved[] {
	const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
	return names.flatMap((name) => {
		const { change, shape } = placeOf(name)
		const [was, is] = [shownValue(before[name], shape), shownValue(after[name], shape)]
		const what = change === 'value' ? name : `${changesInWords[change]} (${name})`
		return was === is ? [] : [{ what, was, is }]
	})
}

function spelled(value: string): string {
	return /^0x[\da-f]{40}$/.test(value) ? toChecksum(value as Address) : value
}
