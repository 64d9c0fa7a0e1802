// `npm run demo`: plays the main job of tracewatch on this machine, and ends with 0 only if the right alerts came.
import { readFile } from 'node:fs/promises'
import { fail, openStage } from './stage.js'
import { story } from './story.js'

const [, , what] = process.argv
if (what !== undefined && what !== 'incidents') {
	console.error(`there is no \`${what}\`: \`npm run demo\`, or \`npm run demo -- incidents\``)
	process.exit(2)
}
if (what === 'incidents') {
	await (await import('./incidents.js')).playIncidents()
	process.exit(0)
}

const started = Date.now()
const stage = await openStage(await readFile(new URL('../../watchlists/local.yaml', import.meta.url), 'utf8'))
const { rpc, send, until, settled, mails, hooks } = stage
console.log(
	'A node (Anvil), a mail server and a webhook receiver are up on loopback. tracewatch watches Treasury, Payroll,',
)
console.log('Factory and Vault, as watchlists/local.yaml says.')

/** The alerts that are expected so far. All of them come by webhook, and all but those on the Vault by mail. */
const expected = []
const isMailed = (label) => label !== 'Vault'
const mailed = () => expected.filter(({ label }) => isMailed(label))
let block = 0
for (const step of story) {
	console.log(`\n${step.says}`)
	const shown = { hooks: hooks.size, mails: mails.size }
	if (step.drops) await rpc('anvil_reorg', step.drops, [])
	for (const tx of step.send) block = (await send(tx)).block
	expected.push(...step.alerts.map((alert) => ({ ...alert, block })))
	await until(`${expected.length} webhooks and ${mailed().length} mails came`, () => {
		return hooks.size >= expected.length && mails.size >= mailed().length
	})
	for (const { type, data } of [...hooks.values()].slice(shown.hooks)) {
		const { watch, kind, direction, value, asset, blockNumber } = data
		const words = type === 'alert.removed' ? `retracts: ${kind}` : kind
		console.log(`  block ${blockNumber}  webhook  ${watch.label}: ${words} ${direction}, ${value} ${asset}`)
	}
	const newMails = [...mails.values()].slice(shown.mails)
	for (const { subject } of newMails) console.log(`           mail     ${subject}`)
	if (step.quiet) console.log(`  rightly not reported: ${step.quiet}`)
	if (step.showsMail) for (const { text } of newMails) console.log(`\n${text.trim().replaceAll(/^/gm, '      | ')}`)
	compare()
}

await settled()
compare()
const seconds = ((Date.now() - started) / 1000).toFixed(1)
console.log(`
Exactly the expected ${hooks.size} webhooks (signed) and ${mails.size} mails came, in ${seconds} s.
Every balance was compared with the chain up to block ${block}, and the reported movements explain it.
Nothing of this is left on the machine.

Next, with a node of your own:
  node dist/cli.js watch ADDRESS --rpc URL   one address on the terminal, without any file
  node dist/cli.js setup --dir mine          asks for a node, a receiver and an address, and writes one folder`)
process.exit(0)

/** Ends the demo when a message is missing, wrong or too many. */
function compare() {
	const keyOf = ({ type, block, label, direction, valueWei }) =>
		[type, `block ${block}`, label, direction, valueWei].join(' ')
	const came = [...hooks.values()].map(({ type, data }) => {
		return keyOf({ ...data, type, block: data.blockNumber, label: data.watch?.label })
	})
	differ('webhooks', expected.map(keyOf), came)
	const ids = [...hooks.values()]
		.filter(({ data }) => isMailed(data.watch?.label))
		.map(({ data }) => [data.id, data.valueWei])
	const mailIds = [...mails.values()].map(({ headers, text }) => {
		return [headers.get('x-tracewatch-alert'), /^In wei:\s+(\d+)$/m.exec(text)?.[1]]
	})
	differ('mails', ids, mailIds)
}

function differ(what, expected, came) {
	const [first, second] = [expected, came].map((list) => list.toSorted().join('\n  '))
	if (first !== second) fail(`The ${what} should be\n  ${first}\nbut are\n  ${second}`)
}
