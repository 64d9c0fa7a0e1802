// A node on loopback that records the answers of another node, or gives recorded ones (CONTRIBUTING.md, "Replay").
//   node scripts/recorded-node.js FILE URL   asks the node at URL, and appends each new answer to FILE
//   node scripts/recorded-node.js FILE       answers from FILE alone; to anything else with the error -32001
// It prints its own URL. FILE has one call a line: method, params, and result or error; nothing of the URL of the node.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , file, url] = process.argv
if (file === undefined) throw new Error('usage: node scripts/recorded-node.js FILE [URL]')
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
const keyOf = ({ method, params = [] }) => JSON.stringify([method, params])
const known = new Map(lines.map((line) => [keyOf(JSON.parse(line)), line]))

/** Throws when the node gives no JSON-RPC answer, which is not recorded. */
async function ask({ method, params = [] }) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
	const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
	const { result, error } = await answer.json()
	if (result === undefined && error === undefined) throw new Error(`${method}: HTTP ${answer.status}`)
	const line = JSON.stringify({ method, params, ...(error === undefined ? { result } : { error }) })
	if (line === known.get(keyOf({ method, params }))) return
	known.set(keyOf({ method, params }), line)
	appendFileSync(file, `${line}\n`)
}

async function answerTo(call) {
	if (url !== undefined) await ask(call)
	const { result, error } = JSON.parse(known.get(keyOf(call)) ?? '{}')
	const missing = { code: -32001, message: `not recorded: ${keyOf(call)}` }
	return { jsonrpc: '2.0', id: call.id, ...(result === undefined ? { error: error ?? missing } : { result }) }
}

const server = createServer(async (request, response) => {
	try {
		const chunks = []
		for await (const chunk of request) chunks.push(chunk)
		const sent = JSON.parse(Buffer.concat(chunks).toString('utf8'))
		const answers = Array.isArray(sent) ? await Promise.all(sent.map(answerTo)) : await answerTo(sent)
		response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
	} catch {
		response.writeHead(502).end()
	}
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
