// The bundler may take a call for one without an effect and drop it: the built program refuses what the source refuses.
import { expect, test } from 'vitest'
import { siteOf } from './site.js'

test('error: a stray % in the password of a mail server is refused by the built program', async () => {
	const here = siteOf({
		'tracewatch.yaml': `networks: [{name: local, chain_id: 1, rpc: ["http://127.0.0.1:9"], schedule: "* * * * * *"}]
receivers: [{name: mail, type: email, smtp: "smtps://user:pa%ss@127.0.0.1", from: a@b.org, to: [a@b.org]}]
watchlists: []
`,
	})
	const { code, stderr } = await here.run(['check'])
	expect(code).toBe(78)
	expect(stderr).toContain('tracewatch.yaml:2:45: `smtp` has a user or password with a stray %: write % as %25')
})
