// The same source gives the same bytes: one time for every file, one owner, one order.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** In seconds: `SOURCE_DATE_EPOCH`, else the time of the last commit, else the one that npm gives to each file. */
export function sourceEpoch(env = process.env) {
	if (/^\d+$/.test(env.SOURCE_DATE_EPOCH ?? '')) return Number(env.SOURCE_DATE_EPOCH)
	try {
		return Number(
			execFileSync('git', ['log', '-1', '--format=%ct'], {
				...{ cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
			}),
		)
	} catch {
		return 499_162_500
	}
}

/** Makes a tar archive of a folder's content, sorted, owned by this user and group, with this time on every entry. */
export function tarOf(folder, file, { epoch, owner = 0, paths = ['.'] }) {
	const fixed = ['--sort=name', '--format=gnu', '--numeric-owner', `--owner=${owner}`, `--group=${owner}`]
	execFileSync('tar', [...fixed, `--mtime=@${epoch}`, '-cf', file, '-C', folder, ...paths])
}

export function sha256Of(bytes) {
	return createHash('sha256').update(bytes).digest('hex')
}

/** A line of SHA256SUMS for each file, by its name alone. */
export function sumsOf(files) {
	return files.map((file) => `${sha256Of(readFileSync(file))}  ${file.split('/').at(-1)}\n`).join('')
}
