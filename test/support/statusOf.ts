/**
 * The status of an answer, which is read to its end: where no one reads one and the server closes, undici throws where
 * no one can catch it (https://github.com/nodejs/undici/issues/5360).
 */
export async function statusOf(...asked: Parameters<typeof fetch>): Promise<number> {
	const answer = await fetch(...asked)
	await answer.arrayBuffer()
	return answer.status
}
