/**
 * Group commit: changes that arrive during a write are gathered for the next one. The document in memory is the one on
 * disk: a change is applied to a draft when its write starts, and becomes visible when the write has succeeded. So a
 * failed write needs no undo.
 */

export interface Ledger<Doc, Draft> {
	/** The last document that is on disk. */
	current(): Doc
	/** Resolves to the result of `apply` when its write is durable. Rejects with the error of `apply` or of the write. */
	change<T>(apply: (draft: Draft) => T): Promise<T>
	/** Resolves when no write is running. */
	idle(): Promise<void>
}

export interface GatherOptions<Doc, Draft> {
	begin(doc: Doc): Draft
	/** Makes the draft durable and resolves to the new document; to `before` if nothing changed. */
	write(draft: Draft, before: Doc): Promise<Doc>
	/**
	 * Called after each successful write, once its callers have their results; the next write waits for it. Never throws.
	 */
	after(doc: Doc): Promise<void>
}

interface Waiting<Draft> {
	readonly apply: (draft: Draft) => unknown
	readonly resolve: (result: unknown) => void
	readonly reject: (error: unknown) => void
}

export function gather<Doc, Draft>(first: Doc, { begin, write, after }: GatherOptions<Doc, Draft>): Ledger<Doc, Draft> {
	let current = first
	let waiting: Waiting<Draft>[] = []
	let running: Promise<void> | null = null

	async function run(): Promise<void> {
		// Changes requested in the same tick share the first write.
		await null
		while (waiting.length > 0) {
			const batch = waiting
			waiting = []
			await writeBatch(batch)
		}
		running = null
	}

	async function writeBatch(batch: readonly Waiting<Draft>[]): Promise<void> {
		const draft = begin(current)
		const settled: { readonly reject: (error: unknown) => void; readonly resolve: () => void }[] = []
		for (const { apply, resolve, reject } of batch) {
			try {
				const result = apply(draft)
				settled.push({ reject, resolve: () => resolve(result) })
			} catch (error) {
				reject(error)
			}
		}
		try {
			current = await write(draft, current)
		} catch (error) {
			for (const { reject } of settled) reject(error)
			return
		}
		for (const { resolve } of settled) resolve()
		await after(current)
	}

	return {
		current: () => current,
		change: <T>(apply: (draft: Draft) => T) =>
			new Promise<T>((resolve, reject) => {
				waiting.push({ apply, resolve: (result) => resolve(result as T), reject })
				running ??= run()
			}),
		idle: async () => {
			while (running) await running
		},
	}
}
