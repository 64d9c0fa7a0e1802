import type { Config } from '../config/load.js'
import type { StateError } from '../errors.js'
import type { Health } from '../model/trouble.js'
import { type HttpOptions, type HttpServer, startHttp } from '../ops/httpServer.js'

interface FrontOptions extends Pick<HttpOptions, 'metrics' | 'version' | 'log' | 'scrubber'> {
	readonly config: Config
}

interface Answers {
	/** Never rejects. */
	readonly health: () => Promise<Health>
	readonly pages: HttpOptions['pages']
}

const STANDING_BY: Health = {
	ok: true,
	status: 'standing by',
	reason: 'standing by: another instance has the state, and this one takes over when it ends',
	networks: [],
}

function unableToTakeOver({ message }: StateError): Health {
	const reason = `standing by, and unable to take over: ${message}`
	return { ok: false, status: 'stalled', reason, reasons: [reason], networks: [] }
}

/** What is served by HTTP: that the instance stands by, and once it has the state, its health and the pages. */
export function createFront({ config, metrics, version, log, scrubber }: FrontOptions) {
	let answers: Answers | null = null
	let server: HttpServer | null = null
	let standing = STANDING_BY
	let isSaid = false

	async function open(): Promise<void> {
		if (config.http === null || server !== null) return
		server = await startHttp({
			...{ ...config.http, version, metrics, log, scrubber, password: config.httpPassword },
			health: () => answers?.health() ?? standing,
			pages: async (path, params) => (await answers?.pages(path, params)) ?? null,
		})
		log.info({ host: config.http.host, port: server.port }, 'metrics and health are served')
	}

	return {
		/**
		 * Serves that this instance stands by, or why it could not take over. A port that cannot be had is tried again at
		 * the next call.
		 */
		async standBy(away: StateError | null) {
			standing = away === null ? STANDING_BY : unableToTakeOver(away)
			try {
				await open()
			} catch (error) {
				if (!isSaid)
					log.warn({ err: error }, 'nothing is served by HTTP while the port cannot be had; it is tried again')
				isSaid = true
			}
		},
		async serve(given: Answers) {
			answers = given
			await open()
		},
		close: async () => await server?.close(),
	}
}
