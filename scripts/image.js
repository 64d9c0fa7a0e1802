// The container image: the files of the Debian package, its Node, and the five Debian packages that Node needs, which
// packaging/image/debian.json pins by checksum. No shell, no package manager; the user is 65532.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ociArchive } from './oci.js'
import { sha256Of, tarOf } from './reproducible.js'

const pinned = JSON.parse(readFileSync(new URL('../packaging/image/debian.json', import.meta.url), 'utf8'))
const USER = 65_532

/** Makes the image from the Debian package at `deb`. `mirror` comes before those that apt knows. */
export async function makeImage(file, { deb, arch, version, epoch, mirror }) {
	const work = mkdtempSync(join(tmpdir(), 'tracewatch-image-'))
	try {
		const layers = [
			{ file: await baseLayer(work, { arch, epoch, mirror }), made: `Debian ${pinned.suite}: what Node needs` },
			{ file: programLayer(work, { deb, epoch }), made: basename(deb) },
			{ file: stateLayer(work, { epoch }), made: 'the folder of the state' },
		]
		const config = {
			User: `${USER}:${USER}`,
			ExposedPorts: { '9464/tcp': {} },
			// A secret that a platform mounts as /run/secrets/SMTP_URL is found by its name.
			Env: ['PATH=/usr/local/bin:/usr/bin', 'CREDENTIALS_DIRECTORY=/run/secrets'],
			Entrypoint: ['/usr/bin/tracewatch'],
			Cmd: ['run'],
			Volumes: { '/var/lib/tracewatch': {} },
			WorkingDir: '/etc/tracewatch',
			StopSignal: 'SIGTERM',
			Labels: {
				'org.opencontainers.image.title': 'tracewatch',
				'org.opencontainers.image.version': version,
				'org.opencontainers.image.licenses': 'MIT',
			},
		}
		const archive = { layers, config, arch, name: `tracewatch:${version}`, epoch, work: join(work, 'archive') }
		ociArchive(file, archive)
	} finally {
		rmSync(work, { recursive: true, force: true })
	}
}

async function baseLayer(work, { arch, epoch, mirror }) {
	const tree = join(work, 'base')
	mkdirSync(tree)
	for (const entry of pinned.packages[arch]) {
		const path = join(work, basename(entry.file))
		writeFileSync(path, await fetchDebian(entry, mirror))
		execFileSync('dpkg-deb', ['--extract', path, tree])
	}
	for (const path of ['usr/share/doc-base', 'usr/share/lintian', 'usr/share/man'])
		rmSync(join(tree, path), { recursive: true, force: true })
	writeFileSync(
		join(tree, 'etc/passwd'),
		`root:x:0:0:root:/root:/sbin/nologin\ntracewatch:x:${USER}:${USER}::/var/lib/tracewatch:/sbin/nologin\n`,
	)
	writeFileSync(join(tree, 'etc/group'), `root:x:0:\ntracewatch:x:${USER}:\n`)
	writeFileSync(join(tree, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
	const layer = `${work}/base.tar`
	tarOf(tree, layer, { epoch })
	return layer
}

/** From the first mirror that has these bytes. Mirrors drop a version when a newer one comes; snapshots keep it. */
async function fetchDebian({ file, sha256 }, mirror) {
	const mirrors = [...new Set([mirror, ...aptMirrors()].filter(Boolean))]
	const tried = mirrors.length === 0 ? ['apt knows no mirror of Debian here'] : []
	for (const server of mirrors) {
		try {
			const answer = await fetch(`${server}/${file}`, { signal: AbortSignal.timeout(120_000) })
			if (!answer.ok) throw new Error(`status ${answer.status}`)
			const bytes = Buffer.from(await answer.arrayBuffer())
			if (sha256Of(bytes) === sha256) return bytes
			throw new Error(`the checksum is ${sha256Of(bytes)}, and ${sha256} is pinned`)
		} catch (error) {
			tried.push(`${server}: ${error.cause?.message ?? error.message}`)
		}
	}
	const advice = `To do: name a mirror of Debian, or a snapshot of it of ${pinned.snapshot}, with --mirror`
	throw new Error(`${basename(file)} cannot be fetched, so no image was made:\n  ${tried.join('\n  ')}\n${advice}`)
}

/** Empty where there is no apt. */
function aptMirrors() {
	try {
		return execFileSync('apt-get', ['indextargets', '--format', '$(SITE)'], { encoding: 'utf8' }).trim().split('\n')
	} catch {
		return []
	}
}

function programLayer(work, { deb, epoch }) {
	const [whole, tree] = [join(work, 'whole'), join(work, 'program')]
	execFileSync('dpkg-deb', ['--extract', deb, whole])
	for (const folder of ['usr/bin', 'usr/lib', 'etc/tracewatch']) mkdirSync(join(tree, folder), { recursive: true })
	execFileSync('cp', ['-a', join(whole, 'usr/lib/tracewatch'), join(tree, 'usr/lib/')])
	const start = join(tree, 'usr/bin/tracewatch')
	writeFileSync(start, "#!/usr/lib/tracewatch/node\nimport('/usr/lib/tracewatch/dist/cli.js')\n")
	chmodSync(start, 0o755)
	const layer = `${work}/program.tar`
	tarOf(tree, layer, { epoch })
	return layer
}

/** The state belongs to the program's user, everything else to root. */
function stateLayer(work, { epoch }) {
	const tree = join(work, 'state')
	mkdirSync(join(tree, 'var/lib/tracewatch'), { recursive: true, mode: 0o755 })
	chmodSync(join(tree, 'var/lib/tracewatch'), 0o700)
	const layer = `${work}/state.tar`
	tarOf(tree, layer, { epoch, owner: USER, paths: ['var/lib/tracewatch'] })
	return layer
}
