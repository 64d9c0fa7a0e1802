import { z } from 'zod'
import { alertSchema } from './alertSchema.js'
import { settingsSchema } from './settings/settingsSchema.js'
import { watchlistSchema } from './watchlists/watchlistSchema.js'

export const schemaNames = ['config', 'watchlist', 'alert'] as const
export type SchemaName = (typeof schemaNames)[number]

/** JSON Schema (draft 7) of what a person writes into a file, or of what a webhook is sent. */
export function jsonSchema(name: SchemaName): object {
	if (name === 'alert') return alertSchema
	const schema = name === 'config' ? settingsSchema : watchlistSchema
	// The input's form: the output would call every key with a default required.
	return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
}
