/** A node in a process of its own, so that its memory and time are not counted: answers with traces of any size. */
import { createServer } from 'node:http'

const megabyte = `0x${'ab'.repeat(500_000)}`
const hash = (digit) => `0x${digit.repeat(64)}`
const from = `0x${'11'.repeat(20)}`
const to = `0x${'22'.repeat(20)}`

const server = createServer(async (request, response) => {
	response.setMaxListeners(0)
	const chunks = []
	for await (const chunk of request) chunks.push(chunk)
	const { id, params } = JSON.parse(Buffer.concat(chunks).toString())
	const [size] = params
	const put = (text) =>
		new Promise((resolve) => {
			if (response.write(text) || response.destroyed) resolve()
			else response.once('drain', resolve).once('close', resolve)
		})
	const megabytes = Number(size)
	await put(`{"jsonrpc":"2.0","id":${id},"result":[{"txHash":"${hash('a')}","result":{"from":"${from}","input":"`)
	for (let n = 0; n < megabytes / 2 && !response.destroyed; n += 1) await put(megabyte)
	await put(`","output":"`)
	for (let n = 0; n < megabytes / 2 && !response.destroyed; n += 1) await put(megabyte)
	await put(`","to":"${to}","value":"0x7","type":"CALL","calls":[`)
	// 100,000 calls to a precompiled contract, as a stranger makes them for a few coins.
	const identity = `0x${'0'.repeat(39)}4`
	const call = `{"from":"${to}","gas":"0x1","gasUsed":"0x0","input":"0x","to":"${identity}","type":"STATICCALL"}`
	for (let n = 0; n < 100; n += 1)
		await put(`${n > 0 ? ',' : ''}${Array.from({ length: 1_000 }, () => call).join(',')}`)
	response.end(']}}]}')
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
