/** What the alerts of single kinds have to say besides what all of them say. */

import { printable } from '../../base/printable.js'
import type { AlertData } from '../../model/alert.js'
import { blocksOf, type Fact, fact } from './fact.js'

/** Of an alert that no frame tells of. */
export function ownFacts(data: AlertData): readonly Fact[] {
	const asset = printable(data.asset ?? '', 20)
	const amount = (name: string, wei: string | undefined) => (wei === undefined ? [] : [fact(name, `${wei} wei`)])
	switch (data.kind) {
		case 'withdrawal':
			return [
				fact('Kind', 'withdrawal from the consensus layer'),
				fact('Withdrawal', `${data.index}, of validator ${data.validatorIndex}`),
			]
		case 'delegation':
			return [
				fact('Kind', 'delegation of a plain address (EIP-7702)'),
				fact('Delegated to', data.delegate ?? 'nobody'),
				fact('Before', data.confirmed === false ? 'not known' : (data.previous ?? 'nobody')),
				fact('Authorised', authorisationInWords(data)),
				...(data.initiator === undefined ? [] : [fact('Started by', data.initiator)]),
			]
		case 'income':
			return [
				fact('Kind', 'priority fees of a block that it is the author of'),
				fact('Paid by', `${data.transactions}`),
			]
		case 'balance':
			return [
				fact('Kind', `balance ${data.crossed} a threshold`),
				fact('Threshold', `${data.threshold} ${asset}`),
				fact('Balance', `${data.balance} ${asset}`),
			]
		default:
			return [
				fact('Kind', 'unexplained change of a balance'),
				fact('Difference', `${data.difference} ${asset}`),
				fact('Blocks', blocksOf(data)),
				...amount('Balance before', data.openingWei),
				...amount('Explained', data.explainedWei),
				...amount('Balance after', data.closingWei),
				...amount('Not explained', data.differenceWei),
				fact('Asked', (data.endpoints ?? []).map((host) => printable(host)).join(', ')),
				fact('Reason', printable(data.reason ?? '', 500)),
			]
	}
}

function authorisationInWords({ authorisation }: AlertData): string {
	if (authorisation == null) return 'unknown: only the state of the address shows it'
	const { chainId, nonce } = authorisation
	return `for ${chainId === 0 ? 'every chain' : `chain ${chainId}`}, with nonce ${nonce}`
}
