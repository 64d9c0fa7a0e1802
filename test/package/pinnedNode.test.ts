/** The Debian package carries one Node, whose version and checksums are pinned. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface PinnedNode {
	requireIntegrity(bytes: Uint8Array, integrity: string, name: string): void
}
const script: PinnedNode = await import(new URL('../../scripts/pinned-node.js', import.meta.url).href)

test('default: an exact version of an LTS, with a checksum for each machine', () => {
	const { version, integrity } = JSON.parse(
		readFileSync(new URL('../../packaging/deb/node.json', import.meta.url), 'utf8'),
	)
	expect(version).toMatch(/^\d+\.\d+\.\d+$/)
	expect(Number(version.split('.')[0]) % 2).toBe(0)
	for (const arch of ['x64', 'arm64']) expect(integrity[arch]).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
	expect(readFileSync(new URL('../../scripts/package.js', import.meta.url), 'utf8')).not.toMatch(/node-linux-/)
})

test('error: other bytes are not packed', () => {
	const bytes = Buffer.from('node')
	const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
	expect(() => script.requireIntegrity(bytes, integrity, 'it')).not.toThrow()
	expect(() => script.requireIntegrity(Buffer.from('nodf'), integrity, 'it')).toThrow(
		/it has the checksum .* is pinned/,
	)
})
