import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a host is a loopback address (127.0.0.0/8 or ::1), or the name that every machine gives it. */
export function isLocal(host: string): boolean {
	const family = isIP(host)
	return host === 'localhost' || (family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6'))
}
