/**
 * What a test file leaves behind is taken away when it has run. A hook of a module cannot do that: many files share a
 * process, which loads the module once.
 */
const removals: (() => void)[] = []

/** Calls it at the end of the test file that is running. */
export function atEndOfFile(remove: () => void): void {
	removals.push(remove)
}

/** For `eachFile.ts` alone: latest first. */
export function removeLeftovers(): void {
	for (const remove of removals.splice(0).reverse()) remove()
}
