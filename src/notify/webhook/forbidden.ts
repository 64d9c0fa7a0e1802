/**
 * Addresses that are never contacted: link-local ones, where clouds keep their machine credentials. Private networks are
 * allowed, since the operator writes the URLs and many receivers live there.
 */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const linkLocal = new BlockList()
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4')
linkLocal.addSubnet('fe80::', 10, 'ipv6')
linkLocal.addAddress('fd00:ec2::254', 'ipv6')

/** `address` is a literal IP, with or without brackets or zone; a name is never forbidden by itself. IPv4 in IPv6 counts. */
export function isForbidden(address: string): boolean {
	const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
	const family = isIP(bare)
	return family !== 0 && linkLocal.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}

export function forbiddenError(): NodeJS.ErrnoException {
	return Object.assign(new Error('a link-local address is never contacted'), { code: 'EFORBIDDEN' })
}

/** The system's look-up (hosts file included), without the forbidden addresses. Literals never come here. */
export const allowedLookup: LookupFunction = (hostname, options, callback) => {
	lookup(hostname, { ...options, all: true }, (error, found) => {
		if (error) return callback(error, '')
		const allowed = found.filter(({ address }) => !isForbidden(address))
		const first = allowed[0]
		if (first === undefined) return callback(forbiddenError(), '')
		if (options.all) return callback(null, allowed)
		callback(null, first.address, first.family)
	})
}
