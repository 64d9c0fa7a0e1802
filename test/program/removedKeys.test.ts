// Keys that earlier versions had: each is an error at its place that says what to do instead, all at once.
import { expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import { siteOf, treasury } from './site.js'

test('removed keys are errors at their places, beside the other problems', async () => {
	const network = 'log_proof: all, max_answer: 4GB, abi: abi, token_list: list.json'
	const here = siteOf({
		'tracewatch.yaml': `lease: 15s
max_pending: 100
networks:
  - {name: local, chain_id: 1, rpc: ["http://127.0.0.1:9"], ${network}, settle: soon}
receivers:
  - {name: bot, type: webhook, format: telegram, url: "https://api.telegram.org/bot1:CANARY", chat_id: 5}
  - {name: push, type: webhook, format: ntfy, url: "https://ntfy.sh", topic: a}
  - {name: mail, type: email, smtp: "smtp://h", from: a@b.org, to: [a@b.org], digest: {outgoing: true}, silences: [{}]}
`,
		'watchlists/a.yaml': `network: local
receivers: [bot, push, mail]
silences: [{from: 22:00, to: 06:00}]
watches:
  - {address: "${treasury}", calls: [pause]}
`,
	})
	const { code, stderr } = await typed(['check'], { cwd: here.folder })
	expect(code).toBe(78)
	const lines = stderr.split('\n').filter((line) => /^\S+:\d+:\d+: /.test(line))
	const placed = lines.map((line) => line.replace(/^(.*):(\d+):\d+: (`\w+` (?:was removed)?).*$/, '$1:$2 $3'))
	expect(placed).toEqual([
		...['lease', 'max_pending'].map((key, at) => `tracewatch.yaml:${at + 1} \`${key}\` was removed`),
		...['log_proof', 'max_answer', 'abi', 'token_list'].map((key) => `tracewatch.yaml:4 \`${key}\` was removed`),
		'tracewatch.yaml:4 `settle` ',
		'tracewatch.yaml:6 `url` ',
		'tracewatch.yaml:6 `chat_id` was removed',
		'tracewatch.yaml:7 `url` ',
		'tracewatch.yaml:7 `topic` was removed',
		...['outgoing', 'silences'].map((key) => `tracewatch.yaml:8 \`${key}\` was removed`),
		'watchlists/a.yaml:3 `silences` was removed',
		expect.stringContaining('watchlists/a.yaml:5:'),
	])
	expect(lines.at(-2)).toBe('watchlists/a.yaml:3:1: `silences` was removed: use the quiet hours of your receiver')
	expect(stderr).toContain('write it into `url`, https://api.telegram.org/bot<token>/sendMessage?chat_id=<id>')
	expect(stderr).not.toContain('CANARY')
})
