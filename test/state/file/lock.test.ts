import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockState } from '../../../src/state/file/lock.js'
import { startChild, stopChildren } from '../child.js'
import { makeFolder, removeFolder } from './folder.js'

const kinds = process.platform === 'linux' ? (['abstract', 'path'] as const) : (['path'] as const)

describe.each(kinds)('lockState (%s)', (kind) => {
	let folder: string

	beforeEach(async () => {
		folder = await makeFolder()
	})

	afterEach(async () => {
		stopChildren()
		await removeFolder(folder)
	})

	const acquireLease = async () => {
		const child = startChild('holder.ts', folder, kind)
		expect(await child.line()).toBe('held')
		return child
	}

	test('default: taken, given back, taken again; the folder is made', async () => {
		const inner = join(folder, 'new', 'state')
		const release = await lockState(inner, { kind })
		await release()
		await (await lockState(inner, { kind }))()
	})

	test('default: two folders do not touch each other', async () => {
		const first = await lockState(join(folder, 'a'), { kind })
		const second = await lockState(join(folder, 'b'), { kind })
		await first()
		await second()
	})

	test('error: held by a living process, whose number and start are told', async () => {
		const child = await acquireLease()
		await expect(lockState(folder, { kind })).rejects.toMatchObject({
			reason: 'locked',
			message: expect.stringMatching(
				new RegExp(`^the state folder ${folder} is in use by process ${child.pid}, running since 20`),
			),
		})
	})

	test('error: the same folder by another name is the same folder', async () => {
		await acquireLease()
		await symlink(folder, join(folder, 'alias'))
		await expect(lockState(join(folder, 'alias'), { kind })).rejects.toMatchObject({ reason: 'locked' })
	})

	test('behavior: free at once after a kill -9', async () => {
		const child = await acquireLease()
		await child.kill('SIGKILL')
		await (await lockState(folder, { kind }))()
	})

	test('behavior: of many that come after a kill -9, one gets it', async () => {
		const child = await acquireLease()
		await child.kill('SIGKILL')
		const children = Array.from({ length: 4 }, () => startChild('holder.ts', folder, kind))
		const said = await Promise.all(children.map((each) => each.line()))
		expect(said.filter((line) => line === 'held')).toHaveLength(1)
		expect(said.filter((line) => line === 'locked')).toHaveLength(3)
	})

	test('error: a paused holder keeps it, and the words say that it may be paused', async () => {
		const child = await acquireLease()
		await child.pause()
		await expect(lockState(folder, { kind })).rejects.toMatchObject({
			reason: 'locked',
			message: expect.stringMatching(/does not answer \(it may be paused\)/),
		})
		child.signal('SIGCONT')
		await expect(lockState(folder, { kind })).rejects.toThrow(`process ${child.pid}`)
	})

	test('behavior: a caller that asks and lingers does not hold up the release', async () => {
		const child = await acquireLease()
		// The holder's own asker never closes its end.
		const asker = startChild('asker.ts', folder, kind)
		expect(await asker.line()).toBe('asked')
		expect(await child.ask('release')).toBe('released')
	})
})

test('behavior: a folder whose path is too long for a socket file is locked all the same', async () => {
	const folder = await makeFolder()
	try {
		const long = join(folder, 'a'.repeat(90))
		await mkdir(long)
		const release = await lockState(long, { kind: 'path' })
		await expect(lockState(long, { kind: 'path' })).rejects.toMatchObject({ reason: 'locked' })
		await release()
	} finally {
		await removeFolder(folder)
	}
})

test('error: a stranger on the socket counts as a holder', async () => {
	const folder = await makeFolder()
	const stranger = createServer((socket) => socket.end('hello'))
	stranger.listen(join(folder, 'lock.sock'))
	await once(stranger, 'listening')
	try {
		await expect(lockState(folder, { kind: 'path' })).rejects.toMatchObject({ reason: 'locked' })
	} finally {
		stranger.close()
		await removeFolder(folder)
	}
})
