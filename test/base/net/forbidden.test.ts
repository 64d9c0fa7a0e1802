import { expect, test } from 'vitest'
import { allowedLookup, isForbidden } from '../../../src/base/net/forbidden.js'

const metadata = '169.254.169.254'

test.each([
	[metadata, 'the metadata service'],
	['169.254.0.1', 'any link-local address'],
	['100.100.100.200', 'that of Alibaba'],
	['192.0.0.192', 'that of Oracle'],
	['fe80::1', 'link-local'],
	['fe80::1%eth0', 'link-local, with its zone'],
	['febf:ffff::1', 'the end of link-local'],
	['fd00:ec2::254', 'that of AWS'],
	['fd00:ec2::23', 'credentials of AWS, to pods'],
	['fd20:ce::254', 'that of Google'],
	['168.63.129.16', 'the wire server of Azure'],
	['::ffff:168.63.129.16', 'the same, mapped'],
	['::ffff:169.254.169.254', 'mapped'],
	['::ffff:a9fe:a9fe', 'mapped, in hex'],
	['0:0:0:0:0:ffff:a9fe:a9fe', 'mapped, in full'],
	['::169.254.169.254', 'compatible'],
	['::a9fe:a9fe', 'compatible, in hex'],
	['::ffff:0:169.254.169.254', 'translated'],
	['64:ff9b::169.254.169.254', 'NAT64'],
	['64:ff9b::a9fe:a9fe', 'NAT64, in hex'],
	['[64:ff9b::a9fe:a9fe]', 'NAT64, in brackets'],
	['64:ff9b::6464:64c8', 'NAT64 to that of Alibaba'],
	['64:ff9b:1::a9fe:a9fe', 'local NAT64, /96'],
	['64:ff9b:1:a9fe:a9:fe00::', 'local NAT64, /48'],
	['64:ff9b:1:a9:fe:a9fe::', 'local NAT64, /56'],
	['64:ff9b:1:0:a9:fea9:fe00::', 'local NAT64, /64, one byte off its group'],
	['64:ff9b:1:0:64:6464:c800::', 'local NAT64, /64, to that of Alibaba'],
	['2002:a9fe:a9fe::1', '6to4'],
	['2002:a9fe:a9fe:0:0:0:0:1', '6to4, in full'],
	['2001:0:a9fe:a9fe::1', 'the server of Teredo'],
	['2001:0:4136:e378:8000:63bf:5601:5601', 'the client of Teredo'],
	['2001:db8::5efe:169.254.169.254', 'ISATAP'],
	['2001:db8::200:5efe:a9fe:a9fe', 'ISATAP, of a public address'],
])('error: %s (%s)', (address) => {
	expect(isForbidden(address)).toBe(true)
})

test.each([
	'127.0.0.1',
	'::1',
	'::',
	'10.0.0.1',
	'192.168.1.1',
	'169.253.255.255',
	'100.100.100.201',
	'fd00:ec2::253',
	'fec0::1',
	'2001:db8::a9fe:a9fe',
	'2606:4700::1111',
	'64:ff9b::8.8.8.8',
	'64:ff9b::86.1.86.1',
	'2002:808:808::1',
	'::ffff:127.0.0.1',
	'example.org',
	'169.254.169.254.example.org',
	'',
])('default: %s may be contacted', (address) => {
	expect(isForbidden(address)).toBe(false)
})

test('behavior: the addresses of a name are filtered in the look-up that the connection uses', async () => {
	const resolved = (name: string) =>
		new Promise<{ code: string | undefined; found: unknown }>((resolve) =>
			allowedLookup(name, { all: true }, (error, found) => resolve({ code: error?.code, found })),
		)
	// The system's resolver takes these spellings for the metadata service.
	for (const name of ['0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518'])
		expect(await resolved(name)).toMatchObject({ code: 'EFORBIDDEN' })
	expect((await resolved('localhost')).code).toBeUndefined()
})
