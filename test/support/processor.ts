import { quickest } from './quickest.js'

/** Processor time of this process while the work is done, in milliseconds: others may use the machine too. */
export async function processorMs(work: () => unknown): Promise<number> {
	const before = process.cpuUsage()
	await work()
	const { user, system } = process.cpuUsage(before)
	return (user + system) / 1_000
}

/**
 * How many times the processor time of `other` the work takes: the least of at most five tries, until one is below
 * `enough`. Both are measured in turn, so that a busy machine slows both.
 */
export async function timesOf(enough: number, work: () => unknown, other: () => unknown): Promise<number> {
	const ratio = async () => {
		const otherMs = await processorMs(other)
		return (await processorMs(work)) / otherMs
	}
	return await quickest(enough, ratio)
}
