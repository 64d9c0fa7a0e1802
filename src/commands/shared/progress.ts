const SILENT_MS = 2_000
const REPEATED_EACH_MS = 10_000

/**
 * Does the work. On a terminal, standard error says after 2 s, and then every 10 s, what takes so much time. The timer
 * does not keep the process alive.
 */
export async function whileWaiting<T>(
	words: () => string,
	work: () => Promise<T>,
	to: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<T> {
	if (to.isTTY !== true) return await work()
	const say = () => {
		to.write(`${words()} …\n`)
		timer = setTimeout(say, REPEATED_EACH_MS).unref()
	}
	let timer = setTimeout(say, SILENT_MS).unref()
	try {
		return await work()
	} finally {
		clearTimeout(timer)
	}
}
