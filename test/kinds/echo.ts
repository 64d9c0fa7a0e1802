// A kind that exists in tests only: a transfer of exactly 7 wei. Here is all that a new kind needs: its record, and the
// producer of its events.
import { z } from 'zod'
import { ofFrames } from '../../src/kinds/frames.js'
import { coinsOf, watchName } from '../../src/kinds/phrases.js'
import type { KindRecord } from '../../src/kinds/record.js'
import type { FrameEvent } from '../../src/model/alert.js'
import type { Kind } from '../../src/model/kind.js'

/** A real kind stands in `model/kind.ts`. */
export const name = 'echo' as Kind

type Echo = Omit<FrameEvent, 'kind'> & { readonly kind: Kind; readonly volume: number }

export const echo: KindRecord<Echo> = {
	...(ofFrames as unknown as KindRecord<Echo>),
	kind: name,
	isDefault: false,
	idParts: ({ txHash, trace }) => [txHash, `echo_${trace}`],
	refusal: ({ volume }) => (volume < 11 ? 'min_value' : null),
	fields: (event, view) =>
		({ ...ofFrames.fields(event as unknown as FrameEvent, view), volume: event.volume }) as ReturnType<
			KindRecord['fields']
		>,
	frameTypes: ['call'],
	own: z.object({ volume: z.int().describe('How loud it is.') }),
	noun: 'an echo',
	chosen: () => 'echoes',
	alarm: { rank: 9, marks: ['ECHO'], markOf: () => 'ECHO' },
	sentence: (data) => `ECHO: ${watchName(data)} heard ${coinsOf(data)}`,
	facts: (data) => [{ name: 'Volume', value: String((data as { readonly volume?: number }).volume) }],
	warnings: () => ['Cover your ears.'],
	retracted: 'The echo has faded.',
	amount: () => '♪',
}

/** The producer: an echo beside each transfer of 7 wei. */
export function withEchoes<E extends { readonly kind: Kind }>(events: readonly E[]): readonly (E | Echo)[] {
	return events.flatMap((event): (E | Echo)[] => {
		const transfer = event as unknown as FrameEvent
		const isHeard = event.kind === 'transfer' && transfer.valueWei === 7n
		return isHeard ? [event, { ...transfer, kind: name, volume: 11 }] : [event]
	})
}
