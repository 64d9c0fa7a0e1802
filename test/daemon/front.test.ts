import { expect, onTestFinished, test } from 'vitest'
import { createFront } from '../../src/daemon/front.js'
import { StateError } from '../../src/errors.js'
import type { Log } from '../../src/model/ports.js'
import { silent } from '../support/silent.js'

test('error: an instance that stands by and cannot use the database says so, until it can', async () => {
	let port = 0
	const log: Log = {
		...silent,
		info: (facts) => {
			port = (facts as { readonly port: number }).port
		},
	}
	const front = createFront({
		config: { http: { host: '127.0.0.1', port: 0 }, httpPassword: null } as Parameters<typeof createFront>[0]['config'],
		metrics: { text: async () => '', contentType: 'text/plain' },
		version: '1',
		log,
		scrubber: { clean: (text: string) => text },
	} as Parameters<typeof createFront>[0])
	onTestFinished(() => front.close())
	const answer = async () => {
		const response = await fetch(`http://127.0.0.1:${port}/healthz`)
		return [response.status, await response.json()]
	}
	const well = [
		200,
		{ status: 'standing by', reason: expect.stringContaining('takes over when it ends'), networks: [] },
	]

	await front.standBy(null)
	expect(await answer()).toEqual(well)
	await front.standBy(new StateError('disk', 'it refuses the password'))
	const reason = 'standing by, and unable to take over: it refuses the password'
	expect(await answer()).toEqual([503, { status: 'stalled', reason, reasons: [reason], networks: [] }])
	await front.standBy(null)
	expect(await answer()).toEqual(well)
})
