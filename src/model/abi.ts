/** Functions of contracts, as an ABI describes them. */

/** One input of a function, in the form of the JSON ABI. */
export interface AbiInput {
	readonly name?: string
	readonly type: string
	/** Of a struct, and of a list of structs. */
	readonly components?: readonly AbiInput[]
}

/** Null where only the selector is known. */
export interface WatchedFunction {
	readonly signature: string | null
	readonly inputs: readonly AbiInput[] | null
}

/** The functions whose calls a watch reports. */
export interface WatchedCalls {
	/** By selector. */
	readonly functions: ReadonlyMap<string, WatchedFunction>
	/** Whether calls that failed, or were undone, are reported too. */
	readonly failed: boolean
}
