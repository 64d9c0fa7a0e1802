// Loaded before the program (`node --import`): it is killed when it is about to do the n-th of its steps on disk (a
// write, a truncation, an fsync, a rename, a link, a removal), n being KILL_AT. KILL_COUNT names a file that takes how
// many steps were begun, where the program ended by itself. With KILL_SENDS what it sends over sockets is a step, too.
// With KILL_FROM steps are counted from the first one that writes this text.
import fs, { writeFileSync } from 'node:fs'
import fsPromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const at = Number(process.env.KILL_AT)
const from = process.env.KILL_FROM
let begun = 0

function counted(owner, name) {
	const real = owner[name]
	owner[name] = function (...parts) {
		if (begun > 0 || from === undefined || parts.some((part) => String(part).includes(from))) begun += 1
		if (begun === at) process.kill(process.pid, 'SIGKILL')
		return real.apply(this, parts)
	}
}

const handle = await fsPromises.open('/dev/null', 'w')
const methods = Object.getPrototypeOf(handle)
await handle.close()
for (const name of ['write', 'writeFile', 'appendFile', 'truncate', 'sync', 'datasync']) counted(methods, name)
for (const name of ['rename', 'link', 'rm', 'unlink', 'copyFile', 'writeFile', 'appendFile']) counted(fsPromises, name)
for (const name of ['renameSync', 'linkSync', 'unlinkSync', 'rmSync', 'writeSync', 'fsyncSync']) {
	// Not what the log writes to standard output.
	if (name !== 'writeSync') counted(fs, name)
}
if (process.env.KILL_SENDS !== undefined) counted(net.Socket.prototype, '_writeGeneric')
syncBuiltinESMExports()

process.on('exit', () => writeFileSync(process.env.KILL_COUNT, String(begun)))
