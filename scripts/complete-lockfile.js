// A registry that does not carry a platform package makes `npm install` leave it out of the lockfile, and `npm ci`
// then refuses the lockfile on every machine. This adds the missing entries: version, os, cpu, optional.
// Run it after each change of dependencies; `--check` only tells.
import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8'))
const systems = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'aix', 'openharmony']
const cpus = {
	amd64: 'x64',
	x64: 'x64',
	arm64: 'arm64',
	arm: 'arm',
	ia32: 'ia32',
	riscv64: 'riscv64',
	ppc64: 'ppc64',
	s390x: 's390x',
	loong64: 'loong64',
	mips64el: 'mips64el',
}
const added = []

for (const [owner, entry] of Object.entries(lock.packages)) {
	for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
		if (lock.packages[`node_modules/${name}`] || lock.packages[`${owner}/node_modules/${name}`]) continue
		const words = name.split(/[/-]/)
		const os = words.find((word) => systems.includes(word))
		const cpu = words.map((word) => cpus[word]).find(Boolean)
		lock.packages[`node_modules/${name}`] = {
			version: String(version).replace(/^[\^~]/, ''),
			...(cpu ? { cpu: [cpu] } : {}),
			...(entry.dev ? { dev: true } : {}),
			optional: true,
			...(os ? { os: [os] } : {}),
		}
		added.push(name)
	}
}
if (process.argv.includes('--check')) {
	if (added.length > 0) console.error(`package-lock.json lacks: ${added.join(', ')}`)
	process.exit(added.length > 0 ? 1 : 0)
}
const packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
writeFileSync(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
console.error(added.length > 0 ? `added: ${added.join(', ')}` : 'nothing was missing')
