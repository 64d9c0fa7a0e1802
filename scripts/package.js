// `npm run package`: tracewatch_VERSION_ARCH.deb in the working folder, with a Node of its own and production
// dependencies exactly as the lockfile has them. Needs `npm run build`, dpkg-deb, and the registry that npm knows.
//
//   --out DIR    where the package goes (default: .)
//   --arch ARCH  amd64 or arm64 (default: this machine's)
//   --version V  what the package calls itself (default: the version of package.json)
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch as machineArch, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { bashCompletion, manPage, readCommands, zshCompletion } from './manual.js'

/** A current LTS; the package's tests run on it too. */
const nodeMajor = 22
const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
	options: { out: { type: 'string' }, arch: { type: 'string' }, version: { type: 'string' } },
})
const arch = values.arch ?? { x64: 'amd64', arm64: 'arm64' }[machineArch()]
const nodeArch = { amd64: 'x64', arm64: 'arm64' }[arch]
if (nodeArch === undefined) throw new Error(`--arch takes amd64 or arm64, not ${arch}`)
if (!existsSync(join(root, 'dist/cli.js'))) throw new Error('nothing is built: npm run build')

const { version } = { ...JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), ...values }
const work = mkdtempSync(join(tmpdir(), 'tracewatch-package-'))
try {
	const tree = join(work, 'tree')
	const lib = join(tree, 'usr/lib/tracewatch')
	install(lib)
	const commands = await readCommands()
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
	control(tree)
	const file = resolve(values.out ?? '.', `tracewatch_${version}_${arch}.deb`)
	execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '--build', tree, file], {
		stdio: ['ignore', 'ignore', 'inherit'],
	})
	console.log(file)

	function put(path, content, mode = 0o644) {
		mkdirSync(join(tree, path, '..'), { recursive: true })
		writeFileSync(join(tree, path), content)
		chmodSync(join(tree, path), mode)
	}
} finally {
	rmSync(work, { recursive: true, force: true })
}

/** The program and its dependencies by the lockfile, and Node beside them. */
function install(lib) {
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
	mkdirSync(join(work, 'node'))
	npm(['install', '--no-save', ...quiet, '--force', `node-linux-${nodeArch}@${nodeMajor}`], join(work, 'node'))
	const found = join(work, 'node/node_modules', `node-linux-${nodeArch}`)
	cpSync(join(found, 'bin/node'), join(lib, 'node'))
	chmodSync(join(lib, 'node'), 0o755)
	if (existsSync(join(found, 'LICENSE'))) cpSync(join(found, 'LICENSE'), join(lib, 'LICENSE.node'))
}

function isShipped(path) {
	return !path.endsWith('.d.ts') && !path.endsWith('docs/screenshots')
}

function npm(args, cwd) {
	execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

function control(tree) {
	const folder = join(tree, 'DEBIAN')
	mkdirSync(folder)
	const kib = execFileSync('du', ['-sk', '--exclude=DEBIAN', tree], { encoding: 'utf8' }).split('\t')[0]
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

function read(path) {
	return readFileSync(join(root, path), 'utf8')
}
