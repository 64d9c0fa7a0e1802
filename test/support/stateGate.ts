/** Holds back a node's answers about the state, so that an audit is in flight for as long as a test wants. */

const ofState = new Set(['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getBlockAccessList', 'eth_getStorageAt'])

export function createStateGate() {
	let open: (() => void) | null = null
	let gate = Promise.resolve()
	let waiting = 0
	const pass = async (answer: unknown): Promise<unknown> => {
		waiting++
		await gate
		waiting--
		return answer
	}
	return {
		hold() {
			gate = new Promise((resolve) => {
				open = resolve
			})
		},
		release: () => open?.(),
		/** Answers that are held back. */
		waiting: () => waiting,
		/** For a dialect. Undefined: not about the state. */
		twist: (method: string, _params: readonly unknown[], answer: unknown): Promise<unknown> | undefined =>
			ofState.has(method) ? pass(answer) : undefined,
	}
}
