// Pages with everything hostile on them that someone else can write, and bytes sent to them as they are.
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { startHttp } from '../../src/ops/httpServer.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { pageAt } from '../../src/pages/pages.js'
import { alertData, messageOf, deliveryOf as told } from '../notify/samples.js'
import { silent } from '../support/silent.js'
import { manyWatches, pageFacts } from './facts.js'

export const mark = 'XSSMARK'
/** What would run, each in another place of a page: between tags, in attributes, in scripts, as a link. */
export const script = `</td></script><img src=x onerror=${mark}()>"'\`--><svg/onload=${mark}()>{{7*7}}\${7*7}&lt;`

export const password = 'correct horse battery'

/** `asks`: for the password. */
export async function serve({ asks = false } = {}) {
	const watch = { address: '0x1', label: script, tags: [script], watchlist: script }
	const token = {
		...{ standard: 'erc20', address: script, symbol: script, decimals: 6, known: false },
		...{ amountRaw: script, amount: script, tokenId: script },
	} as never
	const data = alertData({ watch, asset: script, lateReason: script, late: true, token })
	const links = {
		tx: 'javascript:alert(1)',
		to: 'data:text/html,x',
		block: `https://x.example/"onmouseover="${mark}()`,
	}
	const message = messageOf({ ...data, links } as never)
	const facts = pageFacts({
		watches: manyWatches(3, script),
		networks: [script, 'ethereum'].map((name) => ({
			...{ name, chainId: 1, symbol: script, decimals: 18, explorer: 'javascript:alert(1)//', endpoints: [script] },
		})),
		receivers: [{ name: script, type: 'webhook', place: script, fallback: script }],
		health: async () => ({ ok: false, reason: script, networks: [] }),
		deliveries: async () => [
			told(1, {
				message,
				lastError: script,
				recipient: script,
				receiver: script,
				refused: { sinceMs: 1, times: 0 },
				attempts: 3,
			}),
		],
	})
	const server = await startHttp({
		...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: silent },
		metrics: { text: async () => '', contentType: 'text/plain' },
		health: () => facts.health(),
		pages: (path, params) => pageAt(path, params, () => facts),
		...(asks && { password }),
	})
	onTestFinished(() => server.close())
	return { port: server.port, url: `http://127.0.0.1:${server.port}` }
}

/** Sends bytes as they are, and resolves to all that comes back until the other side hangs up, or so long. */
export function raw(port: number, bytes: string, mostMs = 2_000): Promise<string> {
	return new Promise((resolve) => {
		let back = ''
		const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes))
		const end = () => {
			clearTimeout(timer)
			socket.destroy()
			resolve(back)
		}
		const timer = setTimeout(end, mostMs)
		socket.setEncoding('utf8').on('data', (text: string) => {
			back += text
		})
		socket.on('error', end).on('close', end)
	})
}
