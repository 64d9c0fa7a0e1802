/** One line of a message: a name and what it says. */

export interface Fact {
	readonly name: string
	readonly value: string
	/** Where the value can be looked at. */
	readonly link?: string
}

export function fact(name: string, value: string, link?: string): Fact {
	return link === undefined ? { name, value } : { name, value, link }
}

/** `7`, or `7 to 9`. */
export function blocksOf({ fromBlock, toBlock }: { readonly fromBlock?: number; readonly toBlock?: number }): string {
	return fromBlock === toBlock ? `${toBlock}` : `${fromBlock} to ${toBlock}`
}
