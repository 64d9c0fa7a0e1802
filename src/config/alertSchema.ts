/**
 * JSON Schema of a webhook's body: the Standard Webhooks envelope around an alert, a digest, or a message about the
 * system. Later versions may add fields, so unknown fields are allowed everywhere.
 */
import { z } from 'zod'
import { allKinds, allRecords } from '../kinds/all.js'
import { alertFields, deliveryFields, systemFields, undeliveredFields } from '../model/alert.js'
import { tokenFields } from '../model/ownFields.js'

const anchors = new Set(allRecords.flatMap((record) => record.anchors))

export const alert = z.object({
	...alertFields.shape,
	id: z
		.string()
		.regex(new RegExp(`^\\d+:(${[...anchors].join('|')}):[a-z0-9_-]+:(${allKinds.join('|')}):0x[0-9a-f]{40}$`))
		.describe(
			'chainId:anchor:place:kind:address, the same on every run and every machine. Of a frame the anchor is the ' +
				'transaction and the place its trace; docs/delivery.md has those of the other kinds.',
		),
	kind: z.enum(allKinds).describe('One of the [kinds](#kinds).'),
	frameType: z
		.enum(allRecords.flatMap(({ frameTypes }) => frameTypes))
		.describe(
			'Type of the frame. From `log` on no frame shows it: `log` is of tokens, `balance` also of `unexplained`.',
		),
})
/** With the fields of all kinds. */
const anyAlert = alert.extend(Object.assign({}, ...allRecords.map(({ own }) => own.partial().shape)))

function jsonOf(fields: z.ZodType): object {
	const { $schema: _, ...json } = z.toJSONSchema(fields, { io: 'input', target: 'draft-7', override: shortened })
	return json
}

/** Removes what says no more than `date-time` and `integer` do. */
function shortened({ jsonSchema: json }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
	if (json.format === 'date-time') delete json.pattern
	if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
	if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
}

const envelope = (types: readonly string[], data: object, title: string) => ({
	type: 'object',
	title,
	required: ['type', 'timestamp', 'data'],
	properties: { type: { enum: types }, timestamp: { type: 'string', format: 'date-time' }, data },
})

const digestedTypes = [...allKinds.map((kind) => `alert.${kind}`), 'alert.removed']
const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
/** An alert inside a digest names the delivery that it would have been. */
const withDelivery = (name: string) => ({ allOf: [ref(name), ref('delivery')] })
const digest = {
	type: 'object',
	required: ['id', 'alerts'],
	properties: {
		id: { type: 'string' },
		alerts: {
			type: 'array',
			minItems: 2,
			description: 'As they would have come one by one, each with the deliveryId that it would have had.',
			items: envelope(digestedTypes, withDelivery('alert'), 'one alert'),
		},
	},
}

export const alertSchema = {
	$schema: 'http://json-schema.org/draft-07/schema#',
	title: 'Alert of tracewatch',
	description: 'Body of a webhook. `type` says which form `data` has.',
	oneOf: [
		envelope([...digestedTypes, 'test'], withDelivery('alert'), 'an alert, its removal, or a test'),
		envelope(['alert.digest'], withDelivery('digest'), 'many alerts at once'),
		envelope(
			['system.stalled', 'system.gap', 'system.refused', 'system.recovered'],
			withDelivery('system'),
			'a word of the system',
		),
		envelope(['system.undelivered', 'system.recovered'], withDelivery('undelivered'), 'word of a receiver'),
	],
	definitions: {
		alert: {
			description: 'One event on one watched address.',
			...jsonOf(anyAlert),
			// A movement of coins has its amount in wei, a movement of tokens has its token.
			anyOf: [jsonOf(alertFields.pick({ valueWei: true }).required()), jsonOf(tokenFields.pick({ token: true }))],
		},
		digest,
		system: {
			description:
				'A network has stalled or recovered; or some of its blocks cannot be read, or were read after all; or ' +
				'watchlists were edited wrongly, or are right again.',
			...jsonOf(systemFields),
		},
		undelivered: {
			description: 'A receiver accepts nothing, or refuses messages; sent to its fallback.',
			...jsonOf(undeliveredFields),
		},
		delivery: jsonOf(deliveryFields),
	},
}
