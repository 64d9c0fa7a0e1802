/** The samples of a text of metrics, by name and labels, without help and types. */
export async function samplesOf({ text }: { text(): Promise<string> }): Promise<ReadonlyMap<string, number>> {
	const lines = (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
	return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}
