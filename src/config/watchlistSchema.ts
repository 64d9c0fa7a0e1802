import { z } from 'zod'
import { parseAddress } from './address.js'
import { quoted } from './quoted.js'
import { readLine, readName } from './values.js'
import { list, orNull, section, text } from './words.js'

/** watchlists/*.yaml, one table a section. Amounts wait as text until the network, and so its decimals, is known. */

const receivers = list(text(readName))

export const watchSchema = section({
	address: text(parseAddress).meta({
		type: ['string', 'number'],
		description: 'Address to watch: all lower case, or with its EIP-55 checksum; quoted or not.',
	}),
	label: orNull(text(readLine)).meta({
		type: ['string', 'number', 'boolean'],
		description: 'Name of the address in alerts, such as Treasury.',
	}),
	tags: z.array(text(readLine)).default([]).meta({ description: 'Words that go along with each alert.' }),
	kinds: list(z.enum(['transfer', 'deployment']))
		.default(['transfer', 'deployment'])
		.meta({ description: 'Which kinds of event to tell. Default: both.' }),
	direction: z
		.enum(['in', 'out', 'both'])
		.default('both')
		.meta({ description: 'Seen from the address. Default: both.' }),
	min_value: orNull(z.string()).meta({
		type: ['string', 'number'],
		description: 'Smallest transfer to tell, in whole coins, or with a unit: 250 gwei, 1 wei. Default: above 0.',
	}),
	receivers: orNull(receivers).meta({ description: 'Who is told. Default: the receivers of the watchlist.' }),
	from_block: orNull(text(readBlock)).meta({
		type: 'integer',
		description: 'First block to look at. Default: the block after the one at which the watch is first seen.',
	}),
}).meta({ id: 'watch', description: 'One address with its options.' })

const head = {
	network: text(readName).meta({ description: 'Name of a network in tracewatch.yaml.' }),
	receivers: orNull(receivers).meta({ description: 'Who is told, for every watch below that names none.' }),
}

/** A watchlist but for its watches, each of which is checked for itself. */
export const headSchema = section({ ...head, watches: z.array(z.unknown()).min(1) })

export const watchlistSchema = section({
	...head,
	watches: z.array(watchSchema).min(1).meta({ description: 'The addresses.' }),
}).meta({ title: 'Watchlist of tracewatch', description: 'Addresses of one network and who is told of them.' })

function readBlock(value: string): bigint {
	if (/^\d{1,15}$/.test(value)) return BigInt(value)
	throw new RangeError(`must be a block number such as 19000000, not ${quoted(value)}`)
}
