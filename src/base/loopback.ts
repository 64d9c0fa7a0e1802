import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether an address is this machine's own; a name is none. */
export function isLoopback(host: string): boolean {
	const family = isIP(host)
	return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
