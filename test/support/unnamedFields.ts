/** Fields of a message that its JSON Schema does not name: unknown ones are allowed, so a validator lets them pass. */
import { jsonSchema } from '../../src/config/jsonSchema.js'

interface Schema {
	readonly $ref?: string
	readonly allOf?: readonly Schema[]
	readonly anyOf?: readonly Schema[]
	readonly items?: Schema
	readonly properties?: Readonly<Record<string, Schema & { readonly enum?: readonly string[] }>>
}
const { definitions, oneOf } = jsonSchema('alert') as {
	readonly definitions: Readonly<Record<string, Schema>>
	readonly oneOf: readonly Schema[]
}

function resolved(schema: Schema): readonly Schema[] {
	const here = schema.$ref === undefined ? schema : (definitions[schema.$ref.split('/').at(-1) ?? ''] ?? {})
	return [here, ...[...(here.allOf ?? []), ...(here.anyOf ?? [])].flatMap(resolved)]
}

function unnamed(value: unknown, schemas: readonly Schema[], path: string): readonly string[] {
	if (Array.isArray(value)) {
		const items = schemas.flatMap(({ items: each }) => (each === undefined ? [] : resolved(each)))
		return value.flatMap((one) => unnamed(one, items, `${path}[]`))
	}
	if (typeof value !== 'object' || value === null) return []
	return Object.entries(value).flatMap(([key, inner]) => {
		const found = schemas.flatMap(({ properties }) => (properties?.[key] ? resolved(properties[key]) : []))
		return found.length === 0 ? [`${path}.${key}`] : unnamed(inner, found, `${path}.${key}`)
	})
}

/** Paths of the keys that the schema of an alert does not name, for a whole envelope. */
export function unnamedFields(envelope: { readonly type: string }): readonly string[] {
	const forms = oneOf.filter(({ properties }) => properties?.type?.enum?.includes(envelope.type))
	return unnamed(envelope, forms, envelope.type)
}
