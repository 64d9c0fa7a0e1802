/** Calls of the store that are running; closing waits for all of them. */

export interface InFlight {
	/** Throws once the store is closed. */
	during<T>(work: () => Promise<T>): Promise<T>
	/** The same, but calls with one name run one after the other, in order. */
	inTurn<T>(name: string, work: () => Promise<T>): Promise<T>
	/** Resolves when no call is running; to false if it was closed before. */
	close(): Promise<boolean>
}

export function createInFlight(): InFlight {
	const running = new Set<Promise<unknown>>()
	const queues = new Map<string, Promise<unknown>>()
	let closed = false

	async function during<T>(work: () => Promise<T>): Promise<T> {
		if (closed) throw new Error('the state store is closed')
		const result = work()
		const end = result.catch(() => undefined).finally(() => running.delete(end))
		running.add(end)
		return await result
	}

	return {
		during,
		inTurn: (name, work) =>
			during(() => {
				const result = (queues.get(name) ?? Promise.resolve()).then(work)
				queues.set(
					name,
					result.catch(() => undefined),
				)
				return result
			}),
		async close() {
			if (closed) return false
			closed = true
			await Promise.all(running)
			return true
		},
	}
}
