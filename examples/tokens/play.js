// Plays on a new chain of Anvil what happens to addresses that hold tokens: node examples/tokens/play.js [URL]
// Its contracts log what they are told to and move nothing. Any contract can do that: a log is a claim.
const url = process.argv[2] ?? 'http://127.0.0.1:8545'

/** Transfer(address,address,uint256) */
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const nobody = `0x${'0'.repeat(40)}`
const gas = '0x493e0'

/** symbol() and decimals(), which are 6; else LOG3 of the three words behind the first byte, and what comes after. */
const code = (symbol) =>
	`0x61007561000f6000396100756000f360003560e01c806395d89b4114610041578063313ce5671461003657606136036061600037604135
	602135600135606136036000a3005b600660005260206000f35b602060005260206020527f${hexOf(symbol)}
	60405260606000f3`.replaceAll(/\s/g, '')
const hexOf = (text) => Buffer.from(text).toString('hex').padEnd(64, '0')

const accounts = await call('eth_accounts', [])
const [, treasury, supplier] = accounts
const [thief, maker] = accounts.slice(-2)
/** As wallets show it, it is the supplier. */
const imitation = `${supplier.slice(0, 6)}${'7'.repeat(32)}${supplier.slice(-4)}`

// Of a new chain the first contract of the last account, always at the same address: tracewatch.yaml names it.
const usdc = await deploy('USDC')
if (usdc !== '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35') end('this chain is not new: start `npx anvil` again')
const fake = await deploy('USDC')
const gift = await deploy('claim at gift.example')

await log('100 USDC come to the Treasury', maker, usdc, nobody, treasury, 100_000_000n)
await log('it pays 25 to its supplier', treasury, usdc, treasury, supplier, 25_000_000n)
await log('dust: who looks like the supplier sends 0.000001', thief, usdc, imitation, treasury, 1n)
await log('zero: a thief has it pay nothing to that address', thief, usdc, treasury, imitation, 0n)
await log('counterfeit: another USDC says that it paid 25 there', thief, fake, treasury, imitation, 25_000_000n)
await log('a gift of a token nobody knows', thief, gift, thief, treasury, 1_000_000_000n)
await log('an approval is used: a thief takes 10', thief, usdc, treasury, thief, 10_000_000n)

async function log(what, from, to, sender, recipient, amount) {
	const words = [BigInt(sender), BigInt(recipient), amount].map((word) => word.toString(16).padStart(64, '0'))
	const block = await mined({ from, to, gas, data: `0x03${transfer.slice(2)}${words.join('')}` })
	console.log(`block ${Number(block.blockNumber)}: ${what}`)
}

async function deploy(symbol) {
	const { contractAddress } = await mined({ from: maker, gas, data: code(symbol) })
	return contractAddress
}

async function mined(transaction) {
	const hash = await call('eth_sendTransaction', [transaction])
	for (;;) {
		const receipt = await call('eth_getTransactionReceipt', [hash])
		if (receipt !== null) return receipt
		await new Promise((resolve) => setTimeout(resolve, 20))
	}
}

async function call(method, params) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
	const headers = { 'content-type': 'application/json' }
	const nobodyThere = () => end(`nobody answers at ${url}: start \`npx anvil\` first`)
	const answer = await fetch(url, { method: 'POST', headers, body }).catch(nobodyThere)
	const { result, error } = await answer.json()
	if (error !== undefined) throw new Error(`${method}: ${error.message}`)
	return result
}

function end(words) {
	console.error(words)
	process.exit(1)
}
