/** Functions of contracts, as an ABI describes them. */

/** One input of a function, in the form of the JSON ABI. */
export interface AbiInput {
	readonly name?: string
	readonly type: string
	/** Of a struct, and of a list of structs. */
	readonly components?: readonly AbiInput[]
}

export interface AbiFunction {
	readonly name: string
	/** `transferOwnership(address)`. */
	readonly signature: string
	readonly inputs: readonly AbiInput[]
}

/** Functions that a network's ABI files describe, by selector: `0x` and four bytes. */
export type KnownFunctions = ReadonlyMap<string, AbiFunction>

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
