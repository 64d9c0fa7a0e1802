import { appendFileSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { newestSegment } from '../state/file/folder.js'
import { mountMemory } from '../state/file/mounts.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { temporaryFolder } from '../support/folder.js'
import { type Hit, type HookAnswer, type HookServer, startHookServer } from '../support/hookServer.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import { openSite, type Running, type Site } from '../support/program.js'
import { inProcess, settings, told, treasury, vault, watchlist } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})

afterAll(() => node.stop())

const tags = Array.from({ length: 30 }, (_, n) => `${'a-long-tag-'.repeat(4)}${n}`)

interface Lab {
	readonly site: Site
	readonly hook: HookServer
	/** Not a byte is left afterwards, and none becomes free until `free`. */
	fill(): Promise<void>
	free(): void
	/** Not even a short line can be written to the state afterwards, until `unblock`. */
	block(): void
	unblock(): void
	pay(valueWei: bigint): Promise<unknown>
}

/** A site whose state folder stands on a disk of 256 KiB; null where nothing can be mounted. */
async function openLab(): Promise<Lab | null> {
	const root = temporaryFolder()
	const mount = await mountMemory(root, 256 << 10)
	if (mount === null) return null
	onTestFinished(() => mount.unmount())
	const hook = await startHookServer()
	onTestFinished(() => hook.close())
	const site = openSite({
		'tracewatch.yaml': `${settings(node.url, { hook: hook.origin })}state: ${mount.folder}/state\n`,
		// Its alerts take more than a page of the disk, for a shorter line may find room in the last page of the journal.
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out, tags: [${tags.join(', ')}]}`]),
	})
	onTestFinished(() => site.close())
	const ballast = join(mount.folder, 'ballast')
	let journal = ''
	let filling: NodeJS.Timeout | undefined
	const stop = () => clearInterval(filling)
	onTestFinished(stop)
	return {
		site,
		hook,
		async fill() {
			let added = take(ballast)
			// A file that the daemon was just putting in the place of another leaves room behind.
			filling = setInterval(() => {
				added += take(ballast)
			}, 10)
			for (let before = -1; before !== added; ) {
				before = added
				await setTimeout(400)
			}
		},
		free() {
			stop()
			rmSync(ballast)
		},
		block() {
			journal = newestSegment(join(mount.folder, 'state'))
			renameSync(journal, `${journal}.away`)
			mkdirSync(journal)
		},
		unblock() {
			rmdirSync(journal)
			renameSync(`${journal}.away`, journal)
		},
		pay: (valueWei) => node.send({ from: treasury, to: vault, valueWei }),
	}
}

/** Takes what room there is; how many blocks it was. */
function take(ballast: string): number {
	for (let blocks = 0; ; blocks++) {
		try {
			appendFileSync(ballast, Buffer.alloc(4096))
		} catch (error) {
			expect(error).toMatchObject({ code: 'ENOSPC' })
			return blocks
		}
	}
}

const polled = (running: Running) => running.line(({ msg }) => msg === 'coverage changed')
// What is kept beside the state (history, watchlists) may say so first, in lines of its own.
const full = (running: Running) => running.line(({ msg }) => /^polling failed: .*the disk is full/.test(msg))
const values = (hook: HookServer) => told(hook.hits).map(({ data }) => data.valueWei)

/** Answers nothing until it is told to. */
function holding(hook: HookServer): (answer: HookAnswer) => void {
	const held: ((status: number) => void)[] = []
	const before = hook.answer
	hook.answer = () => (response) => void held.push((status) => response.writeHead(status).end())
	return (answer) => {
		hook.answer = before
		for (const release of held) release(answer as number)
	}
}

const idsByValue = (hits: readonly Hit[]) =>
	new Map(told(hits).map(({ data }, at) => [`${data.valueWei} ${hits[at]?.id}`, data.valueWei]))

describe('a full disk', () => {
	testOnce('error: the daemon says so, keeps what it had, answers status, and recovers by itself', async () => {
		const lab = await openLab()
		if (lab === null) return
		const { site, hook } = lab
		const running = site.start(['run'])
		await polled(running)
		await lab.pay(1n)
		await hook.until(1)
		await running.line(({ msg }) => msg === 'alert')

		await lab.fill()
		const before = await node.head()
		await lab.pay(2n)
		await lab.pay(3n)
		const line = await full(running)
		expect(line).toMatchObject({ level: 'error', network: 'local' })
		expect(line.msg).toMatch(/^polling failed: cannot write .*\/journal\.\d+\.jsonl: the disk is full \(ENOSPC\)/)
		expect(line.msg).toContain('nothing is lost')
		// A mail that cannot be put down would be forgotten by a kill: so it is not sent.
		expect(values(hook)).toEqual(['1'])
		const status = await inProcess(site).run(['status', '--json'])
		expect(status.code).toBe(1)
		const { networks, daemon } = JSON.parse(status.stdout)
		expect(networks).toMatchObject([{ checkpoint: Number(before) }])
		expect(daemon).toMatchObject({ running: true, ok: false })
		expect(daemon.reason).toContain('the disk is full')

		lab.free()
		await hook.until(3)
		await running.line(({ msg }) => msg === 'polling works again')
		expect(values(hook)).toEqual(['1', '2', '3'])
		expect((await running.stop()).code).toBe(0)
	})

	testInFull('error: an alert delivered meanwhile is not sent again, nor under a second id after a kill', async () => {
		const lab = await openLab()
		if (lab === null) return
		const { site, hook } = lab
		const first = site.start(['run'])
		await polled(first)
		const answer = holding(hook)
		await lab.pay(4n)
		await hook.until(1)
		lab.block()
		answer(204)
		await first.line(({ msg }) => msg.startsWith('the results of deliveries cannot be recorded'))
		expect(values(hook)).toEqual(['4'])
		lab.unblock()
		await first.line(({ msg }) => msg === 'the results of deliveries can be recorded again')
		await lab.pay(5n)
		await hook.until(2)
		expect(values(hook)).toEqual(['4', '5'])

		const again = holding(hook)
		await lab.pay(6n)
		await hook.until(3)
		lab.block()
		again(204)
		await first.line(({ msg }) => msg.startsWith('the results of deliveries cannot be recorded'))
		await first.stop('SIGKILL')
		lab.unblock()
		await lab.fill()
		await lab.pay(7n)
		const second = site.start(['run'])
		await full(second)
		lab.free()
		await hook.until((hits) => told(hits).some(({ data }) => data.valueWei === '7'))
		expect((await second.stop()).code).toBe(0)
		expect([...idsByValue(hook.hits).values()]).toEqual(['4', '5', '6', '7'])
		expect(values(hook).filter((value) => value !== '6')).toEqual(['4', '5', '7'])
	})

	inFull(() => {
		test('error: `once` ends with 1, and the next one takes it up', async () => {
			const lab = await openLab()
			if (lab === null) return
			const { site, hook } = lab
			expect((await site.run(['once'])).code).toBe(0)
			await lab.pay(8n)
			await lab.fill()
			const failed = await site.run(['once'])
			expect(failed.code).toBe(1)
			expect(failed.stdout).toContain('the disk is full (ENOSPC)')
			expect(values(hook)).toEqual([])
			lab.free()
			expect((await site.run(['once'])).code).toBe(0)
			expect(values(hook)).toEqual(['8'])
		})
	})

	inFull(() => {
		test('error: no room for the first start: 1 and one sentence, and nothing half made', async () => {
			const lab = await openLab()
			if (lab === null) return
			const { site } = lab
			await lab.fill()
			for (const command of ['once', 'run']) {
				const { code, stderr } = await site.run([command])
				expect(code).toBe(1)
				expect(stderr).toMatch(/^cannot (write|make) .*: the disk is full \(ENOSPC\)/)
				expect(stderr.trim().split('\n')).toHaveLength(1)
			}
			expect(await inProcess(site).run(['status'])).toMatchObject({
				code: 0,
				stdout: expect.stringContaining('not polled yet'),
			})
			lab.free()
			expect((await site.run(['once'])).code).toBe(0)
		})
	})
})
