import type { Log } from '../../src/model/ports.js'

/** A log that keeps its warnings and errors, each with its facts. */
export function listening(): { readonly log: Log; readonly said: string[] } {
	const said: string[] = []
	const tell = (facts: object, message: string) => {
		// A young chain gives nothing to prove an endpoint by.
		if (!message.startsWith('the endpoint was asked')) said.push(`${message} ${JSON.stringify(facts, text)}`)
	}
	const log: Log = { debug() {}, info() {}, warn: tell, error: tell, child: () => log }
	return { log, said }
}

function text(_key: string, value: unknown) {
	return typeof value === 'bigint' ? value.toString() : value
}
