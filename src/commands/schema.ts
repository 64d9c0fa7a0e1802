import { jsonSchema, schemaNames } from '../config/jsonSchema.js'
import { oneOf } from '../config/words.js'
import { UsageError } from '../errors.js'
import { type Command, exitCodes } from './command.js'

export const schema: Command = {
	name: 'schema',
	summary: 'prints the JSON Schema of a configuration, a watchlist or an alert',
	help: `Usage: tracewatch schema config|watchlist|alert

Prints the JSON Schema (draft 7): of tracewatch.yaml, of a watchlist, or of the body that a webhook is sent. Editors
with a YAML language server read it from the first line of a file: # yaml-language-server: $schema=PATH`,
	options: {},
	positionals: [1, 1],
	async run({ positionals: [wanted] }, io) {
		const name = schemaNames.find((known) => known === wanted)
		if (name === undefined) throw new UsageError(`there is a schema of ${oneOf(schemaNames)}, not of \`${wanted}\``)
		io.out(JSON.stringify(jsonSchema(name), null, 2))
		return exitCodes.done
	},
}
