/**
 * Addresses that are never contacted: link-local addresses and the credential services of clouds, also as an IPv4
 * address inside an IPv6 address. Private networks are allowed, because the operator writes the URLs and many receivers
 * are there.
 */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const never = new BlockList()
never.addSubnet('169.254.0.0', 16, 'ipv4')
never.addSubnet('fe80::', 10, 'ipv6')
// Not link-local: metadata and pod credentials of AWS, Google, Alibaba, Oracle (older address), Azure.
never.addAddress('fd00:ec2::254', 'ipv6')
never.addAddress('fd00:ec2::23', 'ipv6')
never.addAddress('fd20:ce::254', 'ipv6')
never.addAddress('100.100.100.200', 'ipv4')
never.addAddress('192.0.0.192', 'ipv4')
never.addAddress('168.63.129.16', 'ipv4')

/**
 * Whether a literal IP address, with or without brackets or zone, is forbidden, including IPv4 inside IPv6. False for a
 * host name.
 */
export function isForbidden(address: string): boolean {
	const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
	const family = isIP(plain)
	if (family === 0) return false
	if (family === 4) return never.check(plain, 'ipv4')
	return never.check(plain, 'ipv6') || carried(plain).some((inner) => never.check(inner, 'ipv4'))
}

/** The IPv4 addresses that a translator, tunnel or mapped socket would derive from an IPv6 address. */
function carried(address: string): readonly string[] {
	const groups = groupsOf(address)
	const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups
	const last = ipv4(g6, g7)
	const startsEmpty = g0 === 0 && g1 === 0 && g2 === 0 && g3 === 0
	const found: string[] = []
	// Compatible (::a.b.c.d), mapped (::ffff:a.b.c.d) and translated (::ffff:0:a.b.c.d).
	if (startsEmpty && ((g4 === 0 && (g5 === 0 || g5 === 0xffff)) || (g4 === 0xffff && g5 === 0))) found.push(last)
	// NAT64: the well-known prefix, and the prefix for local use with each of its lengths (RFC 6052, RFC 8215).
	if (g0 === 0x64 && g1 === 0xff9b) {
		found.push(last)
		// Bits 64 to 71 are always 0 and not part of the IPv4 address.
		const middle = ((g4 & 0xff) << 8) | (g5 >> 8)
		if (g2 === 1) {
			found.push(ipv4(g3, middle), ipv4(((g3 & 0xff) << 8) | (g4 & 0xff), g5))
			found.push(ipv4(middle, ((g5 & 0xff) << 8) | (g6 >> 8)))
		}
	}
	// 6to4; Teredo server, and Teredo client with all bits inverted.
	if (g0 === 0x2002) found.push(ipv4(g1, g2))
	if (g0 === 0x2001 && g1 === 0) found.push(ipv4(g2, g3), ipv4(g6 ^ 0xffff, g7 ^ 0xffff))
	// ISATAP.
	if ((g4 & 0xfdff) === 0 && g5 === 0x5efe) found.push(last)
	return found
}

/** The eight groups of a valid IPv6 literal. */
function groupsOf(address: string): readonly number[] {
	// The parser of URLs writes an IPv4 address at the end as two groups.
	const hex = new URL(`http://[${address}]`).hostname.slice(1, -1)
	const [front = [], back = []] = hex.split('::').map((half) => (half === '' ? [] : half.split(':')))
	const gap = hex.includes('::') ? Array.from({ length: 8 - front.length - back.length }, () => '0') : []
	return [...front, ...gap, ...back].map((group) => Number.parseInt(group, 16))
}

function ipv4(high: number, low: number): string {
	return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

export function forbiddenError(): NodeJS.ErrnoException {
	return Object.assign(new Error('a link-local address is never contacted'), { code: 'EFORBIDDEN' })
}

/** The system's lookup (including the hosts file) without the forbidden addresses. Not called for literals. */
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
