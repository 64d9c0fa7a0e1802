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
// A movement of coins has its amount in wei, a movement of tokens has its token.
const coins = alertFields.pick({ valueWei: true }).required()
const tokens = tokenFields.pick({ token: true })

/** With the fields of all kinds. */
const anyAlert = alert.extend(Object.assign({}, ...allRecords.map(({ own }) => own.partial().shape))).meta({
	id: 'alert',
	description: 'One event on one watched address.',
	anyOf: [coins, tokens].map((fields) => {
		const { $schema: _, ...json } = z.toJSONSchema(fields, { io: 'input' })
		return json
	}),
})
const delivery = deliveryFields.meta({ id: 'delivery' })

/** An alert inside a digest names the delivery that it would have been. */
const envelope = (types: readonly string[], data: z.ZodType, title: string) =>
	z.object({ type: z.enum(types), timestamp: z.iso.datetime(), data: z.intersection(data, delivery) }).meta({ title })

const digestedTypes = [...allKinds.map((kind) => `alert.${kind}`), 'alert.removed']
const digest = z
	.object({
		id: z.string(),
		alerts: z
			.array(envelope(digestedTypes, anyAlert, 'one alert'))
			.min(2)
			.describe('As they would have come one by one, each with the deliveryId that it would have had.'),
	})
	.meta({ id: 'digest' })
const system = systemFields.meta({
	id: 'system',
	description:
		'A network has stalled or recovered; or some of its blocks cannot be read, or were read after all; or ' +
		'watchlists were edited wrongly, or are right again.',
})
const undelivered = undeliveredFields.meta({
	id: 'undelivered',
	description: 'A receiver accepts nothing, or refuses messages; sent to its fallback.',
})

export const alertSchema = z
	.xor([
		envelope([...digestedTypes, 'test'], anyAlert, 'an alert, its removal, or a test'),
		envelope(['alert.digest'], digest, 'many alerts at once'),
		envelope(['system.stalled', 'system.gap', 'system.refused', 'system.recovered'], system, 'a word of the system'),
		envelope(['system.undelivered', 'system.recovered'], undelivered, 'word of a receiver'),
	])
	.meta({ title: 'Alert of tracewatch', description: 'Body of a webhook. `type` says which form `data` has.' })
