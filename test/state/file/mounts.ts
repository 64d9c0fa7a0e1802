/** File systems of a test's own, where the one who runs it may mount them. */

import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { notProved } from '../../support/notProved.js'

const run = promisify(execFile)

/** Null, with a loud word about what is not proved, where it is not allowed. */
async function attempt<T>(what: string, act: () => Promise<T>): Promise<T | null> {
	if (process.platform === 'linux' && process.getuid?.() === 0) {
		try {
			return await act()
		} catch (error) {
			notProved(`${what}: ${error instanceof Error ? error.message : String(error)}`)
			return null
		}
	}
	notProved(`${what}: this needs root on Linux`)
	return null
}

export interface Mount {
	readonly folder: string
	closeForWriting(): Promise<void>
	unmount(): Promise<void>
}

async function mounted(folder: string, ...args: string[]): Promise<Mount> {
	await mkdir(folder, { recursive: true })
	await run('mount', [...args, folder])
	return {
		folder,
		closeForWriting: async () => {
			await run('mount', ['-o', 'remount,ro', folder])
		},
		unmount: async () => {
			await run('umount', [folder])
		},
	}
}

export async function mountMemory(root: string, bytes: number): Promise<Mount | null> {
	return await attempt('a full disk (tmpfs)', () =>
		mounted(join(root, 'tmpfs'), '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs'),
	)
}

/** An ext4 file system in a file. */
export async function makeDisk(root: string, megabytes: number): Promise<string | null> {
	return await attempt('ext4 in a file', async () => {
		const image = join(root, 'disk.img')
		await run('truncate', ['-s', `${megabytes}M`, image])
		await run('mkfs.ext4', ['-q', '-F', image])
		return image
	})
}

export async function mountDisk(image: string, folder: string): Promise<Mount | null> {
	return await attempt('a disk of its own (ext4 by a loop device)', () => mounted(folder, '-o', 'loop', image))
}

/** The disk as it is at this moment: what a power cut would leave of it. Nothing is written back for it. */
export async function copyDisk(image: string, copy: string): Promise<void> {
	await run('cp', ['--sparse=always', image, copy])
}
