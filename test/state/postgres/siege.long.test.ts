/** Three instances as real processes on one database, stopped, killed and cut off at random. */

import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { HistoryRow } from '../../../src/model/history.js'
import { peekPostgres } from '../../../src/state/postgres/pgJournal.js'
import { createChance } from '../../support/chance.js'
import { soaked } from '../../support/soak.js'
import { startChild, stopChildren } from '../child.js'
import { openPgStore } from './pgStore.js'
import { type Server, startServer } from './server.js'

const server = await startServer()
afterAll(async () => {
	stopChildren()
	await server?.stop()
})

const SIEGE_MS = 8_000
/** Instances killed or suspended, at least. */
const ROUNDS = soaked(0, 200)
const LEASE_MS = soaked(1_500, 1_000)
const NETWORKS = ['n0', 'n1', 'n2']

/** An empty database that copies each line by itself, in the transaction that appends it, with who appended it. */
async function audited(at: Server, name: string): Promise<string> {
	const url = await at.fresh(name)
	await (await openPgStore(url, { clock: Date.now, leaseMs: LEASE_MS })).close()
	await at.sql(
		`create table appended (number bigserial, seq bigint, line text, epoch bigint, owner text);
		create function note() returns trigger language plpgsql as $$ begin
			insert into public.appended (seq, line, epoch, owner)
				select new.seq, new.line, epoch, owner from tracewatch.head where name = new.name;
			return new; end $$;
		create trigger note after insert on tracewatch.journal for each row execute function note();`,
		[],
		name,
	)
	return url
}

interface Heard {
	readonly commits: string[]
	readonly told: { readonly queue: string; readonly id: string; readonly atNs: bigint }[]
}

/** An instance that is started again whenever it was killed or has ended itself, under another name. */
function garrison(url: string, seed: number, networks: readonly string[], heard: Heard) {
	let life = 0
	let stopped: (() => void) | null = null
	let isKilled = false
	// Else one that ends with its test is started again, and stays for ever.
	onTestFinished(() => {
		isKilled = true
	})
	let child = raise()

	function raise() {
		life++
		const args = [url, `i${seed}.${life}`, String(seed * 100 + life), String(LEASE_MS)]
		const next = startChild('instance.ts', ...args, networks.join(','))
		void (async () => {
			for (let line = await next.line(); line !== undefined; line = await next.line()) {
				const [what, one = '', two = '', three = ''] = line.split(' ')
				if (what === 'C') heard.commits.push(`${one} ${two}`)
				if (what === 'D') heard.told.push({ queue: one, id: two, atNs: BigInt(three) })
				if (what === 'stopped') stopped?.()
			}
			// It has lost the state; after a kill, `killFor` starts the next.
			if (child === next && !isKilled) child = raise()
		})()
		return next
	}

	return {
		/** Stands still until this comes to pass. */
		async pauseDuring(event: Promise<unknown>) {
			const paused = child
			paused.signal('SIGSTOP')
			await event.finally(() => paused.signal('SIGCONT'))
		},
		async killFor(ms: number) {
			isKilled = true
			await child.kill('SIGKILL')
			await pause(ms)
			isKilled = false
			child = raise()
		},
		/** No more polls; deliveries go on. Resolves when that has the state; one that stands by says nothing. */
		stop: () =>
			new Promise<void>((resolve) => {
				stopped = resolve
				child.write('stop')
			}),
	}
}

describe.skipIf(server === null)('three instances under siege', () => {
	if (server === null) return

	test('behavior: nothing is lost, nothing is reported that was not posted, no block is committed by two', async () => {
		const url = await audited(server, 'siege')
		const heard: Heard = { commits: [], told: [] }
		const instances = [1, 2, 3].map((seed) => garrison(url, seed, NETWORKS, heard))
		const chance = createChance(20_261_123)
		const counts = { pauses: 0, kills: 0, cuts: 0 }
		const startedMs = Date.now()
		/** Goes on until the state had three owners, which takes longer on a machine that has much else to do. */
		const isOver = async () => {
			const passedMs = Date.now() - startedMs
			const [row] = await server.sql<{ owners: number }>(
				'select count(distinct epoch)::int as owners from appended',
				[],
				'siege',
			)
			if (passedMs < SIEGE_MS || counts.pauses + counts.kills < ROUNDS) return false
			return (row?.owners ?? 0) > 3 || passedMs > SIEGE_MS + 180_000
		}
		let over = false
		const attack = async (instance: (typeof instances)[number]) => {
			while (!over) {
				await pause(1_000 + chance.number(2 * LEASE_MS))
				if (chance.percent(60)) {
					counts.pauses++
					await instance.pauseDuring(pause(100 + chance.number(3 * LEASE_MS)))
				} else {
					counts.kills++
					await instance.killFor(chance.number(800))
				}
			}
		}
		const cutting = async () => {
			while (!over) {
				await pause(200 + chance.number(1_200))
				counts.cuts += await server.cutAll()
				over = await isOver()
			}
		}
		await Promise.all([...instances.map(attack), cutting()])
		// Whichever has the state, until all that was posted is delivered.
		await Promise.any(instances.map((instance) => instance.stop()))
		const pending = async () => (await peekPostgres(url))?.whole.deliveries.size
		await expect.poll(pending, { interval: 100, timeout: 60_000 }).toBe(0)

		const rows = await server.sql<Appended>(
			'select seq::int, line, epoch::int, owner from appended order by number',
			[],
			'siege',
		)
		// Lines without a hole, by owners whose epochs only grow.
		expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
		const epochs = rows.map(({ epoch }) => epoch)
		expect(epochs).toEqual([...epochs].sort((a, b) => a - b))
		const ownerOf = new Map(rows.map(({ epoch, owner }) => [epoch, owner]))
		for (const { epoch, owner } of rows) expect(ownerOf.get(epoch)).toBe(owner)
		expect(ownerOf.size).toBeGreaterThan(2)

		const commits = rows.flatMap(({ line }) => (JSON.parse(line) as Line).changes).filter(({ act }) => act === 'commit')
		for (const network of NETWORKS) {
			const own = commits
				.filter(({ argument }) => argument.network === network)
				.map(({ argument }) => argument.checkpoint.number)
			// Each block once, in order.
			expect(own).toEqual(own.map((_, index) => `${index}n`))
			expect(own.length).toBeGreaterThan(SIEGE_MS / 1_000)
		}
		const committed = new Set(
			commits.map(({ argument: { network, checkpoint } }) => `${network} ${checkpoint.number.slice(0, -1)}`),
		)
		for (const commit of heard.commits) expect(committed).toContain(commit)

		const posted = commits.flatMap(({ argument }) => argument.deliveries)
		expect(new Set(heard.told.map(({ id }) => id))).toEqual(new Set(posted.map(({ id }) => id)))
		// Lines of two processes may reach us in another order than they were written in.
		heard.told.sort((a, b) => (a.atNs < b.atNs ? -1 : 1))
		for (const receiver of [...NETWORKS.map((network) => `own-${network}`), 'shared']) {
			const first = new Set(heard.told.filter(({ queue }) => queue === receiver).map(({ id }) => id))
			expect([...first]).toEqual(posted.filter((one) => one.receiver === receiver).map(({ id }) => id))
		}
		const totals = [...((await peekPostgres(url))?.whole.totals.values() ?? [])]
		expect(totals.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(posted.length)
		// What was sent is in the history once, however often it was sent.
		const kept = await server.sql<{ row: string }>('select row from tracewatch.history', [], 'siege')
		const sent = kept.map(({ row }) => (JSON.parse(row) as HistoryRow).id)
		expect(sent.toSorted()).toEqual(posted.map(({ id }) => id).toSorted())
		const repeats = heard.told.length - posted.length
		console.info(
			`${SIEGE_MS / 1000} s: ${counts.pauses} pauses, ${counts.kills} kills, ${counts.cuts} connections cut; ` +
				`${commits.length} blocks under ${ownerOf.size} epochs; ${posted.length} deliveries, ${repeats} sent again`,
		)
	})

	test('behavior: an instance that stands still is replaced when its lease has run out', async () => {
		const url = await audited(server, 'still')
		const heard: Heard = { commits: [], told: [] }
		const instances = [1, 2].map((seed) => garrison(url, seed, ['n0'], heard))
		const owner = async () =>
			(await server.sql<Appended>('select owner from appended order by number desc limit 1', [], 'still'))[0]?.owner ??
			''
		await expect.poll(owner, { timeout: 20_000 }).not.toBe('')
		for (let round = 0; round < 3; round++) {
			const before = await owner()
			const holder = instances[before.startsWith('i1.') ? 0 : 1]
			const replaced = async () => {
				while ((await owner()) === before) await pause(20)
			}
			// Nothing but the lease can end this: it stands still until another has taken over.
			await holder?.pauseDuring(replaced())
		}
	})
})

interface Appended {
	readonly seq: number
	readonly line: string
	readonly epoch: number
	readonly owner: string
}

interface Line {
	readonly changes: readonly {
		readonly act: string
		readonly argument: {
			readonly network: string
			readonly checkpoint: { readonly number: string }
			readonly deliveries: readonly { readonly id: string; readonly receiver: string }[]
		}
	}[]
}
