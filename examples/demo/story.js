// The transactions of the demo, and the alerts that each must cause. watchlists/local.yaml watches these addresses.

/** Anvil's accounts, the same on each new chain, and the contracts that follow from them. */
const deployer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const payroll = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const customer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const factory = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const router = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const splitter = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'

/** Takes coins; with input, deploys the input as code, and gives it the coins. */
const factoryInit = '0x61001361000f6000396100136000f33661000657005b36600060003736600034f000'
/** Takes coins; with hops as input, passes the coins on to the first, with the rest of the hops as input. */
const relayInit =
	'0x61003561000f6000396100356000f33661000657005b60153603601560003760006000601536' +
	'0360003460003560581c5af15060003560f81c61002f57005b60006000fd'

/** A hop is an address, and whether the relay that sends to it reverts afterwards. */
const hops = (...list) => `0x${list.map(([to, reverts]) => `${reverts ? '01' : '00'}${to.slice(2)}`).join('')}`

const eth = (amount) => BigInt(amount * 1000) * 10n ** 15n
const transfer = (label, direction, amount, type = 'alert.transfer') => ({
	type,
	label,
	direction,
	valueWei: eth(amount),
})
const deployment = (label, direction, amount) => transfer(label, direction, amount, 'alert.deployment')

/**
 * `send`: transactions, a block each. `alerts`: of the last of them, each with type, label, direction and amount.
 * `quiet`: what a simpler watcher would report by mistake.
 */
export const story = [
	{
		says: 'A contract is deployed at an address that was watched before it existed: the Factory.',
		send: [{ from: deployer, data: factoryInit }],
		alerts: [deployment('Factory', 'in', 0)],
	},
	{
		says: 'Two more contracts are deployed, which nobody watches: a router and a splitter.',
		send: [
			{ from: deployer, data: relayInit },
			{ from: deployer, data: relayInit },
		],
		alerts: [],
	},
	{
		says: 'A customer pays 1.5 ETH to Treasury.',
		send: [{ from: customer, to: treasury, valueWei: eth(1.5) }],
		alerts: [transfer('Treasury', 'in', 1.5)],
	},
	{
		says: 'Treasury pays 0.25 ETH to Payroll.',
		send: [{ from: treasury, to: payroll, valueWei: eth(0.25) }],
		alerts: [transfer('Treasury', 'out', 0.25)],
		quiet: 'the same payment to Payroll, whose min_value is 0.5',
	},
	{
		says: 'A payment inside contracts: a customer sends 0.75 ETH to the router. Three calls down, it reaches Treasury.',
		send: [{ from: customer, to: router, valueWei: eth(0.75), data: hops([splitter], [router], [treasury]) }],
		alerts: [transfer('Treasury', 'in', 0.75)],
		showsMail: true,
	},
	{
		says: 'The Factory is sent 0.1 ETH and deploys the Vault with it.',
		send: [{ from: deployer, to: factory, valueWei: eth(0.1), data: factoryInit }],
		alerts: [transfer('Factory', 'in', 0.1), deployment('Factory', 'out', 0.1), deployment('Vault', 'in', 0.1)],
		quiet: 'the 0.1 ETH of the Vault as a transfer besides: the deployment carries it',
	},
	{
		says: 'A contract pays Treasury 0.3 ETH inside a call that reverts; its caller goes on.',
		send: [{ from: customer, to: router, valueWei: eth(0.3), data: hops([splitter], [treasury, true]) }],
		alerts: [],
		quiet: '0.3 ETH to Treasury: in the traces it looks like a success, but the call around it was undone',
	},
	{
		says: 'Treasury sends 0.6 ETH to the router, which passes them on to the Factory, and then all of it reverts.',
		send: [{ from: treasury, to: router, valueWei: eth(0.6), data: hops([factory, true]), succeeds: false }],
		alerts: [],
		quiet: '0.6 ETH out of Treasury and into the Factory: the transaction failed',
	},
	{
		says: 'A customer pays 2 ETH to Treasury …',
		send: [{ from: customer, to: treasury, valueWei: eth(2) }],
		alerts: [transfer('Treasury', 'in', 2)],
	},
	{
		says: '… and the chain drops that block: a reorganisation puts an empty one in its place.',
		drops: 1,
		send: [],
		alerts: [transfer('Treasury', 'in', 2, 'alert.removed')],
	},
]
