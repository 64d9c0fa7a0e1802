// A webhook receiver that writes down what it gets: one JSON line a delivery. node hook.js PORT FILE
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)

createServer(async (request, response) => {
	let body = ''
	for await (const chunk of request) body += chunk
	const { type, data } = JSON.parse(body)
	const { id, txHash, network } = data
	appendFileSync(file, `${JSON.stringify({ delivery: request.headers['webhook-id'], type, id, txHash, network })}\n`)
	response.writeHead(204).end()
}).listen(Number(port), '127.0.0.1')
