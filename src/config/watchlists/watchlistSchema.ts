import { z } from 'zod'
import { quoted } from '../../base/text/quoted.js'
import { slotOfRead } from '../../core/control/places.js'
import { allKinds, usualKinds } from '../../kinds/all.js'
import { parseAddress } from '../address.js'
import { readLine, readName, readSwitch } from '../values.js'
import { list, oneOrMore, orNull, section, text } from '../words.js'

/** Schema of watchlists/*.yaml, one section for each part. Amounts stay text until the network's decimals are known. */

const unusualKinds = allKinds.filter((kind) => !usualKinds.includes(kind))

const receivers = list(text(readName))

/** `slot 7`, `slot 0x…` or `governor()`, in the form in which it is remembered. */
function readValueName(written: string): string {
	const name = written.trim().replace(/\s+/g, ' ')
	if (/^[A-Za-z_$][\w$]{0,63}\(\)$/.test(name)) return name
	const slot = name.toLowerCase()
	if (slotOfRead(slot) !== null) return slot
	throw new RangeError(
		`must be a slot such as slot 7, or a function without arguments such as governor(): ${quoted(written)}`,
	)
}

/** Options of one address, of an address file, or of the whole watchlist. */
const options = {
	tags: z
		.array(text(readLine))
		.default([])
		.meta({ description: 'Words that go along with each alert, besides those of the watchlist. Default: none.' }),
	kinds: orNull(list(z.enum(allKinds))).meta({
		description: `Which kinds to tell: ${allKinds.join(', ')}. Default: all but ${unusualKinds.join(', ')}.`,
	}),
	direction: orNull(z.enum(['in', 'out', 'both'])).meta({
		description: 'Seen from the address: in, out or both. Default: both.',
	}),
	min_value: orNull(z.string()).meta({
		type: ['string', 'number'],
		description: 'Smallest transfer to tell, in whole coins, or with a unit: 250 gwei, 1 wei. Default: above 0.',
	}),
	balance_below: orNull(z.string()).meta({
		type: ['string', 'number'],
		description: 'Report when the balance falls below this, in whole coins, or with a unit: 250 gwei. Default: never.',
	}),
	balance_above: orNull(z.string()).meta({
		type: ['string', 'number'],
		description: 'Report when the balance rises above this, in whole coins, or with a unit: 250 gwei. Default: never.',
	}),
	tokens: orNull(
		z.union([z.enum(['known', 'all', 'none']), list(text(readLine))], {
			error: 'must be known, all, none, or a list of symbols and addresses',
		}),
	).meta({
		description:
			'Which tokens to report: known (those that the network names), all (unknown ones too, each marked so), none, ' +
			'or a list of symbols and addresses. Default: known.',
	}),
	calls: orNull(list(text(readLine))).meta({
		description:
			'Functions whose calls are reported, at any depth: signatures such as pause() or sweep(address to), ' +
			'selectors such as 0x8456cb59. Default: none.',
	}),
	failed_calls: orNull(text(readSwitch)).meta({
		type: 'boolean',
		description: 'Whether calls of these functions that failed, or were undone, are reported too. Default: false.',
	}),
	allowed_code: orNull(list(text(parseAddress))).meta({
		description:
			'Contracts whose code the address may run in its own storage, besides its own and that of known libraries. ' +
			'Default: none.',
	}),
	reads: orNull(list(text(readValueName))).meta({
		description:
			'Values of the contract to read besides those that rule it: slots such as slot 7 or slot 0x360894…, and ' +
			'functions without arguments such as governor(). A change is reported as a change of control. Default: none.',
	}),
	receivers: orNull(receivers).meta({ description: 'Who is notified. Default: the receivers of the watchlist.' }),
	from_block: orNull(text(readBlock)).meta({
		type: 'integer',
		description: 'First block to look at. Default: the block after the one at which the watch is first seen.',
	}),
}

const addressesFrom = oneOrMore(text(readLine))

export const watchSchema = section({
	address: text(parseAddress).meta({
		type: ['string', 'number'],
		description: 'Address to watch: all lower case, or with its EIP-55 checksum; quoted or not.',
	}),
	label: orNull(text(readLine)).meta({
		type: ['string', 'number', 'boolean'],
		description: 'Name of the address in alerts, such as Treasury. Default: none.',
	}),
	...options,
}).meta({ id: 'watch', description: 'One address with its options.' })

export const fileEntrySchema = section({
	addresses_from: addressesFrom.meta({
		description: 'Files of addresses, CSV with the columns address, label and tags; relative to the watchlist.',
	}),
	...options,
}).meta({ id: 'addresses', description: 'All addresses of a file with the same options.' })

const head = {
	network: text(readName).meta({ description: 'Name of a network in tracewatch.yaml.' }),
	addresses_from: addressesFrom.optional().meta({
		description:
			'Files of addresses to watch besides, CSV with the columns address, label and tags; ' +
			'relative to the watchlist. Default: none.',
	}),
	...options,
	tags: options.tags.meta({ description: 'Words that go along with each alert. Default: none.' }),
	receivers: orNull(receivers).meta({
		description: 'Who is notified, for every watch that names none. Default: none.',
	}),
}

/** A watchlist without its watches, each of which is checked by itself. */
export const headSchema = section({ ...head, watches: z.array(z.unknown()).min(1).optional() })

export const watchlistSchema = section({
	...head,
	watches: z
		.array(z.union([watchSchema, fileEntrySchema]))
		.min(1)
		.optional()
		.meta({ description: 'The addresses. Default: none, with addresses_from.' }),
}).meta({
	title: 'Watchlist of tracewatch',
	description:
		'Addresses of one network and who is notified of them. ' +
		'Options beside the watches hold for each of them that has none of its own.',
	anyOf: [{ required: ['watches'] }, { required: ['addresses_from'] }],
})

function readBlock(value: string): bigint {
	if (/^\d{1,15}$/.test(value)) return BigInt(value)
	throw new RangeError(`must be a block number such as 19000000, not ${quoted(value)}`)
}
