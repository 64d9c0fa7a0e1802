/** Processor time of this process while the work is done, in milliseconds: others may use the machine too. */
export async function processorMs(work: () => unknown): Promise<number> {
	const before = process.cpuUsage()
	await work()
	const { user, system } = process.cpuUsage(before)
	return (user + system) / 1_000
}
