import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listenIn } from '../../../src/base/net/socketPath.js'
import { temporaryFolder } from '../../support/folder.js'

test('default: a socket is for its user only, and what is created once it listens is as before', async () => {
	const folder = temporaryFolder()
	const server = createServer()
	onTestFinished(() => void server.close())
	const before = process.umask()
	const then: number[] = []
	server.once('listening', () => void then.push(process.umask()))
	await listenIn(server, folder, 'a.sock')
	expect([...then, process.umask()]).toEqual([before, before])
	expect((await stat(join(folder, 'a.sock'))).mode & 0o777).toBe(0o600)
})
