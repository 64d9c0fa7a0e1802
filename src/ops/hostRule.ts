/**
 * Which `Host` is answered. A page of somebody else can have a browser ask this server under a name of his that he
 * points here (DNS rebinding), and read the answer; he cannot do that under an address, nor under a name that is not
 * his to give.
 */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../base/loopback.js'

/** Ends of names that nobody can register (RFC 6761, 6762, 8375, and what clusters and ICANN keep for private use). */
const privateEnds = /\.(localhost|local|internal|lan|home\.arpa|svc|svc\.cluster\.local)$/

/**
 * `listensOn` is the host that was configured. On loopback: loopback addresses, `localhost` and that host. Elsewhere:
 * any address, that host, this machine's name with or without its domain, and names that only a local network gives. A
 * request of HTTP/1.0 without a `Host` comes from no browser.
 */
export function createHostRule(listensOn: string): (host: string | undefined) => boolean {
	const own = bare(listensOn)
	const isLocal = isLoopback(own) || own === 'localhost'
	const machine = hostname().toLowerCase()
	return (header) => {
		if (header === undefined) return true
		const host = hostOf(header)
		if (host === null) return false
		if (host === own || host === 'localhost' || isLoopback(host)) return true
		if (isLocal) return false
		return (
			isIP(host) !== 0 ||
			!host.includes('.') ||
			privateEnds.test(host) ||
			host === machine ||
			host.startsWith(`${machine}.`)
		)
	}
}

/** Without its port; null for what no client writes. */
function hostOf(header: string): string | null {
	const found = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
	return found === null ? null : bare(found[1] ?? found[2] ?? '')
}

function bare(host: string): string {
	return host
		.toLowerCase()
		.replace(/^\[|\]$/g, '')
		.replace(/\.$/, '')
}
