/** Connects to the lock of a folder as someone who asks whether it is held, and never closes. */

import { readdirSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
const places = readdirSync(folder).flatMap((name) => /^lock\.(\d+)\.sock$/.exec(name)?.[1] ?? [])
const top = Math.max(...places.map(Number))
const path = join(folder, readlinkSync(join(folder, `lock.${top}.sock`)))
connect({ path, allowHalfOpen: true } as { path: string }).once('connect', () => process.stdout.write('asked\n'))
