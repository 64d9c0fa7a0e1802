/** Lists all kinds, one line each, in the order in which they are shown. */

import type { ChainEvent } from '../model/alert.js'
import type { Block } from '../model/chain.js'
import type { ControlChanged, Kind } from '../model/kind.js'
import { balance, type Crossing } from './balance.js'
import { type Called, call } from './call.js'
import { type CodeEvent, code } from './code.js'
import { control } from './control.js'
import { type Delegation, delegation } from './delegation.js'
import { deployment } from './deployment.js'
import { type Income, income } from './income.js'
import type { KindRecord } from './record.js'
import { type Requested, request } from './request.js'
import { token } from './token.js'
import { transfer } from './transfer.js'
import { type Unexplained, unexplained } from './unexplained.js'
import { type Withdrawn, withdrawal } from './withdrawal.js'

export const records: { readonly [K in Kind]: KindRecord } = {
	transfer,
	deployment,
	call,
	code,
	request,
	token,
	withdrawal,
	delegation,
	control,
	income,
	balance,
	unexplained,
}

/** Events that the state or a header shows. */
export type Finding =
	| Withdrawn
	| CodeEvent
	| Delegation
	| (ControlChanged & { readonly block: Block })
	| Income
	| Crossing
	| Unexplained

/** Events that the parts of a walk show. */
export type SeenEvent = ChainEvent | Called | Requested | ControlChanged | Withdrawn
