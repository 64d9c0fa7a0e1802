/** Connects to the lock of a folder as somebody who asks who holds it, reads the answer, and never closes. */

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const [, , folder = '', kind] = process.argv
const real = realpathSync(folder)
const name = `\0tracewatch-${createHash('sha256').update(real).digest('hex').slice(0, 32)}`
const socket = connect({ path: kind === 'path' ? join(real, 'lock.sock') : name, allowHalfOpen: true } as {
	path: string
})
socket.once('data', () => process.stdout.write('asked\n'))
