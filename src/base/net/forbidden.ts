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

/** Prefixes of translators and tunnels, which read an IPv4 address from what follows: mapped, NAT64, 6to4, Teredo. */
const carriers = new BlockList()
carriers.addSubnet('::', 64, 'ipv6')
carriers.addSubnet('64:ff9b::', 32, 'ipv6')
carriers.addSubnet('2002::', 16, 'ipv6')
carriers.addSubnet('2001::', 32, 'ipv6')

/** Every IPv4 address that an IPv6 address may carry, wherever it stands there. */
function carried(address: string): readonly string[] {
	const groups = groupsOf(address)
	const isIsatap = groups[5] === 0x5efe
	if (!isIsatap && !carriers.check(address, 'ipv6')) return []
	const isTeredo = groups[0] === 0x2001
	const bytes = Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]))
	// NAT64 leaves byte 8 empty (RFC 6052); Teredo inverts the bits of its client.
	const forms = [bytes, bytes.filter((_, at) => at !== 8), ...(isTeredo ? [bytes.map((byte) => byte ^ 0xff)] : [])]
	return forms.flatMap((form) => [...form.keys()].slice(3).map((end) => form.subarray(end - 3, end + 1).join('.')))
}

/** The eight groups of a valid IPv6 literal. */
function groupsOf(address: string): readonly number[] {
	// The parser of URLs writes an IPv4 address at the end as two groups.
	const hex = new URL(`http://[${address}]`).hostname.slice(1, -1)
	const [front = [], back = []] = hex.split('::').map((half) => (half === '' ? [] : half.split(':')))
	const gap = hex.includes('::') ? Array.from({ length: 8 - front.length - back.length }, () => '0') : []
	return [...front, ...gap, ...back].map((group) => Number.parseInt(group, 16))
}

export function forbiddenError(): NodeJS.ErrnoException {
	return Object.assign(new Error('a link-local or metadata address is never contacted'), { code: 'EFORBIDDEN' })
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
