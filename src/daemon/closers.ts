/**
 * Collects a closer for each opened resource. Closing runs them in reverse order, continues after a failure, and throws
 * the first failure at the end. Closing again returns the same promise.
 */
export function createClosers() {
	const stack: (() => void | Promise<void>)[] = []
	let closed: Promise<void> | null = null

	async function closeAll(): Promise<void> {
		const failures: unknown[] = []
		for (let close = stack.pop(); close !== undefined; close = stack.pop()) {
			try {
				await close()
			} catch (error) {
				failures.push(error)
			}
		}
		if (failures.length > 0) throw failures[0]
	}

	return {
		add: (close: () => void | Promise<void>) => void stack.push(close),
		close: () => (closed ??= closeAll()),
	}
}

export type Closers = ReturnType<typeof createClosers>
