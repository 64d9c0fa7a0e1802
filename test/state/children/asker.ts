/** Connects to the socket of a folder's holder as someone who asks whether it is held, and never closes. */

import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
const path = join(folder, readdirSync(folder).find((name) => /^held\.\d+\.sock$/.test(name)) ?? '')
connect({ path, allowHalfOpen: true } as { path: string }).once('connect', () => process.stdout.write('asked\n'))
