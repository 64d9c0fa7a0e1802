/** The container image: an archive that is whole and the same each time, and a compose file that works with it. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load.js'
import { temporaryFolder } from '../support/folder.js'

interface Oci {
	ociArchive(file: string, options: object): void
}
interface Reproducible {
	sourceEpoch(env: NodeJS.ProcessEnv): number
	tarOf(folder: string, file: string, options: object): void
}
const { ociArchive }: Oci = await import(new URL('../../scripts/oci.js', import.meta.url).href)
const { sourceEpoch, tarOf }: Reproducible = await import(
	new URL('../../scripts/reproducible.js', import.meta.url).href
)
const packaging = fileURLToPath(new URL('../../packaging/image', import.meta.url))
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const sum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** An archive with one layer of two files, which are written at another time on each call. */
function makeArchive(seconds: number, names: readonly string[]): string {
	const folder = temporaryFolder()
	const tree = join(folder, 'tree')
	mkdirSync(join(tree, 'usr'), { recursive: true })
	for (const name of names) {
		writeFileSync(join(tree, 'usr', name), name)
		chmodSync(join(tree, 'usr', name), 0o644)
		utimesSync(join(tree, 'usr', name), seconds, seconds)
	}
	const [layer, file] = [join(folder, 'layer.tar'), join(folder, 'image.oci.tar')]
	tarOf(tree, layer, { epoch: 1_700_000_000, owner: 65_532 })
	const config = { Entrypoint: ['/usr/a'] }
	const rest = { arch: 'arm64', name: 'some:1.2.3', epoch: 1_700_000_000, work: join(folder, 'work') }
	ociArchive(file, { layers: [{ file: layer, made: 'by hand' }], config, ...rest })
	return file
}

test('default: an OCI layout in which each blob has the digest and the size that name it', () => {
	const folder = temporaryFolder()
	execFileSync('tar', ['-xf', makeArchive(1_000_000_000, ['a', 'b']), '-C', folder])
	const blob = (digest: string) => readFileSync(join(folder, 'blobs', digest.replace(':', '/')))
	expect(json(join(folder, 'oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' })
	const [entry] = json(join(folder, 'index.json')).manifests
	expect(entry.platform).toEqual({ architecture: 'arm64', os: 'linux' })
	expect(entry.annotations['org.opencontainers.image.ref.name']).toBe('1.2.3')
	const manifest = JSON.parse(blob(entry.digest).toString())
	const config = JSON.parse(blob(manifest.config.digest).toString())
	const [layer] = manifest.layers
	for (const { digest, size } of [entry, manifest.config, layer]) {
		expect(`sha256:${sum(blob(digest))}`).toBe(digest)
		expect(blob(digest).length).toBe(size)
	}
	expect(readdirSync(join(folder, 'blobs/sha256'))).toHaveLength(3)
	expect(config.rootfs.diff_ids).toEqual([`sha256:${sum(gunzipSync(blob(layer.digest)))}`])
	expect(config.config.Entrypoint).toEqual(['/usr/a'])
	const listed = execFileSync('tar', ['-tvzf', '-', '--numeric-owner', '--utc'], {
		input: blob(layer.digest),
		encoding: 'utf8',
	})
	expect(listed).toMatch(/^-rw-r--r-- 65532\/65532 +1 2023-11-14 .* \.\/usr\/a$/m)
})

test('behavior: the same files in another order, at another time, give the same bytes', () => {
	const one = readFileSync(makeArchive(1_000_000_000, ['a', 'b']))
	const other = readFileSync(makeArchive(1_500_000_000, ['b', 'a']))
	expect(sum(one)).toBe(sum(other))
	expect(sum(readFileSync(makeArchive(1_000_000_000, ['a', 'c'])))).not.toBe(sum(one))
})

test('behavior: the time of all files is that of the source', () => {
	expect(sourceEpoch({ SOURCE_DATE_EPOCH: '1234567890' })).toBe(1_234_567_890)
	expect(sourceEpoch({})).toBeGreaterThan(499_162_499)
})

test('default: each Debian package in the image is pinned for both machines', () => {
	const { packages } = json(join(packaging, 'debian.json')) as {
		packages: Record<string, readonly { file: string; sha256: string }[]>
	}
	const names = (arch: string) => packages[arch]?.map(({ file }) => /([^/_]+)_[^/]*\.deb$/.exec(file)?.[1])
	expect(names('amd64')).toEqual(['base-files', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libstdc++6'])
	expect(names('arm64')).toEqual(names('amd64'))
	for (const { sha256 } of Object.values(packages).flat()) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
})

test('default: the compose file runs this version, with the secrets that its configuration names', async () => {
	const { services, secrets } = parse(readFileSync(join(packaging, 'compose.yaml'), 'utf8'))
	const { version } = json(fileURLToPath(new URL('../../package.json', import.meta.url)))
	expect(services.tracewatch.image).toBe(`tracewatch:${version}`)
	const text = readFileSync(join(packaging, 'config/tracewatch.yaml'), 'utf8')
	const named = [...text.matchAll(/^[^#\n]*\$\{(\w+)\}/gm)].map(([, name]) => name)
	expect([...services.tracewatch.secrets].sort()).toEqual(named.sort())
	const used = [...services.tracewatch.secrets, ...services.database.secrets]
	expect(Object.keys(secrets).sort()).toEqual(used.sort())

	const folder = temporaryFolder()
	const values = {
		ETHEREUM_RPC_URL: 'https://node.example.org/evm',
		SMTP_URL: 'smtps://user:password@mail.example.org:465',
		HTTP_PASSWORD: 'a password of the pages',
		STATE_URL: 'postgres://tracewatch:password@database/tracewatch',
	}
	for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), value)
	const env = { CREDENTIALS_DIRECTORY: folder }
	const config = await loadConfig(join(packaging, 'config/tracewatch.yaml'), { env, cwd: '/', onSecrets: () => {} })
	expect(config.watches.length).toBe(1)
	// The image's user may write nowhere else.
	expect(services.tracewatch.read_only).toBe(true)
})
