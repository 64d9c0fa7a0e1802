/**
 * Group commit: while one write is under way, further changes gather for the next. What is in memory is what is on
 * disk: a change is applied when its write begins, and shows when that has ended well. After a failed write nothing
 * needs undoing.
 */

import type { Low } from 'lowdb'

export interface Ledger<Doc, Draft> {
	/** The last document that is on disk. */
	current(): Doc
	/**
	 * Resolves to what `apply` gave, when the write that holds it is done. Rejects with what `apply` or the write threw.
	 */
	change<T>(apply: (draft: Draft) => T): Promise<T>
	/** Resolves when nothing is under way. */
	idle(): Promise<void>
}

interface Waiting<Draft> {
	readonly apply: (draft: Draft) => unknown
	readonly resolve: (result: unknown) => void
	readonly reject: (error: unknown) => void
}

/** `seal` gives back the document itself when the draft holds nothing new: then nothing is written. */
export function gather<Doc, Draft>(
	low: Low<Doc>,
	begin: (doc: Doc) => Draft,
	seal: (draft: Draft, doc: Doc) => Doc,
): Ledger<Doc, Draft> {
	let current = low.data
	let waiting: Waiting<Draft>[] = []
	let running: Promise<void> | null = null

	async function run(): Promise<void> {
		// What is asked for in one breath shares the first write already.
		await null
		while (waiting.length > 0) {
			const batch = waiting
			waiting = []
			await write(batch)
		}
		running = null
	}

	async function write(batch: readonly Waiting<Draft>[]): Promise<void> {
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
		const next = seal(draft, current)
		if (next !== current) {
			try {
				low.data = next
				await low.write()
				current = next
			} catch (error) {
				for (const { reject } of settled) reject(error)
				return
			}
		}
		for (const { resolve } of settled) resolve()
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
