/** A frame created a contract. */

import type { FrameEvent } from '../model/alert.js'
import { deploymentFields } from '../model/ownFields.js'
import { frameFacts, frameFields, ofFrames } from './frames.js'
import { coinsOf, counterpartyName, watchName } from './phrases.js'
import type { KindRecord } from './record.js'

export const deployment: KindRecord<FrameEvent> = {
	...ofFrames,
	kind: 'deployment',
	refusal: () => null,
	fields(event, view) {
		const fields = frameFields(event, view)
		const { creatorConfirmed } = view
		return {
			...fields,
			contractAddress: fields.to,
			...(creatorConfirmed == null ? {} : { creatorConfirmed }),
		}
	},
	frameTypes: ['create', 'create2'],
	own: deploymentFields,
	noun: 'a deployment',
	chosen: ({ direction }) => ({ both: 'deployments', out: 'deployments by it', in: 'its own deployment' })[direction],
	sentence(data) {
		const [subject, other] = [watchName(data), counterpartyName(data)]
		const endowment = data.valueWei === '0' ? '' : ` with ${coinsOf(data)}`
		return data.direction === 'in'
			? `${subject} was deployed by ${other}${endowment}`
			: `${subject} deployed a contract at ${other}${endowment}`
	},
	facts(data) {
		const how = data.frameType === 'create2' ? 'CREATE2' : 'CREATE'
		return frameFacts(data, 'Contract', `deployment (${how}), ${data.direction}`)
	},
}
