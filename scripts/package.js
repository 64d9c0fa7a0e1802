// `npm run package`: tracewatch_VERSION_ARCH.deb, with a Node of its own and exactly the packages of the lockfile, and
// SHA256SUMS. The same source gives the same bytes. Needs dpkg-deb and the registry that npm knows.
//
//   --out DIR     where they go (default: .)
//   --arch ARCH   amd64, arm64, or all (default: this machine's)
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
	chmodSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { arch as machineArch, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path) => readFileSync(join(root, path), 'utf8')
const run = (command, args, cwd = root) =>
	execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const NPM_QUIET = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund']
const CPUS = { amd64: 'x64', arm64: 'arm64' }

const { values } = parseArgs({ options: { out: { type: 'string', default: '.' }, arch: { type: 'string' } } })
const own = Object.keys(CPUS).find((arch) => CPUS[arch] === machineArch())
const archs = values.arch === 'all' ? Object.keys(CPUS) : [values.arch ?? own]
for (const arch of archs) if (CPUS[arch] === undefined) throw new Error(`--arch takes amd64, arm64 or all, not ${arch}`)
if (!existsSync(join(root, 'dist/cli.js'))) throw new Error('nothing is built: npm run build')

// New files and folders get the same modes on every machine; dpkg-deb gives every file this time.
process.umask(0o022)
process.env.SOURCE_DATE_EPOCH ||= run('git', ['log', '-1', '--format=%ct']).trim()
const { version } = JSON.parse(read('package.json'))
const sums = archs.map((arch) => {
	const file = resolve(values.out, `tracewatch_${version}_${arch}.deb`)
	makeDeb(file, arch)
	console.log(file)
	return `${createHash('sha256').update(readFileSync(file)).digest('hex')}  tracewatch_${version}_${arch}.deb\n`
})
writeFileSync(resolve(values.out, 'SHA256SUMS'), sums.join(''))

function makeDeb(file, arch) {
	const work = mkdtempSync(join(tmpdir(), 'tracewatch-package-'))
	try {
		const tree = join(work, 'tree')
		const put = (path, content, mode = 0o644) => {
			mkdirSync(join(tree, path, '..'), { recursive: true })
			writeFileSync(join(tree, path), content)
			chmodSync(join(tree, path), mode)
		}
		const lib = join(tree, 'usr/lib/tracewatch')
		installProgram(lib, work, arch)
		installNode(lib, work, arch)
		put('usr/bin/tracewatch', '#!/bin/sh\nexec /usr/lib/tracewatch/node /usr/lib/tracewatch/dist/cli.js "$@"\n', 0o755)
		mkdirSync(join(tree, 'usr/share/tracewatch'), { recursive: true })
		renameSync(join(lib, 'monitoring'), join(tree, 'usr/share/tracewatch/monitoring'))
		put('usr/share/doc/tracewatch/copyright', read('packaging/deb/copyright.txt') + read('LICENSE'))
		put('usr/share/doc/tracewatch/changelog.gz', gzipSync(read('CHANGELOG.md'), { level: 9 }))
		put('etc/tracewatch/tracewatch.yaml', read('systemd/tracewatch.yaml'))
		mkdirSync(join(tree, 'etc/tracewatch/watchlists'))
		const unit = read('systemd/tracewatch.service').replaceAll('/usr/local/bin/tracewatch', '/usr/bin/tracewatch')
		for (const name of ['tracewatch', 'tracewatch@']) put(`lib/systemd/system/${name}.service`, unit)
		const instance = 'tracewatch@.service.d/instance.conf'
		put(`lib/systemd/system/${instance}`, read(`systemd/${instance}`))
		addControl(tree, arch)
		// The clone may have been made under another umask.
		run('chmod', ['-R', 'u+rwX,go+rX,go-w', tree])
		run('dpkg-deb', ['--root-owner-group', '-Zzstd', '--build', tree, file])
	} finally {
		rmSync(work, { recursive: true, force: true })
	}
}

/** What `npm pack` ships, and the packages that scripts/shrinkwrap.js lists: nothing that only the clone needs. */
function installProgram(lib, work, arch) {
	run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work])
	mkdirSync(lib, { recursive: true })
	run('tar', ['-xzf', join(work, `tracewatch-${version}.tgz`), '--strip-components=1', '-C', lib])
	run(process.execPath, [join(root, 'scripts/shrinkwrap.js'), '--to', lib])
	const { devDependencies: _, scripts: __, ...manifest } = JSON.parse(read('package.json'))
	writeFileSync(join(lib, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
	run('npm', ['ci', '--omit=dev', ...NPM_QUIET, `--cpu=${CPUS[arch]}`, '--os=linux'], lib)
	rmSync(join(lib, 'node_modules/.package-lock.json'))
}

/** npm compares the checksum in packaging/node/package-lock.json. */
function installNode(lib, work, arch) {
	for (const name of ['package.json', 'package-lock.json'])
		copyFileSync(join(root, 'packaging/node', name), join(work, name))
	run('npm', ['ci', ...NPM_QUIET, `--cpu=${CPUS[arch]}`, '--os=linux'], work)
	const found = join(work, `node_modules/node-linux-${CPUS[arch]}`)
	if (!existsSync(found))
		throw new Error(`npm found no node-linux-${CPUS[arch]} with the checksum in packaging/node: nothing is packed`)
	copyFileSync(join(found, 'bin/node'), join(lib, 'node'))
	chmodSync(join(lib, 'node'), 0o755)
	copyFileSync(join(found, 'LICENSE'), join(lib, 'LICENSE.node'))
}

function addControl(tree, arch) {
	// As dpkg-gencontrol counts, whatever the file system: each file in whole KiB, one for each folder and link.
	let kib = 0
	for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true }))
		kib += entry.isFile() ? Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 1024) : 1
	const folder = join(tree, 'DEBIAN')
	cpSync(join(root, 'packaging/deb'), folder, { recursive: true })
	rmSync(join(folder, 'copyright.txt'))
	for (const name of ['postinst', 'prerm', 'postrm']) chmodSync(join(folder, name), 0o755)
	const fields = `Version: ${version}\nArchitecture: ${arch}\nInstalled-Size: ${kib}\n`
	writeFileSync(join(folder, 'control'), read('packaging/deb/control') + fields)
}
