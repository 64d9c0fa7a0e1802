/** The tables of docs/configuration.md, made from the schemas: a row a key. */
import { jsonSchema } from '../../src/config/jsonSchema.js'

export interface Schema {
	readonly properties: Readonly<Record<string, Key>>
	readonly required?: readonly string[]
	readonly definitions: Readonly<Record<string, Schema>>
}

interface Key {
	readonly description?: string
	readonly type?: string | readonly string[]
	readonly const?: string
	readonly enum?: readonly string[]
	readonly anyOf?: readonly Key[]
}

/** The table of the keys that a watch, a file of addresses and a whole watchlist share. */
export const watchOptions = 'Options of a watch, of files of addresses, and of a whole watchlist'

const config = jsonSchema('config') as Schema
const watchlist = jsonSchema('watchlist') as Schema
const options = Object.keys(watchlist.definitions.addresses?.properties ?? {}).filter((key) => key !== 'addresses_from')

const watch = watchlist.definitions.watch as Schema

/** By the name of the page's part: the schema of each table. */
export const sections: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
	'tracewatch.yaml': {
		'tracewatch.yaml': config,
		'A network': config.definitions.network as Schema,
		'A token': config.definitions.token as Schema,
		'A receiver by mail': config.definitions.email as Schema,
		'A receiver by webhook': config.definitions.webhook as Schema,
		'A digest': config.definitions.digest as Schema,
	},
	watchlists: {
		'A watchlist': without(watchlist, options),
		'A watch': without(watch, options),
		'Files of addresses in the list of watches': without(watchlist.definitions.addresses as Schema, options),
		[watchOptions]: without(
			watch,
			Object.keys(watch.properties).filter((key) => !options.includes(key)),
		),
	},
}

function without(schema: Schema, keys: readonly string[]): Schema {
	const kept = Object.entries(schema.properties).filter(([key]) => !keys.includes(key))
	return { ...schema, properties: Object.fromEntries(kept) }
}

/** The text of the page with its tables as the schemas have them. */
export function withTables(page: string): string {
	return page.replaceAll(
		/^(<!-- tables of (.*) -->)$[\s\S]*?^(<!-- tables of .* end -->)$/gm,
		(_, begin: string, name: string, end: string) => {
			const tables = Object.entries(sections[name] ?? {}).map(([title, schema]) => `### ${title}\n\n${tableOf(schema)}`)
			return [begin, ...tables, end].join('\n\n')
		},
	)
}

function tableOf({ properties, required = [] }: Schema): string {
	const rows = Object.entries(properties).map(([name, key]) => {
		const [, meaning = '', standard] = /^(.*?)(?: ?Default: (.*?)\.?)?$/.exec(key.description ?? '') ?? []
		const cells = [`\`${name}\``, typeOf(key), required.includes(name) ? 'required' : (standard ?? ''), meaning]
		return `| ${cells.join(' | ')} |`
	})
	return ['| key | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** What an editor may read besides, a number where a text stands without quotes, is left out. */
function typeOf(key: Key): string {
	if (key.anyOf !== undefined) return key.anyOf.map(typeOf).join(', or ')
	const words = key.const === undefined ? key.enum : [key.const]
	if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ')
	const [first = 'object', ...others] = [key.type ?? []].flat()
	return others.includes('array') ? `${types[first]}, or list` : (types[first] ?? first)
}

const types: Readonly<Record<string, string>> = {
	array: 'list',
	boolean: '`true`, `false`',
	integer: 'whole number',
	number: 'number',
	object: 'keys',
	string: 'text',
}
