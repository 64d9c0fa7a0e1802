/** An answer is tried when it is given. */

import { parse } from 'yaml'
import { fitWords } from '../../base/text/outgoing.js'
import { interpolate } from '../../config/settings/interpolate.js'
import { receiverSchema } from '../../config/settings/receiverSchema.js'
import type { ReceiverSettings } from '../../config/settings/settings.js'
import { createEmailReceiver } from '../../notify/email/email.js'
import { type ExitCode, exitCodes, type Io } from '../command.js'
import { examineEndpoint } from '../doctor/endpointReport.js'
import { lineOf } from '../doctor/reportLines.js'
import { whileWaiting } from '../shared/progress.js'
import { sendSample } from '../testSend.js'
import { receiverLines, type SetupReceiver } from './texts.js'

/** Why an answer that was tried does not work. */
export interface Refusal {
	readonly code: ExitCode
	readonly words: string
}

type Secrets = ReadonlyMap<string, string>

/** Tries answers one by one. Each resolves to null when the answer works. */
export interface Trials {
	endpoint(url: string, chainId: number): Promise<Refusal | null>
	login(smtp: string): Promise<Refusal | null>
	receiver(receiver: SetupReceiver, secrets: Secrets): Promise<Refusal | null>
}

export function createTrials(io: Io): Trials {
	return {
		async endpoint(url, chainId) {
			const asked = { keepsBooks: true, readsContracts: false, isPrivate: false, source: 'auto' } as const
			const network = { chainId, confirmations: 0, settle: 'finalized', ...asked } as const
			const report = await whileWaiting('asking the endpoint', () => examineEndpoint(url, network, io.signal))
			const words = fitWords(lineOf(report))
			if (!report.usable) return { code: report.error === null ? exitCodes.failed : exitCodes.tryAgain, words }
			io.err(`  ${words}`)
			return null
		},
		async login(smtp) {
			const receiver = { kind: 'mail', from: 'tracewatch@localhost.invalid', to: ['ops@localhost.invalid'] } as const
			const settings = settingsOf(receiver, new Map([['SMTP_URL', smtp]]))
			if (settings.type !== 'email') return null
			const mail = createEmailReceiver(settings)
			try {
				const outcome = await whileWaiting('logging in', () => mail.login(io.signal))
				io.signal.throwIfAborted()
				if (outcome.result === 'delivered') return null
				const code = outcome.result === 'retry' ? exitCodes.tryAgain : exitCodes.failed
				return { code, words: `the mail server does not take it: ${outcome.reason}` }
			} finally {
				await mail.close()
			}
		},
		async receiver(receiver, secrets) {
			const { code, lines } = await sendSample(settingsOf(receiver, secrets), io)
			io.signal.throwIfAborted()
			if (code !== exitCodes.done) return { code, words: lines.join('\n  ') }
			for (const line of lines) io.err(`  a test message was ${line}`)
			return null
		},
	}
}

/** The settings as the daemon will read them. Throws RangeError. */
function settingsOf(receiver: SetupReceiver, secrets: Secrets): ReceiverSettings {
	const written: unknown = parse(receiverLines(receiver).join('\n'), { schema: 'failsafe' })
	const read = receiverSchema.safeParse(interpolate(written, Object.fromEntries(secrets), '').value)
	if (read.success) return read.data
	throw new RangeError(read.error.issues[0]?.message ?? 'cannot be used')
}
