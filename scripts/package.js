// `npm run package`: tracewatch_VERSION_ARCH.deb, the same as a container image (an OCI archive, .oci.tar), and
// SHA256SUMS. Both have a Node of their own and production dependencies exactly as the lockfile has them. The same
// source gives the same bytes. Needs `npm run build`, dpkg-deb, tar, the registry that npm knows, and for the image a
// mirror of Debian.
//
//   --out DIR     where they go (default: .)
//   --arch ARCH   amd64, arm64, or all (default: this machine's)
//   --only deb    no image
//   --mirror URL  of Debian, asked first (default: $DEBIAN_MIRROR); then those that apt knows
//   --version V   what the package calls itself (default: the version of package.json)
import { execFileSync } from 'node:child_process'
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { arch as machineArch, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { makeImage } from './image.js'
import { bashCompletion, manPage, readCommands, zshCompletion } from './manual.js'
import { fetchNode } from './pinned-node.js'
import { sourceEpoch, sumsOf } from './reproducible.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
	options: {
		...{ out: { type: 'string', default: '.' }, arch: { type: 'string' }, version: { type: 'string' } },
		...{ only: { type: 'string' }, mirror: { type: 'string', default: process.env.DEBIAN_MIRROR } },
	},
})
const nodeArchs = { amd64: 'x64', arm64: 'arm64' }
const own = { x64: 'amd64', arm64: 'arm64' }[machineArch()]
const archs = values.arch === 'all' ? Object.keys(nodeArchs) : [values.arch ?? own]
for (const arch of archs)
	if (nodeArchs[arch] === undefined) throw new Error(`--arch takes amd64, arm64 or all, not ${arch}`)
if (values.only !== undefined && values.only !== 'deb') throw new Error(`--only takes deb, not ${values.only}`)
if (!existsSync(join(root, 'dist/cli.js'))) throw new Error('nothing is built: npm run build')

// New files and folders get the same modes on every machine.
process.umask(0o022)
const { version } = { ...JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), ...values }
const epoch = sourceEpoch()
const commands = await readCommands()
const made = []
for (const arch of archs) {
	const deb = resolve(values.out, `tracewatch_${version}_${arch}.deb`)
	makeDeb(deb, arch)
	done(deb)
	if (values.only === 'deb') continue
	const image = deb.replace(/deb$/, 'oci.tar')
	await makeImage(image, { deb, arch, version, epoch, mirror: values.mirror })
	done(image)
}
writeFileSync(resolve(values.out, 'SHA256SUMS'), sumsOf(made))

function done(file) {
	made.push(file)
	console.log(file)
}

function makeDeb(file, arch) {
	const work = mkdtempSync(join(tmpdir(), 'tracewatch-package-'))
	try {
		const tree = join(work, 'tree')
		const put = (path, content, mode = 0o644) => {
			mkdirSync(join(tree, path, '..'), { recursive: true })
			writeFileSync(join(tree, path), content)
			chmodSync(join(tree, path), mode)
		}
		install(join(tree, 'usr/lib/tracewatch'), nodeArchs[arch], join(work, 'node'))
		put('usr/bin/tracewatch', '#!/bin/sh\nexec /usr/lib/tracewatch/node /usr/lib/tracewatch/dist/cli.js "$@"\n', 0o755)
		put('usr/share/man/man1/tracewatch.1.gz', gzipSync(manPage(commands, version), { level: 9 }))
		put('usr/share/bash-completion/completions/tracewatch', bashCompletion(commands))
		put('usr/share/zsh/vendor-completions/_tracewatch', zshCompletion(commands))
		cpSync(join(root, 'monitoring'), join(tree, 'usr/share/tracewatch/monitoring'), { recursive: true })
		put('usr/share/doc/tracewatch/copyright', read('packaging/deb/copyright.txt') + read('LICENSE'))
		put('usr/share/doc/tracewatch/changelog.gz', gzipSync(read('CHANGELOG.md'), { level: 9 }))
		put('etc/tracewatch/tracewatch.yaml', read('systemd/tracewatch.yaml'))
		mkdirSync(join(tree, 'etc/tracewatch/watchlists'), { recursive: true })
		for (const name of [
			'tracewatch.service',
			'tracewatch@.service',
			'tracewatch-once.service',
			'tracewatch-once.timer',
		]) {
			const unit = read(`systemd/${name}`).replaceAll('/usr/local/bin/tracewatch', '/usr/bin/tracewatch')
			const words = 'The path that `npm install --global --prefix /usr/local` makes.'
			put(`lib/systemd/system/${name}`, unit.replaceAll(words, 'The program of this package, with its own Node.'))
		}
		control(tree, arch)
		// The clone may have been made under another umask.
		execFileSync('chmod', ['-R', 'u+rwX,go+rX,go-w', tree])
		execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '--build', tree, file], {
			...{ stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) } },
		})
	} finally {
		rmSync(work, { recursive: true, force: true })
	}
}

/** The program and its dependencies by the lockfile, and Node beside them. */
function install(lib, nodeArch, folder) {
	mkdirSync(lib, { recursive: true })
	for (const name of [
		'dist',
		'docs',
		'examples',
		'schema',
		'systemd/tracewatch.yaml',
		'watchlists',
		'package.json',
		'package-lock.json',
		'README.md',
		'LICENSE',
	])
		cpSync(join(root, name), join(lib, name), { recursive: true, filter: isShipped })
	const quiet = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund']
	npm(['ci', '--omit=dev', ...quiet, `--cpu=${nodeArch}`, '--os=linux'], lib)
	rmSync(join(lib, 'node_modules/.package-lock.json'), { force: true })
	rmSync(join(lib, 'package-lock.json'))
	const found = fetchNode(nodeArch, folder)
	cpSync(join(found, 'bin/node'), join(lib, 'node'))
	chmodSync(join(lib, 'node'), 0o755)
	if (existsSync(join(found, 'LICENSE'))) cpSync(join(found, 'LICENSE'), join(lib, 'LICENSE.node'))
}

function isShipped(path) {
	return !path.endsWith('.d.ts') && !path.endsWith('docs/screenshots') && !path.endsWith('examples/demo')
}

function npm(args, cwd) {
	execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

function control(tree, arch) {
	const folder = join(tree, 'DEBIAN')
	mkdirSync(folder)
	const kib = sizeInKib(tree)
	const fields = [
		'Package: tracewatch',
		`Version: ${version}`,
		`Architecture: ${arch}`,
		'Maintainer: The tracewatch maintainers <tracewatch@example.org>',
		`Installed-Size: ${kib}`,
		'Depends: libc6 (>= 2.28), libstdc++6 (>= 9), systemd (>= 252)',
		'Section: net',
		'Priority: optional',
		'Description: tells when a watched EVM address moves coins or deploys a contract',
		' Reads call traces, alerts by mail or webhook, and loses nothing in a crash.',
		' Carries its own Node.',
	]
	writeFileSync(join(folder, 'control'), `${fields.join('\n')}\n`)
	writeFileSync(join(folder, 'conffiles'), '/etc/tracewatch/tracewatch.yaml\n')
	for (const name of ['postinst', 'prerm', 'postrm']) {
		cpSync(join(root, 'packaging/deb', name), join(folder, name))
		chmodSync(join(folder, name), 0o755)
	}
}

/** As dpkg-gencontrol counts, whatever the file system: each file in whole KiB, one for each folder and link. */
function sizeInKib(tree) {
	let kib = 0
	for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
		kib += entry.isFile() ? Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 1024) : 1
	}
	return kib
}

function read(path) {
	return readFileSync(join(root, path), 'utf8')
}
