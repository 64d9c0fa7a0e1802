// A stranger's transaction with 100,000 empty calls to a precompiled contract, which touches no watch: the program once
// stood still for a minute over it. node attack.js URL
const [url] = process.argv.slice(2)

async function call(method, params) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
	const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
	const { result, error } = await response.json()
	if (error) throw new Error(`${method}: ${error.message}`)
	return result
}

async function receipt(hash) {
	for (;;) {
		const found = await call('eth_getTransactionReceipt', [hash])
		if (found !== null) return found
		await new Promise((resolve) => setTimeout(resolve, 100))
	}
}

/** While the first word of the input is not used up: CALL(gas 100, address 4, nothing), take one off. */
const runtime = `6000355b6000600060006000600060046064f1507f${'ff'.repeat(32)}0180600357`
const length = (runtime.length / 2).toString(16).padStart(4, '0')
const [, , , stranger] = await call('eth_accounts', [])
const made = await call('eth_sendTransaction', [
	{ from: stranger, data: `0x61${length}80600c6000396000f3${runtime}`, gas: '0xf4240' },
])
const { contractAddress: to } = await receipt(made)
const data = `0x${(100_000).toString(16).padStart(64, '0')}`
const { status, gasUsed } = await receipt(
	await call('eth_sendTransaction', [{ from: stranger, to, data, gas: '0x1ba8140' }]),
)
if (status !== '0x1' || Number(gasUsed) < 15_000_000) throw new Error(`status ${status}, ${Number(gasUsed)} gas`)
