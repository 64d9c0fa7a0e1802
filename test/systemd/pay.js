// Pays an address some times on the local node and prints the hashes of the transactions. node pay.js URL ADDRESS COUNT
const [url, to, count] = process.argv.slice(2)

async function call(method, params) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
	const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
	const { result, error } = await response.json()
	if (error) throw new Error(`${method}: ${error.message}`)
	return result
}

const [from] = await call('eth_accounts', [])
for (let n = 0; n < Number(count); n += 1)
	console.log(await call('eth_sendTransaction', [{ from, to, value: '0xde0b6b3a7640000' }]))
