// The pictures of the documents, docs/screenshots/*.png: pages and mails of the built program on the stage of the demo.
// `node scripts/screenshots.js`, after a change of pages or mails; with a FOLDER every page, light and dark, on a
// desktop and a phone. Needs Debian's chromium. Look at what it made.
import { mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { fail, hex, openStage } from '../examples/demo/stage.js'

const [, , folder] = process.argv
const out = `${resolve(folder ?? fileURLToPath(new URL('../docs/screenshots', import.meta.url)))}/`
mkdirSync(out, { recursive: true })
/** GitHub and mail programs show them small; more is only weight. */
const MOST_BYTES = 200_000
const kept = ['overview-light', 'overview-dark', 'mail-lookalike-light', 'mail-digest-light']

const [treasury, payroll, customer] = [
	'0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
	'0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
	'0x90F79bf6EB2c4f870365E785982E1f101E93b906',
]
const supplier = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
/** Agrees with the supplier at both ends. */
const imitator = '0xD8da6a7C12e9B3F48c5d0e1F2a3b4C5d6e7F6045'.toLowerCase()
const watches = [
	{ address: treasury, label: 'Treasury', tags: ['cold'] },
	{ address: payroll, label: 'Payroll', tags: ['hot'] },
	{ address: customer, label: 'Market maker' },
]
const receivers = ['ops-mail', 'ops-hook', 'digest-mail']
const port = await freePort()
const stage = await openStage(
	JSON.stringify({ network: 'local', receivers, watches }),
	(rpc) => rpc('anvil_setBalance', imitator, hex(10n ** 18n)),
	'  - {name: digest-mail, type: email, smtp: "${DEMO_SMTP_URL}", from: tracewatch@example.org,\n' +
		'     to: [all@example.org], digest: {every: 10s, max: 1}}\n' +
		`http: 127.0.0.1:${port}\n`,
)
const milli = 10n ** 15n
const payments = [
	[treasury, supplier, 12_500n],
	[imitator, treasury, 1n],
	...Array.from({ length: 12 }, (_, at) => [customer, at % 3 ? treasury : payroll, BigInt(350 + 417 * at)]),
]
await stage.rpc('anvil_impersonateAccount', imitator)
for (const [from, to, amount] of payments) await stage.send({ from, to, valueWei: amount * milli })
await stage.settled()
const mailTo = (to, words) =>
	stage.until(`a mail with "${words}" came`, () =>
		[...stage.mails.values()].find(({ to: { text }, subject }) => text === to && subject.includes(words)),
	)
const mails = {
	lookalike: await mailTo('ops@example.org', 'LOOK-ALIKE'),
	digest: await mailTo('all@example.org', 'alerts'),
}

const phone = { width: 390, height: 844 }
const pages = {
	overview: '/',
	alerts: '/alerts',
	watches: '/watches',
	watch: `/watch?network=local&address=${treasury}`,
	deliveries: '/deliveries',
}
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
for (const colorScheme of ['light', 'dark'])
	for (const [screen, viewport] of Object.entries({ '': { width: 1280, height: 800 }, 'phone-': phone })) {
		const context = await browser.newContext({ colorScheme, viewport, timezoneId: 'UTC', locale: 'en-GB' })
		for (const [name, path] of Object.entries(pages)) await shoot(`${name}-${screen}${colorScheme}`, path)
		for (const [name, { html }] of Object.entries(mails))
			await shoot(`mail-${name}-${screen}${colorScheme}`, null, html)

		/** Each in a tab of its own: the policy of a page would take the styles of a mail. */
		async function shoot(picture, path, html) {
			if (folder === undefined && !kept.includes(picture)) return
			const page = await context.newPage()
			if (path === null) {
				if (viewport !== phone) await page.setViewportSize({ width: 720, height: 900 })
				await page.setContent(html)
			} else await page.goto(`http://127.0.0.1:${port}${path}`)
			await page.screenshot({ path: `${out}${picture}.png` })
			const { size } = statSync(`${out}${picture}.png`)
			console.log(`${picture}.png ${Math.round(size / 1000)} kB`)
			if (folder === undefined && size > MOST_BYTES) fail(`${picture}.png has ${size} bytes, above ${MOST_BYTES}.`)
		}
	}
await browser.close()
process.exit(0)

function freePort() {
	return new Promise((found) => {
		const server = createServer().listen(0, '127.0.0.1', () => {
			const { port } = server.address()
			server.close(() => found(port))
		})
	})
}
