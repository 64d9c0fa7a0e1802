/**
 * The room `commands/import` turns the configuration of another monitor into one of ours. This file: the JSON files of
 * OpenZeppelin Monitor (networks, monitors, triggers) and of Defender's API and SDK, read into one form.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PlainError } from '../../errors.js'

/** A value, the name of an environment variable, or the name of a secret in a vault. */
export interface Secret {
	readonly type: 'plain' | 'environment' | 'vault'
	readonly value: string
}

export interface OzNetwork {
	readonly slug: string
	readonly isEvm: boolean
	readonly chainId: number | null
	readonly urls: readonly Secret[]
	readonly schedule: string | null
	readonly confirmations: number | null
}

export interface OzTrigger {
	readonly key: string
	readonly type: string
	readonly config: Readonly<Record<string, unknown>>
}

export interface OzCondition {
	readonly of: 'function' | 'event' | 'transaction'
	/** Empty for a transaction. */
	readonly signature: string
	readonly expression: string | null
	/** Of a transaction: `success`, `failure` or `any`. */
	readonly status: string
}

export interface OzMonitor {
	readonly name: string
	readonly isPaused: boolean
	readonly networks: readonly string[]
	readonly addresses: readonly string[]
	readonly conditions: readonly OzCondition[]
	readonly triggers: readonly string[]
	/** What else it does, which has no counterpart: scripts, thresholds. */
	readonly extras: readonly string[]
}

export interface OzSite {
	readonly networks: readonly OzNetwork[]
	readonly monitors: readonly OzMonitor[]
	readonly triggers: readonly OzTrigger[]
	/** Files, or entries of files, that are none of these, each with the reason. */
	readonly unread: readonly { readonly file: string; readonly reason: string }[]
}

const MOST_FILES = 1_000
const MOST_BYTES = 4 * 2 ** 20

/** A plain string, or `{type, value}`. */
const secret = z
	.union([z.string(), z.looseObject({ type: z.string(), value: z.string() })])
	.transform((given): Secret => {
		if (typeof given === 'string') return { type: 'plain', value: given }
		const type = given.type.toLowerCase()
		return { type: type === 'plain' ? 'plain' : type === 'environment' ? 'environment' : 'vault', value: given.value }
	})

export function readSecret(value: unknown): Secret | null {
	return secret.safeParse(value).data ?? null
}

const network = z
	.looseObject({
		network_type: z.string(),
		slug: z.string(),
		chain_id: z.number().nullish(),
		rpc_urls: z.array(z.looseObject({ url: secret, weight: z.number().default(1) })).default([]),
		cron_schedule: z.string().nullish(),
		confirmation_blocks: z.number().nullish(),
	})
	.transform(
		(given): OzNetwork => ({
			slug: given.slug,
			isEvm: given.network_type.toUpperCase() === 'EVM',
			chainId: given.chain_id ?? null,
			// A larger weight is used more: it comes first.
			urls: given.rpc_urls.toSorted((one, other) => other.weight - one.weight).map(({ url }) => url),
			schedule: given.cron_schedule ?? null,
			confirmations: given.confirmation_blocks ?? null,
		}),
	)

const signed = z.array(z.looseObject({ signature: z.string(), expression: z.string().nullish() })).default([])
const ofTransactions = z
	.array(z.looseObject({ status: z.string().default('any'), expression: z.string().nullish() }))
	.default([])

const monitor = z
	.looseObject({
		name: z.string(),
		networks: z.array(z.string()),
		paused: z.boolean().default(false),
		addresses: z.array(z.looseObject({ address: z.string() })).default([]),
		match_conditions: z.looseObject({ functions: signed, events: signed, transactions: ofTransactions }),
		trigger_conditions: z.array(z.looseObject({ script_path: z.string() })).default([]),
		triggers: z.array(z.string()).default([]),
	})
	.transform((given): OzMonitor => {
		const { functions, events, transactions } = given.match_conditions
		return {
			name: given.name,
			isPaused: given.paused,
			networks: given.networks,
			addresses: given.addresses.map(({ address }) => address),
			conditions: [
				...functions.map((one) => conditionOf('function', one)),
				...events.map((one) => conditionOf('event', one)),
				...transactions.map((one) => conditionOf('transaction', one)),
			],
			triggers: given.triggers,
			extras: given.trigger_conditions.map(({ script_path: path }) => `the filter script ${path}`),
		}
	})

interface Given {
	readonly signature?: string
	readonly status?: string
	readonly expression?: string | null | undefined
}

function conditionOf(of: OzCondition['of'], { signature = '', status = 'any', expression }: Given): OzCondition {
	const text = expression?.trim() ?? ''
	const word = status.toLowerCase().replace(/^failed$/, 'failure')
	return { of, signature: signature.replaceAll(' ', ''), expression: text === '' ? null : text, status: word }
}

const eventConditions = z
	.array(z.looseObject({ eventSignature: z.string(), expression: z.string().nullish() }))
	.default([])
const functionConditions = z
	.array(z.looseObject({ functionSignature: z.string(), expression: z.string().nullish() }))
	.default([])
const rule = z.looseObject({
	addresses: z.array(z.string()).default([]),
	conditions: z.array(z.looseObject({ eventConditions, functionConditions, txConditions: ofTransactions })).default([]),
})

/** A monitor of Defender, as its API answers (`addressRules`), or as its SDK takes it (conditions beside addresses). */
const defenderMonitor = z
	.looseObject({
		name: z.string(),
		type: z.string().default('BLOCK'),
		network: z.string(),
		paused: z.boolean().default(false),
		addressRules: z.array(rule).optional(),
		addresses: z.array(z.string()).default([]),
		eventConditions,
		functionConditions,
		txCondition: z.string().nullish(),
		notificationChannels: z.array(z.string()).default([]),
		notifyConfig: z
			.looseObject({ notifications: z.array(z.looseObject({ notificationId: z.string() })).default([]) })
			.optional(),
		alertThreshold: z.looseObject({ amount: z.number(), windowSeconds: z.number() }).nullish(),
		actionCondition: z.unknown().optional(),
	})
	.transform((given): OzMonitor => {
		const own = {
			addresses: given.addresses,
			conditions: [
				{
					eventConditions: given.eventConditions,
					functionConditions: given.functionConditions,
					txConditions: given.txCondition == null ? [] : [{ status: 'any', expression: given.txCondition }],
				},
			],
		}
		const rules = given.addressRules ?? [own]
		const sets = rules.flatMap(({ conditions }) => conditions)
		const { alertThreshold: threshold } = given
		return {
			name: given.name,
			isPaused: given.paused,
			networks: [given.network],
			addresses: rules.flatMap(({ addresses }) => addresses),
			conditions: [
				...sets.flatMap((set) =>
					set.functionConditions.map((one) => conditionOf('function', { ...one, signature: one.functionSignature })),
				),
				...sets.flatMap((set) =>
					set.eventConditions.map((one) => conditionOf('event', { ...one, signature: one.eventSignature })),
				),
				...sets.flatMap((set) => set.txConditions.map((one) => conditionOf('transaction', one))),
			],
			triggers: [
				...given.notificationChannels,
				...(given.notifyConfig?.notifications.map(({ notificationId }) => notificationId) ?? []),
			],
			extras: [
				...(threshold == null
					? []
					: [`the threshold of ${threshold.amount} alerts in ${threshold.windowSeconds} s (each alert is sent)`]),
				...(given.actionCondition == null ? [] : ['the action that filters']),
			],
		}
	})

const defenderNotification = z
	.looseObject({ notificationId: z.string(), type: z.string(), config: z.record(z.string(), z.unknown()) })
	.transform(({ notificationId, type, config }): OzTrigger => ({ key: notificationId, type, config }))

const trigger = z.looseObject({ trigger_type: z.string(), config: z.record(z.string(), z.unknown()).default({}) })

/** Reads every JSON file below the folder. Throws PlainError when the folder cannot be read, or holds none. */
export async function readOz(folder: string): Promise<OzSite> {
	const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
		throw new PlainError(`${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
	})
	const files = names.filter((name) => name.endsWith('.json')).toSorted()
	if (files.length === 0) throw new PlainError(`${folder} holds no .json file: name the folder of the configuration`)
	if (files.length > MOST_FILES)
		throw new PlainError(`${folder} holds ${files.length} .json files; at most ${MOST_FILES}`)
	const site = { networks: [], monitors: [], triggers: [], unread: [] } as Writable<OzSite>
	for (const file of files) {
		const value = await parsed(join(folder, file))
		if (value instanceof Error) site.unread.push({ file, reason: value.message })
		else for (const one of Array.isArray(value) ? value : [value]) take(one, file, site)
	}
	return { ...site, unread: eachOnce(site.unread) }
}

/** A file with a thousand wrong entries is named once for each reason. */
function eachOnce(unread: OzSite['unread']): OzSite['unread'] {
	const counts = new Map<string, { readonly file: string; readonly reason: string; times: number }>()
	for (const { file, reason } of unread) {
		const key = JSON.stringify([file, reason])
		const known = counts.get(key)
		if (known === undefined) counts.set(key, { file, reason, times: 1 })
		else known.times++
	}
	return [...counts.values()].map(({ file, reason, times }) => {
		return { file, reason: times === 1 ? reason : `${reason} (${times} times)` }
	})
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Item)[] ? Item[] : T[Key] }

async function parsed(path: string): Promise<unknown> {
	try {
		const found = await stat(path)
		// A named pipe would never end.
		if (!found.isFile()) return new Error('it is no file')
		if (found.size > MOST_BYTES) return new Error('it is larger than 4 MiB')
		return JSON.parse(await readFile(path, 'utf8'))
	} catch (error) {
		// The text of a syntax error quotes the file, which may hold a secret.
		return new Error(error instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read')
	}
}

function take(value: unknown, file: string, site: Writable<OzSite>): void {
	const add = <T>(schema: z.ZodType<T>, list: T[], what: string): void => {
		const { data, error } = schema.safeParse(value)
		if (data !== undefined) list.push(data)
		else site.unread.push({ file, reason: `it looks like a ${what}, but ${faultOf(error)}` })
	}
	if (typeof value !== 'object' || value === null) site.unread.push({ file, reason: 'it holds no object' })
	else if ('network_type' in value) add(network, site.networks, 'network')
	else if ('match_conditions' in value) add(monitor, site.monitors, 'monitor')
	else if ('notificationId' in value && 'config' in value)
		add(defenderNotification, site.triggers, 'notification of Defender')
	else if ('addressRules' in value || ('addresses' in value && 'network' in value))
		add(defenderMonitor, site.monitors, 'monitor of Defender')
	else takeTriggers(value, file, site)
}

function takeTriggers(value: object, file: string, site: Writable<OzSite>): void {
	const entries = Object.entries(value)
	const read = entries.map(([key, entry]) => ({ key, data: trigger.safeParse(entry).data }))
	if (!read.some(({ data }) => data !== undefined)) {
		site.unread.push({ file, reason: 'it is no network, monitor or trigger' })
		return
	}
	for (const { key, data } of read) {
		if (data === undefined) site.unread.push({ file, reason: `${key} is no trigger` })
		else site.triggers.push({ key, type: data.trigger_type.toLowerCase(), config: data.config })
	}
}

function faultOf(error: z.ZodError | undefined): string {
	const issue = error?.issues[0]
	return issue === undefined ? 'it is malformed' : `\`${issue.path.join('.')}\` is wrong: ${issue.message}`
}
