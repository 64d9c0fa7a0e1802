import { allKinds } from '../kinds/all.js'
import { alertTable } from './alertTable.js'
import { listPage } from './listPage.js'
import type { Html } from './look/html.js'
import type { PageFacts } from './pageData.js'
import type { alerts } from './rows.js'

const others = ['removed', 'stalled', 'gap', 'undelivered', 'refused', 'recovered']

export function alertsBody(found: Awaited<ReturnType<typeof alerts>>, facts: PageFacts, params: URLSearchParams): Html {
	// Unsent ones come first in the history; on the page the newest is first, sent or not.
	const rows = found.alerts.toSorted((one, other) => other.toldAt.localeCompare(one.toldAt))
	return listPage({
		...{ path: '/alerts', params, found, label: 'Alerts, newest first', body: alertTable(rows, facts) },
		fields: [
			{ name: 'q', label: 'Label, tag, address or hash' },
			{ name: 'kind', label: 'Kind', among: [...allKinds, ...others] },
			{ name: 'address', label: 'Watched address' },
			{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
			{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
		],
	})
}
