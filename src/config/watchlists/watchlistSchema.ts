import { z } from 'zod'
import { quoted } from '../../base/quoted.js'
import { allKinds } from '../../core/kinds.js'
import { parseAddress } from '../address.js'
import { silencesSchema } from '../settings/silenceSchema.js'
import { readLine, readName } from '../values.js'
import { list, oneOrMore, orNull, section, text } from '../words.js'

/** watchlists/*.yaml, one table a section. Amounts wait as text until the network, and so its decimals, is known. */

const receivers = list(text(readName))

/** What holds for one address, for all of a file, or for the whole watchlist. */
const options = {
	tags: z
		.array(text(readLine))
		.default([])
		.meta({ description: 'Words that go along with each alert, besides those of the watchlist. Default: none.' }),
	kinds: orNull(list(z.enum(allKinds))).meta({
		description: `Which kinds to tell: ${allKinds.join(', ')}. Default: all but income.`,
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
		description: 'Tell when the balance falls below this, in whole coins, or with a unit: 250 gwei. Default: never.',
	}),
	balance_above: orNull(z.string()).meta({
		type: ['string', 'number'],
		description: 'Tell when the balance rises above this, in whole coins, or with a unit: 250 gwei. Default: never.',
	}),
	tokens: orNull(
		z.union([z.enum(['known', 'all', 'none']), list(text(readLine))], {
			error: 'must be known, all, none, or a list of symbols and addresses',
		}),
	).meta({
		description:
			'Which tokens to tell of: known (those that the network names), all (unknown ones too, each marked so), none, ' +
			'or a list of symbols and addresses. Default: known.',
	}),
	receivers: orNull(receivers).meta({ description: 'Who is told. Default: the receivers of the watchlist.' }),
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
	receivers: orNull(receivers).meta({ description: 'Who is told, for every watch that names none. Default: none.' }),
	silences: silencesSchema,
}

/** A watchlist but for its watches, each of which is checked for itself. */
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
		'Addresses of one network and who is told of them. ' +
		'Options beside the watches hold for each of them that has none of its own.',
	anyOf: [{ required: ['watches'] }, { required: ['addresses_from'] }],
})

function readBlock(value: string): bigint {
	if (/^\d{1,15}$/.test(value)) return BigInt(value)
	throw new RangeError(`must be a block number such as 19000000, not ${quoted(value)}`)
}
