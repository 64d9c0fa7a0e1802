import type { ServerResponse } from 'node:http'

/**
 * For servers whose answers take time: meanwhile whoever asked may hang up, or the node behind may go away. Then the
 * connection is cut, as a real gateway's is, and whoever asked sees that; any other error stays one.
 */
export function orCut(response: ServerResponse, answering: Promise<unknown>): void {
	response.on('error', () => {})
	answering.catch((error: unknown) => {
		if (!isLoss(error)) throw error
		response.destroy()
	})
}

/** A node that is stopped refuses who comes after. */
const losses: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE'])

/** Of a connection: `aborted` from an incoming request, `fetch failed` or `terminated` towards a node. */
function isLoss(error: unknown): boolean {
	if (!(error instanceof Error)) return false
	if (losses.has((error as NodeJS.ErrnoException).code ?? '')) return true
	return error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message)
}
