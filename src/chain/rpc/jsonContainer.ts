/** An object or a list of JSON, in as little memory as it needs. */

export type Container = Record<string, unknown> | unknown[]

/** Of what leaves out most members there are many. */
const emptyObject: Container = Object.freeze({})
/** A list that has grown has room for so many, and for half as many more than it held when it grew again. */
const roomOfFirst = 17

/** The same, once nothing is added to it any more: a trace has hundreds of thousands of short lists. */
export function compact(made: Container): Container {
	if (Array.isArray(made)) return made.length < roomOfFirst ? made.slice() : made
	for (const name in made) if (Object.hasOwn(made, name)) return made
	return emptyObject
}
