import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdFolder } from '../../../../src/state/file/disk/hold.js'
import { apart } from '../../../support/apart.js'
import { notProved } from '../../../support/notProved.js'
import { startChild, startChildBy, stopChildren } from '../../child.js'
import { makeFolder, removeFolder } from '../folder.js'

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
let folder: string

beforeEach(async () => {
	folder = await makeFolder()
})

afterEach(async () => {
	stopChildren()
	await removeFolder(folder)
})

const hold = async () => {
	const child = startChild('holder.ts', folder)
	expect(await child.line()).toBe('held')
	return child
}

/** How the lock is refused. */
const refusal = async () => {
	const error = await holdFolder(folder).catch((cause) => cause)
	expect(error).toMatchObject({ reason: 'locked' })
	return error.message
}

describe('a state folder is held by one process', () => {
	test('default: taken, given back, taken again; the folder is made', async () => {
		const inner = join(folder, 'new', 'state')
		for (let times = 0; times < 12; times++) await (await holdFolder(inner)).release()
	})

	test('default: two folders do not touch each other', async () => {
		const first = await holdFolder(join(folder, 'a'))
		const second = await holdFolder(join(folder, 'b'))
		await first.release()
		await second.release()
	})

	test('error: held by a living process, whose number is reported', async () => {
		const child = await hold()
		expect(await refusal()).toContain(
			`the state folder ${folder} is in use by process ${child.pid}; stop that one first`,
		)
	})

	test('error: the same folder by another name is the same folder', async () => {
		await hold()
		await symlink(folder, join(folder, 'alias'))
		await expect(holdFolder(join(folder, 'alias'))).rejects.toMatchObject({ reason: 'locked' })
	})

	test('behavior: free at once after a kill -9', async () => {
		const child = await hold()
		await child.kill('SIGKILL')
		await (await holdFolder(folder)).release()
	})

	test('error: a paused holder keeps it, and is named', async () => {
		const child = await hold()
		await child.pause()
		for (let times = 0; times < 5; times++) expect(await refusal()).toContain(`process ${child.pid}`)
		child.signal('SIGCONT')
		expect(await refusal()).toContain(`process ${child.pid}`)
	})

	test('behavior: a caller that asks and lingers does not hold up the release', async () => {
		const child = await hold()
		// The holder's own asker never closes its end.
		const asker = startChild('asker.ts', folder)
		expect(await asker.line()).toBe('asked')
		expect(await child.ask('release')).toBe('released')
	})

	test('behavior: a folder whose path is too long for a socket is locked all the same', async () => {
		const long = join(folder, 'a'.repeat(90), 'b'.repeat(90))
		await mkdir(long, { recursive: true, mode: 0o700 })
		const { release } = await holdFolder(long)
		await expect(holdFolder(long)).rejects.toMatchObject({ reason: 'locked' })
		await release()
		await (await holdFolder(long)).release()
	})

	test('behavior: a copy of the folder, made while it is held, is free, and the folder stays held', async () => {
		await hold()
		const copy = `${folder}-copy`
		execFileSync('cp', ['-a', folder, copy])
		await (await holdFolder(copy)).release()
		await removeFolder(copy)
		await expect(holdFolder(folder)).rejects.toMatchObject({ reason: 'locked' })
	})

	test('behavior: sockets left behind by killed processes are removed', async () => {
		for (let times = 0; times < 3; times++) await (await hold()).kill('SIGKILL')
		const { release } = await holdFolder(folder)
		const left = execFileSync('ls', [folder], { encoding: 'utf8' }).trim().split('\n')
		expect(left.filter((name) => name.endsWith('.sock'))).toEqual([`held.${process.pid}.sock`])
		await release()
	})
})

describe('write access to the state folder', () => {
	test('default: a new state folder is made for this user alone', async () => {
		const inner = join(folder, 'state')
		await (await holdFolder(inner)).release()
		expect((await stat(inner)).mode & 0o777).toBe(0o700)
	})

	test('behavior: a folder writable for the group, as a generous umask makes it, is closed to the group', async () => {
		await chmod(folder, 0o775)
		await (await holdFolder(folder)).release()
		expect((await stat(folder)).mode & 0o777).toBe(0o755)
	})

	test('error: a folder that every user may write to', async () => {
		await chmod(folder, 0o777)
		await expect(holdFolder(folder)).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringMatching(/^other users may write to the state folder .* \(0777\).*chmod 700/),
		})
	})
})

/** Another user, where root runs the tests; else the same one, who may do more to the daemon than another could. */
const asOther = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath] : []
const [other = process.execPath, ...asOtherArgs] = asOther

describe.runIf(isLinux)('another user of the machine', () => {
	/** Takes every abstract name that was ever seen, in this form and as older programs made it, and stays a while. */
	const squat = `
		const { createHash } = require('crypto'), net = require('net')
		const digest = createHash('sha256').update(process.argv[1]).digest('hex').slice(0, 32)
		const names = ['\\0tracewatch-' + digest, ...process.argv.slice(2).map((name) => '\\0' + name)]
		Promise.all(names.map((name) => new Promise((resolve) => {
			const server = net.createServer((socket) => socket.end('\\u001b]0;owned\\u0007'))
			server.once('error', () => resolve('refused'))
			server.listen(name, () => resolve('taken'))
		}))).then((results) => { console.log(results.join()) })`

	test('behavior: no name that he can see or work out keeps the daemon from its folder', async () => {
		await chmod(folder, 0o755)
		const child = await hold()
		// What /proc/net/unix shows to everybody of this folder or program.
		const seen = (await readFile('/proc/net/unix', 'utf8'))
			.split('\n')
			.flatMap((line) => / @(tracewatch\S*)$/.exec(line)?.[1] ?? [])
		await child.kill('SIGKILL')
		const squatter = spawn(other, [...asOtherArgs, '-e', squat, folder, ...seen], { cwd: '/' })
		try {
			expect(String((await once(squatter.stdout, 'data'))[0])).toMatch(/^taken/)
			await (await holdFolder(folder)).release()
		} finally {
			squatter.kill('SIGKILL')
		}
	})

	test('behavior: another user cannot reach the sockets, nor change anything in the folder', async (here) => {
		if (!isRoot) {
			notProved('that another user cannot reach the lock: two users need root')
			return here.skip()
		}
		await chmod(folder, 0o755)
		const child = await hold()
		const attack = `
			const fs = require('fs'), net = require('net'), path = require('path')
			const [folder, held] = process.argv.slice(1)
			const tries = {
				segment: () => fs.writeFileSync(path.join(folder, 'journal.000099.jsonl'), ''),
				temporary: () => fs.symlinkSync('/etc/passwd', path.join(folder, 'state.json.tmp')),
				remove: () => fs.unlinkSync(path.join(folder, held)),
				rename: () => fs.renameSync(path.join(folder, held), path.join(folder, 'x')),
			}
			const done = Object.entries(tries).flatMap(([name, act]) => { try { act(); return [name] } catch { return [] } })
			const socket = net.connect(path.join(folder, held))
			socket.on('connect', () => { console.log([...done, 'connect'].join()); process.exit() })
			socket.on('error', (error) => { console.log([...done, error.code].join()); process.exit() })`
		const options = { encoding: 'utf8', timeout: 120_000, cwd: '/' } as const
		expect(
			spawnSync(other, [...asOtherArgs, '-e', attack, folder, `held.${child.pid}.sock`], options).stdout.trim(),
		).toBe('EACCES')
	})

	test('behavior: a network of its own, as containers have it, is no way past the lock', async (here) => {
		const by = apart('that a container is no way past the lock', 'net')
		if (by === null) return here.skip()
		await hold()
		expect(await startChildBy(by, 'holder.ts', folder).line()).toBe('locked')
	})
})
