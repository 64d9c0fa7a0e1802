import { expect, test } from 'vitest'
import type { Log } from '../../../src/model/ports.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { alertDeliveryOf, idOf } from '../samples.js'
import { scripted, useLab } from './lab.js'

const lab = useLab()

test('behavior: a fault of our own is reported once, tried less and less often; other queues continue', async () => {
	const lines: string[] = []
	const say = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`)
	const log: Log = { debug() {}, info: say('info'), warn: say('warn'), error: say('error'), child: () => log }
	await lab.store.post([alertDeliveryOf(1, { receiver: 'broken' }), alertDeliveryOf(2, { receiver: 'whole' })])
	const stop = new AbortController()
	let asked = 0
	let isMended = false
	let sleeps = 0
	// Its settings are asked for, since it takes digests.
	const receivers = [{ ...scripted('broken'), takesDigest: () => true }, scripted('whole')]
	const deliverer = createDeliverer({
		...lab,
		receivers,
		log,
		optionsOf: (name) => {
			if (name === 'broken' && !isMended) {
				asked += 1
				throw new TypeError('a fault of ours')
			}
			return null
		},
		async sleep(ms) {
			await new Promise((resolve) => setTimeout(resolve, 1))
			lab.nowMs += ms
			sleeps += 1
			if (sleeps === 400) isMended = true
			if (sleeps > 400 && receivers[0]?.got.length === 1) stop.abort()
		},
	})
	await deliverer.run(stop.signal)
	expect(receivers.map(({ got }) => got)).toEqual([[idOf(1)], [idOf(2)]])
	// 400 looks are 200 s and more: 1, 2, 4, … 128 s apart.
	expect(asked).toBeLessThan(20)
	expect(lines).toEqual([
		'error: a queue of deliveries broke off; it is tried again, at longer and longer intervals',
		'info: a queue of deliveries that broke off continues',
	])
})
