import { z } from 'zod'
import { alertSchema } from './alertSchema.js'
import { settingsSchema } from './settings/settingsSchema.js'
import { watchlistSchemas } from './watchlists/watchlistSchema.js'

export const schemaNames = ['config', 'watchlist', 'alert'] as const
export type SchemaName = (typeof schemaNames)[number]

/** JSON Schema (draft 7) of a file that a person writes, or of a webhook's body. */
export function jsonSchema(name: SchemaName): object {
	if (name === 'alert') return alertSchema
	const schema = name === 'config' ? settingsSchema : watchlistSchemas({ networks: null, receivers: null }, null).whole
	// The schema of the input, because the schema of the output would require every key that has a default.
	return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
}
