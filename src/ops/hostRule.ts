/**
 * Decides which `Host` headers are answered, against DNS rebinding: a foreign page can point a name of its own domain
 * at this server and let a browser read the answers. It cannot do so with an IP address, or with a name that is not in
 * its domain.
 */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLocal } from '../base/net/loopback.js'

/**
 * Ends of names that cannot be registered publicly (RFC 6761, 6762, 8375, and those that clusters use or ICANN reserves
 * for private use).
 */
const privateEnds = /\.(localhost|local|internal|lan|home\.arpa|svc|svc\.cluster\.local)$/

/**
 * `listensOn` is the configured host. If it is a loopback host: accepts loopback addresses, `localhost` and that host.
 * Else also accepts any IP address, this machine's name with or without its domain, and names that exist in a local
 * network only. A request without `Host` (HTTP/1.0) is accepted, since browsers always send one.
 */
export function createHostRule(listensOn: string): (host: string | undefined) => boolean {
	const own = bare(listensOn)
	const machine = hostname().toLowerCase()
	return (header) => {
		if (header === undefined) return true
		const host = hostOf(header)
		if (host === null) return false
		if (host === own || isLocal(host)) return true
		if (isLocal(own)) return false
		return (
			isIP(host) !== 0 ||
			!host.includes('.') ||
			privateEnds.test(host) ||
			host === machine ||
			host.startsWith(`${machine}.`)
		)
	}
}

/** The host without its port; null when the header is malformed. */
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
