import { expect, test } from 'vitest'
import { configText } from '../../../src/commands/setup/texts.js'

test('default: a mail address with ${ in it is written as $${, which the daemon reads as it was typed', () => {
	const said = { chainId: 1, by: 'mail', smtp: 'smtp://127.0.0.1:25', to: 'ops${B}@example.org' }
	expect(configText(said, { state: 'state', http: null })).toContain('- ops$${B}@example.org\n')
})
