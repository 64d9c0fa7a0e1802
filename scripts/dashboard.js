// Writes monitoring/grafana.json, the dashboard: `node scripts/dashboard.js`. --check only compares.
import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL('../monitoring/grafana.json', import.meta.url)
const source = { type: 'prometheus', uid: '${source}' }
const ofNetwork = '{network=~"$network"}'
const duration = 'tracewatch_rpc_request_duration_seconds'
const ofReceiver = '{receiver=~"$receiver"}'

/** [title, kind, unit, [[query, legend], …]] */
const panels = [
	['Stalled networks', 'stat', 'none', [[`sum(tracewatch_stalled${ofNetwork})`, 'stalled']]],
	[
		'Deliveries that wait for somebody',
		'stat',
		'none',
		[
			[
				`sum(tracewatch_deliveries_parked${ofReceiver}) + sum(tracewatch_deliveries_dead${ofReceiver})`,
				'parked and dead',
			],
		],
	],
	['Watches', 'stat', 'none', [[`sum(tracewatch_watches${ofNetwork})`, 'watches']]],
	['Watchlists in effect', 'stat', 'none', [['min(tracewatch_config_last_reload_successful)', '1: as on disk']]],
	['Blocks behind', 'timeseries', 'none', [[`tracewatch_lag_blocks${ofNetwork}`, '{{network}}']]],
	[
		'Since the last poll',
		'timeseries',
		's',
		[[`time() - tracewatch_last_poll_timestamp_seconds${ofNetwork}`, '{{network}}']],
	],
	[
		'Alerts an hour',
		'timeseries',
		'none',
		[[`sum by (network, kind) (increase(tracewatch_alerts_total${ofNetwork}[1h]))`, '{{network}} {{kind}}']],
	],
	[
		'Attempts a minute',
		'timeseries',
		'none',
		[
			[
				`sum by (receiver, result) (rate(tracewatch_deliveries_total${ofReceiver}[5m])) * 60`,
				'{{receiver}} {{result}}',
			],
		],
	],
	[
		'Deliveries that wait',
		'timeseries',
		'none',
		[
			[`tracewatch_deliveries_pending${ofReceiver}`, '{{receiver}} pending'],
			[`tracewatch_deliveries_held${ofReceiver}`, '{{receiver}} held'],
			[`tracewatch_deliveries_parked${ofReceiver}`, '{{receiver}} parked'],
			[`tracewatch_deliveries_dead${ofReceiver}`, '{{receiver}} dead'],
		],
	],
	[
		'Polls a minute',
		'timeseries',
		'none',
		[[`sum by (network, result) (rate(tracewatch_polls_total${ofNetwork}[5m])) * 60`, '{{network}} {{result}}']],
	],
	[
		'Requests a second',
		'timeseries',
		'none',
		[[`sum by (endpoint, result) (rate(tracewatch_rpc_requests_total${ofNetwork}[5m]))`, '{{endpoint}} {{result}}']],
	],
	[
		'Time of an answer, 95th percentile',
		'timeseries',
		's',
		[[`histogram_quantile(0.95, sum by (endpoint, le) (rate(${duration}_bucket${ofNetwork}[5m])))`, '{{endpoint}}']],
	],
	[
		'Books: watches not explained up to now',
		'timeseries',
		'none',
		[[`tracewatch_books_open${ofNetwork}`, '{{network}}']],
	],
	[
		'Unexplained and disagreements',
		'timeseries',
		'none',
		[
			[`increase(tracewatch_unexplained_total${ofNetwork}[1h])`, '{{network}} unexplained'],
			[`increase(tracewatch_disagreements_total${ofNetwork}[1h])`, '{{network}} disagreements'],
		],
	],
]

function panelOf([title, type, unit, targets], at) {
	const isSmall = type === 'stat'
	const place = isSmall
		? { x: at * 6, y: 0, w: 6, h: 4 }
		: { x: ((at - 4) % 2) * 12, y: 4 + Math.floor((at - 4) / 2) * 8, w: 12, h: 8 }
	return {
		id: at + 1,
		title,
		type,
		datasource: source,
		gridPos: place,
		fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
		targets: targets.map(([expr, legendFormat], n) => ({
			refId: String.fromCharCode(65 + n),
			datasource: source,
			expr,
			legendFormat,
		})),
	}
}

function variable(name, query) {
	const ask = { query: `label_values(${query}, ${name})`, refId: name }
	return {
		name,
		type: 'query',
		datasource: source,
		query: ask,
		refresh: 2,
		includeAll: true,
		multi: true,
		allValue: '.*',
	}
}

const dashboard = {
	title: 'tracewatch',
	uid: 'tracewatch',
	schemaVersion: 39,
	tags: ['tracewatch'],
	timezone: 'browser',
	time: { from: 'now-24h', to: 'now' },
	refresh: '1m',
	templating: {
		list: [
			{ name: 'source', type: 'datasource', query: 'prometheus' },
			variable('network', 'tracewatch_stalled'),
			variable('receiver', 'tracewatch_deliveries_pending'),
		],
	},
	panels: panels.map(panelOf),
}

const text = `${JSON.stringify(dashboard, null, '\t')}\n`
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (readFileSync(path, 'utf8') !== text) throw new Error('monitoring/grafana.json: node scripts/dashboard.js')
