/**
 * The canary: every secret of a configuration bears a mark, other sides repeat whatever they know of it in every form,
 * and nothing that leaves the program may hold a mark: log, output, mails, webhooks, state, metrics and pages.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type HookServer, resetConnection, startHookServer } from '../support/hookServer.js'
import { type MailServer, startMailServer } from '../support/mailServer.js'
import { smallFigures } from '../support/preload.js'
import type { Ended, Site } from '../support/program.js'
import { badMoods, knowledgeOf, startTalkativeNode, type TalkativeNode } from '../support/talkativeNode.js'
import { type CanarySite, canaries, loginRepeated, openCanarySite, type Places, written } from './canarySite.js'
import { treasury, vault } from './site.js'

const { odd, ascii, plain } = canaries

let chain: TestAnvil
let node: TalkativeNode
let hook: HookServer
let mail: MailServer

beforeAll(async () => {
	chain = await startTestAnvil()
	node = await startTalkativeNode(chain.url)
	hook = await startHookServer()
	mail = await startMailServer({ login: { user: odd('smtp user'), pass: odd('smtp password') }, loginInClear: true })
})

afterAll(() => Promise.all([chain.stop(), node.close(), hook.close(), mail.close()]))

/** With everybody there, but for those named. */
const open = (places: Places = {}, more = '') =>
	openCanarySite({ rpc: `http://${node.host}`, hook: hook.origin, smtp: `smtp://${mail.host}`, ...places }, more)

const sent = () => [
	...hook.hits.filter(({ url }) => !url.startsWith('/v2/enqueue')).map(({ body }) => body.toString()),
	...mail.mails.map(({ raw, text, html, subject }) => [raw, text, html, subject].join('\n')),
	...node.asked,
]

/** Searched already: what came to receivers stays there. */
const searched = new Set<string>()

function expectSilence(site: Site, ends: readonly Ended[], ...texts: readonly string[]): void {
	for (const text of [...ends.flatMap(({ stdout, stderr }) => [stdout, stderr]), written(site), ...sent(), ...texts]) {
		if (searched.has(text)) continue
		expect(canaries.in(text)).toEqual([])
		searched.add(text)
	}
}

const pay = () => chain.send({ from: treasury, to: vault, valueWei: 1n })

const looks = [['check'], ['status'], ['status', '--json'], ['deliveries'], ['deliveries', 'list', '--json']]

/** Every command that a person would run to see what is the matter. */
async function inspect(site: CanarySite): Promise<readonly Ended[]> {
	return await Promise.all(looks.map((args) => site.type(args)))
}

const testSends = (site: CanarySite) =>
	Promise.all(['hook', 'chat', 'pager', 'mail'].map((name) => site.type(['test-send', name])))

describe('no secret leaves', () => {
	test('while nothing is wrong', async () => {
		const site = open()
		const ends = [await site.run(['once'])]
		await pay()
		ends.push(await site.run(['once']))
		expect(ends.map(({ code, stdout }) => [code, code === 0 ? '' : stdout])).toEqual([
			[0, ''],
			[0, ''],
		])
		expect(hook.hits.map(({ headers }) => headers['x-token'])).toContain(ascii('hook token'))
		expect(mail.logins).toContainEqual({ user: odd('smtp user'), pass: odd('smtp password') })
		const built = await Promise.all([['status'], ['test-send', 'mail']].map((args) => site.run(args)))
		expectSilence(site, [...ends, ...built, ...(await inspect(site)), ...(await testSends(site))])
	})

	test.concurrent.for(badMoods)('when the endpoint repeats it: %s', async (mood, { expect, onTestFinished }) => {
		const own = await startTalkativeNode(chain.url)
		onTestFinished(() => own.close())
		const site = open({ rpc: `http://${own.host}` })
		const ends = [await site.type(['once'])]
		own.mood = mood
		const isLimited = mood === 'limited'
		// Whoever is limited for ever gives up after 10 s in place of 80.
		const soon = isLimited ? smallFigures('longestPauseMs=1000,triesForSpeed=0') : {}
		const replay = ['replay', '--from', '1', '--to', '1']
		const bad = await Promise.all([site.run(['once'], soon), isLimited ? site.run(replay, soon) : site.type(replay)])
		for (const { code } of bad) expect(code).not.toBe(0)
		expectSilence(site, [...ends, ...bad, ...(await inspect(site))], ...own.asked)
	})

	const unreachable: readonly (readonly [how: string, places: () => readonly string[]])[] = [
		['no TLS there', () => [`https://${node.host}`, `smtps://${mail.host}`]],
		['refused', () => ['http://127.0.0.1:9', 'smtp://127.0.0.1:9']],
		['DNS', () => ['http://nowhere.invalid', 'smtp://nowhere.invalid']],
		['link-local', () => ['http://169.254.169.254', 'smtp://169.254.169.254']],
	]

	test.each(unreachable)('when others cannot be reached: %s', async (_, places) => {
		const [origin = '', smtp = ''] = places()
		const lame = open({ rpc: origin })
		expectSilence(lame, [await lame.run(['once'])])

		const site = open({ hook: origin, smtp })
		const ends = [await site.type(['once'])]
		await pay()
		ends.push(await site.run(['once']))
		expect(ends.at(-1)?.code).not.toBe(0)
		expectSilence(site, [...ends, ...(await inspect(site)), ...(await testSends(site))])
	})

	test('when the database cannot be reached', async () => {
		const site = open({ database: 'postgres://127.0.0.1:9/tracewatch' })
		const built = [['once'], ['run']].map((args) => site.run(args))
		const ends = await Promise.all([...built, inspect(site)]).then((all) => all.flat())
		expect(ends.map(({ code }) => code)).toEqual([1, 1, 0, 1, 1, 1, 1])
		expectSilence(site, ends)
	})

	test('when the program itself fails', async () => {
		const site = open()
		// One of the two finds the state taken by the other, unless each has its own.
		const fail = async (at: CanarySite, code: string) => {
			const fault = `--import=data:text/javascript,process.on('SIGWINCH',()=>{${code}})`
			const running = at.start(['run'], { NODE_OPTIONS: fault })
			await running.line(({ msg }) => msg === 'tracewatch is running')
			return await running.stop('SIGWINCH')
		}
		const ends = await Promise.all([
			fail(site, 'throw%20new%20Error(process.env.RPC_URL)'),
			fail(open(), 'Promise.reject(new%20Error(process.env.HOOK_TOKEN))'),
		])
		for (const { code, stderr } of ends) {
			expect([code, stderr]).toEqual([1, expect.stringContaining('this is a fault of tracewatch itself: Error: ')])
			// By one handler.
			expect(stderr.split('this is a fault of tracewatch itself')).toHaveLength(2)
		}
		expectSilence(site, ends)
	})

	test('when receivers repeat it', async () => {
		const site = open()
		const ends = [await site.type(['once'])]
		const phases = ['connect', 'login', 'sender', 'recipient', 'data']
		const statuses = [400, 401, 410, 500, 302, 'reset'] as const
		onTestFinished(() => {
			hook.answer = () => 204
			mail.answer = () => null
		})
		for (const [at, status] of statuses.entries()) {
			hook.answer = ({ url, headers }) => {
				if (status === 'reset') return resetConnection
				const moved = status === 302 ? { location: `https://127.0.0.1:9${url}` } : {}
				return { status, headers: moved, body: knowledgeOf({ url, headers }) }
			}
			const code = at % 2 === 0 ? '550 5.0.0' : '450 4.0.0'
			mail.answer = (phase) => (phase === phases[at % phases.length] ? `${code} ${loginRepeated(at)}` : null)
			await pay()
			ends.push(await site.run(['once']), ...(await testSends(site)))
			ends.push(await site.type(['deliveries', 'retry', '--all']))
		}
		expectSilence(site, [...ends, ...(await inspect(site))])
	})

	test('from a daemon with its pages, a stall, a wrong reload and its end', async () => {
		const site = open({}, 'http: 127.0.0.1:0\n')
		const running = site.start(['run'])
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		await running.line(({ msg }) => msg === 'coverage changed')
		const before = hook.hits.length
		await pay()
		await hook.until((hits) => hits.length > before)
		const pages: string[] = []
		const look = async () => {
			for (const path of ['/metrics', '/healthz', '/', `/${plain('hook plain path')}`]) {
				pages.push(await (await fetch(`http://127.0.0.1:${port}${path}`)).text())
			}
		}
		await look()
		node.mood = 'failing'
		onTestFinished(() => {
			node.mood = 'good'
		})
		await running.line(({ msg }) => msg.startsWith('stalled:'))
		await look()
		await hook.until((hits) => hits.some(({ body }) => body.includes('system.stalled')))
		node.mood = 'good'
		await pay()
		await running.line(({ msg }) => msg.startsWith('recovered:'))
		site.write(
			'watchlists/a.yaml',
			`network: ${plain('hook plain path')}\nreceivers: [hook]\nwatches: [{address: 1}]\n`,
		)
		await running.line(({ level, msg }) => level === 'error' && msg.includes('watchlists'))
		running.process.kill('SIGHUP')
		await look()
		const ended = await running.stop()
		expect(ended.code).toBe(0)
		expectSilence(site, [ended, ...(await inspect(site))], ...pages)
	})
})
