import { z } from 'zod'
import type { Confirmations, Network } from '../../model/watch.js'
import { readDurationOrNever, readKeeping, writeDuration } from '../duration.js'
import {
	readBlocks,
	readChainId,
	readExplorer,
	readHttpUrl,
	readLine,
	readListen,
	readName,
	readPassword,
	readRate,
	readSwitch,
	readWholeNumber,
	readWsUrl,
} from '../values.js'
import { list, oneOrMore, orNull, section, text } from '../words.js'
import { longestGapMs, readSchedule, stepsInWords } from './cron.js'
import { receiverSchema } from './receiverSchema.js'
import { readState } from './statePlace.js'
import { knownTokens, tokensSchema } from './tokenSchema.js'

/**
 * Schema of tracewatch.yaml, one section for each part. A new key is one entry here: its reader checks the text and
 * returns the value.
 */

interface PollTiming {
	readonly schedule: string
	readonly confirmations: Confirmations
	readonly stall_after?: number | null | undefined
}

/**
 * In milliseconds; null: never. Default: 10 min, or 45 min where `confirmations` is a tag, since the checkpoint then
 * moves only with the chain's epochs; and at least 2.5 times the longest gap of the schedule, so that no stall is
 * reported between two polls.
 */
export function stallAfterMs({ schedule, confirmations, stall_after: written }: PollTiming): number | null {
	if (written !== undefined) return written
	return Math.max(typeof confirmations === 'number' ? 10 * 60_000 : 45 * 60_000, 2.5 * longestGapMs(schedule))
}

/**
 * Polls that are further apart than the stall limit, as when five fields were written where six were meant. WebSocket
 * heads start polls too, so networks with `ws` pass. Null: no fault.
 */
function scheduleFault({ schedule, stall_after, ws }: PollTiming & { readonly ws: readonly string[] }): string | null {
	const isFiveFields = schedule.trim().split(/\s+/).length === 5
	const stallMs = stall_after === undefined && isFiveFields ? 10 * 60_000 : stall_after
	const gapMs = longestGapMs(schedule)
	if (ws.length > 0 || stallMs == null || gapMs < stallMs) return null
	return (
		`polls ${stepsInWords(schedule)}, and after ` +
		`${writeDuration(stallMs)} without a block (\`stall_after\`) that would be reported as a stall; ` +
		'six fields begin with seconds, such as "*/12 * * * * *"'
	)
}

/** The keys of one network, each by itself. */
export const networkKeys = section({
	name: text(readName).meta({
		description: 'Name in watchlists, alerts and metrics, such as ethereum. A network that is renamed starts anew.',
	}),
	chain_id: text(readChainId).meta({
		type: ['integer', 'string'],
		description: 'Compared with `eth_chainId`; an endpoint of another chain is refused.',
	}),
	rpc: list(text(readHttpUrl)).meta({
		description: 'JSON-RPC endpoints in order of preference, http or https. Secrets; only their hosts are shown.',
	}),
	ws: oneOrMore(text(readWsUrl))
		.default([])
		.meta({
			description:
				'WebSocket endpoints, ws or wss, in order of preference: each new head that one reports starts a ' +
				'poll, besides the schedule. Secrets. Default: none.',
		}),
	schedule: text(readSchedule)
		.default('*/12 * * * * *')
		.meta({
			description:
				'When to poll (UTC), as node-cron reads it, seconds first, in quotes: "*/12 * * * * *". Without `ws` ' +
				'at least once in `stall_after`. Default: every 12 seconds.',
		}),
	source: z
		.enum(['auto', 'trace_filter', 'trace_block', 'debug_traceBlockByNumber'])
		.default('auto')
		.meta({ description: 'Method that traces are read with. Default: auto, the best that the endpoint has.' }),
	private: text(readSwitch)
		.default(false)
		.meta({
			type: 'boolean',
			description:
				'Requests whole blocks only, so that the provider never learns which addresses are watched; costs a ' +
				'trace request a block. Not with `source: trace_filter`. Default: false.',
		}),
	proof: z
		.enum(['auto', 'off'])
		.default('auto')
		.meta({
			description:
				'Whether books are kept: each balance is compared with all movements that were seen, and an ' +
				'unexplained difference is reported. With `private` only where blocks have access lists. ' +
				'Default: auto.',
		}),
	requests_per_second: orNull(text(readRate)).meta({
		type: ['number', 'string'],
		description:
			'Most calls per second to each endpoint, such as 10 or 0.5, to leave room for other users of the ' +
			'same plan. Default: as many as are needed.',
	}),
	confirmations: text((value) => readBlocks(value, ['safe', 'finalized']))
		.default(0)
		.meta({
			type: ['integer', 'string'],
			description:
				'Blocks to stay behind the head, or `safe`, or `finalized`: alerts come later, and fewer are ' +
				'retracted. Default: 0.',
		}),
	settle: text((value) => readBlocks(value, ['finalized']))
		.default('finalized')
		.meta({
			type: ['integer', 'string'],
			description:
				'When a block is looked at a second time: after this many blocks, or once finalized. ' + 'Default: finalized.',
		}),
	stall_after: text(readDurationOrNever)
		.optional()
		.meta({
			description:
				'Time without a scanned block after which a stall is reported, such as 10m, or `never`; 2.5 times ' +
				'the longest pause of the schedule where that is more. Default: 10m; 45m with confirmations safe or ' +
				'finalized.',
		}),
	symbol: text(readLine).default('ETH').meta({ description: 'Symbol of the native coin. Default: ETH.' }),
	decimals: text((value) => readWholeNumber(value, 77))
		.default(18)
		.meta({
			type: ['integer', 'string'],
			description: 'Digits after the point of the native coin, 0 to 77. Default: 18.',
		}),
	tokens: tokensSchema.meta({
		description: 'Tokens whose transfers are reported, under symbols of your own. Default: none.',
	}),
	explorer: orNull(text(readExplorer)).meta({
		description: 'Base URL of a block explorer, such as https://etherscan.io, for links in alerts. Default: none.',
	}),
})

const network = networkKeys
	.superRefine((written, context) => {
		const fault = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
		const slow = scheduleFault(written)
		if (slow !== null) fault('schedule', slow)
		if (written.private && written.source === 'trace_filter')
			fault('source', 'names the watched addresses to the provider: with `private` write trace_block, or drop it')
	})
	.transform((written, context) => {
		const { chain_id, stall_after, requests_per_second, private: isPrivate, proof, tokens: _, ...network } = written
		const tokens = knownTokens(written, context)
		const named: Pick<Network, 'tokens'> = tokens.size === 0 ? {} : { tokens }
		return {
			...network,
			...named,
			chainId: chain_id,
			/** Time without progress after which the network counts as stalled; null: never. */
			stallAfterMs: stallAfterMs({ ...network, stall_after }),
			/** Requests whole blocks only, so that no request names a watched address. */
			isPrivate,
			/**
			 * Whether books of balances are kept by asking for balances. Never on a private network, since balances are asked
			 * for by address.
			 */
			keepsBooks: proof === 'auto' && !isPrivate,
			/** Whether books are kept from block access lists alone, as on a private network. */
			keepsListedBooks: proof === 'auto' && isPrivate,
			/** Limit for each endpoint; null: no limit. */
			requestsPerSecond: requests_per_second,
		}
	})
	.meta({ id: 'network', description: 'One chain and the endpoints that it is read from.' })

export type NetworkSettings = z.output<typeof network>

export const watchlistsSchema = z
	.union([text(readLine), list(text(readLine))], { error: 'must be a folder, or a list of files' })
	.default('watchlists')
	.meta({
		description:
			'A folder (its `*.yaml` and `*.yml` by name, without hidden ones), or a list of files. Default: watchlists.',
	})

export const settingsSchema = section({
	networks: z.array(network).min(1).meta({ description: 'The chains to watch.' }),
	receivers: z.array(receiverSchema).min(1).meta({ description: 'Where alerts go.' }),
	watchlists: watchlistsSchema,
	state: text(readState)
		.default('state')
		.meta({
			description:
				'Folder of the state file, or `postgres://user:password@host/database`, where one instance works and ' +
				'the others stand by. Default: state.',
		}),
	history: text(readKeeping)
		.default(90 * 86_400_000)
		.meta({
			type: ['string', 'integer'],
			description:
				'How long sent deliveries and their results are kept for `deliveries --sent` and the pages, such as ' +
				'365d; 0: not at all. Default: 90d.',
		}),
	heartbeat_url: orNull(text(readHttpUrl)).meta({
		description:
			'URL that is fetched about once a minute, only while /healthz answers 200 and no poll fails: for a ' +
			"dead man's switch. A secret. Default: none.",
	}),
	http_password: orNull(text(readPassword)).meta({
		description:
			'8 characters or more, asked for before a page is shown (HTTP Basic, any user name). A secret, sent ' +
			'in clear: put a proxy with TLS before it. Default: none.',
	}),
	http: orNull(text(readListen)).meta({
		description:
			'host:port for metrics, health and pages, such as 127.0.0.1:9464. On another address than loopback ' +
			'the pages need `http_password`. Default: none.',
	}),
}).meta({ title: 'tracewatch.yaml', description: 'Settings of tracewatch: networks, receivers and folders.' })

export type SettingsWritten = z.output<typeof settingsSchema>
