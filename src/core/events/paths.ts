/** Values by trace address, stored as a tree: time is linear in the length of the paths, in any order. */
export interface PathMap<T> {
	set(path: readonly number[], value: T): void
	get(path: readonly number[]): T | undefined
	/** The first value above the path that fits, from the root down, the path itself excluded; or undefined. */
	findAbove(path: readonly number[], fits: (value: T) => boolean): T | undefined
}

interface Node<T> {
	value: T | undefined
	readonly below: Map<number, Node<T>>
}

export function createPathMap<T>(): PathMap<T> {
	const root: Node<T> = newNode()
	return {
		set(path, value) {
			let node = root
			for (const step of path) {
				let next = node.below.get(step)
				if (next === undefined) {
					next = newNode()
					node.below.set(step, next)
				}
				node = next
			}
			node.value = value
		},
		get(path) {
			let node: Node<T> | undefined = root
			for (const step of path) {
				node = node.below.get(step)
				if (node === undefined) return undefined
			}
			return node.value
		},
		findAbove(path, fits) {
			let node: Node<T> | undefined = root
			for (const step of path) {
				if (node.value !== undefined && fits(node.value)) return node.value
				node = node.below.get(step)
				if (node === undefined) return undefined
			}
			return undefined
		},
	}
}

function newNode<T>(): Node<T> {
	return { value: undefined, below: new Map() }
}
