/** One row of the table in a message: a name and a value. */

export interface Fact {
	readonly name: string
	readonly value: string
	/** A URL that shows the value. */
	readonly link?: string
}

export function fact(name: string, value: string, link?: string): Fact {
	return link === undefined ? { name, value } : { name, value, link }
}

/** `7`, or `7 to 9`. */
export function blocksOf({ fromBlock, toBlock }: { readonly fromBlock?: number; readonly toBlock?: number }): string {
	return fromBlock === toBlock ? `${toBlock}` : `${fromBlock} to ${toBlock}`
}
