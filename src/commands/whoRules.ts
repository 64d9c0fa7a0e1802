/** Who rules a contract now, each line with its evidence. */

import { readContracts } from '../audit/contracts/readContracts.js'
import { fitWords } from '../base/text/outgoing.js'
import { toChecksum } from '../config/address.js'
import { type Ruling, whoRulesIt } from '../core/control/whoRulesIt.js'
import { openChain, watchesOn } from '../daemon/openNetwork.js'
import { PlainError, UsageError } from '../errors.js'
import { changesInWords } from '../kinds/controlText.js'
import type { Address } from '../model/glossary.js'
import type { Watch } from '../model/watch.js'
import { type Command, configOption, exitCodes } from './command.js'
import { networkOf } from './shared/network.js'
import { openConfig } from './shared/openConfig.js'
import { openLog } from './shared/openLog.js'
import { whileWaiting } from './shared/progress.js'

export const control: Command = {
	name: 'control',
	summary: 'says who rules a contract now: owner, admin, implementation, a Safe’s owners and modules, with evidence',
	help: `Usage: tracewatch control ADDRESS [--network NAME] [--json] [-c FILE]

Reads, at one block, what rules a contract: known slots and functions, the owners and modules of a Safe, the beacon
and the admin of a proxy. Each line says what shows the value, and how a watch reports a change of it. A function is
an answer of the contract's own code, which may say anything; slots and lists are read from storage. Roles are in no
slot that is known: their events are reported.

  --network NAME      as in tracewatch.yaml; may be left out when there is only one
  --json              one JSON object
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 done, 1 the network is private, 2 wrong usage, 75 an endpoint failed for now, 78 the configuration is
wrong.`,
	options: { ...configOption, network: { type: 'string' }, json: { type: 'boolean' } },
	positionals: [1, 1],
	async run(args, io) {
		const text = (args.positionals[0] ?? '').toLowerCase()
		if (!/^0x[\da-f]{40}$/.test(text)) throw new UsageError(`\`${args.positionals[0]}\` is not an address`)
		const address = text as Address
		const config = await openConfig(args, io)
		const network = networkOf(args, config)
		const watches = watchesOn(config.watches, network.name).get(address) ?? []
		const { chain, contracts } = openChain(network, { clock: Date.now, log: openLog(io, 2) })
		try {
			if (contracts === null) {
				throw new PlainError(
					`${network.name} is private: this command asks for the state of one address, which shows it to the provider`,
				)
			}
			const found = await whileWaiting(`asking ${network.name}`, async () => {
				const { latest } = await chain.head(io.signal)
				const question = { address, known: null, reads: [] }
				return { block: latest, reading: (await readContracts([question], latest, contracts, io.signal)).get(address) }
			})
			const { block, reading } = found
			const facts = { network: network.name, address, block: block.number, watches }
			const codeHash = reading?.codeHash ?? null
			const rulings = codeHash === null ? [] : whoRulesIt(address, reading?.values ?? {})
			if (args.values['json'] === true) {
				const { name, chainId } = network
				const head = { network: name, chainId, address: toChecksum(address), blockNumber: Number(block.number) }
				const own = { blockHash: block.hash, codeHash, isSafe: reading?.isSafe ?? false }
				io.out(JSON.stringify({ ...head, ...own, rulings: rulings.map(shown), ...watched(watches) }, null, 2))
			} else for (const line of inLines(facts, codeHash === null ? null : rulings)) io.out(fitWords(line))
			return exitCodes.done
		} finally {
			await chain.close()
		}
	},
}

interface Facts {
	readonly network: string
	readonly address: Address
	readonly block: bigint
	readonly watches: readonly Watch[]
}

function inLines({ network, address, block, watches }: Facts, rulings: readonly Ruling[] | null): readonly string[] {
	const name = `${toChecksum(address)} at block ${block} of ${network}`
	const { reports } = watched(watches)
	if (rulings === null) return [`${name}: no code: its key alone rules it, and \`control\` has nothing to report`]
	const rows = rulings.map((one) => {
		const { change, place, value, contract, events } = shown(one)
		const what = change === 'value' ? place : changesInWords[change]
		const at = one.contract === address ? '' : ` (at ${contract})`
		return [`${what}${at}`, value, evidenceOf(one), events.length === 0 ? 'by reading' : 'by reading, and by events']
	})
	const table = [['what', 'value', 'shown by', 'a change is reported'], ...rows]
	const widths = [0, 1, 2].map((at) => Math.max(...table.map((row) => (row[at] ?? '').length)))
	const lines = table.map((row) =>
		row
			.map((cell, at) => cell.padEnd(widths[at] ?? 0))
			.join('  ')
			.trimEnd(),
	)
	return [
		name,
		'',
		...(rows.length === 0 ? ['nothing that is known rules it: no slot and no function that tells of an owner'] : lines),
		'',
		'Roles, facets and timelocks have no known slot: their events are reported.',
		reports.length === 0
			? 'No watch reports it: add the address to a watchlist, with `control` among its kinds (the default).'
			: `A change is reported to ${[...new Set(reports.flatMap(({ receivers }) => receivers))].join(', ')}.`,
	]
}

function evidenceOf({ shownBy, slot, place }: Ruling): string {
	if (shownBy === 'list') return 'its list in storage'
	return slot === null ? `${place}, an answer of its code` : `slot ${slot.slice(0, 10)}…${slot.slice(-4)}`
}

/** As it is printed: addresses with their checksum. */
function shown(one: Ruling): Ruling {
	const spelled = (text: string) => (/^0x[\da-f]{40}$/.test(text) ? toChecksum(text as Address) : text)
	return { ...one, contract: spelled(one.contract) as Address, value: spelled(one.value) }
}

function watched(watches: readonly Watch[]) {
	const reports = watches
		.filter(({ kinds }) => kinds.includes('control'))
		.map(({ watchlist, label, receivers }) => ({ watchlist, label, receivers }))
	return { reports }
}
