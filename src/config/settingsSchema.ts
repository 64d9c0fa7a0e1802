import { z } from 'zod'
import { readDurationOrNever } from './duration.js'
import { at } from './known.js'
import { quoted } from './quoted.js'
import { readSchedule } from './schedule.js'
import {
	readChainId,
	readConfirmations,
	readExplorer,
	readHttpUrl,
	readLine,
	readListen,
	readMailAddress,
	readMailbox,
	readName,
	readSettle,
	readSigningSecret,
	readSmtpUrl,
	readWhole,
} from './values.js'
import { list, oneOf, orNull, section, suggestion, text } from './words.js'

/** tracewatch.yaml, one table a section. A new key is one line here; its reader checks the text and gives the value. */

const network = section({
	name: text(readName).meta({
		description: 'Name of the network in watchlists, alerts and metrics, such as ethereum.',
	}),
	chain_id: text(readChainId).meta({
		type: ['integer', 'string'],
		description: 'Compared with eth_chainId; an endpoint of another chain is refused.',
	}),
	rpc: list(text(readHttpUrl)).meta({
		description: `JSON-RPC endpoints in order of preference, http or https, such as \${ETHEREUM_RPC_URL}.`,
	}),
	schedule: text(readSchedule)
		.default('*/12 * * * * *')
		.meta({ description: 'When to poll, as node-cron takes it, seconds first. Default: every 12 seconds.' }),
	source: z
		.enum(['auto', 'trace_filter', 'trace_block', 'debug_traceBlockByNumber'])
		.default('auto')
		.meta({ description: 'Method that traces are read with. Default: auto, the best that the endpoint has.' }),
	confirmations: text(readConfirmations)
		.default(0)
		.meta({
			type: ['integer', 'string'],
			description: 'Blocks to stay behind the head, or safe, or finalized. Default: 0.',
		}),
	settle: text(readSettle)
		.default('finalized')
		.meta({
			type: ['integer', 'string'],
			description:
				'When a block is looked at a second time: after this many blocks, or once finalized. Default: finalized.',
		}),
	stall_after: text(readDurationOrNever).optional().meta({
		description:
			'Time without a scanned block after which the receivers are told that watching stands still, such as 10m, or never. Default: 10m; 45m with confirmations safe or finalized.',
	}),
	symbol: text(readLine).default('ETH').meta({ description: 'Symbol of the native coin. Default: ETH.' }),
	decimals: text((value) => readWhole(value, 77))
		.default(18)
		.meta({ type: ['integer', 'string'], description: 'Digits after the point of the native coin. Default: 18.' }),
	explorer: orNull(text(readExplorer)).meta({
		description: 'Base URL of a block explorer, such as https://etherscan.io, for links in alerts.',
	}),
}).meta({ id: 'network', description: 'One chain and the endpoints that it is read from.' })

const receiverName = text(readName).meta({
	description: 'Name of the receiver in watchlists and metrics.',
})

const email = section({
	name: receiverName,
	type: z.literal('email'),
	smtp: text(readSmtpUrl).meta({
		description: 'smtps://user:password@host:465 (TLS) or smtp://host:587 (STARTTLS).',
	}),
	from: text(readMailbox).meta({
		description: 'Sender: a mail address, or Name <address>.',
	}),
	to: list(text(readMailAddress)).meta({ description: 'Mail addresses; each gets a mail of its own.' }),
}).meta({ id: 'email', description: 'Alerts by mail.' })

const webhook = section({
	name: receiverName,
	type: z.literal('webhook'),
	url: text(readHttpUrl).meta({
		description: 'Where alerts are posted; http or https.',
	}),
	secret: orNull(text(readSigningSecret)).meta({
		description: 'Signing secret of Standard Webhooks: whsec_ and 24 to 64 bytes in base64.',
	}),
}).meta({ id: 'webhook', description: 'Alerts by HTTP POST, signed as Standard Webhooks says.' })

const receiver = z.discriminatedUnion('type', [email, webhook], {
	error: ({ input }) => unknownType(at(input, 'type')),
})

export const watchlistsSchema = z
	.union([text(readLine), list(text(readLine))], { error: 'must be a folder, or a list of files' })
	.default('watchlists')
	.meta({ description: 'A folder (its *.yaml and *.yml), or a list of files. Default: watchlists.' })

export const settingsSchema = section({
	networks: z.array(network).min(1).meta({ description: 'The chains to watch.' }),
	receivers: z.array(receiver).min(1).meta({ description: 'Where alerts go.' }),
	watchlists: watchlistsSchema,
	state: text(readLine).default('state').meta({ description: 'Folder of the state file. Default: state.' }),
	heartbeat_url: orNull(text(readHttpUrl)).meta({
		description:
			"Fetched about once a minute, only while every network progresses: for a dead man's switch. Default: none.",
	}),
	max_pending: text((value) => readWhole(value, 1_000_000, 1))
		.default(10_000)
		.meta({
			type: ['integer', 'string'],
			description: 'Waiting deliveries at which polling waits instead of piling up more. Default: 10000.',
		}),
	http: orNull(text(readListen)).meta({
		description: 'host:port for metrics, health and status page, such as 127.0.0.1:9464. Default: none.',
	}),
}).meta({ title: 'tracewatch.yaml', description: 'Settings of tracewatch: networks, receivers and folders.' })

function unknownType(type: unknown): string {
	const types = ['email', 'webhook']
	if (typeof type !== 'string') return `is missing: ${oneOf(types)}`
	return `must be ${oneOf(types)}, not ${quoted(type)}${suggestion(type, types)}`
}
