import { z } from 'zod'
import { alertSchema } from './alertSchema.js'
import { settingsSchema } from './settings/settingsSchema.js'
import { watchlistSchemas } from './watchlists/watchlistSchema.js'

export const schemaNames = ['config', 'watchlist', 'alert'] as const
export type SchemaName = (typeof schemaNames)[number]

/** JSON Schema (draft 7) of a file that a person writes, or of a webhook's body. */
export function jsonSchema(name: SchemaName): object {
	const watchlistSchema = watchlistSchemas({ networks: null, receivers: null }, null).whole
	const schema = { config: settingsSchema, watchlist: watchlistSchema, alert: alertSchema }[name]
	// The schema of the input, because the schema of the output would require every key that has a default.
	return z.toJSONSchema(schema, { io: 'input', target: 'draft-7', override: shortened })
}

/** Removes what says no more than `date-time` and `integer` do. */
function shortened({ jsonSchema: json }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
	if (json.format === 'date-time') delete json.pattern
	if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
	if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
}
