export interface Cost {
	readonly wallMs: number
	/** Of this process, in all threads. */
	readonly cpuMs: number
}

export async function cost(job: () => unknown): Promise<Cost> {
	// What the one before left behind is not paid for by the next.
	globalThis.gc?.()
	const cpu = process.cpuUsage()
	const startedAtMs = performance.now()
	await job()
	const wallMs = performance.now() - startedAtMs
	const { user, system } = process.cpuUsage(cpu)
	return { wallMs, cpuMs: (user + system) / 1_000 }
}

/** Runs the jobs in turn, so many times over, and gives the median of each: what disturbs the machine disturbs all. */
export async function sideBySide<K extends string>(
	times: number,
	jobs: Readonly<Record<K, () => unknown>>,
): Promise<Record<K, Cost>> {
	const names = Object.keys(jobs) as K[]
	const costs = new Map<K, Cost[]>(names.map((name) => [name, []]))
	for (let time = 0; time < times; time += 1) {
		for (const name of names) costs.get(name)?.push(await cost(jobs[name]))
	}
	const middle = (name: K): Cost => {
		const all = costs.get(name) ?? []
		return {
			wallMs: quantile(
				all.map(({ wallMs }) => wallMs),
				0.5,
			),
			cpuMs: quantile(
				all.map(({ cpuMs }) => cpuMs),
				0.5,
			),
		}
	}
	return Object.fromEntries(names.map((name) => [name, middle(name)])) as Record<K, Cost>
}

/** `part` from 0 to 1; the list is not empty. */
export function quantile(values: readonly number[], part: number): number {
	const sorted = values.toSorted((a, b) => a - b)
	const value = sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]
	if (value === undefined) throw new RangeError('nothing was measured')
	return value
}

export function ratio(one: number, other: number): number {
	return Math.round((one / other) * 100) / 100
}
