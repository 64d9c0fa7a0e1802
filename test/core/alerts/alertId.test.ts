import { expect, test } from 'vitest'
import { readAlertId, transactionOf } from '../../../src/core/alerts/alertId.js'

const hash = `0x${'ab'.repeat(32)}`
const address = `0x${'cd'.repeat(20)}`

test.each([
	[`1:${hash}:root:transfer:${address}`, hash],
	[`1:${hash}:0_1_2:deployment:${address}`, hash],
	[`1:${hash}:log_3_1:token:${address}`, hash],
	[`1:${hash}:0_1~123:transfer:${address}`, hash],
	[`1:${hash}:reward_0:transfer:${address}`, null],
	[`1:withdrawal:17:withdrawal:${address}`, null],
	[`1:${hash}:auth_0:delegation:${address}`, null],
	[`1:123:code:delegation:${address}`, null],
	[`1:${hash}:fees:income:${address}`, null],
	[`1:123:below:balance:${address}`, null],
	[`1:5-9:balance:unexplained:${address}`, null],
])('default: %s', (text, txHash) => {
	const id = readAlertId(text)
	if (id === null) throw new Error('it is an id')
	const again = id.again === undefined ? '' : `~${id.again}`
	expect(`${id.chainId}:${id.anchor}:${id.place}${again}:${id.kind}:${id.address}`).toBe(text)
	expect(transactionOf(id)).toBe(txHash)
	expect(readAlertId(text.toUpperCase().replaceAll('0X', '0x'))).toEqual(id)
})

test.each([
	hash,
	'',
	`1:${hash}:root:payment:${address}`,
	`1:5:balance:unexplained:${address}`,
	`1:5-9:below:balance:${address}`,
	`x:${hash}:root:transfer:${address}`,
	`1:${hash}:root:transfer:${address}:more`,
])('error: `%s` is none', (text) => {
	expect(readAlertId(text)).toBeNull()
})
