/** Finds the end of a chain that can only be asked for one block at a time. */

/** The newest block of a chain without holes: `from` must exist, `to` must not. The steps double from `from`. */
export async function newestOf(
	{ from, to }: { readonly from: bigint; readonly to: bigint },
	isThere: (number: bigint) => Promise<boolean>,
): Promise<bigint> {
	let [low, high] = [from, to]
	for (let step = 1n; low + step < high; step *= 2n) {
		if (await isThere(low + step)) low += step
		else high = low + step
	}
	while (high - low > 1n) {
		const middle = (low + high) / 2n
		if (await isThere(middle)) low = middle
		else high = middle
	}
	return low
}
